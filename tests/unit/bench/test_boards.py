from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.boards import board_ids, load_board, read_board
from harness.domain.board import MemoryRegion
from harness.errors import BoardFileError
from tests.support.places import CHECKOUT

BOARDS = CHECKOUT / "boards"


@pytest.fixture
def changed(tmp_path):
    """A copy of a board's file with one text replaced."""

    def change(old: str, new: str, board: str = "stm32f407-discovery") -> Path:
        text = (BOARDS / f"{board}.toml").read_text()
        assert old in text
        path = tmp_path / "mine.toml"
        path.write_text(text.replace(old, new, 1))
        return path

    return change


@pytest.mark.parametrize("board", board_ids())
def test_every_board_that_comes_along_is_sound(board):
    loaded = load_board(board)
    assert loaded.id == board
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
        ("start = 0x20000000, size_bytes", "start = 0x20000000, size", "memory.ram: size: unknown key"),
    ],
)
def test_a_broken_file_names_file_key_and_what_was_expected(changed, old, new, told):
    path = changed(old, new)
    with pytest.raises(BoardFileError) as caught:
        read_board(path)
    assert told in str(caught.value)
    assert path.name in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("start = 0x100000", "start = 0x108000", "flash.model: start: begins inside a page"),
        ("0x20000, size_bytes = 0xE0000", "0x21000, size_bytes = 0xD0000", "such as 0x30000"),
        ("start = 0x100000", "start = 0xF0000", "overlaps mapped"),
        ("model =", "modell =", "did you mean model"),
    ],
)
def test_flash_that_is_mapped_lies_in_whole_pages(changed, old, new, told):
    path = changed(old, new, "esp32-devkitc")
    with pytest.raises(BoardFileError) as caught:
        read_board(path)
    assert told in str(caught.value)


@pytest.mark.parametrize(("board", "megabytes"), [("-2mb", 1), ("", 3), ("-8mb", 3.125), ("-16mb", 3.125)])
def test_parts_with_another_flash_differ_in_the_room_for_models(board, megabytes):
    loaded = load_board(f"esp32-devkitc{board}")
    assert loaded.model_flash.size_bytes == megabytes * 2**20
    assert loaded.mapped_flash is not None
    assert loaded.mapped_flash.size_bytes + loaded.model_flash.size_bytes <= 4 * 2**20  # what the core can see


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


@pytest.fixture
def own(tmp_path):
    """Writes a board file of the user's own."""

    def write(text: str, name: str = "mine.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_a_board_with_a_base_holds_what_differs(own):
    base = load_board("stm32f407-discovery")
    board = read_board(own('base = "stm32f407-discovery"\ntitle = "Mine"\nbuild.cpu_flags = ["-mcpu=cortex-m4"]\n'))
    assert board == replace(base, id="mine", title="Mine", cpu_flags=("-mcpu=cortex-m4",))


def test_tables_are_merged_key_by_key(own):
    board = read_board(
        own('base = "stm32f407-discovery"\nbuild.defines.USART = "3"\nflash.firmware.size_bytes = 0x60000\n')
    )
    assert board.defines == {"HSE_HZ": "8000000", "USART": "3"}
    assert board.firmware_flash == MemoryRegion(0x08000000, 0x60000)


def test_a_base_may_have_a_base_and_lies_beside_the_file_that_names_it(own):
    own('base = "esp32-devkitc"\nserial.baud_rate = 9600\n', "lab/slow.toml")
    own('base = "lab/slow.toml"\nwatchdog.timeout_s = 2\n', "slow-and-short.toml")
    board = read_board(own('base = "slow-and-short.toml"\nwatchdog.timeout_s = 3\n'))
    assert board == replace(load_board("esp32-devkitc"), id="mine", baud_rate=9600, watchdog_s=3.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('base = "stm32f407-disco"', "mine.toml: base: unknown board 'stm32f407-disco'"),
        ('base = "stm32f407-disco"', "hint: did you mean stm32f407-discovery"),
        ('base = "nowhere.toml"', "nowhere.toml'"),
        ("base = 3", "mine.toml: base: wrong value"),
        (
            'base = "mine.toml"',
            "mine.toml: base: boards are based on each other in a circle\nfound mine.toml → mine.toml",
        ),
        ('base = "stm32f407-discovery"\nbuild = 3', "mine.toml: build: wrong value"),
        ('base = "stm32f407-discovery"\nbuild.flags = []', "mine.toml.build: flags: unknown key"),
        ('base = "stm32f407-discovery"\nmemory.ram.size = 3', "mine.toml.memory.ram: size: unknown key"),
        ('base = "stm32f407-discovery"\nserial.baud_rate = 9', "mine.toml.serial: baud_rate: wrong value"),
        ('base = "stm32f407-discovery"\nmemory.ram.start = 0x10000000', "mine.toml.memory: stack_ram: overlaps ram"),
    ],
)
def test_what_is_wrong_beside_a_base(own, text, told):
    with pytest.raises(BoardFileError) as caught:
        read_board(own(text))
    assert told in str(caught.value)


def test_a_circle_of_three(own):
    own('base = "b.toml"', "a.toml")
    own('base = "mine.toml"', "b.toml")
    with pytest.raises(BoardFileError) as caught:
        read_board(own('base = "a.toml"'))
    assert "b.toml: base: boards are" in str(caught.value)
    assert "found mine.toml → a.toml → b.toml → mine.toml" in str(caught.value)


def test_a_base_that_is_wrong_by_itself_is_the_one_that_is_named(own, changed):
    """Even when the board replaces what is wrong: the next one based on it may not."""
    broken = changed("baud_rate = 460800", "baud_rate = 1")
    broken.rename(broken.with_name("base.toml"))
    with pytest.raises(BoardFileError, match=r"base\.toml\.serial: baud_rate: wrong value"):
        read_board(own('base = "base.toml"\nserial.baud_rate = 9600\n'))


@pytest.mark.parametrize(
    ("virtual", "real"), [("stm32f407-virtual", "stm32f407-discovery"), ("esp32-virtual", "esp32-devkitc")]
)
def test_a_virtual_twin_differs_in_name_and_units_alone(virtual, real):
    twin = load_board(virtual)
    assert twin == replace(
        load_board(real), id=virtual, title=twin.title, units="virtual", machine=virtual.partition("-")[0]
    )
