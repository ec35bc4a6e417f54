#include "app/format_text.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "app/number_text.h"

namespace harness {
namespace {

// What stands between a % and its conversion, as far as it matters here.
struct Specification {
  size_t precision = SIZE_MAX;
  size_t argument_bytes = sizeof(int);
};

// The size of a whole number, by the letters before its conversion; shorter ones come as an int.
size_t ArgumentBytes(std::string_view letters) {
  if (letters == "l") {
    return sizeof(long);
  }
  if (letters == "ll" || letters == "j") {
    return sizeof(long long);
  }
  return letters == "z" || letters == "t" ? sizeof(size_t) : sizeof(int);
}

class Formatter {
 public:
  Formatter(char* buffer, size_t size, va_list arguments) : buffer_(buffer), size_(size) {
    va_copy(arguments_, arguments);
  }
  ~Formatter() { va_end(arguments_); }
  Formatter(const Formatter&) = delete;
  Formatter& operator=(const Formatter&) = delete;

  size_t Format(const char* format);

 private:
  Specification TakeSpecification(const char** format);
  size_t TakeCount(const char** format);
  int64_t TakeSigned(size_t bytes) {
    return bytes > sizeof(int) ? va_arg(arguments_, long long) : va_arg(arguments_, int);
  }
  uint64_t TakeUnsigned(size_t bytes) {
    return bytes > sizeof(int) ? va_arg(arguments_, unsigned long long) : va_arg(arguments_, unsigned);
  }

  // False when there is no such conversion.
  bool PutArgument(char conversion, const Specification& specification);
  void PutString(const char* text, size_t precision);
  void PutUnsigned(uint64_t value, unsigned base);
  void PutFloat(double value);
  void Put(std::string_view text);
  void Put(char c);

  char* buffer_;
  size_t size_;
  size_t length_ = 0;
  va_list arguments_;
};

size_t Formatter::Format(const char* format) {
  while (*format != '\0') {
    if (*format != '%') {
      Put(*format++);
      continue;
    }
    const char* start = format++;
    const Specification specification = TakeSpecification(&format);
    if (*format == '\0' || !PutArgument(*format++, specification)) {
      Put({start, static_cast<size_t>(format - start)});
    }
  }
  if (size_ > 0) {
    buffer_[length_ < size_ ? length_ : size_ - 1] = '\0';
  }
  return length_;
}

Specification Formatter::TakeSpecification(const char** format) {
  Specification specification;
  *format += strspn(*format, "-+ #0");
  TakeCount(format);  // the width
  if (**format == '.') {
    ++*format;
    specification.precision = TakeCount(format);
  }
  const size_t letters = strspn(*format, "hlzjt");
  specification.argument_bytes = ArgumentBytes({*format, letters});
  *format += letters;
  return specification;
}

// Digits, or a * that stands for an argument.
size_t Formatter::TakeCount(const char** format) {
  if (**format == '*') {
    ++*format;
    const int count = va_arg(arguments_, int);
    return count > 0 ? static_cast<size_t>(count) : 0;
  }
  size_t count = 0;
  for (; **format >= '0' && **format <= '9'; ++*format) {
    count = count * 10 + static_cast<size_t>(**format - '0');
  }
  return count;
}

bool Formatter::PutArgument(char conversion, const Specification& specification) {
  switch (conversion) {
    case 'd':
    case 'i':
      Put(DecimalText(TakeSigned(specification.argument_bytes)).view());
      return true;
    case 'u':
      PutUnsigned(TakeUnsigned(specification.argument_bytes), 10);
      return true;
    case 'x':
    case 'X':
      PutUnsigned(TakeUnsigned(specification.argument_bytes), 16);
      return true;
    case 'p':
      PutUnsigned(reinterpret_cast<uintptr_t>(va_arg(arguments_, void*)), 16);
      return true;
    case 'c':
      Put(static_cast<char>(va_arg(arguments_, int)));
      return true;
    case 's':
      PutString(va_arg(arguments_, const char*), specification.precision);
      return true;
    case 'f':
    case 'e':
    case 'g':
      PutFloat(va_arg(arguments_, double));
      return true;
    case '%':
      Put('%');
      return true;
    default:
      return false;
  }
}

// With a precision the text need not end in a zero.
void Formatter::PutString(const char* text, size_t precision) {
  text = text == nullptr ? "(null)" : text;
  for (size_t i = 0; i < precision && text[i] != '\0'; ++i) {
    Put(text[i]);
  }
}

void Formatter::PutUnsigned(uint64_t value, unsigned base) {
  char digits[20];
  size_t start = sizeof digits;
  do {
    digits[--start] = kHexDigits[value % base];
    value /= base;
  } while (value != 0);
  Put({digits + start, sizeof digits - start});
}

void Formatter::PutFloat(double value) {
  if (value < 0) {
    Put('-');
    value = -value;
  }
  if (!(value < 1e9)) {
    return Put('?');
  }
  const auto millionths = static_cast<uint64_t>(value * 1e6 + 0.5);
  PutUnsigned(millionths / 1000000, 10);
  Put('.');
  for (uint64_t digit = 100000; digit > 0; digit /= 10) {
    PutUnsigned(millionths / digit % 10, 10);
  }
}

void Formatter::Put(std::string_view text) {
  for (char c : text) {
    Put(c);
  }
}

void Formatter::Put(char c) {
  if (length_ + 1 < size_) {
    buffer_[length_] = c;
  }
  ++length_;
}

}  // namespace

size_t FormatText(char* buffer, size_t size, const char* format, va_list arguments) {
  return Formatter(buffer, size, arguments).Format(format);
}

}  // namespace harness
