"""Operator lists from header texts of both generations."""

import re

import pytest

from harness.domain.firmware import Registration
from harness.errors import SourceError
from harness.tflm.crate import CrateProvider
from harness.tflm.operators import micro_ops_operators, resolver_operators

RESOLVER = """
template <unsigned int tOpCount>
class MicroMutableOpResolver : public MicroOpResolver {
 public:
  TfLiteStatus AddCustom(const char* name, const TFLMRegistration* registration) {
    MicroPrintf("Couldn't register custom op '%s' }", name);
    registrations_[len_].builtin_code = BuiltinOperator_CUSTOM;
    return AddBuiltin(BuiltinOperator_CUSTOM, *registration, nullptr);
  }
  TfLiteStatus AddAbs() {
    return AddBuiltin(BuiltinOperator_ABS, Register_ABS(), ParseAbs);
  }
  // more
 private:
  TfLiteStatus AddBuiltin(tflite::BuiltinOperator op, const TFLMRegistration& registration, ParseFunction parser) {
    if (op == BuiltinOperator_CUSTOM) { return kTfLiteError; }
    return kTfLiteOk;
  }
};
TfLiteStatus AddOutside() { return AddBuiltin(BuiltinOperator_NEG, Register_NEG(), ParseNeg); }
"""


def resolver(method):
    return resolver_operators(RESOLVER.replace("// more", method))


@pytest.mark.parametrize(
    ("method", "operator", "call", "function"),
    [
        (
            "TfLiteStatus AddNewThing() { return AddBuiltin(BuiltinOperator_NEW_THING, Register_NEW_THING(), Parse); }",
            "NEW_THING",
            "AddNewThing()",
            "Register_NEW_THING",
        ),
        (
            """TfLiteStatus AddConv2D(
                   const TFLMRegistration& registration =
                       Register_CONV_2D()) {
                 return AddBuiltin(
                     tflite::BuiltinOperator_CONV_2D,
                     registration, ParseConv2D);
               }""",
            "CONV_2D",
            "AddConv2D()",
            "Register_CONV_2D",
        ),
        (
            'TfLiteStatus AddDelay() { return AddCustom("SignalDelay", tflite::tflm_signal::Register_DELAY()); }',
            "SignalDelay",
            "AddDelay()",
            "Register_DELAY",
        ),
        (
            """// TfLiteStatus AddOld() { return AddBuiltin(BuiltinOperator_OLD, Register_OLD(), Parse); }
               TfLiteStatus AddIf(void) /* { */ {
                 const char* text = "} // no end /*";  // BuiltinOperator_ELSE }
                 return AddBuiltin(BuiltinOperator_IF, Register_IF(), ParseIf);
               }""",
            "IF",
            "AddIf()",
            "Register_IF",
        ),
        (
            """TfLiteStatus AddTwo(const Pair<int, int>& pair = Pair<int, int>(1, 2), const Options& options = {3, 4}) {
                 if (pair.first) { return kTfLiteError; }
                 return this->template AddBuiltin<int>(BuiltinOperator_TWO, Register_TWO(), nullptr);
               }""",
            "TWO",
            "AddTwo()",
            "Register_TWO",
        ),
    ],
    ids=["new", "default argument", "custom", "comments and texts", "templates"],
)
def test_a_method_of_the_resolver_is_an_operator(method, operator, call, function):
    abs_, found = resolver(method).known
    assert abs_.registration == Registration("ABS", "AddAbs()")
    assert found.registration == Registration(operator, call)
    assert found.function == function
    assert resolver(method).unclear == ()


@pytest.mark.parametrize(
    "method",
    [
        "TfLiteStatus AddEthosU() { return AddCustom(GetString_ETHOSU(), Register_ETHOSU()); }",
        "TfLiteStatus AddMine(int option) { return AddBuiltin(BuiltinOperator_MINE, Register_MINE(), Parse); }",
        "TfLiteStatus AddMine(int a = 0, T<1, 2> b) { return AddBuiltin(BuiltinOperator_MINE, R(), Parse); }",
    ],
)
def test_a_method_that_cannot_be_called_like_the_others_is_told(method):
    found = resolver(method)
    assert [operator.registration.operator for operator in found.known] == ["ABS"]
    assert found.unclear == (re.search(r"Add\w+", method)[0],)


def test_an_operator_with_two_methods_is_registered_once():
    method = "TfLiteStatus AddAbs(const Options& o) { return AddBuiltin(BuiltinOperator_ABS, Register_ABS(), Parse); }"
    assert resolver(method) == resolver("")


@pytest.mark.parametrize("text", ["", "class MicroMutableOpResolver;", "class MicroMutableOpResolver { Add(({ "])
def test_a_header_without_the_resolver_has_no_operators(text):
    assert resolver_operators(text).known == ()


def test_hostile_headers_take_no_time():
    nested = "AddB(" + "(" * 50_000 + ")" * 50_000 + ")" + " " * 100_000
    text = "class MicroMutableOpResolver {" + nested + "AddA(" * 100_000 + "/*" * 100_000 + '"' * 99_999
    assert resolver_operators(text).known == ()


MICRO_OPS = """
namespace tflite { namespace ops { namespace micro {
TfLiteRegistration* Register_CONV_2D();
// TfLiteRegistration* Register_GONE();
TfLiteRegistration* Register_CIRCULAR_BUFFER(void);
TfLiteRegistration*
    Register_TRANSPOSE ();
TfLiteRegistration* Register_CONV_2D();
}}}
"""
SCHEMA = (
    "enum BuiltinOperator { BuiltinOperator_CONV_2D = 3, BuiltinOperator_TRANSPOSE = 39, BuiltinOperator_GONE = 7 };"
)


def test_the_operators_of_2020():
    found = micro_ops_operators(MICRO_OPS, SCHEMA)
    assert [each.function for each in found.known] == [
        "Register_CONV_2D", "Register_CIRCULAR_BUFFER", "Register_TRANSPOSE"
    ]  # fmt: skip
    of = "tflite::ops::micro::Register_"
    assert [each.registration for each in found.known] == [
        Registration("CONV_2D", f"AddBuiltin(tflite::BuiltinOperator_CONV_2D, {of}CONV_2D(), 1, 3)"),
        Registration("CIRCULAR_BUFFER", f'AddCustom("CIRCULAR_BUFFER", {of}CIRCULAR_BUFFER())'),
        Registration("TRANSPOSE", f"AddBuiltin(tflite::BuiltinOperator_TRANSPOSE, {of}TRANSPOSE(), 0)"),
    ]


def test_the_versions_are_those_of_all_ops_resolver():
    try:
        source = CrateProvider().fetch(lambda what, done, total: None)
    except SourceError as error:
        pytest.skip(f"the TFLM crate cannot be had: {error.what}")
    (resolver_source,) = [path for path in source.sources if path.name == "all_ops_resolver.cc"]
    code = re.sub(r"/\*.*?\*/", "", resolver_source.read_text())
    calls = re.findall(r"AddBuiltin\(BuiltinOperator_(\w+),\s*Register_(\w+)\(\)(?:,\s*(\d+),\s*(\d+))?\);", code)
    theirs = {(name, least or "1", most or "1") for name, _, least, most in calls}
    ours = re.findall(
        r"AddBuiltin\(tflite::BuiltinOperator_(\w+), tflite::ops::micro::Register_\1\(\), (\d), (\d)\)",
        "\n".join(registration.call for registration in source.registrations),
    )
    assert len(theirs) == 52
    assert set(ours) == theirs
    assert [each.operator for each in source.registrations if each.call.startswith("AddCustom")] == ["CIRCULAR_BUFFER"]
