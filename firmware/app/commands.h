// Answers the host's commands; the host's wire.py lists them.
#pragma once

#include "app/wire.h"

namespace harness {

void SendHello();

// Carries out one command and answers it by exactly one frame.
void AnswerCommand(const CommandLine& line);

}  // namespace harness
