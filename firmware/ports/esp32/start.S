// Exception vectors and the first instructions, for the call0 ABI and for the windowed one.
//
// Special registers are written by number: Debian's assembler is made for a core that lacks some of them. Numbers and
// vector offsets: Xtensa Instruction Set Architecture reference manual, and ESP32 as XCHAL_* in its core-isa.h.

#define WINDOWBASE 72
#define WINDOWSTART 73
#define EXCSAVE2 210
#define CPENABLE 224
#define EPC_LEVEL 176 /* EPC of level n is this plus n */

// PS: no interrupts (INTLEVEL 15), user vector mode, and where registers come in windows, WOE.
#define PS_PLAIN 0x2F
#define PS_WINDOWED 0x4002F

// Offsets in esp32::SavedRegisters.
#define SAVED_VECTOR 0
#define SAVED_PC 4
#define SAVED_A0 8
#define SAVED_A1 12
#define SAVED_PS 16
#define SAVED_EXCCAUSE 20
#define SAVED_EXCVADDR 24

    .macro write_special number, register
    .byte \register << 4, \number, 0x13
    .endm
    .macro read_special number, register
    .byte \register << 4, \number, 0x03
    .endm

    // Calls a function that never returns, on the stack whose end stands in `stack`. Interrupts stay off, and whatever
    // the register windows held is given up.
    .macro call_on stack, function
    movi a2, PS_PLAIN
    wsr.ps a2
    rsync
    movi a2, 0
    write_special WINDOWBASE, 2
    rsync
    movi a2, 1
    write_special WINDOWSTART, 2
    rsync
#ifdef __XTENSA_WINDOWED_ABI__
    l32r a2, ps_windowed
    wsr.ps a2
    rsync
#endif
    l32r a1, \stack
    movi a0, 0
#ifdef __XTENSA_WINDOWED_ABI__
    call4 \function
#else
    call0 \function
#endif
    .endm

    // A vector: keeps the program counter and the vector's number. EXCVADDR comes first: where memory is mapped by page
    // tables, as in an emulator, the next access to memory may change it.
    .macro fault_vector offset, read_pc, pc_register
    .org \offset
    wsr.excsave1 a0
    rsr.excvaddr a0
    write_special EXCSAVE2, 0
    l32r a0, saved_registers
    s32i a1, a0, SAVED_A1
    \read_pc \pc_register
    s32i a1, a0, SAVED_PC
    movi a1, \offset
    j take_fault
    .endm
    .macro read_epc1 unused
    rsr.epc1 a1
    .endm
    .macro read_depc unused
    rsr.depc a1
    .endm
    .macro read_epc level
    read_special (EPC_LEVEL + \level), 1
    .endm

    .section .vectors, "ax"
    .align 1024
vectors:
#ifdef __XTENSA_WINDOWED_ABI__
    .org 0x000 // WindowOverflow4
    s32e a0, a5, -16
    s32e a1, a5, -12
    s32e a2, a5, -8
    s32e a3, a5, -4
    rfwo
#endif
    .org 0x020 // L32R reaches only what lies before it
    .align 4
saved_registers:   .word esp32_saved_registers
vectors_address:   .word vectors
stack_end:         .word _stack_end
handler_stack_end: .word _handler_stack_end
ps_windowed:       .word PS_WINDOWED
#ifdef __XTENSA_WINDOWED_ABI__
    .org 0x040 // WindowUnderflow4
    l32e a0, a5, -16
    l32e a1, a5, -12
    l32e a2, a5, -8
    l32e a3, a5, -4
    rfwu
    .org 0x080 // WindowOverflow8
    s32e a0, a9, -16
    l32e a0, a1, -12
    s32e a1, a9, -12
    s32e a2, a9, -8
    s32e a3, a9, -4
    s32e a4, a0, -32
    s32e a5, a0, -28
    s32e a6, a0, -24
    s32e a7, a0, -20
    rfwo
    .org 0x0C0 // WindowUnderflow8
    l32e a0, a9, -16
    l32e a1, a9, -12
    l32e a2, a9, -8
    l32e a7, a1, -12
    l32e a3, a9, -4
    l32e a4, a7, -32
    l32e a5, a7, -28
    l32e a6, a7, -24
    l32e a7, a7, -20
    rfwu
    .org 0x100 // WindowOverflow12
    s32e a0, a13, -16
    l32e a0, a1, -12
    s32e a1, a13, -12
    s32e a2, a13, -8
    s32e a3, a13, -4
    s32e a4, a0, -48
    s32e a5, a0, -44
    s32e a6, a0, -40
    s32e a7, a0, -36
    s32e a8, a0, -32
    s32e a9, a0, -28
    s32e a10, a0, -24
    s32e a11, a0, -20
    rfwo
    .org 0x140 // WindowUnderflow12
    l32e a0, a13, -16
    l32e a1, a13, -12
    l32e a2, a13, -8
    l32e a11, a1, -12
    l32e a3, a13, -4
    l32e a4, a11, -48
    l32e a5, a11, -44
    l32e a6, a11, -40
    l32e a7, a11, -36
    l32e a8, a11, -32
    l32e a9, a11, -28
    l32e a10, a11, -24
    l32e a11, a11, -20
    rfwu
#endif
    fault_vector 0x180, read_epc, 2
    fault_vector 0x1C0, read_epc, 3
    fault_vector 0x200, read_epc, 4
    fault_vector 0x240, read_epc, 5
    fault_vector 0x280, read_epc, 6 // debug
    fault_vector 0x2C0, read_epc, 7 // NMI
    fault_vector 0x300, read_epc1, 0 // kernel
    fault_vector 0x340, read_epc1, 0 // user
    fault_vector 0x3C0, read_depc, 0 // double exception

    .org 0x400
take_fault:
    s32i a1, a0, SAVED_VECTOR
    rsr.excsave1 a1
    s32i a1, a0, SAVED_A0
    rsr.ps a1
    s32i a1, a0, SAVED_PS
    rsr.exccause a1
    s32i a1, a0, SAVED_EXCCAUSE
    read_special EXCSAVE2, 1
    s32i a1, a0, SAVED_EXCVADDR
    call_on handler_stack_end, ReportFault

    .align 4
    .global ResetHandler
ResetHandler:
    movi a2, 0
    wsr.intenable a2
    l32r a2, vectors_address
    wsr.vecbase a2
    rsync
#ifndef __XTENSA_SOFT_FLOAT__
    movi a2, 1 // the floating-point unit is coprocessor 0
    write_special CPENABLE, 2
    rsync
#endif
    call_on stack_end, StartFirmware
