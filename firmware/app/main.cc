// The command loop.
#include "app/autorun.h"
#include "app/commands.h"
#include "app/model_image.h"
#include "app/platform.h"
#include "app/replies.h"
#include "app/stage.h"
#include "app/wire.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

LineReader reader;

void AnswerLine(const CommandLine& line) {
  switch (line.status) {
    case LineStatus::kCommand:
      return AnswerCommand(line);
    case LineStatus::kNoFrame:
      return SendError("bad_frame", "a command is a frame of one line");
    case LineStatus::kBadCrc:
      return SendError("bad_crc", "the line was damaged on its way");
    case LineStatus::kOtherVersion:
      return SendError("bad_version", "this firmware speaks another version of the protocol");
    case LineStatus::kTooLong:
      return SendError("too_long", "the line is longer than line_bytes");
  }
}

}  // namespace

void RunFirmware() {
  LoadModelImages();
  SendHello();
  RunUnasked();
  EnterStage(Stage::kIdle);
  for (;;) {
    uint8_t byte;
    if (!platform::GetByte(&byte)) {
      platform::KickWatchdog();
    } else if (reader.Feed(byte)) {
      AnswerLine(reader.Line());
      EnterStage(Stage::kIdle);
    }
  }
}

}  // namespace harness

void tflm::Log(const char* text) { harness::SendLogLine(text); }
