from harness.device.serial_log import RecordedLine, SerialLog
from tests.support.scripted import ScriptedLine


def test_both_directions_are_kept_in_order():
    log = SerialLog()
    device = ScriptedLine()
    line = RecordedLine(device, log)
    device.say(b"boot\n")
    assert line.read(0.1) == b"boot\n"
    command = device.frame({"cmd": "scan"})
    line.write(command)
    answer = line.read(0.1)
    assert b"scanned" in answer
    assert log.take() == b"boot\n" + command + answer
    assert log.take() == b""


def test_a_babbling_device_is_cut_and_counted():
    log = SerialLog()
    for _ in range(9):
        log.add(bytes(1 << 20))
    kept = log.take()
    assert len(kept) < (8 << 20) + 100
    assert kept.endswith(b"(1048576 more bytes)\n")
