#include "app/autorun.h"

#ifdef HARNESS_AUTORUN

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/commands.h"
#include "app/measure.h"
#include "app/number_text.h"
#include "app/wire.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

constexpr size_t kMaxCommandBytes = 80;
constexpr uint32_t kFirstModel = 0;

void Answer(std::string_view json) { AnswerCommand({LineStatus::kCommand, kNoNonce, json}); }

// Answers the command that ends in a number; `start` is its text up to there.
void Answer(std::string_view start, uint32_t number) {
  const DecimalText digits(number);
  char text[kMaxCommandBytes];
  size_t size = 0;
  for (std::string_view part : {start, digits.view(), std::string_view("}")}) {
    size += part.copy(text + size, sizeof text - size);
  }
  Answer({text, size});
}

}  // namespace

void RunUnasked() {
  Answer(R"({"cmd":"allocate","paint":170,"arena_bytes":)", HARNESS_AUTORUN);
  if (!IsAllocated(kFirstModel)) {
    return;
  }
  for (uint32_t index = 0; index < tflm::InputCount(kFirstModel); ++index) {
    Answer(R"({"cmd":"fill","index":)", index);
  }
  Answer(R"({"cmd":"invoke"})");
  Answer(R"({"cmd":"scan"})");
  for (uint32_t index = 0; index < tflm::OutputCount(kFirstModel); ++index) {
    Answer(R"({"cmd":"output","index":)", index);
  }
}

}  // namespace harness

#endif
