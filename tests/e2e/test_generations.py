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

from harness.build.firmware import build
from harness.domain.estimate import Estimate
from harness.domain.firmware import FirmwareImage
from harness.estimate import ModelFile, estimate, struct_sizes
from harness.measure.expectation import profile_of
from harness.tflm.prebuilt import PrebuiltProvider
from harness.toolchains.arm_gcc import ArmGcc
from tests.support.chip import BOARD, Chip
from tests.support.fake_tflm import build_library
from tests.support.fake_tflm.variants import VARIANTS, write_variant
from tests.support.generation_models import CASES, MAY_OVERLAP, model_of
from tests.support.models import chain, delay_line
from tests.support.tflm_parts import manifest

ARENA_BYTES = 16 * 1024
GENERATION_OF = {"2023-01": "2022-12"}
"""Of the variants that are no generations of their own."""


@dataclass(frozen=True)
class Built:
    """A firmware with one variant."""

    variant: str
    image: FirmwareImage

    @property
    def generation(self) -> str:
        return GENERATION_OF.get(self.variant, self.variant)

    def estimate(self, model: bytes, **more: Any) -> Estimate:
        return estimate(ModelFile.of("m.tflite", model), profile_of(self.image, BOARD), **more)

    def hello(self) -> Mapping[str, Any]:
        with closing(Chip(self.image)) as chip:
            return chip.start().hello

    def allocate(self, model: bytes, **more: Any) -> Mapping[str, Any]:
        with closing(Chip(self.image, [model])) as chip:
            return chip.start().allocate(**more)


def provider(folder: Path, variant: str, *defines: str) -> PrebuiltProvider:
    """A library of a variant in `folder`, by its manifest."""
    sources = write_variant(variant, folder / "include")
    library = build_library(ArmGcc(), [*BOARD.cpu_flags, BOARD.optimization], folder, sources, defines)
    return PrebuiltProvider(manifest(folder, [sources], [library], f"defines = {list(defines)}"))


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
    tflm = provider(folder, variant, "NDEBUG", *(["TF_LITE_STATIC_MEMORY"] if static else []))
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
