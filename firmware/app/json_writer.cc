#include "app/json_writer.h"

#include "app/number_text.h"

namespace harness {

void JsonWriter::Separate() {
  if (comma_due_) {
    out_->Put(',');
  }
  comma_due_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_->Put(bracket);
  comma_due_ = false;
}

void JsonWriter::Close(char bracket) {
  out_->Put(bracket);
  comma_due_ = true;
}

void JsonWriter::Quoted(std::string_view text) {
  out_->Put('"');
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out_->Put('\\');
    }
    // Frames carry printable ASCII only; whatever else an error text holds is not worth an escape.
    out_->Put(c >= ' ' && c <= '~' ? c : '?');
  }
  out_->Put('"');
}

void JsonWriter::Key(std::string_view name) {
  Separate();
  Quoted(name);
  out_->Put(':');
  comma_due_ = false;
}

void JsonWriter::String(std::string_view text) {
  Separate();
  Quoted(text);
}

void JsonWriter::Number(int64_t value) {
  Separate();
  out_->Put(DecimalText(value).view());
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_->Put(value ? "true" : "false");
}

void JsonWriter::Hex(const uint8_t* data, size_t size) {
  Separate();
  out_->Put('"');
  for (size_t i = 0; i < size; ++i) {
    out_->Put(kHexDigits[data[i] >> 4]);
    out_->Put(kHexDigits[data[i] & 15]);
  }
  out_->Put('"');
}

void JsonWriter::Member(std::string_view name, std::string_view text) {
  Key(name);
  String(text);
}

void JsonWriter::Member(std::string_view name, uint32_t value) {
  Key(name);
  Number(value);
}

void JsonWriter::Member(std::string_view name, bool value) {
  Key(name);
  Bool(value);
}

Frame::Frame(std::string_view kind) {
  json_.BeginObject();
  json_.Member("frame", kind);
}

Frame::~Frame() {
  json_.EndObject();
  writer_.Finish();
}

}  // namespace harness
