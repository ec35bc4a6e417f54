// Reads the commands: flat JSON objects of strings without escapes and of whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harness {

class FlatObject {
 public:
  // False when `text` is anything else than such an object. `text` must outlive this.
  bool Parse(std::string_view text);

  // False when there is no such member, or it is of another kind (or above 2^32 - 1).
  bool GetString(std::string_view name, std::string_view* value) const;
  bool GetNumber(std::string_view name, uint32_t* value) const;
  // For a number that may be left out.
  uint32_t NumberOr(std::string_view name, uint32_t otherwise) const;

 private:
  struct Member {
    std::string_view name;
    std::string_view text;
    bool is_string;
  };

  static constexpr size_t kMaxMembers = 8;

  bool ParseMember(std::string_view* rest);
  const Member* Find(std::string_view name, bool is_string) const;

  Member members_[kMaxMembers];
  size_t count_ = 0;
};

}  // namespace harness
