import json
import zlib
from types import SimpleNamespace

import pytest

from harness.device.talk import Device, Patience
from harness.device.wire import NO_NONCE, encode
from harness.errors import (
    BrownOutError,
    DeadlineError,
    DeviceFaultError,
    ForeignHandError,
    ProtocolError,
    StackOverflowError,
    WatchdogError,
)
from tests.support.scripted import ANSWERS, FAULT, HELLO, ScriptedLine

BRIEF = Patience(boot_s=0.3, answer_s=0.3, work_s=0.3)


def started(script=None) -> tuple[ScriptedLine, Device]:
    line = ScriptedLine(script)
    device = Device(line, line.reset, BRIEF)
    device.reboot()
    return line, device


def only_for(name, answer):
    """A script that answers one command with `answer(line)` and leaves the others alone."""
    return lambda line, command: answer(line) if command["cmd"] == name else None


def test_boot_tells_who_is_there():
    line = ScriptedLine()
    line.say(b"\x00\xffrom boot text\r\n")
    line.boot()
    device = Device(line, line.reset, BRIEF)
    hello = device.await_boot()
    assert (hello.unit, hello.arena_max_bytes, hello.struct_sizes) == ("aabbcc", 4096, {"TfLiteTensor": 64})
    assert any("rom boot text" in text for text in device.transcript.log)


def test_a_hello_from_before_the_reset_is_not_taken_for_the_next():
    line, device = started()
    line.boot(unit="stale")
    assert device.reboot().unit == "aabbcc"


def test_a_hello_that_came_damaged_is_asked_for():
    line = ScriptedLine()
    line.say(line.frame(HELLO).replace(b"hello", b"hxllo"))
    device = Device(line, line.reset, BRIEF)
    assert device.await_boot().unit == "aabbcc"
    assert [command["cmd"] for command in line.commands] == ["hello"]


def test_silence_at_boot_has_its_deadline():
    line = ScriptedLine()
    with pytest.raises(DeadlineError, match="silent"):
        Device(line, line.reset, BRIEF).await_boot()


def test_a_line_at_the_wrong_speed_is_told_from_silence():
    line = ScriptedLine()
    line.say(bytes(value ^ 0xDB for value in b"no line ends in this"))
    with pytest.raises(ProtocolError, match="no frame") as caught:
        Device(line, line.reset, BRIEF).await_boot()
    assert "baud rate" in caught.value.hint


def test_half_an_answer_is_told_from_none():
    _, device = started(only_for("scan", lambda line: line.frame(dict(ANSWERS["scan"]))[:50]))
    with pytest.raises(ProtocolError, match="half an answer to 'scan'"):
        device.ask("scan", "scanned")


def test_two_complaints_about_one_command_are_not_taken_for_two_answers():
    complaints = [{"frame": "error", "error": word, "text": ""} for word in ("bad_crc", "bad_frame")]

    def script(line, command):
        said = b"".join(line.frame(body) for body in complaints)
        complaints.clear()
        return said or None

    line, device = started(script)
    device.ask("allocate", "allocated", works=True, arena_bytes=4096, paint=170)
    assert device.ask("scan", "scanned").kind == "scanned"
    assert [command["cmd"] for command in line.commands] == ["allocate", "allocate", "scan"]


def test_talk_without_frames_is_told_from_silence():
    line = ScriptedLine()
    line.say(b"some other program\r\n")
    with pytest.raises(ProtocolError, match="no frame") as caught:
        Device(line, line.reset, BRIEF).await_boot()
    assert "some other program" in str(caught.value)


def test_another_protocol_version_is_named():
    line = ScriptedLine()
    head = b'#H2 0 00000000 . {"frame":"hello"}'
    line.say(head + f" {zlib.crc32(head):08x}\n".encode())
    with pytest.raises(ProtocolError, match="another version") as caught:
        Device(line, line.reset, BRIEF).await_boot()
    assert "found 2, expected 1" in str(caught.value)


def test_an_answer_to_another_run_is_not_ours():
    late = encode(7, "deadbeef", '{"frame":"ok","cmd":"fill"}')
    line, device = started(only_for("fill", lambda line: late))
    with pytest.raises(DeadlineError, match="'fill'"):
        device.ask("fill", "ok", index=0)
    assert len(line.commands) == 1


def damaged_first(times):
    """A script that garbles the first answers."""
    left = [times]

    def script(line, command):
        if left[0] == 0:
            return None
        left[0] -= 1
        return line.frame(dict(ANSWERS[command["cmd"]])).replace(b"frame", b"fr\x00me")

    return script


def test_a_harmless_command_is_sent_again_when_its_answer_was_damaged():
    line, device = started(damaged_first(2))
    assert device.ask("scan", "scanned").body.count("gap_bytes") == 3096
    assert len(line.commands) == 3
    assert device.transcript.damaged_lines == 2


def test_a_long_frame_may_take_longer_than_the_wait_for_an_answer(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("harness.device.talk.time", SimpleNamespace(monotonic=lambda: now[0]))
    text = json.dumps(ANSWERS["output"])
    pieces = []

    def in_pieces(line):
        nonce = line.frame({}).split()[2].decode()
        for number in range(4):
            piece = text[20 * number : 20 * number + 20 if number < 3 else None]
            pieces.append(encode(number, nonce, piece, more=number < 3))
        return b""

    def read_slowly(timeout_s):
        now[0] += 0.25
        return pieces.pop(0) if pieces else b""

    line, device = started(only_for("output", in_pieces))
    monkeypatch.setattr(line, "read", read_slowly)
    assert device.ask("output", "output", index=0).body.data("hex") == b"\x2a"
    with pytest.raises(DeadlineError):
        device.ask("scan", "scanned")


def test_damage_that_lasts_is_a_protocol_error():
    _, device = started(damaged_first(9))
    with pytest.raises(ProtocolError, match="damaged"):
        device.ask("scan", "scanned")


def test_invoke_is_never_sent_twice():
    line, device = started(damaged_first(1))
    with pytest.raises(ProtocolError, match="damaged"):
        device.ask("invoke", "invoked", works=True)
    assert len(line.commands) == 1


def test_a_command_that_reached_the_device_damaged_is_sent_again():
    refusals = [{"frame": "error", "error": "bad_crc", "text": ""}]
    line, device = started(lambda line, command: line.frame(refusals.pop()) if refusals else None)
    device.ask("input", "ok", index=0, offset=0, hex="00")
    assert len(line.commands) == 2


def test_a_damaged_first_command_is_sent_again_whatever_it_is():
    refusals = [encode(1, NO_NONCE, '{"frame":"error","error":"bad_crc","text":""}')]
    line, device = started(lambda line, command: refusals.pop() if refusals else None)
    device.ask("allocate", "allocated", works=True, arena_bytes=1024, paint=0xAA)
    assert len(line.commands) == 2


def test_commands_that_always_arrive_damaged_are_a_protocol_error():
    refusal = {"frame": "error", "error": "bad_crc", "text": ""}
    line, device = started(lambda line, command: line.frame(refusal))
    with pytest.raises(ProtocolError, match="reached the device damaged"):
        device.ask("invoke", "invoked", works=True)
    assert len(line.commands) == 3


def test_a_refused_command_says_what_the_device_said():
    refusal = {"frame": "error", "error": "no_model", "text": "nothing there"}
    _, device = started(only_for("allocate", lambda line: line.frame(refusal)))
    with pytest.raises(ProtocolError, match="refused") as caught:
        device.ask("allocate", "allocated", works=True)
    assert "no_model: nothing there" in str(caught.value)


@pytest.mark.parametrize(("kind", "error"), [("hard_fault", DeviceFaultError), ("stack_overflow", StackOverflowError)])
def test_a_fault_says_where(kind, error):
    _, device = started(only_for("invoke", lambda line: line.frame({**FAULT, "kind": kind})))
    with pytest.raises(error) as caught:
        device.ask("invoke", "invoked", works=True)
    assert "pc=0x08000123" in str(caught.value)


def rebooted(reset):
    def answer(line):
        line.boot(reset=reset)
        return b""

    return answer


@pytest.mark.parametrize(
    ("reset", "error"),
    [
        ("watchdog", WatchdogError),
        ("brownout", BrownOutError),
        ("software", DeviceFaultError),
        ("unknown", DeviceFaultError),
        ("pin", ForeignHandError),
        ("debugger", ForeignHandError),
        ("power", ForeignHandError),
    ],
)
def test_a_reset_in_mid_command_is_told_by_its_cause(reset, error):
    _, device = started(only_for("invoke", rebooted(reset)))
    with pytest.raises(error, match="invoke"):
        device.ask("invoke", "invoked", works=True)


@pytest.mark.parametrize("command", ["invoke", "scan"])
def test_a_halted_core_is_somebody_else_s_doing(command):
    line = ScriptedLine(only_for(command, lambda line: b""))
    device = Device(line, line.reset, BRIEF, is_halted=lambda: True)
    line.boot()
    device.await_boot()
    with pytest.raises(ForeignHandError, match="somebody else halted the chip during"):
        device.ask(command, "any", works=command == "invoke")


def test_a_flood_of_log_lines_is_cut_and_counted():
    line = ScriptedLine()
    line.say(b"spam\n" * 1500)
    line.boot()
    device = Device(line, line.reset, BRIEF)
    device.await_boot()
    assert len(device.transcript.log) == 1001
    assert device.transcript.log[-1] == "(500 more lines)"


def test_a_hello_without_its_fields_is_refused():
    line = ScriptedLine()
    line.say(line.frame({key: value for key, value in HELLO.items() if key != "model"}))
    with pytest.raises(ProtocolError, match="missing key"):
        Device(line, line.reset, BRIEF).await_boot()
