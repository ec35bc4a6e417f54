from __future__ import annotations

import pytest

from harness.virtual.esp32 import memory_map
from harness.virtual.esp32.uart_clock import UartClock


def test_the_roms_speed_comes_from_the_crystal():
    assert UartClock().baud == pytest.approx(115200, rel=0.001)


def test_integer_and_sixteenths_divide_the_bus_clock():
    clock = UartClock()
    clock.write(memory_map.UART0_CLKDIV, 86 | 13 << 20)
    assert clock.baud == pytest.approx(40e6 / (86 + 13 / 16))
    clock.write(memory_map.RTC_CLK_CONF, 1 << 27)
    assert clock.baud == pytest.approx(80e6 / (86 + 13 / 16))


def test_the_reference_clock_can_feed_it():
    clock = UartClock()
    clock.write(memory_map.UART0_CONF0, 0x1C)
    clock.write(memory_map.UART0_CLKDIV, 100)
    assert clock.baud == 10_000


def test_other_registers_and_a_zero_do_no_harm():
    clock = UartClock()
    clock.write(0x3FF48000, 1)
    clock.write(memory_map.UART0_CLKDIV, 0)
    assert clock.baud == 40e6
