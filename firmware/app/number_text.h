// Numbers as text, without libc's formatting.
#pragma once

#include <cstdint>
#include <string_view>

namespace harness {

// A whole number in decimal.
class DecimalText {
 public:
  explicit DecimalText(int64_t value) {
    const bool negative = value < 0;
    uint64_t rest = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do {
      text_[--start_] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) {
      text_[--start_] = '-';
    }
  }

  std::string_view view() const { return {text_ + start_, kCapacity - start_}; }

 private:
  static constexpr size_t kCapacity = 20;  // the longest is -9223372036854775808
  char text_[kCapacity];
  size_t start_ = kCapacity;
};

constexpr char kHexDigits[] = "0123456789abcdef";

// 32 bits as 8 hex digits.
class HexText {
 public:
  explicit HexText(uint32_t value) {
    for (char& digit : text_) {
      digit = kHexDigits[value >> 28];
      value <<= 4;
    }
  }

  std::string_view view() const { return {text_, sizeof text_}; }

 private:
  char text_[8];
};

// The value of a hex digit; -1 when it is none.
constexpr int HexDigitValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

}  // namespace harness
