"""What an ESP32 says, and what its registers mean."""

from __future__ import annotations

import pytest

from harness import plugins
from harness.device.boot_texts import explain, explain_noise
from harness.errors import BrownOutError, DeviceFaultError, FlashError, ProbeError, WatchdogError

ESP32 = plugins.family("esp32")
BANNER = "ets Jun  8 2016 00:22:57"
TROUBLE = [
    ("rst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", BrownOutError),
    ("Brownout detector was triggered", BrownOutError),
    ("rst:0x10 (RTCWDT_RTC_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("rst:0x8 (TG1WDT_SYS_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("rst:0xb (TGWDT_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", WatchdogError),
    ("E (10315) task_wdt: Task watchdog got triggered.", WatchdogError),
    ("invalid header: 0xffffffff", FlashError),
    ("csum err:0x57!=0x56", FlashError),
    ("waiting for download", ProbeError),
    ("Fatal exception (28): ", DeviceFaultError),
]


@pytest.mark.parametrize(("line", "error"), TROUBLE)
def test_trouble_is_named(line, error) -> None:
    found = explain([BANNER, line], "/dev/ttyUSB0", ESP32.words)
    assert type(found) is error
    assert found.where == "/dev/ttyUSB0"
    assert found.measured == line.strip()


def test_a_normal_start_is_no_trouble() -> None:
    lines = [BANNER, "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", "load:0x3ffb4800,len:18300"]
    assert explain(lines, "p", ESP32.words) is None
    assert explain([BANNER, "rst:0xc (SW_CPU_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)"], "p", ESP32.words) is None
    assert explain([], "p", ESP32.words) is None


def test_a_missing_image_is_named_before_the_watchdog_that_ends_the_wait_for_it() -> None:
    lines = ["rst:0x10 (RTCWDT_RTC_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", "invalid header: 0xffffffff"]
    assert isinstance(explain(lines, "p", ESP32.words), FlashError)


def test_noise_may_be_the_roms_at_either_crystal() -> None:
    found = explain_noise([r"\xf0\x80"], "p", ESP32.words)
    assert found is not None
    assert "115200" in found.hint
    assert "74880" in found.hint


KERNEL, USER, DOUBLE = 0x300, 0x340, 0x3C0


def registers(**changes: int) -> dict[str, int]:
    return {
        "pc": 0x40080123,
        "lr": 0,
        "sp": 0x3FFB1000,
        "ps": 0,
        "vector": KERNEL,
        "exccause": 0,
        "excvaddr": 0,
    } | changes


@pytest.mark.parametrize("vector", [KERNEL, USER])
def test_a_bad_access_is_told_with_its_address(vector) -> None:
    bad = registers(vector=vector, exccause=29, excvaddr=0x20000000)
    assert ESP32.fault_address(bad) == 0x20000000
    assert ESP32.explain(bad) == (
        "StoreProhibited: a store to where none is allowed, such as a null pointer",
        "the address that could not be accessed is 0x20000000",
    )


def test_a_null_pointer_is_an_address() -> None:
    assert ESP32.fault_address(registers(exccause=28, excvaddr=0)) == 0


@pytest.mark.parametrize("changes", [{"exccause": 6}, {"exccause": 29, "vector": DOUBLE}])
def test_the_address_register_holds_something_only_after_a_bad_access(changes) -> None:
    assert ESP32.fault_address(registers(excvaddr=0x20000000, **changes)) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"exccause": 6}, ("IntegerDivideByZero: a division by zero",)),
        ({"exccause": 63}, ("exception cause 63",)),
        ({"exccause": 29, "vector": DOUBLE}, ("an exception inside an exception's handler",)),
        ({"exccause": 29, "vector": 0}, ()),  # of an abort: the core itself found nothing
    ],
)
def test_causes_have_words(changes, words) -> None:
    assert ESP32.explain(registers(**changes)) == words


def test_nothing_is_said_of_no_registers() -> None:
    assert ESP32.explain({}) == ()
    assert ESP32.fault_address({}) is None
    assert not ESP32.lacks_instruction({})


@pytest.mark.parametrize(("cause", "lacks"), [(0, True), (32, True), (1, False), (29, False)])
def test_an_instruction_of_another_core_is_known(cause, lacks) -> None:
    assert ESP32.lacks_instruction(registers(exccause=cause)) is lacks
    assert not ESP32.lacks_instruction(registers(exccause=cause, vector=DOUBLE))


@pytest.mark.parametrize("word", [0x4008_0123, 0x8008_0123, 0xC008_0123, 0x0008_0123])
def test_a_return_address_may_hold_a_windows_increment(word) -> None:
    assert ESP32.call_site(word) == 0x4008_0120


def test_code_may_lie_at_odd_addresses() -> None:
    assert ESP32.code_address(0x4008_0123) == 0x4008_0123


def test_no_return_address_leads_nowhere() -> None:
    assert ESP32.call_site(0) is None


@pytest.mark.parametrize(
    ("address", "into_flash"), [(0x3F400000, True), (0x3F7FFFFF, True), (0x3F800000, False), (0, False)]
)
def test_a_store_into_flash_is_told_from_other_wild_stores(address, into_flash) -> None:
    (reason, _) = ESP32.explain({"vector": 0x300, "exccause": 29, "excvaddr": address})
    assert ("read in place" in reason) is into_flash
