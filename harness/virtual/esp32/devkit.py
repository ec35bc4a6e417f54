"""A DevKitC's auto-reset circuit: the serial adapter's DTR and RTS drive EN and GPIO0 through two transistors."""

from __future__ import annotations

_HOLD_S = 0.5


class AutoReset:
    """The two pins.

    EN is low while RTS is asserted and DTR is not; GPIO0 is low while DTR is asserted and RTS is not. A capacitor keeps
    EN low for a while after a reset: RFC 2217 sets one line at a time, and on its way from "reset" to "boot strap" it
    passes through both lines asserted, which must not let the chip start yet.
    """

    def __init__(self) -> None:
        self._dtr = self._rts = False
        self._enabled = True
        self._released_at: float | None = None

    @property
    def enabled(self) -> bool:
        """Whether EN is high: the chip runs."""
        return self._enabled

    @property
    def download_strap(self) -> bool:
        """Whether GPIO0 is low: a chip that starts now waits for a download."""
        return self._dtr and not self._rts

    @property
    def deadline(self) -> float | None:
        """When EN rises by itself."""
        return self._released_at

    def set_lines(self, now: float, *, dtr: bool, rts: bool) -> None:
        """The adapter drives its lines.

        Args:
            now: seconds on any clock.
            dtr: whether it is asserted.
            rts: whether it is asserted.
        """
        self._dtr, self._rts = dtr, rts
        held = dtr and rts and not self._enabled
        self._released_at = now + _HOLD_S if held else None
        self._enabled = not held and not (rts and not dtr)

    def elapse(self, now: float) -> None:
        """Let time pass until `now`."""
        if self._released_at is not None and now >= self._released_at:
            self._released_at = None
            self._enabled = True
