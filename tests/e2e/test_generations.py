"""The firmware over each TFLM generation, with and without static memory: the arena is as estimated, to the byte.

The libraries are variants of the one made for tests, which follow TFLM's history and not the estimate's tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.bench.boards import load_board
from harness.build.firmware import build
from harness.domain.estimate import Estimate
from harness.domain.firmware import FirmwareImage
from harness.errors import ToolchainError
from harness.estimate import ModelFile, estimate, struct_sizes
from harness.measure.expectation import profile_of
from harness.tflm.prebuilt import PrebuiltProvider
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.chip import BOARD, Chip
from tests.support.fake_tflm import build_library
from tests.support.fake_tflm.variants import VARIANTS, generation_of, write_variant
from tests.support.generation_models import CASES, MAY_OVERLAP, model_of
from tests.support.models import chain, delay_line
from tests.support.tflm_parts import manifest

ARENA_BYTES = 16 * 1024
STATIC = ("NDEBUG", "TF_LITE_STATIC_MEMORY")


# By generation, where its mark is, and what to write there instead.
DOCTORED = {
    "2026-01": (("tensorflow/lite/micro/kernels/reduce.h", "scratch_accumulator_idx", "other_idx"),),
    "2023-09": (("tensorflow/lite/c/builtin_op_data.h", "quantized_bias_type", "bias_type"),),
}


@dataclass(frozen=True)
class Built:
    """A firmware with one variant."""

    variant: str
    image: FirmwareImage

    @property
    def generation(self) -> str:
        return generation_of(self.variant)

    def estimate(self, model: bytes, **more: Any) -> Estimate:
        return estimate(ModelFile.of("m.tflite", model), profile_of(self.image, BOARD), **more)

    def hello(self) -> Mapping[str, Any]:
        with closing(Chip(self.image)) as chip:
            return chip.start().hello

    def allocate(self, model: bytes, **more: Any) -> Mapping[str, Any]:
        with closing(Chip(self.image, [model])) as chip:
            return chip.start().allocate(**more)


def described(folder: Path, variant: str, *defines: str) -> Path:
    """A library of a variant in `folder`; returns its manifest."""
    sources = write_variant(variant, folder / "include")
    library = build_library(ArmGcc(), [*BOARD.cpu_flags, BOARD.optimization], folder, sources, defines)
    return manifest(folder, [sources], [library], f"defines = {list(defines)}")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((variant, static), id=name, marks=pytest.mark.xdist_group(name))  # each is built once
        for variant in VARIANTS
        for static, name in ((True, f"{variant}-static"), (False, f"{variant}-dynamic"))
    ],
)
def built(request: pytest.FixtureRequest, needs_firmware: None, tmp_path_factory: pytest.TempPathFactory) -> Built:
    variant, static = request.param
    folder = tmp_path_factory.mktemp("library")
    defines = STATIC if static else STATIC[:1]
    tflm = PrebuiltProvider(described(folder, variant, *defines))
    return Built(variant, build(BOARD, tflm, ArmGcc(), lambda *_: None))


def differences(built: Built, name: str, model: bytes, variables: int = 0) -> Iterator[str]:
    """What of the arena is not as estimated."""
    expected = built.estimate(model, arena_size_bytes=ARENA_BYTES)
    plain = built.allocate(model, arena_bytes=ARENA_BYTES, variables=variables)
    recorded = built.allocate(model, arena_bytes=ARENA_BYTES, variables=variables, record=1)
    for part in ("used", "head", "tail"):
        wanted = getattr(expected, "arena_used_bytes" if part == "used" else f"{part}_bytes")
        if plain[f"{part}_bytes"] != wanted:
            yield f"{name}: {part} {plain[f'{part}_bytes']}, not {wanted}"
    for section in expected.recorded_sections:
        found = recorded["sections"][section.name]["used_bytes"]
        if found != section.size_bytes:
            yield f"{name}: {section.name} {found}, not {section.size_bytes}"
    least = expected.min_working_arena_bytes
    assert least is not None
    works = built.allocate(model, arena_bytes=least, variables=variables)["status"] == "ok"
    fails = built.allocate(model, arena_bytes=least - 4, variables=variables)["status"] == "error"
    if not works or not (fails or name in MAY_OVERLAP):
        yield f"{name}: {least} bytes {'work' if works else 'do not work'}, and 4 less {'do not' if fails else 'do'}"


def test_the_generation_is_recognised(built: Built) -> None:
    assert built.image.tflm == built.generation
    assert built.hello()["tflm"] == built.generation


def test_the_structures_are_as_the_profile_has_them(built: Built) -> None:
    expected, found = struct_sizes(profile_of(built.image, BOARD)), built.hello()["sizes"]
    assert {name: (size, expected[name]) for name, size in found.items() if expected[name] != size} == {}
    # Public headers of every variant show them.
    assert {"TfLiteConvParams", "OpDataFullyConnected", "OpDataReduce"} <= found.keys()
    assert found["TfLiteTensor"] == (40 if built.image.static_memory else 64)


def test_operators_take_what_is_estimated(built: Built) -> None:
    models = {name: model_of(name) for name in CASES} | {"all": model_of(*CASES)}
    assert [line for name, model in models.items() for line in differences(built, name, model)] == []


def test_a_model_with_variables_takes_what_is_estimated(built: Built) -> None:
    assert list(differences(built, "delay_line", delay_line().build(), variables=1)) == []


def test_inputs_that_nobody_reads_take_what_is_estimated(built: Built) -> None:
    model = chain("RELU6", "RELU6", size=64, type="int8")
    model.input("unused", [1, 48], "int8", scales=1)
    assert list(differences(built, "unused", model.build())) == []


def test_a_model_runs_and_what_it_logs_is_heard(built: Built) -> None:
    with closing(Chip(built.image, [chain("NEG", "RELU", type="int8").build()])) as chip:
        assert chip.start().allocate()["status"] == "error"
        assert chip.log == ["Didn't find op for builtin opcode ''"]
    with closing(Chip(built.image, [chain("NEG", type="int8").build()])) as chip:
        chip.start().allocate()
        assert chip.run([1, 2, 3])["status"] == "ok"
        assert chip.output()[:3] == bytes([255, 254, 253])


@pytest.mark.parametrize(("byte", "status"), [(0x67, "ok"), (0x68, "error")])  # kernels/micro_ops.h of the library
def test_a_run_that_ends_early_is_no_error_and_one_that_fails_is(built: Built, byte: int, status: str) -> None:
    with closing(Chip(built.image, [chain("NEG", type="int8").build()])) as chip:
        chip.start().allocate()
        assert chip.run([byte])["status"] == status


def test_a_fault_tells_which_operator_ran(built: Built) -> None:
    with closing(Chip(built.image, [delay_line().build()])) as chip:
        chip.start().allocate(variables=1)
        chip.ask("input", "ok", index=0, offset=0, hex="66")
        chip.send(cmd="invoke")
        fault = chip.frame("fault")
        assert (fault["stage"], fault["operator"], fault["operator_name"]) == ("invoke", 3, "NEG")


def run(harness: Any, folder: Path, model: bytes, manifest_path: Path) -> Any:
    path = folder / "model.tflite"
    path.write_bytes(model)
    return harness("run", path, "--board", BOARD.id, "--tflm", manifest_path, "--min-arena", "--format", "json")


@pytest.mark.parametrize("defines", [STATIC, STATIC[:1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("variant", ["2024-09", "2022-04"])
def test_a_run_from_the_manifest_to_the_verdict(harness: Any, tmp_path: Path, variant: str, defines: list[str]) -> None:
    named = described(tmp_path, variant, *defines)
    ended = run(harness, tmp_path, model_of("concatenation", "mean", "conv"), named)
    assert ended.status == 0, ended.err
    (row,) = ended.rows
    assert (row["verdict"], row["tflm"], row["error_bytes"]) == ("ok", variant, 0)
    assert row["measurement"]["min_working_arena_bytes"] == row["estimate"]["min_working_arena_bytes"]


@pytest.mark.parametrize(
    ("variant", "claimed"), [("2024-09", "2024-12"), ("2024-12", "2026-01"), ("2022-04", "2022-12")]
)
def test_a_manifest_that_claims_a_newer_generation_is_refused_before_the_build(
    harness: Any, tmp_path: Path, variant: str, claimed: str
) -> None:
    named = described(tmp_path, variant, *STATIC)
    named.write_text(f'{named.read_text()}generation = "{claimed}"\n')
    ended = run(harness, tmp_path, model_of("mean"), named)
    assert ended.status == 3
    assert f"these are headers of TFLM {variant}, and not of {claimed}" in ended.err


@pytest.mark.parametrize(
    ("variant", "headers", "told"),
    [
        ("2024-12", "2026-01", "OpDataReduce 44 instead of 40 bytes"),
        ("2023-06", "2023-09", "TfLiteConvParams 28 instead of 24 bytes"),
    ],
)
def test_headers_doctored_to_look_older_are_found_by_the_devices_sizes(
    harness: Any, tmp_path: Path, variant: str, headers: str, told: str
) -> None:
    """Headers of a release whose marks somebody has taken out: they say `variant`, and are not of it."""
    named = described(tmp_path, headers, *STATIC)
    include = tmp_path / "include"
    for path, mark, other in DOCTORED[headers]:
        text = (include / path).read_text()
        assert mark in text
        (include / path).write_text(text.replace(mark, other))
    ended = run(harness, tmp_path, model_of("mean"), named)
    (row,) = ended.rows
    assert ended.status == 3
    assert (row["error_class"], row["tflm"]) == ("ConfigMismatchError", variant)
    assert f"config_mismatch: {told}" in row["causes"][0]


def test_a_library_of_the_other_kind_of_memory_is_refused_before_the_build(harness: Any, tmp_path: Path) -> None:
    named = described(tmp_path, "2026-01", "NDEBUG")
    named.write_text(named.read_text().replace("'NDEBUG'", "'NDEBUG', 'TF_LITE_STATIC_MEMORY'"))
    ended = run(harness, tmp_path, model_of("mean"), named)
    assert ended.status == 3
    assert "config_mismatch: the library is built without TF_LITE_STATIC_MEMORY" in ended.err


@pytest.mark.parametrize("variant", ["2022-04", "2022-12"])
def test_arduino_libraries_are_built_for_the_esp32_too(variant: str, tmp_path: Path) -> None:
    board = load_board("esp32-virtual")
    toolchain = plugins.toolchain(board.toolchain)
    try:
        toolchain.identify()
    except ToolchainError as error:
        pytest.skip(f"{error.what}: {error.hint}")
    sources = write_variant(variant, tmp_path / "include")
    library = build_library(toolchain, [*board.cpu_flags, board.optimization], tmp_path, sources, STATIC[:1])
    tflm = PrebuiltProvider(manifest(tmp_path, [sources], [library], f"defines = {list(STATIC[:1])}"))
    image = build(board, tflm, toolchain, lambda *_: None)
    assert (image.tflm, image.static_memory) == (variant, False)
