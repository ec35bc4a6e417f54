"""The talk with a device that speaks the frames of wire.py: ask, wait with a deadline, tell faults and resets apart."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.device.boot_texts import explain, explain_noise
from harness.device.faults import fault_error, halt_error, read_fault, reset_error
from harness.device.hello import Hello, read_hello
from harness.device.transcript import Transcript
from harness.device.wire import NO_NONCE, VERSION, Decoder, Event, Frame, OtherVersion, encode_command
from harness.domain.board import Board
from harness.domain.family import NO_WORDS, ChipWords
from harness.errors import DeadlineError, HarnessError, ProtocolError
from harness.ports import Line

# Carrying these out twice does no harm, where the answer to the first time was damaged on the line.
_REPEATABLE = frozenset({"hello", "input", "fill", "repaint", "scan", "output"})
_REPEATS = 2
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
    """A device at the other end of an open line, and the transcript of the talk with it.

    Args:
        line: where it is.
        reset: resets it, the line staying open.
        patience: how long to wait for it.
        words: what only such a chip says.
        is_halted: whether somebody has stopped its core, as far as anybody can tell.
    """

    def __init__(
        self,
        line: Line,
        reset: Callable[[], None],
        patience: Patience,
        words: ChipWords = NO_WORDS,
        is_halted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._line = line
        self._reset = reset
        self._patience = patience
        self._words = words
        self._is_halted = is_halted
        self._decoder = Decoder()
        self._events: deque[Event] = deque()
        self._nonce = secrets.token_hex(4)
        self._sequence = 0
        self.transcript = Transcript()

    def reboot(self) -> Hello:
        """Reset the device and wait for its hello; raises as `await_boot`."""
        while (event := self._next_event(0)) is not None:  # a late hello must not be taken for the next one
            self.transcript.keep(event)
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
        self.transcript.begin_life()
        hello = read_hello(self._hello_after_boot())
        self.transcript.unit = hello.unit
        return hello

    def _hello_after_boot(self) -> Frame:
        damaged_before = self.transcript.damaged_lines
        try:
            return self._await({"hello"}, "hello", self._patience.boot_s, {NO_NONCE})
        except ProtocolError:
            if self.transcript.damaged_lines == damaged_before:
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
            self.transcript.arena_bytes = arena_bytes
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
        damaged_before, lines, logged = self.transcript.damaged_lines, 0, self.transcript.length
        while (left_s := deadline - time.monotonic()) > 0:
            event = self._next_event(min(left_s, _POLL_S))
            # A long frame takes its time on a slow line; one that begins again and again does not get more of it.
            if self._decoder.frame_lines > lines:
                deadline, lines = time.monotonic() + within_s, self._decoder.frame_lines
            frame = self._judge(event, kinds, doing, nonces) if event else None
            if frame is not None:
                return frame
            # Silence after damage: the damaged line was the answer.
            if event is None and self.transcript.damaged_lines > damaged_before and doing != "hello":
                damaged = _AnswerDamagedError(f"the answer to {doing!r} arrived damaged", **self._damage())
                raise self._explained(logged) or damaged
        raise self._explained(logged) or self._silence(doing, within_s)

    def _explained(self, start: int) -> HarnessError | None:
        """What the lines since a place in the transcript tell of trouble."""
        return explain(self.transcript.lines_since(start), self._line.port, self._words)

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
        self.transcript.keep(event)
        return None

    def _judge_frame(self, frame: Frame, kinds: set[str], doing: str, nonces: set[str]) -> Frame | None:
        if frame.kind == "fault":
            self.transcript.fault = read_fault(frame.body, self._words)
            raise fault_error(self.transcript.fault, self._line.port, self._words)
        if frame.kind == "hello":
            self.transcript.note_start(expected="hello" in kinds)
        if frame.kind == "hello" and "hello" not in kinds:
            raise reset_error(read_hello(frame).reset, doing, self._line.port)
        # Anything else with another nonce is a late word of an earlier run.
        ours = frame.nonce in nonces or _is_complaint_without_nonce(frame)
        return frame if frame.kind in kinds and ours else None

    def _damage(self) -> dict[str, str]:
        """What an error says of a bad line."""
        return {
            "where": self._line.port,
            "measured": f"{self.transcript.damaged_lines} damaged lines in this run",
            "hint": "check cable, ground and baud rate",
        }

    def _silence(self, doing: str, within_s: float) -> HarnessError:
        """What to say of a deadline that has passed."""
        boots, unfinished = doing == "hello", self._decoder.unfinished
        if self._is_halted():
            return halt_error(doing, self._line.port)
        if boots and (noise := explain_noise(self.transcript.log, self._line.port, self._words)):
            return noise
        if last := unfinished or (boots and self.transcript.log and self.transcript.log[-1]):
            return ProtocolError(
                "the device talks, but no frame of ours came" if boots else f"half an answer to {doing!r}",
                where=self._line.port,
                measured=f"{self.transcript.length + bool(unfinished)} lines, the last: {last[:80]}",
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
