"""What pyOCD loads at its start, through its entry point `pyocd.probe`, to learn of targets that it lacks.

pyOCD has no entry point for targets. A plug-in that declines to be loaded as a probe is asked all the same, and at the
right moment: so every use of pyOCD on this machine knows these chips, `pyocd` on the command line included.
"""

from __future__ import annotations

from pyocd.core.plugin import Plugin


class TargetPlugin(Plugin):  # type: ignore[misc]  # pyOCD comes without type hints
    """What pyOCD's plug-in loader asks."""

    @property
    def name(self) -> str:
        """For `pyocd list --plugins`."""
        return "stm32f407"

    @property
    def description(self) -> str:
        """For `pyocd list --plugins`."""
        return "harness's STM32F407 targets (no probe)"

    def should_load(self) -> bool:
        """There is no probe to load; the targets are made known."""
        from harness.flashers.pyocd import target  # noqa: PLC0415  # pyOCD is not wholly imported any earlier

        target.register()
        return False
