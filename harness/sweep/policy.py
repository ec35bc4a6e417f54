"""What to do about trouble: which errors are worth another try, and when a unit is left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness import errors
from harness.errors import HarnessError, UsageError

_NOT_OF_THE_UNIT = (
    errors.ToolchainError,
    errors.SourceError,
    errors.BuildError,
    errors.ConfigMismatchError,
    errors.StorageError,
    errors.PluginError,
)
"""Trouble of this machine. Another try would end as the first one did, and no unit is to blame."""


@dataclass(frozen=True)
class Policy:
    """How patient a sweep is.

    Attributes:
        retries: how often a job is tried again after trouble on the bench.
        by_class: the same for errors of these classes, and of those below them; the nearest class counts.
        set_aside_after: so many different jobs that fail in a row on one unit set it aside.
        deadline_s: no job is begun so many seconds after the start; None for no deadline.
        power_hook: for units that have none of their own.
        power_hook_timeout_s: how long the hook may run, and how long after it the board may take to answer.
    """

    retries: int = 2
    by_class: Mapping[str, int] = field(default_factory=dict)
    set_aside_after: int = 3
    deadline_s: float | None = None
    power_hook: tuple[str, ...] = ()
    power_hook_timeout_s: float = 60.0

    def retries_after(self, error_class: str) -> int:
        """How often a job may be tried again after an error of this class; verdicts about a model are final."""
        kind = error_named(error_class)
        if kind is None:
            return 0
        for ancestor in kind.__mro__:
            if ancestor.__name__ in self.by_class:
                return self.by_class[ancestor.__name__]
        retried = issubclass(kind, errors.BenchError) and not issubclass(kind, _NOT_OF_THE_UNIT)
        return self.retries if retried else 0


def blames_unit(error_class: str) -> bool:
    """Whether an error of this class speaks against the unit that it happened on."""
    kind = error_named(error_class)
    return kind is not None and issubclass(kind, errors.BenchError) and not issubclass(kind, _NOT_OF_THE_UNIT)


def error_named(name: str) -> type[HarnessError] | None:
    """The error class of this name, if harness has one."""
    kind = getattr(errors, name, None) if name else None
    return kind if isinstance(kind, type) and issubclass(kind, HarnessError) else None


def parse_retries(words: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Numbers of retries as the command line takes them: `2` for all, `ProbeError=5` for one class.

    Raises:
        UsageError: neither of them, or a class that harness does not have.
    """
    general, by_class = Policy.retries, {}
    for word in words:
        name, separator, digits = word.rpartition("=")
        if not digits.isascii() or not digits.isdigit() or (separator and error_named(name) is None):
            raise UsageError(
                f"{word!r} is no number of retries", where="--retries", expected="such as 2, or ProbeError=5"
            )
        if separator:
            by_class[name] = int(digits)
        else:
            general = int(digits)
    return general, by_class
