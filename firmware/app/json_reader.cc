#include "app/json_reader.h"

namespace harness {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void SkipBlanks(std::string_view* rest) {
  while (!rest->empty() && rest->front() == ' ') {
    rest->remove_prefix(1);
  }
}

// Skips blanks and then `c`; false when something else stands there.
bool Take(std::string_view* rest, char c) {
  SkipBlanks(rest);
  if (rest->empty() || rest->front() != c) {
    return false;
  }
  rest->remove_prefix(1);
  return true;
}

bool TakeString(std::string_view* rest, std::string_view* value) {
  if (!Take(rest, '"')) {
    return false;
  }
  const size_t size = rest->find_first_of("\"\\");
  if (size == std::string_view::npos || (*rest)[size] == '\\') {
    return false;
  }
  *value = {rest->data(), size};
  rest->remove_prefix(size + 1);
  return true;
}

bool TakeDigits(std::string_view* rest, std::string_view* value) {
  SkipBlanks(rest);
  size_t size = 0;
  while (size < rest->size() && IsDigit((*rest)[size])) {
    ++size;
  }
  *value = {rest->data(), size};
  rest->remove_prefix(size);
  return size > 0;
}

}  // namespace

bool FlatObject::Parse(std::string_view text) {
  count_ = 0;
  if (!Take(&text, '{')) {
    return false;
  }
  if (!Take(&text, '}')) {
    do {
      if (!ParseMember(&text)) {
        return false;
      }
    } while (Take(&text, ','));
    if (!Take(&text, '}')) {
      return false;
    }
  }
  SkipBlanks(&text);
  return text.empty();
}

bool FlatObject::ParseMember(std::string_view* rest) {
  if (count_ == kMaxMembers) {
    return false;
  }
  Member& member = members_[count_++];
  if (!TakeString(rest, &member.name) || !Take(rest, ':')) {
    return false;
  }
  SkipBlanks(rest);
  member.is_string = !rest->empty() && rest->front() == '"';
  return member.is_string ? TakeString(rest, &member.text) : TakeDigits(rest, &member.text);
}

const FlatObject::Member* FlatObject::Find(std::string_view name, bool is_string) const {
  for (size_t i = 0; i < count_; ++i) {
    if (members_[i].name == name && members_[i].is_string == is_string) {
      return &members_[i];
    }
  }
  return nullptr;
}

bool FlatObject::GetString(std::string_view name, std::string_view* value) const {
  const Member* member = Find(name, true);
  if (member == nullptr) {
    return false;
  }
  *value = member->text;
  return true;
}

bool FlatObject::GetNumber(std::string_view name, uint32_t* value) const {
  const Member* member = Find(name, false);
  if (member == nullptr) {
    return false;
  }
  uint64_t number = 0;
  for (char digit : member->text) {
    number = number * 10 + static_cast<uint64_t>(digit - '0');
    if (number > UINT32_MAX) {
      return false;
    }
  }
  *value = static_cast<uint32_t>(number);
  return true;
}

uint32_t FlatObject::NumberOr(std::string_view name, uint32_t otherwise) const {
  uint32_t value = 0;
  return GetNumber(name, &value) ? value : otherwise;
}

}  // namespace harness
