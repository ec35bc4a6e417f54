// Answers the host's commands; the host's wire.py lists them.
#pragma once

#include <string_view>

#include "app/wire.h"

namespace harness {

// Looks at what lies in the model's flash region. Before anything else.
void LoadModelImage();

void SendHello();
void SendError(std::string_view error, std::string_view text);

// Carries out one command and answers it by exactly one frame.
void AnswerCommand(const CommandLine& line);

}  // namespace harness
