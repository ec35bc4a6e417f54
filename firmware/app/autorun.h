// A measurement that nobody asks for: for emulators whose serial line carries nothing to the firmware. Without
// HARNESS_AUTORUN there is nothing here.
#pragma once

namespace harness {

#ifdef HARNESS_AUTORUN
// Answers the commands of one measurement as if they had come, with the nonce 00000000: an arena of HARNESS_AUTORUN
// bytes, every input filled, one Invoke, the scan, every output.
void RunUnasked();
#else
inline void RunUnasked() {}
#endif

}  // namespace harness
