"""The serial frames: pure functions on bytes.

A frame is one line, or several, that a person can read in any terminal::

    #H1 17 5f3a9c01 . {"frame":"ok","cmd":"input"} 8d2e11f0

    field    meaning
    #H1      start mark, with the version of this protocol
    17       sequence number of the line, decimal, from 0 at the sender's start
    5f3a9c01 nonce of this run, 8 hex digits; the device says 00000000 until a command has told it one
    .        last line of its frame; `+` when the JSON text goes on in the next line
    {…}      JSON text, or a piece of it cut at any byte; no control characters
    8d2e11f0 CRC-32 (as zlib's) of all bytes from `#` to the blank before it, 8 hex digits

Lines end in `\\n`; a `\\r` before it is ignored. The device takes its nonce from the first command. Commands are frames
of one line, at most `line_bytes` (of the hello frame) long. Each command is answered by exactly one frame.

Commands (host to device)::

    {"cmd":"hello"}                                    → hello
    {"cmd":"allocate","arena_bytes":N,"paint":170}     → allocated
    {"cmd":"input","index":0,"offset":0,"hex":"00ff"}  → ok
    {"cmd":"fill","index":0}                           → ok      a fixed pattern, see below
    {"cmd":"invoke"}                                   → invoked
    {"cmd":"scan"}                                     → scanned
    {"cmd":"output","index":0}                         → output
    {"cmd":"reset"}                                    → ok, then the device resets itself

Frames (device to host); all numbers are decimal JSON numbers::

    hello      protocol, build_id, image_crc32, board, tflm, unit (the chip's unique id, hex), arena_max_bytes,
               line_bytes, clock_hz, clock_source, stack_bytes, reset (power|pin|software|watchdog|brownout|unknown),
               sizes {name: sizeof}, model {state (ok|missing|bad_header|bad_crc|other_build|bad_schema), size_bytes, sha256}
               Sent once by itself after each reset, with nonce 00000000.
    allocated  status (ok|error), arena_bytes, used_bytes, head_bytes, tail_bytes, ticks, paint_ok, stack_used_bytes,
               inputs and outputs [{type, shape, size_bytes}], untouched [[offset, size_bytes], …]
    invoked    status (ok|error), ticks, stack_used_bytes
    scanned    gap_offset, gap_bytes: the longest run between head and tail that still is paint
               written_bytes, written_first, written_last: bytes between head and tail that are no longer paint
               tail_untouched_bytes, guard_low_written_bytes, guard_low_first, guard_high_written_bytes,
               guard_high_first, stack_used_bytes, untouched [[offset, size_bytes], …] in the whole arena
    output     index, type, size_bytes, hex
    ok         cmd
    error      error (a word), text
    fault      kind (hard_fault|bus_fault|mem_manage|usage_fault|nmi|abort|stack_overflow), stage (boot|idle|allocate|
               input|invoke|scan|output), pc, lr, sp, psr, cfsr, hfsr, mmfar, bfar, text. Sent by itself.

The fill pattern: element i of an integer tensor is (i·37 + 11) mod 256, its low byte first, upper bytes zero; of a
float tensor 1.0 + 0.5·(i mod 16).
"""
