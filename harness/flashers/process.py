"""The parent's end of the process in which a flasher's library runs: starts it, asks it, kills it when it hangs."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from harness import errors
from harness.errors import DeadlineError, HarnessError, ProbeError
from harness.flashers.messages import Message, encode, receive

_PIPE_BYTES = 65536
_HAS_PROCESS_GROUPS = os.name == "posix"
_START_S = 60.0
"""Importing pyOCD takes one to three seconds, and much longer on a busy machine with a cold disk."""


@dataclass(frozen=True)
class Program:
    """A flasher's library, and how to talk about it.

    Attributes:
        name: what people call it.
        worker: the module to run, which answers requests (see `harness.flashers.serving`).
        device: what it talks to, such as `the probe`.
        hung_hint: what to do when that hangs.
        ended_hint: what to do when the process ends by itself.
    """

    name: str
    worker: str
    device: str
    hung_hint: str
    ended_hint: str


class Process:
    """A running process of a flasher. It ends with this object, and with this program however that ends.

    Args:
        program: what runs in it.
        silence_s: how long it may give no sign of life during a call before it is killed.
    """

    def __init__(self, program: Program, silence_s: float) -> None:
        self._program = program
        self._silence_s = silence_s
        self._ready = False
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the finalizer
        # A session of its own: Ctrl-C must not reach it before this program has decided what to do.
        self._child = subprocess.Popen(
            _command(program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=_HAS_PROCESS_GROUPS,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            bufsize=0,
        )
        self._requests = _pipe(self._child.stdin)
        self._replies = _Replies(_pipe(self._child.stdout))
        self.kill = weakref.finalize(self, _end, self._child, self._log)
        """Ends the process, whatever it is doing. Calling it again does nothing."""

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.kill.alive and self._child.poll() is None

    def call(
        self, request: Message, doing: str, where: str, report: Callable[[float], None] = lambda done: None
    ) -> Message:
        """Ask, and wait for the result.

        Args:
            request: what to do.
            doing: the same in words, as in `while reading`.
            where: which device, for messages.
            report: told the part of the work that is done, 0 to 1.

        Raises:
            DeadlineError: it hung, and was killed.
            ProbeError: it ended.
            HarnessError: what it reported.
        """
        try:
            self._wait_until_ready()
            self._send(encode(request))
            while (reply := receive(self._replies.reader(self._silence_s))).fields["kind"] == "progress":
                report(reply.fields["done"])
        except TimeoutError as error:
            self.kill()
            raise self._hung(doing, where) from error
        except (EOFError, BrokenPipeError) as error:
            raise self._ended(doing, where) from error
        except BaseException:
            self.kill()  # its answer would be taken for the next request's
            raise
        if reply.fields["kind"] == "error":
            raise _reported(reply.fields)
        return reply

    def _wait_until_ready(self) -> None:
        if not self._ready:
            receive(self._replies.reader(_START_S))
            self._ready = True

    def _send(self, data: bytes) -> None:
        """Write to the process, which may not read: no system can wait for a pipe of every kind, but for a thread."""
        problems: list[OSError] = []
        writer = threading.Thread(target=_write_all, args=(self._requests, data, problems), daemon=True)
        writer.start()
        writer.join(self._silence_s)
        if writer.is_alive():
            raise TimeoutError
        if problems:
            raise problems[0]

    def _ended(self, doing: str, where: str) -> ProbeError:
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(1.0)
        self._log.seek(0)
        said = self._log.read().decode(errors="replace").strip().splitlines()
        self.kill()
        return ProbeError(
            f"{self._program.name}'s process ended while {doing}",
            where=where,
            measured=said[-1] if said else f"exit status {self._child.returncode}",
            hint=self._program.ended_hint,
        )

    def _hung(self, doing: str, where: str) -> DeadlineError:
        return DeadlineError(
            f"{self._program.device} hung while {doing}, and {self._program.name} was killed",
            where=where,
            expected=f"a sign of life within {self._silence_s:g} s",
            hint=self._program.hung_hint,
        )


class _Replies:
    """What the process writes, taken by a thread: only so can a pipe be waited for on every system, with a deadline.

    Args:
        stream: its standard output.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._held = bytearray()
        threading.Thread(target=_take_all, args=(stream, self._pieces), daemon=True).start()

    def reader(self, patience_s: float) -> Callable[[int], bytes]:
        """A function that waits for as many bytes as it is asked for, all in all at most `patience_s` seconds.

        It raises TimeoutError when they do not come, and EOFError when the process has ended.
        """
        deadline = time.monotonic() + patience_s

        def read_exactly(size: int) -> bytes:
            while len(self._held) < size:
                try:
                    piece = self._pieces.get(timeout=_remaining(deadline))
                except queue.Empty:
                    raise TimeoutError from None
                if not piece:
                    self._pieces.put(piece)  # for whoever asks again
                    raise EOFError
                self._held += piece
            data = bytes(self._held[:size])
            del self._held[:size]
            return data

        return read_exactly


def _take_all(stream: IO[bytes], pieces: queue.SimpleQueue[bytes]) -> None:
    with suppress(OSError, ValueError):  # the stream was closed here
        while piece := stream.read(_PIPE_BYTES):
            pieces.put(piece)
    pieces.put(b"")


def _write_all(stream: IO[bytes], data: bytes, problems: list[OSError]) -> None:
    unsent = memoryview(data)
    try:
        while unsent:
            unsent = unsent[stream.write(unsent[:_PIPE_BYTES]) :]
    except OSError as error:
        problems.append(error)
    except ValueError:  # the stream was closed here: the process was given up
        problems.append(BrokenPipeError())


def _command(program: Program) -> list[str]:
    """`-P`: modules in the user's current folder must not stand in for the library's."""
    return [sys.executable, "-P", "-m", program.worker]


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the process was started without a pipe")
    return stream


def _end(child: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    if child.poll() is None:  # else its number may be another's by now
        _kill(child)
    child.wait()
    for stream in (child.stdin, child.stdout, log):
        if stream is not None:
            stream.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End it, and what it has started where systems have groups of processes."""
    if _HAS_PROCESS_GROUPS:
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


def _remaining(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _reported(fields: Mapping[str, Any]) -> HarnessError:
    """The error that the process described; its class is one of harness's own."""
    kind = getattr(errors, fields["class"], ProbeError)
    error: HarnessError = kind(
        fields["what"],
        where=fields["where"],
        measured=fields["measured"],
        expected=fields["expected"],
        hint=fields["hint"],
    )
    return error
