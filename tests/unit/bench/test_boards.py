from pathlib import Path

import pytest

from harness.bench.boards import board_ids, load_board, read_board
from harness.errors import BoardFileError
from tests.support.places import CHECKOUT

BOARDS = CHECKOUT / "boards"


@pytest.fixture
def changed(tmp_path):
    """A copy of the virtual board's file with one text replaced."""

    def change(old: str, new: str) -> Path:
        text = (BOARDS / "stm32f407-virtual.toml").read_text()
        assert old in text
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1))
        return path

    return change


@pytest.mark.parametrize("board", board_ids())
def test_every_board_that_comes_along_is_sound(board):
    loaded = load_board(board)
    assert loaded.id == board
    if loaded.model_flash is not None:
        assert loaded.firmware_flash.end <= loaded.model_flash.start


def test_a_board_file_of_the_users_own(changed):
    board = load_board(str(changed('title = "', 'title = "My ')))
    assert board.id == "mine"
    assert board.title.startswith("My ")


def test_an_unknown_board_is_met_with_the_nearest():
    with pytest.raises(BoardFileError, match="unknown board") as caught:
        load_board("stm32f407-virtuel")
    assert "did you mean stm32f407-virtual" in str(caught.value)


@pytest.mark.parametrize("board", ["../boards/stm32f407-virtual", "", "no/such.toml", "."])
def test_only_ids_and_toml_paths_are_boards(board):
    with pytest.raises(BoardFileError):
        load_board(board)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("baud_rate = 460800", 'baud_rate = "fast"', "serial: baud_rate"),
        ("baud_rate = 460800", "baud_rate = 12", "1200"),
        ("baud_rate = 460800", "baudrate = 460800", "did you mean baud_rate"),
        ("baud_rate = 460800", "", "missing key"),
        ("start = 0x08000000", "start = -1", "flash.firmware: start"),
        ("size_bytes = 0x80000 }   #", "size_bytes = true }   #", "size_bytes"),
        ('"-mthumb"', "3", "build: cpu_flags"),
        ("start = 0x08080000", "start = 0x0807FFFC", "overlaps firmware"),
        ("start = 0x10000000", "start = 0x20010000", "overlaps ram"),
        ("timeout_s = 8.0", "timeout_s = 80.0", "0.1 to 26"),
        ("[build]", "[build", "no TOML"),
        ("[serial]", "[serail]", "did you mean serial"),
    ],
)
def test_a_broken_file_names_file_key_and_what_was_expected(changed, old, new, told):
    path = changed(old, new)
    with pytest.raises(BoardFileError) as caught:
        read_board(path)
    assert told in str(caught.value)
    assert path.name in str(caught.value)


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\x00" * 9)
    with pytest.raises(BoardFileError, match="no TOML"):
        read_board(path)


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.toml"
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(BoardFileError, match="too large"):
        read_board(path)


def test_a_folder_is_no_board(tmp_path):
    (tmp_path / "x.toml").mkdir()
    with pytest.raises(BoardFileError):
        read_board(tmp_path / "x.toml")
