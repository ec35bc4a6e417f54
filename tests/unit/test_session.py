"""A session on a unit that is scripted at frame level: what goes into the row, and when the connection is given up."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from harness import plugins
from harness.bench.connection import HeldUnit
from harness.device.serial_log import SerialLog
from harness.device.talk import Device, Patience
from harness.domain.dut import Dut
from harness.domain.firmware import FlashSegment
from harness.domain.run_options import RunOptions
from harness.errors import ProbeError, SerialPortError
from harness.estimate import ModelFile
from harness.session import Session
from tests.support.models import chain
from tests.support.scripted import ALLOCATED, ANSWERS, HELLO, IMAGE, SUBJECT, ScriptedLine, failing

BOARD = SUBJECT.board
OPERATORS = ("RELU",)
MODEL = ModelFile.of("relu.tflite", chain("RELU").build())
SIZES = {"TfLiteTensor": 64}


class FakeConnection:
    """Holds a scripted unit."""

    def __init__(self, script=None, trouble=None):
        model = {**HELLO["model"], "sha256": MODEL.sha256}
        self.line = ScriptedLine(script, model=model, sizes=SIZES, board=BOARD.id)
        self.family = plugins.family(BOARD.family)
        self.serial_log = SerialLog()
        self.dut = Dut(BOARD, "p1", "/dev/x")
        self.trouble = trouble
        self.closed = 0
        self.written: list[str] = []

    def open(self):
        if self.trouble:
            raise self.trouble
        return HeldUnit(self.dut, self)

    def read(self, address, size_bytes):
        return b"\xff" * size_bytes

    def write(self, segment, progress):
        self.written.append(hex(segment.address))

    def start(self, open_line):
        return open_line()

    def restart(self, line):
        line.reset()

    def close(self):
        self.closed += 1

    @contextmanager
    def talk(self, parts):
        self.line.reset()
        yield Device(self.line, self.line.reset, Patience(0.5, 0.5, 0.5), self.family.words)


def session(connection, **options):
    image = replace(
        IMAGE,
        board_id=BOARD.id,
        segment=FlashSegment(0x0800_0000, b"firmware"),
        operators=OPERATORS,
        model_region=BOARD.model_flash,
    )
    return Session(BOARD, image, connection, RunOptions(**options), lambda *_: None)


def test_a_model_is_flashed_measured_and_reconciled():
    connection = FakeConnection()
    row = session(connection).run(MODEL)
    assert row.measurement is not None, row.causes
    assert row.measurement.arena_used_bytes == ALLOCATED["used_bytes"]
    assert row.estimate is not None
    assert row.error_bytes == row.estimate.arena_used_bytes - 1000
    assert connection.written == ["0x8000000", hex(BOARD.model_flash.start)]
    assert connection.closed == 0


def test_what_tflm_refuses_is_in_the_row_and_the_connection_stays():
    refused = {**ANSWERS["invoke"], "status": "failed"}
    connection = FakeConnection(failing("invoke", refused, "Type FLOAT16 (10) not supported."))
    row = session(connection).run(MODEL)
    assert (row.verdict, row.error_class) == ("fail", "ModelRefusedError")
    assert connection.closed == 0


@pytest.mark.parametrize("trouble", [ProbeError("gone"), SerialPortError("in use")])
def test_after_trouble_on_the_bench_the_next_model_begins_with_a_fresh_connection(trouble):
    connection = FakeConnection(trouble=trouble)
    row = session(connection).run(MODEL)
    assert (row.verdict, row.measurement) == ("error", None)
    assert row.estimate is not None
    assert connection.closed == 1


def test_a_model_that_must_not_reach_the_device_does_not():
    connection = FakeConnection()
    row = session(connection).run(ModelFile.of("custom.tflite", chain("GATHER_ND").build()))
    assert row.verdict in ("not_run", "fail", "does_not_link")
    assert connection.written == []


def test_the_firmware_alone_can_be_flashed():
    connection = FakeConnection()
    assert session(connection).flash() == [f"firmware {IMAGE.build_id}"]
    assert connection.written == ["0x8000000"]


def test_whoever_waits_for_an_answer_gets_one_or_an_error():
    session(FakeConnection()).await_answer()
    connection = FakeConnection(trouble=ProbeError("gone"))
    with pytest.raises(ProbeError):
        session(connection).await_answer()
    assert connection.closed == 1


def test_the_subject_carries_the_sizes_that_the_estimate_counts_on():
    connection = FakeConnection()
    connection.line = ScriptedLine(None, model={**HELLO["model"], "sha256": MODEL.sha256}, sizes={"TfLiteTensor": 40})
    row = session(connection).run(MODEL)
    assert row.verdict == "error"
    assert any("config_mismatch: TfLiteTensor 40 instead of 64 bytes" in cause for cause in row.causes)
