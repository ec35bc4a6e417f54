from __future__ import annotations

import time

import pytest
import serial

from harness.virtual.faults import SerialFault

USART2 = 0x4000_4400
SR, BRR, CR1 = USART2, USART2 + 8, USART2 + 0xC
ENABLED = 1 << 13 | 1 << 3 | 1 << 2
ORE, RXNE, TXE = 1 << 3, 1 << 5, 1 << 7
BAUD = 115_200
DIVIDER = round(16_000_000 / BAUD)
SELF = "fee7"
ECHO = "01688906fcd541684160f9e7"
SEND_STRING_AT_R1 = "0a782ab103681b06fcd542600131f7e7fee7"
WAIT_S = 10.0


@pytest.fixture
def port(bench):
    with serial.Serial(bench.line.port, BAUD, timeout=0) as opened:
        yield opened


def start(bench, program: str, **registers: int) -> None:
    bench.start_with(program, r0=USART2, **registers)
    bench.put(BRR, DIVIDER)
    bench.put(CR1, ENABLED)


def talk(bench, port, wanted: int) -> bytes:
    """Run the board until the port has given `wanted` bytes."""
    received = b""
    deadline = time.monotonic() + WAIT_S
    while len(received) < wanted and time.monotonic() < deadline:
        bench.machine.receive()
        bench.machine.elapse(0)
        bench.machine.run(100_000)
        bench.line.flush()
        received += port.read(65536)
    return received


def put_text(bench, text: bytes) -> int:
    bench.machine.write_memory(0x2000_1000, text + b"\0", 1)
    return 0x2000_1000


def test_what_is_sent_comes_back_from_an_echo(bench, port):
    start(bench, ECHO)
    port.write(bytes(range(256)))
    assert talk(bench, port, 256) == bytes(range(256))


def test_tens_of_kilobytes_are_not_lost_on_a_reader_who_is_there(bench, port):
    text = bytes(33 + i % 90 for i in range(60_000))
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, text))
    assert talk(bench, port, len(text)) == text


def test_nobody_reading_does_not_block_the_board(bench):
    text = b"x" * 100_000
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, text))
    bench.run(200, limit=100_000)
    bench.halt()
    assert bench.pc == 0x0800_0100 + 16
    assert not bench.line.pending


def test_what_was_sent_before_the_port_was_opened_is_lost(bench):
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, b"early"))
    bench.run(20, limit=100_000)
    with serial.Serial(bench.line.port, BAUD, timeout=0) as port:
        assert port.read(10) == b""


def test_several_clients_one_after_the_other(bench):
    start(bench, ECHO)
    for text in (b"first", b"second", b"third"):
        with serial.Serial(bench.line.port, BAUD, timeout=0) as port:
            port.write(text)
            assert talk(bench, port, len(text)) == text


@pytest.mark.parametrize(("divider", "arrives"), [(DIVIDER, True), (round(DIVIDER * 1.02), True), (130, False)])
def test_another_speed_garbles(bench, port, divider, arrives):
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, b"hello"))
    bench.put(BRR, divider)
    assert (talk(bench, port, 5) == b"hello") == arrives


def test_another_speed_garbles_towards_the_device_too(bench, port):
    start(bench, SELF)
    bench.put(BRR, 2 * DIVIDER)
    port.write(b"A")
    bench.machine.receive()
    bench.machine.run(10_000)
    assert bench.word(SR) & RXNE
    assert bench.word(USART2 + 4) != ord("A")


def test_a_clock_five_percent_off_garbles(bench, port):
    bench.faults.clock.error_percent = 5.0
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, b"hello"))
    assert talk(bench, port, 5) != b"hello"


def test_a_byte_that_is_not_fetched_in_time_is_overrun(bench, port):
    start(bench, SELF)
    port.write(b"AB")
    bench.machine.receive()
    bench.machine.run(1_000)
    assert not bench.word(SR) & ORE
    bench.machine.run(5_000)
    assert bench.word(SR) & (ORE | RXNE) == ORE | RXNE
    assert bench.word(USART2 + 4) == ord("A")
    assert not bench.word(SR) & (ORE | RXNE)


def test_a_byte_takes_ten_bits_of_emulated_time(bench, port):
    start(bench, SELF)
    bench.put(USART2 + 4, 0x55)
    bench.machine.run(10 * DIVIDER - 10)
    before = bench.machine.state()["cycles"]
    assert bench.word(SR) & TXE
    assert 0 < bench.machine.state()["cycles"] - before <= 10 * DIVIDER


def test_polling_for_a_byte_rests(bench, port):
    start(bench, ECHO)
    bench.run(4, limit=100_000)
    assert bench.machine.state()["waiting_for_serial"]
    assert bench.machine.idle_s() > 0
    port.write(b"x")
    bench.machine.receive()
    assert bench.machine.idle_s() == 0


def test_computing_between_polls_is_no_rest(bench, port):
    poll_and_count_to_1000 = "0168" + "4ff47a72" + "013a" + "fdd1" + "f9e7"
    start(bench, poll_and_count_to_1000)
    bench.run(20, limit=100_000)
    assert bench.machine.state()["waiting_for_serial"] is False


def test_a_received_byte_raises_the_interrupt(bench, port):
    start(bench, SELF)
    bench.put(CR1, ENABLED | 1 << 5)
    bench.put(0xE000E104, 1 << 6)
    port.write(b"x")
    bench.machine.receive()
    bench.run(4)
    assert bench.word(0xE000ED04) & 0x1FF == 16 + 38


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("drop", b"helo"), ("duplicate", b"helllo")],
)
def test_serial_faults(bench, port, kind, expected):
    bench.faults.line.from_device.inject(SerialFault(kind, first=2 if kind == "drop" else 3))
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, b"hello"))
    assert talk(bench, port, len(expected)) == expected


def test_a_delay_splits_what_is_sent(bench, port):
    bench.faults.line.from_device.inject(SerialFault("delay", first=2, delay_s=0.2))
    start(bench, SEND_STRING_AT_R1, r1=put_text(bench, b"hello"))
    bench.run(20, limit=100_000)
    assert port.read(10) == b"he"
    assert talk(bench, port, 3) == b"llo"
