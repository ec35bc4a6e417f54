#include "app/replies.h"

#include "app/json_writer.h"

namespace harness {

void SendOk(std::string_view command) {
  Frame frame("ok");
  frame->Member("cmd", command);
}

void SendError(std::string_view error, std::string_view text) {
  Frame frame("error");
  frame->Member("error", error);
  frame->Member("text", text);
}

}  // namespace harness
