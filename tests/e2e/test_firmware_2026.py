"""The firmware's layer over TFLM 2026-01, with a library made for tests, on the virtual chip's core."""

from contextlib import ExitStack, closing

import pytest

from harness.build.firmware import build
from harness.domain.estimate import Profile
from harness.estimate import ModelFile, estimate
from harness.estimate.layout.tflm_2026_01 import GENERATION
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.chip import ARENA_BYTES, BOARD, Chip
from tests.support.fake_tflm import FakeTflm, build_library
from tests.support.generation_models import CASES, MAY_OVERLAP
from tests.support.generation_models import model_of as model_with
from tests.support.models import ModelBuilder, chain, delay_line

# What NEG does when its input begins so: kernels/micro_ops.h of the library.
FAULTS, ENDS_EARLY, FAILS = 0x66, 0x67, 0x68


def model_of(*operators, size=16):
    return chain(*operators, size=size, type="int8").build()


def estimated(model, **more):
    return estimate(ModelFile.of("m.tflite", model), Profile("2026-01", "arm32", "reference"), **more)


@pytest.fixture(scope="module")
def library(needs_firmware, tmp_path_factory):
    flags = [*BOARD.cpu_flags, BOARD.optimization]
    return build_library(ArmGcc(), flags, tmp_path_factory.mktemp("fake_tflm"))


@pytest.fixture(scope="module")
def image(library):
    return build(BOARD, FakeTflm(library), ArmGcc(), lambda *_: None)


@pytest.fixture
def start(image):
    """Starts chips with these models in flash."""
    with ExitStack() as chips:
        yield lambda *models: chips.enter_context(closing(Chip(image, models))).start()


def test_hello_tells_what_this_tflm_is_and_can_do(start):
    hello = start(model_of("NEG"), model_of("NEG", "NEG")).hello
    assert (hello["tflm"], hello["records"], hello["share_max"]) == ("2026-01", 1, 4)
    assert [model["state"] for model in hello["models"]] == ["ok", "ok"]


def test_struct_sizes_have_the_names_of_the_layout_profile(start):
    profile = {name: pair[0] for name, pair in GENERATION.struct_sizes.items()}
    sizes = start(model_of("NEG")).hello["sizes"]
    # The others are private to TFLM, or no structures of its own.
    assert profile.keys() - sizes.keys() == {
        "MicroResourceVariable", "MicroBuiltinDataAllocator", "ScratchBufferRequest", "AllocationInfo", "PlannerBuffer"
    }  # fmt: skip
    assert {name: size for name, size in sizes.items() if profile.get(name, size) != size} == {}


def test_another_schema_is_refused(start):
    model = ModelBuilder(version=4)
    model.output(model.input("x", [1], "int8"))
    assert start(model.build()).hello["model"]["state"] == "bad_schema"


@pytest.mark.parametrize(
    ("model", "variables"), [(model_of("NEG", size=40), 0), (model_of(*["NEG"] * 3), 0), (delay_line().build(), 1)]
)
@pytest.mark.parametrize("arena_bytes", [4096, 4092, 4088, 4084])
def test_the_arena_is_as_estimated(start, model, variables, arena_bytes):
    expected = estimated(model, arena_size_bytes=arena_bytes)
    allocated = start(model).allocate(arena_bytes=arena_bytes, variables=variables)
    assert allocated["status"] == "ok"
    found = (allocated["used_bytes"], allocated["head_bytes"], allocated["tail_bytes"])
    assert found == (expected.arena_used_bytes, expected.head_bytes, expected.tail_bytes)


@pytest.mark.parametrize("names", [*([name] for name in CASES), list(CASES)], ids=lambda names: "-".join(names[:3]))
def test_operators_take_what_is_estimated(start, names):
    model = model_with(*names)
    expected = estimated(model, arena_size_bytes=ARENA_BYTES * 3)
    recorded = start(model).allocate(arena_bytes=ARENA_BYTES * 3, record=1)
    allocated = start(model).allocate(arena_bytes=ARENA_BYTES * 3)
    found = (allocated["used_bytes"], allocated["head_bytes"], allocated["tail_bytes"])
    assert found == (expected.arena_used_bytes, expected.head_bytes, expected.tail_bytes)
    sections = {name: section["used_bytes"] for name, section in recorded["sections"].items()}
    assert sections == {section.name: section.size_bytes for section in expected.recorded_sections}
    minimum = expected.min_working_arena_bytes
    assert start(model).allocate(arena_bytes=minimum)["status"] == "ok"
    if not MAY_OVERLAP.issuperset(names):
        assert start(model).allocate(arena_bytes=minimum - 4)["status"] == "error"


def test_a_model_runs_and_the_free_middle_stays_paint(start):
    chip = start(model_of("NEG", size=8))
    tensor = {"type": "int8", "shape": [1, 8], "size_bytes": 8}
    allocated = chip.allocate()
    assert (allocated["inputs"], allocated["outputs"]) == ([tensor], [tensor])
    assert allocated["paint_ok"] is True
    assert chip.run([1, 2, 3])["status"] == "ok"
    assert chip.output()[:3] == bytes([255, 254, 253])
    scanned = chip.ask("scan", "scanned")
    assert scanned["written_bytes"] == scanned["guard_low_written_bytes"] == scanned["guard_high_written_bytes"] == 0
    assert scanned["gap_bytes"] == ARENA_BYTES - allocated["used_bytes"]


def test_recording_tells_sections_and_takes_more_tail(start):
    model = model_of("NEG", "NEG")
    plain, recorded = start(model).allocate(), start(model).allocate(record=1)
    assert "sections" not in plain
    assert recorded["tail_bytes"] - plain["tail_bytes"] == pytest.approx(52 - 36 + 124 - 36, abs=12)
    assert recorded["sections"] == {
        "eval_tensors": {"requested_bytes": 3 * 12, "used_bytes": 3 * 12, "count": 3},
        "persistent_tensors": {"requested_bytes": 2 * 40, "used_bytes": 2 * 40, "count": 2},
        "persistent_quantization": {"requested_bytes": 2 * 20, "used_bytes": 2 * 20, "count": 4},
        "persistent_buffers": {"requested_bytes": 2 * 4, "used_bytes": 20, "count": 2},  # with what alignment took
        "variables": {"requested_bytes": 0, "used_bytes": 0, "count": 0},
        "node_and_registration": {"requested_bytes": 2 * 32, "used_bytes": 2 * 32, "count": 2},
        "op_data": {"requested_bytes": 0, "used_bytes": 0, "count": 0},
    }
    expected = estimated(model, arena_size_bytes=ARENA_BYTES).recorded_sections
    assert [recorded["sections"][one.name]["used_bytes"] for one in expected] == [one.size_bytes for one in expected]


def test_a_resource_variable_keeps_its_value_from_run_to_run(start):
    chip = start(delay_line().build())
    assert chip.allocate(variables=1)["status"] == "ok"
    before = []
    for value in (7, 8, 9):
        chip.run([value])
        before.append(chip.output()[0])
    assert before == [0, 7, 8]


def test_resource_variables_come_out_of_the_tail(start):
    model = model_of("NEG")
    tails = [start(model).allocate(variables=count)["tail_bytes"] for count in (0, 1, 5)]
    # A fixed object and an array of 20 bytes each, both at multiples of 16.
    assert tails[1] - tails[0] == pytest.approx(16 + 32, abs=12)
    assert tails[2] - tails[1] == 112 - 32


def test_without_variables_an_operator_that_needs_one_is_not_prepared(start):
    chip = start(delay_line().build())
    assert chip.allocate()["status"] == "error"
    assert chip.log == [
        "VAR_HANDLE requires resource variables",
        "Node VAR_HANDLE (number 0) failed to prepare with status 1",
    ]


def test_models_share_an_arena_and_keep_their_state(start):
    first, second = model_of("NEG", size=64), delay_line(size=16).build()
    alone = [start(model).allocate(variables=variables) for model, variables in ((first, 0), (second, 1))]
    chip = start(first, second)
    chip.allocate()
    shared = chip.ask("share", "allocated", model=1, variables=1)
    assert shared["status"] == "ok"
    assert shared["head_bytes"] == max(one["head_bytes"] for one in alone) == 128
    assert shared["tail_bytes"] < sum(one["tail_bytes"] for one in alone)
    assert shared["used_bytes"] == shared["head_bytes"] + shared["tail_bytes"]
    assert shared["inputs"][0]["size_bytes"] == 16
    for value, before in ((5, 0), (6, 5)):
        chip.run([9], model=0)
        assert chip.output(model=0)[0] == 256 - 9
        chip.run([value], model=1)
        assert chip.output(model=1)[0] == before
    scanned = chip.ask("scan", "scanned")
    assert scanned["written_bytes"] == 0
    assert scanned["gap_bytes"] == ARENA_BYTES - shared["used_bytes"]


def test_four_models_share_an_arena_recorded(start):
    chip = start(*[model_of("NEG", size=16)] * 4)
    eval_tensors = [chip.allocate(record=1)["sections"]["eval_tensors"]["count"]]
    for number in (1, 2, 3):
        shared = chip.ask("share", "allocated", model=number)
        eval_tensors.append(shared["sections"]["eval_tensors"]["count"])
    assert eval_tensors == [2, 4, 6, 8]


def test_the_minimum_works_and_four_bytes_less_do_not(start):
    model = model_of("NEG", "NEG", size=100)
    expected = estimated(model).min_working_arena_bytes
    assert start(model).allocate(arena_bytes=expected)["status"] == "ok"
    chip = start(model)
    assert chip.allocate(arena_bytes=expected - 4)["status"] == "error"
    assert any("Too many buffers" in line or "Failed to" in line for line in chip.log)


@pytest.mark.parametrize("record", [0, 1])
def test_an_arena_too_small_for_tflms_own_objects_is_told_before_they_are_made(start, record):
    chip = start(model_of("NEG"))
    assert chip.allocate(arena_bytes=64, record=record)["status"] == "error"
    assert chip.log == ["The arena cannot hold TFLM's own allocator"]


@pytest.mark.parametrize("variables", [200, 2**32 - 1])
def test_too_many_resource_variables_are_told_before_they_are_made(start, variables):
    chip = start(delay_line().build())
    assert chip.allocate(variables=variables)["status"] == "error"
    assert chip.log == ["Failed to allocate resource variables: the arena is too small"]


def test_what_tflm_logs_comes_line_by_line_with_its_numbers(start):
    chip = start(model_of("NEG", "NEG", size=16))
    chip.allocate(arena_bytes=300)
    # 116 bytes of TFLM's own objects and 16 that a model begins with; head and tail would meet in the tensors.
    assert chip.log == [
        "Failed to allocate tail memory. Requested: 36, available 24, missing: 12",
        "Failed starting model allocation.",
    ]


def test_a_fault_tells_which_operator_ran(start):
    # READ_VARIABLE tells of an operator inside of it, which must not be counted.
    chip = start(delay_line().build())
    chip.allocate(variables=1)
    chip.ask("input", "ok", index=0, offset=0, hex=f"{FAULTS:02x}")
    chip.send(cmd="invoke")
    fault = chip.frame("fault")
    assert (fault["kind"], fault["stage"]) == ("usage_fault", "invoke")
    assert (fault["operator"], fault["operator_name"], fault["operator_function"]) == (3, "NEG", 0)


def test_a_run_that_ends_early_is_no_error_and_one_that_fails_is(start):
    chip = start(model_of("NEG"))
    chip.allocate()
    assert chip.run([ENDS_EARLY])["status"] == "ok"
    assert chip.log == []
    assert chip.run([FAILS])["status"] == "error"
    assert chip.log == ["Node NEG (number 0) failed to invoke with status 1"]
    assert chip.run([1])["status"] == "ok"
