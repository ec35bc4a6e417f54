// Writes JSON text straight into a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/wire.h"

namespace harness {

class JsonWriter {
 public:
  explicit JsonWriter(FrameWriter* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  void Key(std::string_view name);
  void String(std::string_view text);
  void Number(int64_t value);
  void Bool(bool value);
  // A string of two hex digits per byte.
  void Hex(const uint8_t* data, size_t size);

  void Member(std::string_view name, std::string_view text);
  void Member(std::string_view name, const char* text) { Member(name, std::string_view(text)); }
  void Member(std::string_view name, uint32_t value);
  void Member(std::string_view name, bool value);

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();
  void Quoted(std::string_view text);

  FrameWriter* out_;
  bool comma_due_ = false;
};

// A frame of one JSON object, sent whole by the end of the scope.
class Frame {
 public:
  explicit Frame(std::string_view kind);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  JsonWriter* operator->() { return &json_; }
  JsonWriter& json() { return json_; }

 private:
  FrameWriter writer_;
  JsonWriter json_{&writer_};
};

}  // namespace harness
