"""Finding a family's port, in a firmware of a few lines."""

from dataclasses import replace

import pytest

from harness.bench.boards import board_ids, load_board
from harness.build.port import find_port
from harness.errors import BoardFileError, BuildError
from harness.files.resources import firmware_dir

BOARD = load_board("stm32f407-virtual")


def test_a_port_is_its_own_folder_and_those_that_it_needs(firmware):
    ports = firmware / "ports"
    port = find_port(BOARD, ports)
    assert port.script == ports / "stm32f4/linker.ld"
    assert port.sources() == [ports / "stm32f4/port.cc", ports / "common/shared.cc", ports / "common/inner/inner.S"]


def test_a_folder_that_is_named_twice_is_compiled_once(firmware):
    (firmware / "ports/stm32f4/port.toml").write_text('needs = ["common", "common"]\n')
    assert [path.name for path in find_port(BOARD, firmware / "ports").sources()] == ["port.cc", "shared.cc"]


@pytest.mark.parametrize("family", ["z80", "common", "common/inner", "", ".", "..", "../ports/stm32f4", "a\nb"])
def test_an_unknown_family_lists_the_ports(firmware, family):
    with pytest.raises(BoardFileError, match="no firmware port") as caught:
        find_port(replace(BOARD, family=family), firmware / "ports")
    assert caught.value.expected == "one of stm32f4"


@pytest.mark.parametrize("name", ["nowhere", "..", "/", ".", "common/..", "common/shared.cc", ""])
def test_a_needed_folder_that_is_missing_is_named(firmware, name):
    (firmware / "ports/stm32f4/port.toml").write_text(f'needs = ["common", "{name}"]\n')
    with pytest.raises(BuildError, match="needs is missing") as caught:
        find_port(BOARD, firmware / "ports")
    assert caught.value.measured == name
    assert caught.value.expected == "one of common, common/inner, stm32f4"


@pytest.mark.parametrize("text", ["", "needs = 1\n", "need = []\n", "[[["])
def test_a_broken_description_is_named(firmware, text):
    (firmware / "ports/stm32f4/port.toml").write_text(text)
    with pytest.raises(BuildError, match=r"port\.toml"):
        find_port(BOARD, firmware / "ports")


@pytest.mark.parametrize("board", board_ids())
def test_every_board_that_comes_with_harness_has_a_port(board):
    port = find_port(load_board(board), firmware_dir() / "ports")
    assert port.script.is_file()
    assert port.sources()
