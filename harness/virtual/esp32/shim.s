// What makes QEMU's kc705 machine (core dc233c) pass for an ESP32, from inside: it runs below the firmware, which does
// not notice it. Pages whose access must have an effect are prohibited in the page table; the exception lands here, the
// access is decoded and carried out, and the firmware goes on behind it.
//
// Physical memory                                    Where this code reaches it (the firmware cannot)
//   0x20000000..0x3FFFFFFF  data and peripherals       + 0x60000000: 0x80000000..0x9FFFFFFF
//   0x40000000..0x4FFFFFFF  code                       + 0x60000000: 0xA0000000..0xAFFFFFFF
//   0x4E000000              what the data side sees    + 0x6E000000 (of the code address)
//                           of code memory: the bytes as flashed
//   0x2FFFF000              a page of junk, and a copy  0x8FFFF000, 0x90000000
//   0x30000000              of the flash: see cache.c
//   0x4F800000              this code and its data     0xAF800000, for which it is linked
//   0x4FC00000              the page table             0xAFC00000
// The page table is the firmware's alone: a refill from it overwrites EXCVADDR, so nothing here may cause one.
//
// Everything goes to the host through the machine's 16550, in order. A byte 0xDB announces what is no plain byte:
//   0xDB 0                                   the byte 0xDB itself
//   0xDB 1, address, value                   the firmware wrote a register (little-endian words)
//   0xDB 2                                   the firmware starts
//   0xDB 3, cause, pc, address               an exception that nobody handles
//
// Special register MISC0 is scratch; MISC1 is the firmware's VECBASE (the host puts WSR.MISC1 in place of WSR.VECBASE).
// Registers here: a1 the save area, a3 the pc of the access, a4 its address, a5 the instruction's op0, a6 where its
// register is saved, a7 its r field, a8 the address as this code reaches it.

    .equ MISC0, 0xF4
    .equ MISC1, 0xF5
    .equ LBEG, 0
    .equ LEND, 1
    .equ LCOUNT, 2
    .equ PTEVADDR, 83

    .equ ESCAPE, 0xDB
    .equ EVENT_WRITE, 1
    .equ EVENT_START, 2
    .equ EVENT_EXCEPTION, 3

    .equ PAGE, 0x1000
    .equ VECTORS, 0x400
    .equ KERNEL_VECTOR, 0x300
    .equ DOUBLE_VECTOR, 0x3C0
    .equ CAUSE_LOAD_STORE_ERROR, 3
    .equ CAUSE_LOAD_PROHIBITED, 28
    .equ CAUSE_STORE_PROHIBITED, 29
    .equ ATTRIBUTE_READ_WRITE, 3

    .equ SAVE_SAR, 64
    .equ SAVE_VECTOR, 68
    .equ SAVE_POLLS, 72
    .equ SAVE_LAST_FEED, 76
    .equ PATIENT_POLLS, 8
    .equ DOZE_INTERRUPTS, 1 << 6 | 1 << 0   // CCOMPARE0 and the 16550

// The assembler knows the special registers of another core: these are WSR and RSR by number.
    .macro write_special number, register
    .byte \register << 4, \number, 0x13
    .endm
    .macro read_special number, register
    .byte \register << 4, \number, 0x03
    .endm

    .macro vector offset
    .org VECTORS + \offset
    write_special MISC0, 0
    l32r a0, save_pointer
    s32i a1, a0, 4
    movi a1, \offset
    j common
    .endm

    .text
    .global start, cache_faults, flash_page_mask
start:                                  // 4 bytes, behind which the host puts its three words
    j begin
    .align 4
entry:              .word 0             // of the firmware
flash_page_mask:    .word 63            // how large the flash is: its pages, less 1
cache_faults:       .word 0             // what is broken: see cache.c
stack_pointer:      .word stack_end
save_pointer:       .word save
in_window_pointer:  .word in_window
vectors_pointer:    .word vectors
page_table:         .word 0xAFC00000
window_offset:      .word 0x60000000
data_view_offset:   .word 0x6E000000
data_view_page:     .word 0x0E000000
data_window:        .word 0x80000006, 0x20000003
code_window:        .word 0xA0000006, 0x40000003
identity_data:      .word 0x20000006
identity_code:      .word 0x40000006
uart16550:          .word 0xFD050020
watchdog_key:       .word 0x50D83AA1
feed_interval:      .word 50000         // cycles of CCOUNT, 10 MHz here
doze_cycles:        .word 20000
doze_vectors:       .word vectors + 0x400 - KERNEL_VECTOR

// The code in front of the vectors fits into the room that their alignment leaves. It starts at 0x4F800000, where the
// core's reset state maps everything as it is, and moves up into the window.
begin:
    l32r a2, data_window
    l32r a3, data_window + 4
    wdtlb a3, a2
    l32r a2, code_window
    l32r a3, code_window + 4
    wdtlb a3, a2
    witlb a3, a2
    isync
    l32r a2, in_window_pointer
    jx a2
in_window:
    l32r a2, page_table
    write_special PTEVADDR, 2
    movi a4, 6                          // from here on, the data side knows the page table and the windows only
    idtlb a4
    l32r a4, identity_data
    idtlb a4
    l32r a4, identity_code
    idtlb a4
    dsync
    l32r a2, vectors_pointer
    wsr.vecbase a2
    movi a2, 0
    write_special MISC1, 2
    movi a2, 0x2f                       // as the ROM leaves it: no interrupts, user vector mode
    wsr.ps a2
    rsync
    l32r a2, uart16550
    movi a3, 0x83                       // LCR: open the divider, of which 1 is the fastest: how long the 16550
    s32i a3, a2, 12                     // waits for more bytes before it tells of a few depends on it
    movi a3, 1
    s32i a3, a2, 0
    movi a3, 0
    s32i a3, a2, 4
    movi a3, 3
    s32i a3, a2, 12
    movi a3, 0xC1                       // FCR: the 16550 takes 14 bytes at a time from the host
    s32i a3, a2, 8
    movi a3, 1                          // IER: tell of received bytes; INTENABLE decides who hears of it
    s32i a3, a2, 4
    l32r a1, stack_pointer
    call0 cache_start
    movi a2, ESCAPE
    call0 send
    movi a2, EVENT_START
    call0 send
    l32r a2, entry
    jx a2

    .org VECTORS
vectors:
    vector 0x000
    vector 0x040
    vector 0x080
    vector 0x0C0
    vector 0x100
    vector 0x140
    vector 0x180
    vector 0x1C0
    vector 0x200
    vector 0x240
    vector 0x280
    vector 0x2C0
    vector 0x300
    vector 0x340
    vector 0x3C0

    .org VECTORS + 0x400                // the only vector that is needed while dozing is the kernel's
    j awake

common:
    s32i a2, a0, 8
    s32i a3, a0, 12
    s32i a4, a0, 16
    s32i a5, a0, 20
    s32i a6, a0, 24
    s32i a7, a0, 28
    s32i a8, a0, 32
    s32i a9, a0, 36
    s32i a10, a0, 40
    s32i a11, a0, 44
    s32i a12, a0, 48
    s32i a13, a0, 52
    s32i a14, a0, 56
    s32i a15, a0, 60
    s32i a1, a0, SAVE_VECTOR
    mov a2, a1
    mov a1, a0
    read_special MISC0, 3
    s32i a3, a1, 0
    rsr.sar a3
    s32i a3, a1, SAVE_SAR

    movi a3, KERNEL_VECTOR
    bgeu a2, a3, 1f
    j forward                           // window and interrupt vectors
1:  rsr.epc1 a3
    movi a4, DOUBLE_VECTOR
    bne a2, a4, 1f
    rsr.depc a3                         // the firmware's own exception handler made the access
1:  rsr.exccause a2
    addi a2, a2, -CAUSE_LOAD_PROHIBITED
    bltui a2, 2, 1f
    j forward                           // neither load nor store prohibited

1:  l32r a10, window_offset
    add a10, a10, a3
    l8ui a5, a10, 0
    l8ui a7, a10, 1
    extui a6, a5, 4, 4
    addx4 a6, a6, a1
    extui a5, a5, 0, 4
    srli a7, a7, 4

    rsr.excvaddr a4
    extui a10, a4, 19, 13
    movi a9, 0x3FF << 1                 // 0x3FF00000..0x3FF7FFFF
    beq a10, a9, peripheral
    extui a10, a4, 24, 8
    movi a9, 0x40
    beq a10, a9, code_memory
    j forward

// --- code memory: aligned words only, as on silicon --------------------------------------------------------------------
code_memory:
    beqi a5, 1, open_page               // L32R
    l32r a8, data_view_offset
    add a8, a8, a4
    extui a9, a4, 0, 2
    bnez a9, refuse
    beqi a5, 8, word_load               // L32I.N
    movi a9, 9
    beq a5, a9, word_store              // S32I.N
    bnei a5, 2, refuse
    beqi a7, 2, word_load               // L32I
    beqi a7, 6, word_store              // S32I
refuse:
    movi a2, CAUSE_LOAD_STORE_ERROR
    wsr.exccause a2
    j forward

// A page with literals would trap on every use of one: from the first on, it is open to the data side.
open_page:
    srli a9, a4, 12
    l32r a10, page_table
    addx4 a10, a9, a10
    slli a9, a9, 12
    l32r a11, data_view_page
    add a11, a11, a9
    addi a11, a11, ATTRIBUTE_READ_WRITE
    s32i a11, a10, 0
    idtlb a9                            // any of the four ways may hold the old entry
    addi a9, a9, 1
    idtlb a9
    addi a9, a9, 1
    idtlb a9
    addi a9, a9, 1
    idtlb a9
    dsync
    j return_to_a3                      // and again

word_load:
    l32i a2, a8, 0
    s32i a2, a6, 0
    j advance
word_store:
    l32i a2, a6, 0
    s32i a2, a8, 0
    j advance

// --- peripherals -------------------------------------------------------------------------------------------------------
// a9 becomes the page, a10 the register's offset in it.
peripheral:
    l32r a8, window_offset
    add a8, a8, a4
    srli a8, a8, 2
    slli a8, a8, 2
    extui a9, a4, 12, 8
    extui a10, a4, 0, 12
    beqz a2, load
    j store                             // the cause is store prohibited

load:
    movi a11, 0x40                      // UART0
    bne a9, a11, load_value
    beqz a10, receive
    movi a11, 0x1C                      // STATUS: RXFIFO_CNT in bits 7..0; what is sent is gone at once
    bne a10, a11, load_value
    l32r a11, uart16550
    l32i a2, a11, 20
    extui a2, a2, 0, 1
    bnez a2, loaded
    l32i a11, a1, SAVE_POLLS            // nothing there: who asks for long may sleep a little
    addi a11, a11, 1
    s32i a11, a1, SAVE_POLLS
    movi a12, PATIENT_POLLS
    bltu a11, a12, loaded
    l32i a11, a1, SAVE_VECTOR
    movi a12, DOUBLE_VECTOR
    bne a11, a12, doze
    j loaded                            // dozing would cost the firmware its EPC1
receive:
    l32r a11, uart16550
    l32i a2, a11, 0
    movi a11, 0
    s32i a11, a1, SAVE_POLLS
    j loaded

// Until bytes come, or for two milliseconds. The interrupt that ends it goes to a vector of its own.
doze:
    rsr.intenable a11
    rsr.ps a12
    rsr.ccount a13
    l32r a14, doze_cycles
    add a13, a13, a14
    wsr.ccompare0 a13
    l32r a13, doze_vectors
    wsr.vecbase a13
    movi a13, DOZE_INTERRUPTS
    wsr.intenable a13
    movi a13, 0
    wsr.ps a13
    rsync
1:  waiti 0
    j 1b
awake:
    wsr.intenable a11
    wsr.ps a12
    l32r a13, vectors_pointer
    wsr.vecbase a13
    rsync
    j loaded
load_value:
    l32i a2, a8, 0
loaded:
    ssa8l a4
    bnei a5, 2, 1f                      // L32I.N
    bnez a7, 2f
    srl a2, a2                          // L8UI
    extui a2, a2, 0, 8
    j 1f
2:  bnei a7, 1, 1f
    srl a2, a2                          // L16UI
    extui a2, a2, 0, 16
1:  s32i a2, a6, 0
    j advance

store_cache:                            // C code keeps a12..a15
    mov a12, a1
    mov a13, a3
    mov a14, a5
    mov a2, a4
    mov a3, a15
    l32r a1, stack_pointer
    call0 cache_store
    mov a1, a12
    mov a3, a13
    mov a5, a14
    j advance

store:
    l32i a15, a6, 0
    beqz a9, store_cache                // DPORT
    movi a11, 0x10                      // the table of the flash MMU
    beq a9, a11, store_cache
    movi a11, 0x40
    beq a9, a11, store_uart
    movi a11, 0x8C                      // RTC_CNTL: WDTCONFIG0..WDTFEED, WDTWPROTECT
    movi a12, 0xA4
    movi a13, 0x48
    beq a9, a13, store_rtc
    movi a11, 0x48                      // TIMG0 and TIMG1
    movi a12, 0x64
    j store_watchdog
store_uart:
    beqz a10, transmit
    movi a11, 0x14                      // CLKDIV
    beq a10, a11, store_and_tell
    movi a11, 0x20                      // CONF0
    beq a10, a11, store_and_tell
    j store_value
transmit:
    movi a2, 0
    s32i a2, a1, SAVE_POLLS
    mov a2, a15
    call0 send
    extui a2, a15, 0, 8
    movi a11, ESCAPE
    bne a2, a11, advance
    movi a2, 0
    call0 send
    j advance
store_rtc:
    beqz a10, store_and_tell            // OPTIONS0: software resets
    movi a13, 0x70                      // CLK_CONF
    beq a10, a13, store_and_tell
store_watchdog:                         // registers a11..a12 - 4 are locked unless a12 holds the key
    bltu a10, a11, store_value
    bgeu a10, a12, store_value
    sub a13, a8, a10
    add a13, a13, a12
    l32i a13, a13, 0
    l32r a14, watchdog_key
    bne a13, a14, advance
    addi a12, a12, -4
    bne a10, a12, store_and_tell
    extui a13, a4, 16, 2                // WDTFEED: told once in a while, however often it is written
    addx4 a13, a13, a1
    rsr.ccount a11
    l32i a14, a13, SAVE_LAST_FEED
    sub a14, a11, a14
    l32r a12, feed_interval
    bltu a14, a12, advance
    s32i a11, a13, SAVE_LAST_FEED
store_and_tell:
    s32i a15, a8, 0
    movi a2, ESCAPE
    call0 send
    movi a2, EVENT_WRITE
    call0 send
    mov a12, a4
    call0 send_word
    mov a12, a15
    call0 send_word
    j advance
store_value:
    s32i a15, a8, 0
    j advance

// --- back to the firmware ----------------------------------------------------------------------------------------------
advance:                                // behind the instruction, which is 2 bytes long when its op0 is 8 or more
    addi a3, a3, 3
    bbci a5, 3, 1f
    addi a3, a3, -1
1:  read_special LEND, 2
    bne a2, a3, return_to_a3
    read_special LCOUNT, 2
    beqz a2, return_to_a3
    addi a2, a2, -1                     // it was the last one of a zero-overhead loop
    write_special LCOUNT, 2
    read_special LBEG, 3
return_to_a3:
    l32i a2, a1, SAVE_VECTOR
    movi a4, DOUBLE_VECTOR
    beq a2, a4, return_by_depc
    wsr.epc1 a3
    call0 restore
    l32i a0, a1, 0
    l32i a1, a1, 4
    rsync
    rfe
return_by_depc:
    wsr.depc a3
    call0 restore
    l32i a0, a1, 0
    l32i a1, a1, 4
    rsync
    rfde

// To the firmware's own vector, as if nobody had looked: RFDE jumps without touching a register or PS.
forward:
    read_special MISC1, 2
    beqz a2, unhandled
    l32i a3, a1, SAVE_VECTOR
    movi a4, DOUBLE_VECTOR
    beq a3, a4, unhandled               // a fault in its handler: DEPC cannot serve twice
    add a3, a3, a2
    j return_by_depc

unhandled:
    movi a2, ESCAPE
    call0 send
    movi a2, EVENT_EXCEPTION
    call0 send
    rsr.exccause a12
    call0 send_word
    rsr.epc1 a12
    call0 send_word
    rsr.excvaddr a12
    call0 send_word
1:  waiti 15
    j 1b

    .align 4
restore:                                // all but a0 and a1
    l32i a2, a1, SAVE_SAR
    wsr.sar a2
    l32i a2, a1, 8
    l32i a3, a1, 12
    l32i a4, a1, 16
    l32i a5, a1, 20
    l32i a6, a1, 24
    l32i a7, a1, 28
    l32i a8, a1, 32
    l32i a9, a1, 36
    l32i a10, a1, 40
    l32i a11, a1, 44
    l32i a12, a1, 48
    l32i a13, a1, 52
    l32i a14, a1, 56
    l32i a15, a1, 60
    ret

    .align 4
send:                                   // the low byte of a2; uses a13, a14
    l32r a14, uart16550
1:  l32i a13, a14, 20                   // LSR: wait for room
    bbci a13, 5, 1b
    s32i a2, a14, 0
    ret

    .align 4
send_word:                              // a12; uses a2, a10, a11, a13, a14
    mov a10, a0
    movi a11, 4
1:  mov a2, a12
    call0 send
    srli a12, a12, 8
    addi a11, a11, -1
    bnez a11, 1b
    mov a0, a10
    ret

    .bss                                // no page with code: QEMU translates such a one anew after each store to it
    .align PAGE
save:
    .space SAVE_LAST_FEED + 16
    .align 16
    .space 512
stack_end:
