"""What arm-none-eabi-ld 2.40 says of libraries that were compiled with other flags."""

from pathlib import Path

import pytest

from harness.toolchains.undefined import TRACE_FLAGS, are_undefined, undefined_symbols

LD = "/usr/lib/gcc/arm-none-eabi/12.2.1/../../../arm-none-eabi/bin/ld"
TARGET = Path("/cache/firmware/.key-x/firmware.elf")
EXCEPTIONS = f"""\
{LD}: /p/libtflm.a(add.cc.o): reference to __gxx_personality_v0
{LD}: /usr/lib/libstdc++_nano.a(eh_personality.o): definition of __gxx_personality_v0
{LD}: /usr/lib/libstdc++_nano.a(eh_globals.o): in function `_GLOBAL__sub_I___cxa_get_globals_fast':
./src/libstdc++-v3/libsupc++/eh_globals.cc:85: undefined reference to `__dso_handle'
{LD}: /usr/lib/libgcc.a(unwind-arm.o): in function `get_eit_entry':
/build/libgcc/unwind-arm-common.inc:366: undefined reference to `__exidx_start'
{LD}: /build/libgcc/unwind-arm-common.inc:366: undefined reference to `__exidx_end'
collect2: error: ld returned 1 exit status
"""
HEAP = f"""\
{LD}: /usr/lib/libc_nano.a(lib_a-findfp.o): reference to _malloc_r
{LD}: /p/libtflm.a(conv.cc.o): reference to _Znaj
{LD}: /usr/lib/libstdc++_nano.a(new_op.o): reference to malloc
{LD}: /usr/lib/libc_nano.a(lib_a-sbrkr.o): in function `_sbrk_r':
/src/newlib/libc/reent/sbrkr.c:51: undefined reference to `_sbrk'
"""


def undefined(symbol, user="/p/libtflm.a(x.o)"):
    return f"{LD}: {user}: in function `f':\nx.cc:(.text.f+0x4): undefined reference to `{symbol}'\n"


def test_exceptions():
    error = undefined_symbols(EXCEPTIONS, TARGET)
    assert error.what == "undefined symbols: __dso_handle, __exidx_end, __exidx_start"
    assert error.where == "/p/libtflm.a(add.cc.o)"
    assert "-fno-exceptions" in error.hint


def test_a_heap():
    error = undefined_symbols(HEAP, TARGET)
    assert (error.what, error.where) == ("undefined symbols: _sbrk", "/p/libtflm.a(conv.cc.o)")
    assert "-DTF_LITE_STATIC_MEMORY" in error.hint


@pytest.mark.parametrize(
    ("symbol", "told"),
    [
        ("__exidx_start", "-fno-exceptions"),
        ("__cxa_throw", "-fno-exceptions"),
        ("operator delete(void*, unsigned int)", "TF_LITE_STATIC_MEMORY"),
        ("vtable for __cxxabiv1::__si_class_type_info", "-fno-rtti"),
        ("__cxa_guard_acquire", "-fno-threadsafe-statics"),
        ("TfLiteIntArrayEqual", "c/common.c"),
        ("arm_convolve_wrapper_s8", "CMSIS-NN"),
        ("esp_nn_conv_s8_ansi", "ESP-NN"),
        ("DebugLog", "debug_log.cc"),
        ("tflite::Register_SVDF()", "different releases"),
        ("MicroPrintf(char const*, ...)", "different releases"),
    ],
)
def test_a_known_cause_has_a_hint(symbol, told):
    error = undefined_symbols(undefined(symbol), TARGET)
    assert (error.what, error.where) == (f"undefined symbols: {symbol}", "/p/libtflm.a(x.o)")
    assert told in error.hint


def test_an_unknown_cause_has_none():
    assert undefined_symbols(undefined("frobnicate"), TARGET).hint == ""


def test_the_users_own_objects_are_told_without_the_passing_folder():
    assert undefined_symbols(undefined("f", f"{TARGET.parent}/003-main.o"), TARGET).where == "003-main.o"


def test_a_linker_that_does_not_tell_who_wants_it():
    assert undefined_symbols("ld: undefined reference to `f'", TARGET).where == "firmware.elf"


def test_many_symbols_are_cut_short():
    text = "".join(undefined(f"symbol{number}") for number in range(7))
    assert undefined_symbols(text, TARGET).what.endswith("symbol3, symbol4, …")


def test_other_errors_are_not_its_business():
    assert not are_undefined("ld: region `RAM' overflowed by 4 bytes")
    assert are_undefined(HEAP)


def test_what_objects_to_blame_use_is_traced():
    assert "-Wl,--trace-symbol=malloc" in TRACE_FLAGS


def test_a_compiler_without_the_c_plus_plus_library():
    symbol = "std::_Rb_tree_increment(std::_Rb_tree_node_base*)"
    error = undefined_symbols(undefined(symbol) + undefined("operator new(unsigned int)"), TARGET)
    assert "--ops used" in error.hint
