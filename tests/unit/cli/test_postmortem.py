import json
from dataclasses import replace

import pytest

from harness.cli.postmortem import command
from harness.domain.postmortem import ArenaEnds, CodePlace, DeviceFault, PostMortem, RunningOperator
from harness.errors import ResultError
from harness.files.fields import Fields
from harness.results.as_json import reconciliation_from_json, reconciliation_to_json
from harness.results.postmortem_file import read_postmortem, write_postmortem
from harness.store import open_store
from tests.support.attempts import BOARD, KEY, job, result

REGISTERS = dict.fromkeys(("pc", "lr", "sp", "psr", "cfsr", "hfsr", "mmfar", "bfar"), 0x08000123)
PLACE = CodePlace(0x08000122, "tflite::Eval", "kernels/conv.cc", 42)
FOUND = PostMortem(
    model="kws\x1b.tflite",
    board=BOARD,
    unit="c0ffee",
    build_id="0" * 16,
    error_class="DeviceFaultError",
    what="the device ended in a bus fault",
    fault=DeviceFault("bus_fault", "invoke", "", REGISTERS, RunningOperator(3, "CONV_2D", 0x08000123)),
    registers={"pc": 0x08000456, "lr": 1, "sp": 2},
    fault_words=("PRECISERR: an access to data failed on the bus",),
    fault_address=0x20020000,
    pc=PLACE,
    lr=PLACE,
    kernel=PLACE,
    calls=(PLACE, PLACE),
    stack=b"abcd",
    stack_free_bytes=512,
    arena=ArenaEnds(0x20000040, 1000, b"\xaa" * 64, b"\x55" * 64, b"head", b"tail"),
    suspect="model",
    reasons=("arena and stack are sound",),
)


def shown(capsys, *arguments):
    assert command.main(list(map(str, arguments)), standalone_mode=False) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("found", [FOUND, PostMortem("m", "b", "", "0", "DeadlineError", "the device is silent")])
def test_a_file_holds_all_of_it(tmp_path, found):
    path = tmp_path / "new" / "found.json"
    write_postmortem(path, found)
    assert read_postmortem(path) == found


def test_a_row_carries_it_from_machine_to_machine():
    row = replace(result(), postmortem=FOUND)
    assert reconciliation_from_json(Fields("row", reconciliation_to_json(row), ResultError)).postmortem == FOUND


def test_a_file_is_shown_for_people(tmp_path, capsys):
    write_postmortem(tmp_path / "found.json", FOUND)
    out = shown(capsys, tmp_path / "found.json")
    assert "it died in tflite::Eval (kernels/conv.cc:42) at 0x08000122" in out
    assert "while TFLM ran operator 3 CONV_2D" in out
    assert "  PRECISERR: an access to data failed on the bus\n" in out
    assert "likely cause: the model: arena and stack are sound" in out
    assert "\x1b" not in out


def test_a_file_from_before_there_were_words_for_registers_is_read(tmp_path):
    path = tmp_path / "found.json"
    write_postmortem(path, FOUND)
    old = {key: value for key, value in json.loads(path.read_text()).items() if not key.startswith("fault_")}
    path.write_text(json.dumps(old))
    assert read_postmortem(path) == replace(FOUND, fault_words=(), fault_address=None)


def test_registers_with_long_names_stand_in_columns(tmp_path, capsys):
    registers = {"pc": 1, "exccause": 3}
    write_postmortem(tmp_path / "found.json", replace(FOUND, registers=registers))
    assert "\n        pc 00000001  exccause 00000003\n" in shown(capsys, tmp_path / "found.json")


def test_an_attempt_is_found_by_its_number(tmp_path, capsys):
    path = tmp_path / "harness.db"
    with open_store(path, create=True) as store:
        sweep = store.begin_sweep([job()], {})
        attempt = store.begin_attempt(sweep, job(), "left")
        store.end_attempt(attempt, replace(result(), postmortem=FOUND), KEY)
    assert "c0ffee" in shown(capsys, attempt, "--store", path)
    with pytest.raises(ResultError):
        shown(capsys, attempt + 1, "--store", path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": 1}'])
def test_what_is_no_post_mortem_is_refused(tmp_path, content):
    (tmp_path / "found.json").write_text(content)
    with pytest.raises(ResultError):
        read_postmortem(tmp_path / "found.json")
