// The serial frames, as the host's wire.py describes them: one line, or several, of
//   #H1 <sequence> <nonce> <. or +> <JSON text, or a piece of it> <CRC-32>
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harness {

constexpr uint32_t kProtocolVersion = 1;
// The longest command line that the device takes, its newline excluded.
constexpr size_t kCommandLineBytes = 4096;
constexpr size_t kNonceDigits = 8;
// What the device says until a command has told it the run's nonce.
constexpr std::string_view kNoNonce = "00000000";

// Sends the text of one frame, cutting it into lines as it comes.
class FrameWriter {
 public:
  void Put(char c);
  void Put(std::string_view text);
  // Sends what is left as the frame's last line.
  void Finish();

 private:
  static constexpr size_t kPieceBytes = 200;

  void SendPiece(char flag);

  char piece_[kPieceBytes];
  size_t size_ = 0;
};

// Sends text that is no frame, as a line of its own: the host keeps it as log.
void SendLogLine(std::string_view text);
// Ends a line and a frame that a fault may have cut off: the next frame starts at a line's start, and a number is
// skipped, so that the host does not take it for the rest of the unfinished one.
void BreakLine();

// Every frame from now on carries this nonce.
void SetNonce(std::string_view nonce);
std::string_view Nonce();

enum class LineStatus { kCommand, kNoFrame, kBadCrc, kOtherVersion, kTooLong };

struct CommandLine {
  LineStatus status;
  std::string_view nonce;
  std::string_view json;
};

// Collects bytes into lines.
class LineReader {
 public:
  // True when `byte` ended a line that is not empty; Line() then describes it until the next Feed().
  bool Feed(uint8_t byte);
  CommandLine Line() const;

 private:
  char line_[kCommandLineBytes] = {};
  size_t size_ = 0;
  bool ended_ = false;
  bool too_long_ = false;
};

}  // namespace harness
