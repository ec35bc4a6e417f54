// Answers the commands about the arena as a whole: AllocateTensors, painting, Invoke, scanning.
#pragma once

#include "app/json_reader.h"

namespace harness {

void AnswerAllocate(const FlatObject& command);
void AnswerShare(const FlatObject& command);
void AnswerRepaint(const FlatObject& command);
void AnswerInvoke(const FlatObject& command);
void AnswerScan(const FlatObject& command);

}  // namespace harness
