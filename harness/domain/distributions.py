"""Table of the packages in which people get TFLM: which generation each carries, and how it is built.

Found by comparing each package's files with the history of tensorflow/tflite-micro, file by file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.domain.estimate import Profile

_SAME: Final = "files equal those of"
_FIRST_LSTM: Final = ("first-lstm", "small-variables")


@dataclass(frozen=True)
class Distribution:
    """A package that carries TFLM.

    Attributes:
        name: what people call it; lower case.
        versions: of the package, the newest first; empty where there is one state only.
        generation: of TFLM.
        known_from: how that is known.
        static_memory: whether it is built with TF_LITE_STATIC_MEMORY.
        kernels: the kernel set that its own build takes.
        traits: those of the generation's traits that it has.
    """

    name: str
    versions: tuple[str, ...]
    generation: str
    known_from: str
    static_memory: bool = True
    kernels: str = "reference"
    traits: tuple[str, ...] = ()

    def profile(self, abi: str, kernels: str | None = None) -> Profile:
        """What an estimate for it is for; `kernels` takes the place of its own build's."""
        return Profile(self.generation, abi, kernels or self.kernels, self.static_memory, frozenset(self.traits))

    @property
    def words(self) -> Iterator[str]:
        """What `--tflm` takes for it."""
        yield from (f"{self.name}@{version}" for version in self.versions)
        if not self.versions:
            yield self.name


def _espressif(versions: str, generation: str, known_from: str) -> Distribution:
    return Distribution("esp-tflite-micro", tuple(versions.split()), generation, known_from, kernels="esp-nn")


def _ambiq(version: str, generation: str, date: str) -> Distribution:
    return Distribution("neuralspot", (version,), generation, f"its folder names the commit of {date}")


def _mdk(version: str, generation: str) -> Distribution:
    return Distribution("mdk-pack", (version,), generation, "inferred from the release of ethos-u that it goes with")


DISTRIBUTIONS: Final[tuple[Distribution, ...]] = (
    _espressif("1.4.0 1.3.8 1.3.7", "2026-01", f"all {_SAME} 2026-05 to 2026-07"),
    _espressif("1.3.5 1.3.4", "2024-12", f"all {_SAME} 2025-08 and 2025-11"),
    _espressif("1.3.3~1 1.3.3", "2024-12", f"all {_SAME} 2025-01"),
    _espressif("1.3.2", "2024-09", f"all {_SAME} 2024-10"),
    _espressif("1.3.1 1.3.0", "2023-09", f"all {_SAME} 2024-05 and 2024-06"),
    _espressif("1.2.0 1.1.0", "2023-09", f"all {_SAME} 2023-09-29"),
    _espressif("1.0.0", "2023-06", f"all {_SAME} 2023-08-18"),
    Distribution("esphome", (), "2024-12", "micro_wake_word pins esp-tflite-micro 1.3.3~1", kernels="esp-nn"),
    Distribution("pico-tflmicro", (), "2024-12", f"most {_SAME} 2024-12-23", kernels="cmsis-nn"),
    Distribution("zephyr", (), "2024-12", f"all {_SAME} 2025-02-07"),
    Distribution("chirale", (), "2022-12", f"most {_SAME} 2023-01", static_memory=False, traits=_FIRST_LSTM),
    Distribution(
        "eloquenttinyml", (), "2022-12", "most headers equal those of 2023-01", static_memory=False, traits=_FIRST_LSTM
    ),
    Distribution(
        "tflite-micro-arduino-examples",
        (),
        "2022-12",
        f"most {_SAME} 2023-02-27",
        static_memory=False,
        kernels="cmsis-nn",
    ),
    Distribution("tensorflowlite_esp32", (), "2022-04", f"most {_SAME} 2022-05", static_memory=False),
    Distribution("tflm_esp32", ("2.0.0",), "2023-09", f"nearly all {_SAME} 2024-06"),
    Distribution("tflm_esp32", ("1.0.0",), "2022-04", f"most {_SAME} 2022-05", static_memory=False),
    Distribution("openmv", (), "2023-09", "all headers equal those of 2024-05", kernels="cmsis-nn"),
    Distribution(
        "infineon", ("3.4.0",), "2024-12", "a fork of 2025-11; sizes compiled", traits=("counts-temporaries",)
    ),
    Distribution("silabs-sdk", (), "2023-06", "its description names the commit of 2023-06-16"),
    Distribution("silabs-mltk", (), "2023-09", "its build names the commit of 2024-03-26"),
    Distribution("x-cube-ai", (), "2022-12", "ST's documentation names the commit of 2023-05-03"),
    _ambiq("e86d97b6", "2024-09", "2024-10-07"),
    _ambiq("0264234", "2023-09", "2023-11-15"),
    _ambiq("0c46d6e", "2022-04", "2022-09-06"),
    _mdk("1.26.2", "2026-01"),
    _mdk("1.25.2", "2024-12"),
    _mdk("1.24.11", "2024-09"),
    _mdk("1.24.8", "2023-09"),
    Distribution("nxp-eiq", (), "2023-09", "its change log names the commit of 2023-09-18"),
)
"""The newest version of a package first: it is meant where none is named."""


def distribution_named(word: str, table: Sequence[Distribution] = DISTRIBUTIONS) -> Distribution | None:
    """The distribution that a word such as `esp-tflite-micro@1.3.3` means; None without one."""
    name, _, version = word.lower().partition("@")
    return next((each for each in table if each.name == name and (not version or version in each.versions)), None)


def similar_words(word: str, table: Sequence[Distribution] = DISTRIBUTIONS) -> list[str]:
    """Words that somebody may have meant: the versions of a package, or packages of a similar name."""
    name = word.lower().partition("@")[0]
    of_package = [known for each in table if each.name == name for known in each.words]
    near = difflib.get_close_matches(word.lower(), of_package, n=3)
    return near or of_package[:3] or difflib.get_close_matches(name, sorted({each.name for each in table}), n=3)
