"""The talk with a device that speaks the frames of wire.py: ask, wait with a deadline, tell faults and resets apart."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.device.boot_texts import explain, explain_noise
from harness.device.faults import fault_error, read_fault, reset_error
from harness.device.hello import Hello, read_hello
from harness.device.wire import NO_NONCE, VERSION, Damaged, Decoder, Event, Frame, LogText, OtherVersion, encode_command
from harness.domain.board import Board
from harness.domain.family import NO_WORDS, ChipWords
from harness.domain.postmortem import DeviceFault
from harness.errors import DeadlineError, HarnessError, ProtocolError
from harness.ports import Line

# Carrying these out twice does no harm, where the answer to the first time was damaged on the line.
_REPEATABLE = frozenset({"hello", "input", "fill", "repaint", "scan", "output"})
_REPEATS = 2
_LOG_LIMIT_LINES = 1000
_POLL_S = 0.1
_SETTLING_S = 1.0
# The firmware's words for a damaged line: noise can also hide a frame's mark, or its end.
_DAMAGED_COMMAND = frozenset({"bad_crc", "bad_frame", "too_long"})


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


def patience_for(board: Board) -> Patience:
    """How long to wait for a board: its watchdog is to strike before the host gives up.

    The STM32F407's watchdog clock may run at 17 instead of 32 kHz (its data sheet, LSI oscillator characteristics), and
    emulated seconds may last longer than real ones.
    """
    return Patience(work_s=board.watchdog_s * (8 if board.emulated else 2) + 2)


class Device:
    """A device at the other end of an open line.

    Args:
        line: where it is.
        reset: resets it, the line staying open.
        patience: how long to wait for it.
        words: what only such a chip says.
    """

    def __init__(self, line: Line, reset: Callable[[], None], patience: Patience, words: ChipWords = NO_WORDS) -> None:
        self._line = line
        self._reset = reset
        self._patience = patience
        self._words = words
        self._decoder = Decoder()
        self._events: deque[Event] = deque()
        self._nonce = secrets.token_hex(4)
        self._sequence = 0
        self._log: list[str] = []
        self._dropped_lines = 0
        self._fault: DeviceFault | None = None
        self._arena_bytes: int | None = None
        self._unit = ""
        self._restarted = False
        self._awaited_boots = 0
        self.boots = 0
        self.damaged_lines = 0

    @property
    def log(self) -> tuple[str, ...]:
        """Everything on the line that was no frame; a flood of it is cut and counted."""
        cut = (f"({self._dropped_lines} more lines)",) if self._dropped_lines else ()
        return (*self._log, *cut)

    @property
    def fault(self) -> DeviceFault | None:
        """Its last words since it was started last."""
        return self._fault

    @property
    def restarted(self) -> bool:
        """Whether it has started by itself since it was started last: its memory and registers are of another life."""
        return self._restarted

    @property
    def arena_bytes(self) -> int | None:
        """The arena that it was given since it was started last."""
        return self._arena_bytes

    @property
    def unit(self) -> str:
        """The chip's own id; empty before its first hello."""
        return self._unit

    @property
    def unexpected_boots(self) -> int:
        """How often it has started although nobody waited for that."""
        return max(0, self.boots - self._awaited_boots)

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
        self._awaited_boots += 1
        # What a device said before this reset must not be taken for what it says after it.
        self._nonce = secrets.token_hex(4)
        self._fault = self._arena_bytes = None
        self._restarted = False
        hello = read_hello(self._hello_after_boot())
        self._unit = hello.unit
        return hello

    def _hello_after_boot(self) -> Frame:
        damaged_before = self.damaged_lines
        try:
            return self._await({"hello"}, "hello", self._patience.boot_s, {NO_NONCE})
        except ProtocolError:
            if self.damaged_lines == damaged_before:
                raise
            return self.ask("hello", "hello")  # it has come, but damaged

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
                self._settle(command)
            except _AnswerDamagedError:
                if repeats == 0 or command not in _REPEATABLE:
                    raise
            repeats -= 1

    def _ask_once(self, command: Mapping[str, object], answer: str, within_s: float) -> Frame:
        name = str(command["cmd"])
        if isinstance(arena_bytes := command.get("arena_bytes"), int):
            self._arena_bytes = arena_bytes
        self._send(command)
        frame = self._await({answer, "error"}, name, within_s, {self._nonce})
        if frame.kind == answer:
            return frame
        if frame.body.text("error") in _DAMAGED_COMMAND:
            raise _CommandDamagedError(f"the command {name!r} reached the device damaged", **self._damage())
        raise ProtocolError(
            f"the device refused the command {name!r}",
            measured=f"{frame.body.text('error')}: {frame.body.text('text')}",
        )

    def _settle(self, command: str) -> None:
        """Let the line fall silent: a damaged command can have two answers, of which the next must not get one."""
        deadline = time.monotonic() + _SETTLING_S
        while time.monotonic() < deadline and (event := self._next_event(_POLL_S)) is not None:
            self._judge(event, set(), command, set())

    def _send(self, command: Mapping[str, object]) -> None:
        self._line.write(encode_command(self._sequence, self._nonce, command))
        self._sequence += 1

    def _await(self, kinds: set[str], doing: str, within_s: float, nonces: set[str]) -> Frame:
        """The next frame of one of `kinds` with one of `nonces`; faults and resets on the way raise."""
        deadline = time.monotonic() + within_s
        damaged_before, lines, logged = self.damaged_lines, 0, len(self._log)
        while (left_s := deadline - time.monotonic()) > 0:
            event = self._next_event(min(left_s, _POLL_S))
            # A long frame takes its time on a slow line; one that begins again and again does not get more of it.
            if self._decoder.frame_lines > lines:
                deadline, lines = time.monotonic() + within_s, self._decoder.frame_lines
            frame = self._judge(event, kinds, doing, nonces) if event else None
            if frame is not None:
                return frame
            # Silence after damage: the damaged line was the answer.
            if event is None and self.damaged_lines > damaged_before and doing != "hello":
                damaged = _AnswerDamagedError(f"the answer to {doing!r} arrived damaged", **self._damage())
                raise explain(self._log[logged:], self._line.port, self._words) or damaged
        raise explain(self._log[logged:], self._line.port, self._words) or self._silence(doing, within_s)

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
            self._fault = read_fault(frame.body, self._words)
            raise fault_error(self._fault, self._line.port, self._words)
        self.boots += frame.kind == "hello"
        if frame.kind == "hello" and "hello" not in kinds:
            self._restarted = True
            raise reset_error(read_hello(frame).reset, doing, self._line.port)
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
        """What to say of a deadline that has passed."""
        boots, unfinished = doing == "hello", self._decoder.unfinished
        if boots and (noise := explain_noise(self._log, self._line.port, self._words)):
            return noise
        if last := unfinished or (boots and self._log and self._log[-1]):
            return ProtocolError(
                "the device talks, but no frame of ours came" if boots else f"half an answer to {doing!r}",
                where=self._line.port,
                measured=f"{len(self._log) + bool(unfinished)} lines, the last: {last[:80]}",
                hint="check the baud rate of the board file, cable and ground, and that --port is this board's",
            )
        return DeadlineError(
            "the device is silent" if boots else f"no answer to {doing!r}",
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
    return frame.kind == "error" and frame.nonce == NO_NONCE and frame.body.text("error") in _DAMAGED_COMMAND
