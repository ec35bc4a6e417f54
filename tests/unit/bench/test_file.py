import pytest

from harness.bench.boards import load_board
from harness.bench.file import boards_named_in, read_bench, virtual_duts
from harness.errors import BoardFileError, UsageError


@pytest.fixture
def bench(tmp_path):
    def read(text):
        path = tmp_path / "bench.toml"
        path.write_text(text)
        return read_bench(path)

    return read


def test_units_with_all_and_with_little(bench):
    left, other = bench(
        """
        [[dut]]
        name = "left"
        board = "stm32f407-discovery"
        probe = "066B"
        port = "/dev/ttyACM0"
        power_hook = ["uhubctl", "-a", "cycle"]
        [[dut]]
        board = "stm32f407-virtual"
        """
    )
    assert (left.name, left.board.id, left.probe, left.port) == ("left", "stm32f407-discovery", "066B", "/dev/ttyACM0")
    assert left.power_hook == ("uhubctl", "-a", "cycle")
    assert (other.name, other.probe, other.port, other.power_hook) == ("stm32f407-virtual-2", None, None, ())


def test_what_two_sweeps_may_not_share(bench):
    hardware, unnamed, own = bench(
        '[[dut]]\nboard = "stm32f407-discovery"\nprobe = "066B"\n[[dut]]\nboard = "stm32f407-discovery"\n'
        '[[dut]]\nboard = "stm32f407-virtual"\n'
    )
    assert [each.resource for each in (hardware, unnamed, own)] == ["dut 066B", "dut stm32f407-discovery", None]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dut = 3", "dut: wrong value"),
        ("[[dut]]\n", "board: missing key"),
        ('[[dut]]\nboard = "stm32f407-virtual"\nprob = "x"\n', "did you mean probe?"),
        ('[[dut]]\nboard = "stm32f407-virtual"\npower_hook = "a b"\n', "power_hook: wrong value"),
        ("[[duts]]\n", "did you mean dut?"),
        ('[[dut]]\nboard = "stm32f407-virtual"\nname = "a"\n' * 2, "the same name"),
        ('[[dut]]\nboard = "stm32f407-virtual"\nprobe = "a"\n' * 2, "the same probe"),
        ('[[dut]]\nboard = "stm32f407-virtual"\nport = "a"\n' * 2, "the same port"),
    ],
)
def test_what_is_wrong_is_named(bench, text, told):
    with pytest.raises(UsageError) as raised:
        bench(text)
    assert told in str(raised.value)


def test_an_unknown_board(bench):
    with pytest.raises(BoardFileError, match="unknown board"):
        bench('[[dut]]\nboard = "stm32f407-virtuel"\n')


def test_virtual_units_are_numbered():
    assert [each.name for each in virtual_duts(load_board("stm32f407-virtual"), 2)] == [
        "stm32f407-virtual-1",
        "stm32f407-virtual-2",
    ]


def test_hardware_cannot_be_started():
    with pytest.raises(UsageError, match="this board is hardware"):
        virtual_duts(load_board("stm32f407-discovery"), 1)


def test_the_boards_that_a_bench_file_names_need_not_exist(tmp_path):
    path = tmp_path / "bench.toml"
    path.write_text("[[dut]]\nboard = 'gone.toml'\n[[dut]]\nboard = 'a'\n[[dut]]\nboard = 'gone.toml'\n")
    assert boards_named_in(path) == ["gone.toml", "a"]
    path.write_text("# nothing yet")
    assert boards_named_in(path) == []
