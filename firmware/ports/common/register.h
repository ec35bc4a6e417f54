// Memory-mapped registers.
#pragma once

#include <cstdint>

namespace ports {

// A memory-mapped register of 32 bits.
class Register {
 public:
  explicit constexpr Register(uint32_t address) : address_(address) {}

  operator uint32_t() const { return Access(); }
  void operator=(uint32_t value) const { Access() = value; }
  void operator|=(uint32_t bits) const { Access() = Access() | bits; }

 private:
  volatile uint32_t& Access() const { return *reinterpret_cast<volatile uint32_t*>(address_); }

  uint32_t address_;
};

constexpr uint32_t Bit(int number) { return 1u << number; }

}  // namespace ports
