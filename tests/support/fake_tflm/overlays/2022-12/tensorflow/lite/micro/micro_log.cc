// The library formats by itself: %s, and whole numbers.
#include "tensorflow/lite/micro/micro_log.h"

#include <cstdarg>
#include <cstring>

#include "tensorflow/lite/micro/debug_log.h"

namespace {

class Text {
 public:
  Text(char* buffer, size_t size) : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }

  void Put(char letter) {
    if (length_ + 1 < size_) {
      buffer_[length_++] = letter;
      buffer_[length_] = '\0';
    }
  }

  void PutText(const char* text) {
    while (*text != '\0') {
      Put(*text++);
    }
  }

  void PutNumber(long number) {
    if (number < 0) {
      Put('-');
    }
    unsigned long rest = number < 0 ? 0ul - static_cast<unsigned long>(number) : static_cast<unsigned long>(number);
    char digits[24];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    while (count > 0) {
      Put(digits[--count]);
    }
  }

  int length() const { return static_cast<int>(length_); }

 private:
  char* buffer_;
  size_t size_;
  size_t length_ = 0;
};

int Format(char* buffer, size_t size, const char* format, va_list args) {
  Text text(buffer, size);
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      text.Put(*format);
      continue;
    }
    ++format;
    format += *format == 'l' ? 1 : 0;
    if (*format == 's') {
      text.PutText(va_arg(args, const char*));
    } else {
      text.PutNumber(va_arg(args, int));
    }
  }
  return text.length();
}

}  // namespace

void MicroPrintf(const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  Format(text, sizeof text, format, args);
  va_end(args);
  DebugLog(text);
  DebugLog("\r\n");
}

int MicroSnprintf(char* buffer, size_t buf_size, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int length = Format(buffer, buf_size, format, args);
  va_end(args);
  return length;
}
