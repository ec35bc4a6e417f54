#include "app/wire.h"

#include <cstring>

#include "app/crc32.h"
#include "app/number_text.h"
#include "app/platform.h"

namespace harness {
namespace {

constexpr std::string_view kMark = "#H";
constexpr size_t kCrcDigits = 8;

struct SenderState {
  uint32_t sequence = 0;
  char nonce[kNonceDigits] = {'0', '0', '0', '0', '0', '0', '0', '0'};
};

SenderState sender;

void SendBytes(std::string_view text) {
  for (char c : text) {
    platform::PutByte(static_cast<uint8_t>(c));
  }
}

// Sends `text` and returns the CRC that includes it.
uint32_t SendCounted(uint32_t crc, std::string_view text) {
  SendBytes(text);
  return Crc32(crc, text.data(), text.size());
}

// Cuts the text up to the next blank off `rest`; empty when there is no blank.
std::string_view TakeField(std::string_view* rest) {
  const size_t blank = rest->find(' ');
  if (blank == std::string_view::npos) {
    return {};
  }
  const std::string_view field(rest->data(), blank);
  rest->remove_prefix(blank + 1);
  return field;
}

}  // namespace

void FrameWriter::Put(char c) {
  if (size_ == kPieceBytes) {
    SendPiece('+');
  }
  piece_[size_++] = c;
}

void FrameWriter::Put(std::string_view text) {
  for (char c : text) {
    Put(c);
  }
}

void FrameWriter::Finish() { SendPiece('.'); }

void FrameWriter::SendPiece(char flag) {
  // A large tensor may take longer on a slow line than the watchdog waits.
  platform::KickWatchdog();
  uint32_t crc = SendCounted(0, kMark);
  crc = SendCounted(crc, DecimalText(kProtocolVersion).view());
  crc = SendCounted(crc, " ");
  crc = SendCounted(crc, DecimalText(sender.sequence++).view());
  crc = SendCounted(crc, " ");
  crc = SendCounted(crc, Nonce());
  crc = SendCounted(crc, flag == '+' ? " + " : " . ");
  crc = SendCounted(crc, {piece_, size_});
  SendBytes(" ");
  SendBytes(HexText(crc).view());
  SendBytes("\n");
  size_ = 0;
}

void SendLogLine(std::string_view text) {
  SendBytes(text);
  SendBytes("\n");
}

void BreakLine() {
  SendBytes("\n");
  ++sender.sequence;
}

void SetNonce(std::string_view nonce) { memcpy(sender.nonce, nonce.data(), kNonceDigits); }

std::string_view Nonce() { return {sender.nonce, kNonceDigits}; }

bool LineReader::Feed(uint8_t byte) {
  if (ended_) {
    size_ = 0;
    ended_ = too_long_ = false;
  }
  if (byte == '\n') {
    if (size_ > 0 && line_[size_ - 1] == '\r') {
      --size_;
    }
    ended_ = size_ > 0;
    return ended_;
  }
  if (size_ == kCommandLineBytes) {
    too_long_ = true;
  } else {
    line_[size_++] = static_cast<char>(byte);
  }
  return false;
}

CommandLine LineReader::Line() const {
  if (too_long_) {
    return {LineStatus::kTooLong, {}, {}};
  }
  // Noise of a line that was just plugged in may stand before the mark.
  const std::string_view line(line_, size_);
  const size_t start = line.find(kMark);
  if (start == std::string_view::npos) {
    return {LineStatus::kNoFrame, {}, {}};
  }
  const std::string_view framed(line.data() + start, line.size() - start);
  const size_t last_blank = framed.rfind(' ');
  if (last_blank == std::string_view::npos || framed.size() - last_blank - 1 != kCrcDigits) {
    return {LineStatus::kBadCrc, {}, {}};
  }
  const std::string_view crc_text(framed.data() + last_blank + 1, kCrcDigits);
  if (crc_text != HexText(Crc32(0, framed.data(), last_blank)).view()) {
    return {LineStatus::kBadCrc, {}, {}};
  }
  std::string_view rest(framed.data() + kMark.size(), last_blank - kMark.size());
  const std::string_view version = TakeField(&rest);
  if (version != DecimalText(kProtocolVersion).view()) {
    return {LineStatus::kOtherVersion, {}, {}};
  }
  TakeField(&rest);  // the host's sequence number: commands are answered one by one, so it tells nothing
  const std::string_view nonce = TakeField(&rest);
  const std::string_view flag = TakeField(&rest);
  if (nonce.size() != kNonceDigits || flag != ".") {
    return {LineStatus::kNoFrame, {}, {}};
  }
  return {LineStatus::kCommand, nonce, rest};
}

}  // namespace harness
