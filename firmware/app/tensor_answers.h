// Answers the commands about single tensors, and tells which tensors a model has.
#pragma once

#include <cstdint>

#include "app/json_reader.h"
#include "app/json_writer.h"

namespace harness {

void AnswerInput(const FlatObject& command);
void AnswerFill(const FlatObject& command);
void AnswerOutput(const FlatObject& command);

// Inputs and outputs of a model; without `allocated` there are none.
void WriteTensors(JsonWriter& json, uint32_t model, bool allocated);

}  // namespace harness
