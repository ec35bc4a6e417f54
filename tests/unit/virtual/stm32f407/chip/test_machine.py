from __future__ import annotations

import pytest

from harness.virtual.stm32f407.chip.bus import BusError

RCC_CSR = 0x4002_3874
REMOVE_FLAGS = 1 << 24
POWER_ON, PIN, SOFTWARE, WATCHDOG = 0x0E00_0000, 1 << 26, 1 << 28 | 1 << 26, 1 << 29 | 1 << 26
AIRCR, SYSRESETREQ = 0xE000ED0C, 0x05FA_0004
IWDG_KR = 0x4000_3000
SELF = "fee7"
COUNT_IN_R0 = "0130fde7"
STORE_R1_TO_R0 = "0160"


def flags(bench) -> int:
    return bench.word(RCC_CSR) & 0xFE00_0000


def test_reset_flags_tell_the_causes_until_they_are_removed(bench):
    assert flags(bench) == POWER_ON
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.load(SELF)
    assert flags(bench) == PIN
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.put(AIRCR, SYSRESETREQ)
    assert flags(bench) == SOFTWARE


def test_software_resets_itself(bench):
    bench.start_with(STORE_R1_TO_R0 + SELF, r0=AIRCR, r1=SYSRESETREQ)
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.run(1)
    assert flags(bench) == SOFTWARE
    bench.halt()
    assert bench.pc == 0x0800_0100


def test_the_watchdog_resets_a_hang(bench):
    bench.load(SELF)
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.put(IWDG_KR, 0xCCCC)
    bench.run(10, limit=100_000)
    assert flags(bench) == 0
    bench.run(100, limit=100_000)  # 512 ms at 16 MHz
    assert flags(bench) == WATCHDOG


def test_the_watchdog_counts_while_the_core_is_halted_unless_it_is_frozen(bench):
    bench.load(SELF)
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.put(IWDG_KR, 0xCCCC)
    bench.halt()
    bench.put(0xE004_2008, 1 << 12)
    bench.machine.elapse(10.0)
    assert flags(bench) == 0
    bench.put(0xE004_2008, 0)
    bench.machine.elapse(10.0)
    assert flags(bench) == WATCHDOG


def test_ram_survives_a_reset_but_not_a_power_cut(bench):
    bench.put(0x2000_0000, 0x1234_5678)
    bench.put(0x1000_0000, 0x1234_5678)
    bench.reset()
    assert bench.word(0x2000_0000) == bench.word(0x1000_0000) == 0x1234_5678
    bench.machine.set_power(False)
    bench.machine.set_power(True)
    assert bench.word(0x2000_0000) != 0x1234_5678
    assert bench.word(0x1000_0000) != 0x1234_5678
    assert flags(bench) == POWER_ON


def test_flash_survives_a_power_cut(bench):
    bench.load(SELF)
    before = bench.flash[:]
    bench.machine.set_power(False)
    bench.machine.set_power(True)
    assert bench.flash[:] == before


def test_nothing_runs_while_the_reset_pin_is_low(bench):
    bench.load(COUNT_IN_R0)
    bench.machine.set_reset(True)
    before = bench.machine.state()["cycles"]
    bench.run()
    assert bench.machine.state()["cycles"] == before


def test_one_instruction_is_one_cycle(bench):
    bench.load(COUNT_IN_R0)
    before = bench.machine.state()["cycles"]
    bench.machine.run(1234)
    assert bench.machine.state()["cycles"] - before == 1234
    bench.halt()
    assert bench.register(0) == 617


def test_wfi_rests_until_an_interrupt(bench):
    bench.load("30bf" + COUNT_IN_R0, {15: "7047"})  # wfi; SysTick's handler returns
    bench.put(0xE000E014, 15_999)
    bench.put(0xE000E010, 7)
    bench.run()
    assert bench.machine.state()["sleeping"]
    assert 0 < bench.machine.idle_s() <= 0.001
    bench.machine.elapse(0.001)
    assert bench.machine.idle_s() == 0
    bench.run()
    assert not bench.machine.state()["sleeping"]
    bench.halt()
    assert bench.register(0) > 0


def test_systick_raises_its_exception_at_the_right_cycle(bench):
    count_in_r0_handler = "fee7"
    bench.load(COUNT_IN_R0, {15: count_in_r0_handler})
    bench.put(0xE000E014, 999)
    bench.put(0xE000E010, 7)
    bench.machine.run(10_000)
    bench.machine.run(1)
    bench.halt()
    assert bench.register(0) == 500
    assert bench.register(16) & 0x1FF == 15


def test_the_cycle_counter_counts_instructions(bench):
    bench.load(COUNT_IN_R0)
    bench.put(0xE000EDFC, 1 << 24)
    bench.put(0xE000_1004, 0)
    bench.put(0xE000_1000, 1)
    bench.machine.run(5000)
    assert bench.word(0xE000_1004) == 5000


def test_the_unique_id_and_the_flash_size_can_be_read(bench):
    identity = bench.machine.read_memory(0x1FFF_7A10, 12, 4)
    assert identity not in (b"\xff" * 12, bytes(12))
    assert bench.machine.read_memory(0x1FFF_7A22, 2, 2) == (1024).to_bytes(2, "little")


@pytest.mark.parametrize("address", [0, 0x0800_0200])
def test_stores_to_locked_flash_change_nothing_however_often(bench, address):
    bench.start_with("01600260 0270 fee7", r0=address, r1=0x11223344, r2=0x55667788)  # str, str, strb, b .
    loaded = bench.flash[:]
    bench.run()
    bench.halt()
    assert bench.pc == 0x0800_0106
    assert bench.flash[:] == loaded


def test_flash_is_also_at_address_zero(bench):
    bench.load(SELF)
    assert bench.machine.read_memory(0, 64, 4) == bench.machine.read_memory(0x0800_0000, 64, 4)


@pytest.mark.parametrize("address", [0x0810_0000, 0x2002_0000, 0x1001_0000, 0x6000_0000, 0x4001_5000])
def test_a_debugger_gets_a_bus_error_where_nothing_answers(bench, address):
    with pytest.raises(BusError) as caught:
        bench.word(address)
    assert caught.value.address == address


def test_a_device_that_hangs_is_reset_by_its_watchdog(bench):
    bench.load(COUNT_IN_R0)
    bench.put(RCC_CSR, REMOVE_FLAGS)
    bench.put(IWDG_KR, 0xCCCC)
    bench.faults.device.hanging = True
    bench.run()
    assert bench.machine.idle_s() > 0
    bench.machine.elapse(0.6)
    assert flags(bench) == WATCHDOG
    assert bench.machine.idle_s() == 0


def test_a_device_that_resets_itself_does_so_again_and_again(bench):
    bench.load(COUNT_IN_R0)
    bench.faults.device.reset_after_s = 0.001
    for _ in range(3):
        bench.put(RCC_CSR, REMOVE_FLAGS)
        bench.run(20, limit=1000)
        assert flags(bench) == PIN
