"""The STM32F407's memory map as pyOCD gets it from the plug-in, against RM0090."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyocd.core.memory_map import MemoryMap
from pyocd.core.session import Session

from harness.virtual import registry
from harness.virtual.stm32f407.probe.plugin import VirtualProbe

KB = 1024


def test_pyocd_learns_of_the_chip_at_its_start_and_of_no_probe() -> None:
    script = (
        "from pyocd.probe.aggregator import PROBE_CLASSES; from pyocd.target import TARGET;"
        "print('stm32f407xe' in TARGET, 'stm32f407xg' in TARGET, 'stm32f407' in PROBE_CLASSES)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("True True False\n", "")


def memory_map(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryMap:
    monkeypatch.chdir(tmp_path)  # pyOCD changes the working directory; this changes it back
    probe = VirtualProbe(registry.Entry("not-opened", "stm32f407", 0, "", ""))
    return Session(probe, options={"no_config": True, "target_override": name}).target.memory_map


@pytest.mark.parametrize(("name", "flash_kb"), [("stm32f407xe", 512), ("stm32f407xg", 1024)])
def test_flash_sectors(name: str, flash_kb: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    regions = [region for region in memory_map(name, monkeypatch, tmp_path) if region.is_flash]
    sectors = [region.sector_size for region in regions for _ in range(region.length // region.sector_size)]
    assert sectors[:5] == [16 * KB] * 4 + [64 * KB]
    assert set(sectors[5:]) == {128 * KB}
    assert sum(sectors) == flash_kb * KB
    assert [region.start for region in regions] == [0x0800_0000, 0x0801_0000, 0x0802_0000]


def test_memories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = memory_map("stm32f407xg", monkeypatch, tmp_path)
    sizes = {region.start: region.length for region in found if region.is_ram}
    assert sizes == {0x2000_0000: 128 * KB, 0x1000_0000: 64 * KB}
    assert found.get_boot_memory().start == 0x0800_0000
    assert found.get_default_region_of_type(found.get_region_for_address(0x2000_0000).type).start == 0x2000_0000
