// What the compiler calls for the 64-bit product of two 32-bit numbers on a core that has only the low half in
// hardware. Neither Debian's libgcc for lx106 nor compiler-rt has it.

typedef unsigned int word;

unsigned long long __umulsidi3(word a, word b) {
  const word a_low = a & 0xFFFF, a_high = a >> 16;
  const word b_low = b & 0xFFFF, b_high = b >> 16;
  const word low = a_low * b_low;
  const word middle = a_high * b_low + (low >> 16);
  const word other = a_low * b_high + (middle & 0xFFFF);
  const word high = a_high * b_high + (middle >> 16) + (other >> 16);
  union {
    struct {
      word low, high;
    } halves;
    unsigned long long whole;
  } product = {{(other << 16) | (low & 0xFFFF), high}};
  return product.whole;
}
