from __future__ import annotations

import pytest

from harness.virtual.stm32f407.chip import faultstatus

HARD_FAULT, MEM_MANAGE, BUS_FAULT, USAGE_FAULT, SVC, PEND_SV = 3, 4, 5, 6, 11, 14
ICSR, SHCSR, CFSR, HFSR, BFAR = 0xE000ED04, 0xE000ED24, 0xE000ED28, 0xE000ED2C, 0xE000ED38
PROGRAM = 0x0800_0100
FIRST_HANDLER = 0x0800_0900
ALL_FAULTS_ENABLED = 0x7 << 16
SELF = "fee7"
LOAD_R1_FROM_R0 = "0168"
STORE_R1_TO_R0 = "0160"
PUSH_R0_TO_R7 = "ffb4"
RETURN = "7047"
XPSR, LR, SP, MSP, PSP = 16, 14, 13, 17, 18


def active_exception(bench) -> int:
    return bench.word(ICSR) & 0x1FF


def test_a_load_from_nowhere_is_a_hard_fault_that_names_the_address(bench):
    bench.start_with(LOAD_R1_FROM_R0 + SELF, r0=0x6000_0000)
    bench.run()
    assert active_exception(bench) == HARD_FAULT
    assert bench.word(HFSR) == faultstatus.FORCED
    assert bench.word(CFSR) == faultstatus.PRECISERR | faultstatus.BFARVALID
    assert bench.word(BFAR) == 0x6000_0000


def test_an_enabled_bus_fault_goes_to_its_own_handler_with_the_faulting_pc_stacked(bench):
    bench.start_with(STORE_R1_TO_R0 + SELF, {BUS_FAULT: SELF}, r0=0x6000_0000)
    bench.put(SHCSR, ALL_FAULTS_ENABLED)
    bench.run()
    assert active_exception(bench) == BUS_FAULT
    assert bench.word(HFSR) == 0
    bench.halt()
    assert bench.pc == FIRST_HANDLER
    assert bench.word(bench.register(SP) + 24) == PROGRAM


def test_reserved_peripheral_addresses_fault_with_the_faulting_pc(bench):
    bench.start_with("00bf" + LOAD_R1_FROM_R0 + SELF, r0=0x4001_4C00)
    bench.run()
    assert bench.word(BFAR) == 0x4001_4C00
    bench.halt()
    assert bench.word(bench.register(SP) + 24) == PROGRAM + 2


def test_an_undefined_instruction_is_a_usage_fault(bench):
    bench.start_with("00de" + SELF, {USAGE_FAULT: SELF})
    bench.put(SHCSR, ALL_FAULTS_ENABLED)
    bench.run()
    assert active_exception(bench) == USAGE_FAULT
    assert bench.word(CFSR) == faultstatus.UNDEFINSTR


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (0x0800_0200, faultstatus.INVSTATE),
        (0x6000_0001, faultstatus.IBUSERR),
        (0x1000_0001, faultstatus.IACCVIOL),
    ],
    ids=["no Thumb bit", "nothing there", "CCM is not executable"],
)
def test_a_branch_to_a_bad_address(bench, target, status):
    bench.start_with("0047" + SELF, r0=target)
    bench.run()
    assert active_exception(bench) == HARD_FAULT
    assert bench.word(CFSR) == status


def test_a_stack_overflow_sets_stkerr_and_the_handler_runs_on_the_main_stack(bench):
    bench.start_with(PUSH_R0_TO_R7 + SELF, {BUS_FAULT: SELF}, psp=0x1000_0010, special=0x0200_0000)
    bench.put(SHCSR, ALL_FAULTS_ENABLED)
    bench.run()
    assert active_exception(bench) == BUS_FAULT
    assert bench.word(CFSR) & (faultstatus.PRECISERR | faultstatus.STKERR) == (
        faultstatus.PRECISERR | faultstatus.STKERR
    )
    bench.halt()
    assert bench.register(SP) == bench.register(MSP) == 0x2001_0000
    assert bench.register(LR) == 0xFFFF_FFFD


def test_a_fault_in_a_fault_handler_locks_the_core_up(bench):
    bench.start_with("00de", {HARD_FAULT: "00de"})
    bench.run()
    assert bench.machine.state()["locked_up"]
    assert bench.word(0xE000EDF0) & 1 << 19


def test_an_erased_chip_locks_up(bench):
    bench.flash[:256] = b"\xff" * 256
    bench.reset()
    bench.run()
    assert bench.machine.state()["locked_up"]


def test_a_breakpoint_without_a_debugger_is_a_hard_fault(bench):
    bench.start_with("00be" + SELF)
    bench.run()
    assert active_exception(bench) == HARD_FAULT
    assert bench.word(HFSR) == faultstatus.DEBUGEVT


def test_a_supervisor_call_stacks_the_registers_and_returns_behind_itself(bench):
    set_r0 = "0120"  # movs r0, #1, in the handler: undone by unstacking
    bench.start_with("00df" + SELF, {SVC: set_r0 + RETURN}, r0=0x1234)
    bench.run()
    assert active_exception(bench) == 0
    bench.halt()
    assert bench.pc == PROGRAM + 2
    assert bench.register(0) == 0x1234
    assert bench.register(SP) == 0x2001_0000


def test_floating_point_registers_survive_an_exception(bench):
    move_r0_to_s0, move_r1_to_s0, move_s0_to_r2 = "00ee100a", "00ee101a", "10ee102a"
    bench.start_with(move_r0_to_s0 + "00df" + move_s0_to_r2 + SELF, {SVC: move_r1_to_s0 + RETURN}, r0=0x3F80_0000, r1=7)
    bench.run()
    bench.halt()
    assert bench.register(2) == 0x3F80_0000
    assert bench.register(SP) == 0x2001_0000


def test_primask_holds_back_what_is_pending(bench):
    disable, enable = "72b6", "62b6"
    bench.start_with(disable + "00bf" * 20 + enable + SELF, {PEND_SV: SELF})
    bench.machine.run(2)
    bench.put(ICSR, 1 << 28)
    bench.run(2, limit=4)
    assert active_exception(bench) == 0
    bench.run()
    assert active_exception(bench) == PEND_SV


def test_an_exception_of_lower_priority_waits(bench):
    set_pendsv_in_svc = STORE_R1_TO_R0 + "00bf00bf" + "0068" + RETURN  # str r1,[r0]; ldr r0,[r0]; bx lr
    bench.start_with("00df" + SELF, {SVC: set_pendsv_in_svc, PEND_SV: SELF}, r0=ICSR, r1=1 << 28)
    bench.put(0xE000ED20, 0xF0 << 16)
    bench.machine.run(1)
    bench.run(1, limit=4)
    assert active_exception(bench) == SVC
    bench.run()
    assert active_exception(bench) == PEND_SV


def test_the_vector_table_can_be_in_ram(bench):
    bench.start_with("00df" + SELF)
    bench.put(0xE000ED08, 0x2000_0000)
    bench.put(0x2000_0000 + 4 * SVC, 0x0800_0A01)
    bench.flash[0xA00:0xA02] = bytes.fromhex(SELF)
    bench.run()
    bench.halt()
    assert bench.pc == 0x0800_0A00


def test_returning_with_a_wrong_exc_return_is_a_usage_fault(bench):
    bench.start_with("00df" + SELF, {SVC: "6ff00a00" + "0047"})  # mvn r0,#10; bx r0: 0xFFFFFFF5
    bench.run()
    assert bench.word(CFSR) == faultstatus.INVPC
