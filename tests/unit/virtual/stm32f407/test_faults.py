from __future__ import annotations

from harness.virtual.faults import SerialFault
from harness.virtual.link import Status
from harness.virtual.stm32f407.faults import Faults, LinkFault, LinkFaults


def test_link_faults_hit_the_nth_transfers() -> None:
    faults = LinkFaults()
    assert faults.next() is Status.OK
    faults.inject(LinkFault(first=2, count=2, status=Status.WAIT))
    assert [faults.next() for _ in range(4)] == [Status.OK, Status.WAIT, Status.WAIT, Status.OK]
    faults.inject(LinkFault(first=1, count=None, status=Status.DISCONNECTED))
    assert {faults.next() for _ in range(9)} == {Status.DISCONNECTED}


def test_clearing_mends_everything() -> None:
    faults = Faults()
    faults.flash.cells.stuck_bits[1] = 1
    faults.flash.failing_sector = 3
    faults.clock.hse_missing = True
    faults.link.inject(LinkFault(1, None, Status.WAIT))
    faults.line.to_device.inject(SerialFault("drop", 0, None))
    faults.clear()
    assert not faults.flash.cells.any_broken
    assert faults.flash.failing_sector is None
    assert not faults.clock.hse_missing
    assert faults.link.next() is Status.OK
    assert faults.line.to_device.apply(b"x") == b"x"
