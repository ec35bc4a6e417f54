"""The debug probe of virtual boards, as pyOCD loads it through its entry point `pyocd.probe`.

Every use of pyOCD on this machine loads this module: it imports no emulator, and where the registry of virtual boards
cannot be read it lists none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pyocd.board.board_ids import BoardInfo
from pyocd.core import exceptions
from pyocd.core.plugin import Plugin
from pyocd.probe.debug_probe import DebugProbe

from harness.errors import HarnessError
from harness.virtual import link, registry
from harness.virtual.machines import MACHINES
from harness.virtual.stm32f407.probe.debug_link import DebugLink
from harness.virtual.stm32f407.probe.debug_port import DebugPort

_T = TypeVar("_T")


class VirtualProbePlugin(Plugin):  # type: ignore[misc]  # pyOCD comes without type hints
    """What pyOCD's plug-in loader asks for."""

    @property
    def name(self) -> str:
        """The prefix that chooses this kind of probe: `-u virtual:ID`."""
        return "virtual"

    @property
    def description(self) -> str:
        """For `pyocd list --plugins`."""
        return "harness's virtual boards"

    def load(self) -> type[VirtualProbe]:
        """The probe class."""
        return VirtualProbe


class VirtualProbe(DebugProbe):  # type: ignore[misc]  # pyOCD comes without type hints
    """The probe of one running virtual board.

    Args:
        entry: the board.
    """

    def __init__(self, entry: registry.Entry) -> None:
        super().__init__()
        self._entry = entry
        self._link: DebugLink | None = None
        self._debug_port: DebugPort | None = None
        self._protocol: DebugProbe.Protocol | None = None

    @classmethod
    def get_all_connected_probes(
        cls, unique_id: str | None = None, is_explicit: bool = False
    ) -> Sequence[VirtualProbe]:
        """The probes of the boards that run, private ones left out."""
        try:
            return [cls(entry) for entry in registry.running() if _target(entry)]
        except (HarnessError, OSError):
            return []  # the user's real probes must work in any case

    @classmethod
    def get_probe_with_id(cls, unique_id: str, is_explicit: bool = False) -> VirtualProbe | None:
        """The probe of this id, private boards included."""
        try:
            entry = registry.find_by_probe_id(unique_id)
        except (HarnessError, OSError):
            return None
        return cls(entry) if entry is not None and _target(entry) else None

    @property
    def vendor_name(self) -> str:
        """Who made it."""
        return "harness"

    @property
    def product_name(self) -> str:
        """What it is."""
        return f"virtual {self._entry.machine.upper()} {self._entry.name}"

    @property
    def unique_id(self) -> str:
        """What `-u` takes."""
        return self._entry.probe_id

    @property
    def supported_wire_protocols(self) -> Sequence[DebugProbe.Protocol]:
        """Serial wire debug only."""
        return [DebugProbe.Protocol.DEFAULT, DebugProbe.Protocol.SWD]

    @property
    def wire_protocol(self) -> DebugProbe.Protocol | None:
        """None while it is not connected."""
        return self._protocol

    @property
    def is_open(self) -> bool:
        """Whether the link to the board is open."""
        return self._link is not None

    @property
    def capabilities(self) -> set[DebugProbe.Capability]:
        """It selects access ports and register banks itself."""
        return {
            DebugProbe.Capability.MANAGED_AP_SELECTION,
            DebugProbe.Capability.MANAGED_DPBANKSEL,
            DebugProbe.Capability.BANKED_DP_REGISTERS,
        }

    @property
    def associated_board_info(self) -> BoardInfo:
        """Board name and target, so that no `--target` is needed."""
        return BoardInfo(f"virtual {self._entry.machine.upper()}", _target(self._entry), None, "harness")

    def create_associated_board(self) -> Any:  # noqa: ANN401  # pyOCD comes without type hints
        """Make pyOCD's object for the board."""
        from pyocd.board.board import Board  # noqa: PLC0415  # this module is loaded while pyOCD imports itself

        return Board(self.session, board_info=self.associated_board_info)

    def open(self) -> None:
        """Connect to the board's process."""
        self._link = DebugLink(_translate(link.Client, Path(self._entry.socket)))
        self._debug_port = DebugPort(self._link)

    def close(self) -> None:
        """Leave the board's process; the board goes on."""
        if self._link is not None:
            self._link.close()
        self._link = self._debug_port = None

    def connect(self, protocol: DebugProbe.Protocol | None = None) -> None:
        """Start the wire protocol."""
        _translate(self._opened.touch)
        self._protocol = DebugProbe.Protocol.SWD

    def disconnect(self) -> None:
        """End the wire protocol."""
        self._protocol = None

    def set_clock(self, frequency: float) -> None:
        """A virtual line has no clock."""

    def reset(self) -> None:
        """Pulse the reset pin."""
        self.assert_reset(True)
        self.assert_reset(False)

    def assert_reset(self, asserted: bool) -> None:
        """Pull the reset pin low, or let it go."""
        _translate(self._opened.set_reset, asserted)

    def is_reset_asserted(self) -> bool:
        """Whether the reset pin is low."""
        return _translate(self._opened.is_reset_asserted)

    def read_dp(self, addr: int, now: bool = True) -> Any:  # noqa: ANN401  # a value, or a function that gives it
        """Read a debug port register."""
        return _read(now, self._port.read_dp, addr)

    def write_dp(self, addr: int, data: int) -> None:
        """Write a debug port register."""
        _translate(self._port.write_dp, addr, data)

    def read_ap(self, addr: int, now: bool = True) -> Any:  # noqa: ANN401  # a value, or a function that gives it
        """Read an access port register."""
        return _read(now, self._port.read_ap, addr)

    def write_ap(self, addr: int, data: int) -> None:
        """Write an access port register."""
        _translate(self._port.write_ap, addr, data)

    def read_ap_multiple(self, addr: int, count: int = 1, now: bool = True) -> Any:  # noqa: ANN401  # as read_ap
        """Read the data register `count` times, in one round trip."""
        return _read(now, self._port.read_words, count)

    def write_ap_multiple(self, addr: int, values: Sequence[int]) -> None:
        """Write the data register once for each value, in one round trip."""
        _translate(self._port.write_words, values)

    @property
    def _opened(self) -> DebugLink:
        if self._link is None:
            raise exceptions.ProbeError("the probe is not open")
        return self._link

    @property
    def _port(self) -> DebugPort:
        if self._debug_port is None:
            raise exceptions.ProbeError("the probe is not open")
        return self._debug_port


def _target(entry: registry.Entry) -> str | None:
    """PyOCD's name for the chip of a board; None where there is no debug port, or another harness started the board."""
    machine = MACHINES.get(entry.machine)
    return machine.debug_target if machine else None


def _read(now: bool, read: Callable[[int], _T], argument: int) -> _T | Callable[[], _T]:
    """Read at once, but where pyOCD reads later hold value and error back until it asks."""
    if now:
        return _translate(read, argument)
    try:
        value = _translate(read, argument)
    except exceptions.Error as error:
        return _raiser(error)
    return lambda: value


def _raiser(error: Exception) -> Callable[[], Any]:
    def fail() -> None:
        raise error

    return fail


def _translate(call: Callable[..., _T], *arguments: object) -> _T:
    """Call into the link, its errors becoming pyOCD's."""
    try:
        return call(*arguments)
    except link.BusFaultError as error:
        raise exceptions.TransferFaultError(fault_address=error.address) from error
    except link.WaitError as error:
        raise exceptions.TransferTimeoutError(error.what) from error
    except link.NoAckError as error:
        raise exceptions.TransferError(error.what) from error
    except link.DisconnectedError as error:
        raise exceptions.ProbeDisconnected(error.what) from error
    except HarnessError as error:
        raise exceptions.ProbeError(error.what) from error
