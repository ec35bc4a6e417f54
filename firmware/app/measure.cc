#include "app/measure.h"

#include <initializer_list>

#include "app/misbehave.h"
#include "app/platform.h"
#include "app/stack.h"

namespace harness {
namespace {

struct Session {
  PaintedMemory guard_low;
  PaintedMemory arena;      // with the paint of before AllocateTensors
  PaintedMemory repainted;  // the same bytes; between head and tail they have the paint of before Invoke
  PaintedMemory guard_high;
  uint32_t head_end = 0;
  uint32_t tail_start = 0;
  bool tried = false;
  uint32_t allocated = 0;  // a bit for each model that has its place in the arena
  bool watching = false;
  tflm::Running culprit{-1, "", 0};
};

Session session;

void LayOutArena(uint32_t arena_bytes, uint8_t magic) {
  static_assert(kGuardBytes % kArenaAlignment == 0, "the arena behind the low guard must stay aligned");
  uint8_t* low = platform::ArenaRam().start;
  session.guard_low = PaintedMemory(low, kGuardBytes, magic);
  session.arena = PaintedMemory(low + kGuardBytes, arena_bytes, magic);
  session.guard_high = PaintedMemory(low + kGuardBytes + arena_bytes, kGuardBytes, magic);
}

bool PaintAll(uint8_t magic) {
  bool paint_ok = PaintFreeStack(magic);
  for (const PaintedMemory* memory : {&session.guard_low, &session.arena, &session.guard_high}) {
    memory->Paint();
    paint_ok = paint_ok && memory->FindWritten().count == 0;
  }
  return paint_ok;
}

UntouchedRuns FindUntouchedRuns() {
  UntouchedRuns untouched;
  untouched.count = session.arena.UntouchedRuns(kMinRunBytes, untouched.runs, kMaxRuns);
  return untouched;
}

bool IsOverrun() {
  return session.guard_low.FindWritten().count > 0 || session.guard_high.FindWritten().count > 0 ||
         session.repainted.FindWritten(session.head_end, session.tail_start).count > 0;
}

// `made`: whether the model has its interpreter.
Allocated AllocateTensors(uint32_t model, bool made) {
  Allocated result{};
  result.arena_bytes = session.arena.size();
  if (made) {
    const uint32_t start = platform::Ticks();
    result.ok = tflm::Allocate(model);
    result.ticks = platform::Ticks() - start;
  }
  result.untouched = FindUntouchedRuns();
  if (result.ok) {
    result.usage = tflm::Usage();
    session.head_end = result.usage.head_bytes;
    session.tail_start = result.arena_bytes - result.usage.tail_bytes;
    session.allocated |= 1u << model;
    // The planner used the free middle as scratch; from here on only Invoke can write there.
    Repaint(session.arena.magic());
  } else {
    session.allocated = 0;
  }
  return result;
}

}  // namespace

uint32_t MaxArenaBytes() { return platform::ArenaRam().size - 2 * kGuardBytes; }

bool AllocateWasTried() { return session.tried; }

bool IsAllocated(uint32_t model) { return model < tflm::kMaxModels && (session.allocated >> model & 1) != 0; }

bool IsAnyAllocated() { return session.allocated != 0; }

Allocated Allocate(const tflm::Model& model, uint32_t arena_bytes, uint8_t magic, bool record) {
  session.tried = true;
  LayOutArena(arena_bytes, magic);
  const bool paint_ok = PaintAll(magic);
  Allocated result = AllocateTensors(model.number, tflm::Create(model, session.arena.start(), arena_bytes, record));
  result.paint_ok = paint_ok;
  return result;
}

Allocated ShareArena(const tflm::Model& model) {
  // What this AllocateTensors touches is to show, whatever the middle was painted with since the first.
  Repaint(session.arena.magic());
  const bool paint_ok = !IsOverrun();
  Allocated result = AllocateTensors(model.number, tflm::Share(model));
  result.paint_ok = paint_ok;
  return result;
}

void Repaint(uint8_t magic) {
  session.repainted = PaintedMemory(session.arena.start(), session.arena.size(), magic);
  session.repainted.Paint(session.head_end, session.tail_start);
  for (PaintedMemory* guard : {&session.guard_low, &session.guard_high}) {
    *guard = PaintedMemory(guard->start(), kGuardBytes, magic);
    guard->Paint();
  }
}

Invoked Invoke(uint32_t model, bool watch) {
  PrepareMisdeed(model);
  session.watching = watch;
  const uint32_t start = platform::Ticks();
  const bool ok = tflm::Invoke(model);
  const uint32_t ticks = platform::Ticks() - start;
  session.watching = false;
  return {ok, ticks, session.culprit};
}

Scanned Scan() {
  Scanned result;
  result.gap = session.repainted.LongestRun(session.head_end, session.tail_start);
  result.middle = session.repainted.FindWritten(session.head_end, session.tail_start);
  result.tail_untouched_bytes = session.arena.CountUntouched(session.tail_start, session.arena.size());
  result.guard_low = session.guard_low.FindWritten();
  result.guard_high = session.guard_high.FindWritten();
  result.untouched = FindUntouchedRuns();
  return result;
}

}  // namespace harness

void tflm::OperatorStarts() { harness::Misbehave(harness::session.arena); }

void tflm::OperatorEnds() {
  if (harness::session.watching && harness::session.culprit.index < 0 && harness::IsOverrun()) {
    harness::session.culprit = RunningOperator();
  }
}
