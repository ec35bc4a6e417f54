from __future__ import annotations

PROGRAM = 0x0800_0100
DHCSR, DEMCR, DFSR = 0xE000EDF0, 0xE000EDFC, 0xE000ED30
S_HALT, S_RESET_ST = 1 << 17, 1 << 25
HALTED, BKPT, VCATCH = 1 << 0, 1 << 1, 1 << 3
SELF = "fee7"
COUNT_IN_R0 = "0130fde7"


def test_halt_step_and_resume(bench):
    bench.load(COUNT_IN_R0)
    bench.halt()
    assert bench.word(DHCSR) & S_HALT
    assert bench.pc == PROGRAM
    bench.step()
    assert (bench.pc, bench.register(0)) == (PROGRAM + 2, 1)
    bench.step()
    assert bench.pc == PROGRAM
    bench.resume()
    assert not bench.word(DHCSR) & S_HALT
    bench.machine.run(100)
    bench.halt()
    assert bench.register(0) == 51


def test_a_halted_core_does_not_run(bench):
    bench.load(COUNT_IN_R0)
    bench.halt()
    bench.run()
    assert bench.register(0) == 0


def test_all_registers_can_be_written_and_read_back(bench):
    bench.load(SELF)
    bench.halt()
    for number in (*range(13), *range(0x40, 0x60)):
        bench.set_register(number, 0x0101_0101 * (number & 0xF) + number)
    for number in (*range(13), *range(0x40, 0x60)):
        assert bench.register(number) == 0x0101_0101 * (number & 0xF) + number
    bench.set_register(18, 0x1000_1000)
    bench.set_register(20, 0x0200_0001)
    assert bench.register(20) == 0x0200_0001
    assert bench.register(13) == 0x1000_1000


def test_a_comparator_stops_before_its_instruction(bench):
    bench.load("00bf00bf" + COUNT_IN_R0)
    bench.put(0xE000_2008, PROGRAM + 4 | 1 << 30 | 1)
    bench.put(0xE000_2000, 3)
    bench.resume()
    bench.run()
    assert bench.word(DHCSR) & S_HALT
    assert bench.word(DFSR) & BKPT
    assert (bench.pc, bench.register(0)) == (PROGRAM + 4, 0)


def test_a_comparator_matches_the_upper_halfword(bench):
    bench.load("00bf00bf" + COUNT_IN_R0)
    bench.put(0xE000_2008, PROGRAM | 2 << 30 | 1)
    bench.put(0xE000_2000, 3)
    bench.resume()
    bench.run()
    assert bench.pc == PROGRAM + 2


def test_a_breakpoint_instruction_halts_at_itself(bench):
    bench.load("00bf00be")
    bench.resume()
    bench.run()
    assert bench.word(DFSR) & BKPT
    assert bench.pc == PROGRAM + 2


def test_the_core_is_caught_at_its_reset_vector(bench):
    bench.load(COUNT_IN_R0)
    bench.resume()
    bench.put(DEMCR, 1)
    bench.put(0xE000ED0C, 0x05FA_0004)
    assert bench.word(DHCSR) & (S_HALT | S_RESET_ST) == S_HALT | S_RESET_ST
    assert not bench.word(DHCSR) & S_RESET_ST
    assert bench.word(DFSR) & VCATCH
    assert bench.pc == PROGRAM


def test_a_hard_fault_is_caught_at_its_handler(bench):
    bench.load("00de")
    bench.resume()
    bench.put(DEMCR, 1 << 10)
    bench.run()
    assert bench.word(DFSR) & VCATCH
    assert bench.pc == 0x0800_0800


def test_software_cannot_halt_itself(bench):
    bench.start_with("0160" + SELF, r0=DHCSR, r1=0xA05F_0003)
    bench.run()
    assert not bench.word(DHCSR) & S_HALT


def test_code_that_the_debugger_writes_is_what_runs(bench):
    bench.load(SELF)
    bench.halt()
    for code in ("0120fee7", "0220fee7"):  # movs r0, #1 or #2
        bench.machine.write_memory(0x2000_0000, bytes.fromhex(code), 4)
        bench.set_register(15, 0x2000_0000)
        bench.resume()
        bench.run()
        bench.halt()
        assert bench.register(0) == int(code[:2])


def test_the_rom_table_names_the_components(bench):
    table = 0xE00F_F000
    entries = [bench.word(table + 4 * index) for index in range(6)]
    assert entries[-1] == 0
    bases = {table + (entry & ~0xFFF) & 0xFFFF_FFFF for entry in entries[:-1]}
    assert bases == {0xE000_E000, 0xE000_1000, 0xE000_2000, 0xE000_0000, 0xE004_0000}
    for base in bases:
        identification = [bench.word(base + 0xFF0 + 4 * index) for index in range(4)]
        assert identification in ([0x0D, 0xE0, 0x05, 0xB1], [0x0D, 0x90, 0x05, 0xB1])
    assert bench.word(0xE004_2000) == 0x1007_6413
    assert bench.word(0xE000_ED00) == 0x410F_C241
