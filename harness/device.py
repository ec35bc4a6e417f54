"""The talk with a device that speaks the frames of wire.py: ask, wait with a deadline, tell faults and resets apart."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.boot_texts import explain, explain_noise
from harness.errors import (
    DeadlineError,
    DeviceError,
    DeviceFaultError,
    HarnessError,
    ProtocolError,
    StackOverflowError,
    WatchdogError,
)
from harness.ports import Line
from harness.wire import NO_NONCE, VERSION, Damaged, Decoder, Event, Frame, LogText, OtherVersion, encode_command

# Carrying these out twice does no harm, where the answer to the first time was damaged on the line.
_REPEATABLE = frozenset({"hello", "input", "fill", "repaint", "scan", "output"})
_REPEATS = 2
_LOG_LIMIT_LINES = 1000
_POLL_S = 0.1


@dataclass(frozen=True)
class ModelState:
    """What the device found in its model region: `ok`, or why it cannot use it."""

    state: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Hello:
    """What a device says of itself after each reset; wire.py explains the fields."""

    build_id: str
    image_crc32: int
    board: str
    tflm: str
    unit: str
    arena_max_bytes: int
    line_bytes: int
    clock_hz: int
    clock_source: str
    stack_bytes: int
    reset: str
    struct_sizes: Mapping[str, int]
    model: ModelState


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds.

    Attributes:
        boot_s: from reset to the first frame.
        answer_s: for a command that computes nothing.
        work_s: for AllocateTensors or Invoke; longer than the device's watchdog, which is to strike first.
    """

    boot_s: float = 5.0
    answer_s: float = 5.0
    work_s: float = 30.0


class Device:
    """A device at the other end of an open line.

    Args:
        line: where it is.
        reset: resets it, the line staying open.
        patience: how long to wait for it.
    """

    def __init__(self, line: Line, reset: Callable[[], None], patience: Patience) -> None:
        self._line = line
        self._reset = reset
        self._patience = patience
        self._decoder = Decoder()
        self._events: deque[Event] = deque()
        self._nonce = secrets.token_hex(4)
        self._sequence = 0
        self._log: list[str] = []
        self._dropped_lines = 0
        self.damaged_lines = 0

    @property
    def log(self) -> tuple[str, ...]:
        """Everything on the line that was no frame; a flood of it is cut and counted."""
        cut = (f"({self._dropped_lines} more lines)",) if self._dropped_lines else ()
        return (*self._log, *cut)

    def reboot(self) -> Hello:
        """Reset the device and wait for its hello; raises as `await_boot`."""
        while (event := self._next_event(0)) is not None:  # a late hello must not be taken for the next one
            self._keep(event)
        self._reset()
        return self.await_boot()

    def await_boot(self) -> Hello:
        """Wait for the hello frame that follows a reset.

        Raises:
            DeadlineError: the device stayed silent.
            ProtocolError: it speaks another version, or something else altogether.
            DeviceFaultError: it faulted while it started.
        """
        # What a device said before this reset must not be taken for what it says after it.
        self._nonce = secrets.token_hex(4)
        frame = self._await({"hello"}, "hello", self._patience.boot_s, {NO_NONCE})
        return _hello(frame)

    def ask(self, command: str, answer: str, *, works: bool = False, **arguments: object) -> Frame:
        """Send a command and wait for its answer.

        Args:
            command: its name.
            answer: the kind of frame that answers it.
            works: whether TFLM runs for it, which takes longer.
            arguments: the command's own.

        Raises:
            DeadlineError: no answer.
            ProtocolError: an answer that cannot be used, or an error frame.
            DeviceFaultError, StackOverflowError, WatchdogError: the device died of it.
        """
        within_s = self._patience.work_s if works else self._patience.answer_s
        repeats = _REPEATS
        while True:
            try:
                return self._ask_once({"cmd": command, **arguments}, answer, within_s)
            except _CommandDamagedError:  # the device did not carry it out
                if repeats == 0:
                    raise
            except _AnswerDamagedError:
                if repeats == 0 or command not in _REPEATABLE:
                    raise
            repeats -= 1

    def _ask_once(self, command: Mapping[str, object], answer: str, within_s: float) -> Frame:
        name = str(command["cmd"])
        self._send(command)
        frame = self._await({answer, "error"}, name, within_s, {self._nonce})
        if frame.kind == answer:
            return frame
        if frame.body.text("error") == "bad_crc":
            raise _CommandDamagedError(f"the command {name!r} reached the device damaged", **self._damage())
        raise ProtocolError(
            f"the device refused the command {name!r}",
            measured=f"{frame.body.text('error')}: {frame.body.text('text')}",
        )

    def _send(self, command: Mapping[str, object]) -> None:
        self._line.write(encode_command(self._sequence, self._nonce, command))
        self._sequence += 1

    def _await(self, kinds: set[str], doing: str, within_s: float, nonces: set[str]) -> Frame:
        """The next frame of one of `kinds` with one of `nonces`; faults and resets on the way raise."""
        deadline = time.monotonic() + within_s
        damaged_before, lines, logged = self.damaged_lines, self._decoder.sound_lines, len(self._log)
        while (left_s := deadline - time.monotonic()) > 0:
            event = self._next_event(min(left_s, _POLL_S))
            if self._decoder.sound_lines > lines:  # a long frame takes its time on a slow line
                deadline, lines = time.monotonic() + within_s, self._decoder.sound_lines
            frame = self._judge(event, kinds, doing, nonces) if event else None
            if frame is not None:
                return frame
            # Silence after damage: the damaged line was the answer.
            if event is None and self.damaged_lines > damaged_before and doing != "hello":
                damaged = _AnswerDamagedError(f"the answer to {doing!r} arrived damaged", **self._damage())
                raise explain(self._log[logged:], self._line.port) or damaged
        raise explain(self._log[logged:], self._line.port) or self._silence(doing, within_s)

    def _next_event(self, wait_s: float) -> Event | None:
        if not self._events:
            self._events.extend(self._decoder.feed(self._line.read(wait_s)))
        return self._events.popleft() if self._events else None

    def _judge(self, event: Event, kinds: set[str], doing: str, nonces: set[str]) -> Frame | None:
        if isinstance(event, Frame):
            return self._judge_frame(event, kinds, doing, nonces)
        if isinstance(event, OtherVersion):
            raise ProtocolError(
                "the firmware speaks another version of the serial protocol",
                where=self._line.port,
                measured=event.version,
                expected=VERSION,
                hint="flash the firmware of this harness: --force-flash",
            )
        self._keep(event)
        return None

    def _judge_frame(self, frame: Frame, kinds: set[str], doing: str, nonces: set[str]) -> Frame | None:
        if frame.kind == "fault":
            raise _fault(frame, self._line.port)
        if frame.kind == "hello" and "hello" not in kinds:
            raise _unexpected_reset(_hello(frame), doing, self._line.port)
        # Anything else with another nonce is a late word of an earlier run.
        ours = frame.nonce in nonces or _is_complaint_without_nonce(frame)
        return frame if frame.kind in kinds and ours else None

    def _keep(self, event: LogText | Damaged | OtherVersion | Frame) -> None:
        if isinstance(event, Damaged):
            self.damaged_lines += 1
        if isinstance(event, Damaged | LogText):
            if len(self._log) < _LOG_LIMIT_LINES:
                self._log.append(event.text)
            else:
                self._dropped_lines += 1

    def _damage(self) -> dict[str, str]:
        """What an error says of a bad line."""
        return {
            "where": self._line.port,
            "measured": f"{self.damaged_lines} damaged lines in this run",
            "hint": "check cable, ground and baud rate",
        }

    def _silence(self, doing: str, within_s: float) -> HarnessError:
        if doing == "hello" and (noise := explain_noise(self._log, self._line.port)):
            return noise
        if doing == "hello" and self._log:
            return ProtocolError(
                "the device talks, but no frame of ours came",
                where=self._line.port,
                measured=f"{len(self._log)} lines, the last: {self._log[-1][:80]}",
                hint="check the baud rate of the board file, and that --port is this board's",
            )
        return DeadlineError(
            "the device is silent" if doing == "hello" else f"no answer to {doing!r}",
            where=self._line.port,
            measured=f"nothing for {within_s:.1f} s",
            hint="check power, the TX and RX wires (crossed?), ground, and that --port is this board's",
        )


class _CommandDamagedError(ProtocolError):
    """The device could not read a command."""


class _AnswerDamagedError(ProtocolError):
    """The answer to a command did not arrive whole."""


def _is_complaint_without_nonce(frame: Frame) -> bool:
    """Whether a device could not even read its first command, which would have told it the nonce."""
    return frame.kind == "error" and frame.nonce == NO_NONCE and frame.body.text("error") == "bad_crc"


def _hello(frame: Frame) -> Hello:
    body = frame.body
    model = body.inner("model")
    return Hello(
        build_id=body.text("build_id"),
        image_crc32=body.count("image_crc32"),
        board=body.text("board"),
        tflm=body.text("tflm"),
        unit=body.text("unit"),
        arena_max_bytes=body.count("arena_max_bytes"),
        line_bytes=body.count("line_bytes"),
        clock_hz=body.count("clock_hz"),
        clock_source=body.text("clock_source"),
        stack_bytes=body.count("stack_bytes"),
        reset=body.text("reset"),
        struct_sizes=body.inner("sizes").all_integers(),
        model=ModelState(model.text("state"), model.count("size_bytes"), model.text("sha256")),
    )


def _fault(frame: Frame, port: str) -> DeviceError:
    body = frame.body
    kind, text = body.text("kind"), body.text("text")
    registers = ("pc", "lr", "sp", "cfsr", "hfsr", "mmfar", "bfar")
    error = StackOverflowError if kind == "stack_overflow" else DeviceFaultError
    what = f"the device ended in a {kind.replace('_', ' ')} during {body.text('stage')}"
    return error(
        f"{what}: {text}" if text else what,
        where=port,
        measured=", ".join(f"{name}=0x{body.count(name):08x}" for name in registers),
    )


def _unexpected_reset(hello: Hello, doing: str, port: str) -> DeviceError:
    if hello.reset == "watchdog":
        return WatchdogError(
            f"the device hung during {doing!r}, and its watchdog reset it",
            where=port,
            hint="a larger watchdog.timeout_s in the board file gives slow models more time",
        )
    return DeviceFaultError(
        f"the device reset itself during {doing!r}",
        where=port,
        measured=f"reset cause: {hello.reset}",
        hint="a weak supply shows as power or brownout" if hello.reset in ("power", "brownout") else "",
    )
