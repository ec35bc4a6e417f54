// The answers that any command may get.
#pragma once

#include <string_view>

namespace harness {

void SendOk(std::string_view command);
// `error` is a word for the host, `text` is for people.
void SendError(std::string_view error, std::string_view text);

}  // namespace harness
