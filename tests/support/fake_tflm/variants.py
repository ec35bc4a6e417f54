"""The TFLM of the tests as older generations have it: what each did otherwise than the one after it.

The newest lies in `2026` as it is. For each older one some lines are other ones, from the newest down, so that it has
the differences of all that came after it, too; files in `overlays` take the place of those of the same name. What is
here follows the history of tensorflow/tflite-micro, and not the tables of the estimate: these are to be found wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_SUFFIXES = frozenset({".cc", ".h"})
_MICRO = "tensorflow/lite/micro"
_OPTIONS = "tensorflow/lite/c/builtin_op_data.h"
_SIZED = f"{_MICRO}/kernels/sized_ops.cc"
_CONV = f"{_MICRO}/kernels/conv.h"
_FULLY_CONNECTED = f"{_MICRO}/kernels/fully_connected.h"
_REDUCE = f"{_MICRO}/kernels/reduce.h"
_ALLOCATOR = f"{_MICRO}/micro_allocator"
_INTERPRETER = f"{_MICRO}/micro_interpreter"
_RECORDING = f"{_MICRO}/recording_micro_allocator"
_SINGLE_ARENA = f"{_MICRO}/arena_allocator/single_arena_buffer_allocator.h"
_RECORDING_ARENA = f"{_MICRO}/arena_allocator/recording_single_arena_buffer_allocator.h"
_RESOLVER = f"{_MICRO}/micro_mutable_op_resolver.h"
_VARIABLES = f"{_MICRO}/micro_resource_variable"
_REPORTER = "tensorflow/lite/core/api/error_reporter.h"
_BUFFERS = f"{_MICRO}/arena_allocator/ibuffer_allocator.h"


@dataclass(frozen=True)
class Tree:
    """Texts by their path, to be changed."""

    texts: dict[str, str]

    def swap(self, path: str, old: str, new: str, count: int = 1) -> None:
        """Put `new` in place of `old`, which has to be there so often."""
        found = self.texts[path].count(old)
        if found != count:
            raise ValueError(f"{path}: {found} times {old!r}")
        self.texts[path] = self.texts[path].replace(old, new)

    def drop(self, path: str, *lines: str) -> None:
        """Take lines out."""
        for line in lines:
            self.swap(path, f"{line}\n", "")

    def everywhere(self, pattern: str, new: str) -> None:
        """Put `new` in place of what matches, in all texts."""
        for path, text in self.texts.items():
            self.texts[path] = re.sub(pattern, new, text)

    def rename(self, old: str, new: str) -> None:
        """Give a header another path, and include it by that."""
        self.texts[new] = self.texts.pop(old)
        self.everywhere(re.escape(f'"{old}"'), f'"{new}"')

    def overlay(self, name: str) -> None:
        """Take the files of an overlay."""
        self.texts.update(_read(_HERE / "overlays" / name))


def _to_2024_12(tree: Tree) -> None:
    """Before 2026-01-16 (0efdd51a3): MEAN keeps no accumulator, and asks for one scratch buffer at most."""
    tree.drop(_REDUCE, "  int scratch_accumulator_idx;")
    tree.swap(_SIZED, "  ReduceScratch(steps);\n  ReduceTemporaries(steps);\n", "  ReduceTemporaries(steps);\n")


def _to_2024_09(tree: Tree) -> None:
    """Before 2024-12-16 (50e7e5dbd): INT8 CONCATENATION keeps two numbers per input, and looks at each input again."""
    compression = "#ifdef USE_TFLM_COMPRESSION\n  int weights_scratch_index;\n  int bias_scratch_index;\n#endif\n"
    tree.swap(_CONV, compression, "")
    once = "  steps.Temporaries({0, kOutput});\n  steps.AllTemporaries();\n"
    again = f"""{once}  steps.Temporary(kOutput);
  if (steps.input(0).type == kTfLiteInt8) {{
    steps.Persistent(Words(steps.inputs()));
    steps.Persistent(Words(steps.inputs()));
    steps.AllTemporaries();
  }}
"""
    tree.swap(_SIZED, once, again)


def _to_2023_09(tree: Tree) -> None:
    """Before 2024-09-27 (47b545074): FULLY_CONNECTED is per tensor only; before 2024-09-26 RELU6 keeps two bytes."""
    arrays = "  int32_t* per_channel_output_multiplier;\n  int32_t* per_channel_output_shift;\n"
    tree.swap(_FULLY_CONNECTED, f"{arrays}  bool is_per_channel;\n", "")
    tree.swap(
        _SIZED, "if (steps.input(0).type != kTfLiteFloat32 && steps.scales(1) > 1) {", "if (steps.scales(1) < 0) {"
    )
    tree.swap(_SIZED, "SizedWithoutOptions(PrepareRelu6, 8)", "SizedWithoutOptions(PrepareRelu6, 2)")


def _to_2023_06(tree: Tree) -> None:
    """Before 2023-09-14 (ad8d238f9): options do not name the type of a bias."""
    tree.swap(_OPTIONS, "  TfLiteType quantized_bias_type;\n", "", count=3)


def _to_2022_12(tree: Tree) -> None:
    """Before 2023-06-01 (982aaef60, 2b7a4ad62) and 2023-07-06 (ef0a7b025): the library formats its log by itself."""
    tree.drop(_OPTIONS, "  bool offset;")
    tree.swap(_SIZED, "SizedWithoutOptions(PrepareAll, 1)", "SizedWithoutOptions(PrepareAll, 2)")
    tree.overlay("2022-12")


def _to_2023_01(tree: Tree) -> None:
    """Before 2023-02-02 (0a1ccdfdd), 02-09 (1d810cac7) and 02-17 (808ddbf75), as Chirale_TensorFlowLite has it."""
    del tree.texts[f"{_MICRO}/kernels/lstm_shared.h"]
    tree.swap(_SIZED, "  steps.Persistent(Words(1 + steps.output().dims->size));\n", "")
    tree.drop(f"{_VARIABLES}.h", "    int8_t default_value;")
    tree.swap(f"{_VARIABLES}.cc", "nullptr, 0, 0}", "nullptr, 0}")
    tree.swap(f"{_VARIABLES}.cc", "variables_[id].default_value", "0")


def _to_2022_04(tree: Tree) -> None:
    """Before 2022-09-19 (95761fcfd): its operators, its objects, and an error reporter that goes through all of it."""
    _operators_of_2022_04(tree)
    _lifetimes_of_2022_04(tree)
    _error_reporter(tree)
    _names_of_2022_04(tree)
    tree.overlay("2022-04")


def _operators_of_2022_04(tree: Tree) -> None:
    """Before 2022-12-14 (b92a211e3), 11-23 (4f253e217), 11-17 (79b493ae2) and 10-14 (df704e135)."""
    transpose = "  int stride_height;\n  TfLiteFusedActivation activation;\n} TfLiteTransposeConvParams;"
    tree.swap(_OPTIONS, transpose, "  int stride_height;\n} TfLiteTransposeConvParams;")
    tree.drop(_CONV, "  int filter_buffer_index;")
    tree.drop(_FULLY_CONNECTED, "  int filter_buffer_index;")
    tree.drop(_REDUCE, "  int num_axis;")
    mean = "PrepareMean(TfLiteContext* context, TfLiteNode* node) {\n  Steps steps(context, node);\n"
    tree.swap(
        _SIZED, f"{mean}  steps.Temporaries({{0, kOutput, 1}});\n", f"{mean}  steps.Temporaries({{0, kOutput}});\n"
    )


def _lifetimes_of_2022_04(tree: Tree) -> None:
    """Before 2022-11-18 (dbf8e4e7a): an input that nobody reads has no end."""
    begun = "lifetime.last = written || read ? time : lifetime.last;"
    tree.swap(f"{_ALLOCATOR}.cc", begun, "lifetime.last = (written && time > 0) || read ? time : lifetime.last;")


# By header, what comes behind a line of it: what creates an object takes an error reporter, too.
_WITH_REPORTER: tuple[tuple[str, str, str], ...] = (
    (_SINGLE_ARENA, "#pragma once\n", f'\n#include "{_REPORTER}"\n#include "{_BUFFERS}"\n'),
    (_SINGLE_ARENA, "  uint8_t* temp_;\n", "  ErrorReporter* error_reporter_;\n"),
    (
        _SINGLE_ARENA,
        "  static SingleArenaBufferAllocator* Create(uint8_t* buffer_head, size_t buffer_size);\n",
        """\
  static SingleArenaBufferAllocator* Create(ErrorReporter*, uint8_t* buffer_head, size_t buffer_size) {
    return Create(buffer_head, buffer_size);
  }
""",
    ),
    (f"{_MICRO}/arena_allocator/arena_allocators.cc", "      temp_(buffer),\n", "      error_reporter_(nullptr),\n"),
    (f"{_ALLOCATOR}.h", "  MicroMemoryPlanner* planner_;\n", "  ErrorReporter* error_reporter_ = nullptr;\n"),
    (
        f"{_ALLOCATOR}.h",
        "  virtual void* AllocatePersistentBuffer(size_t bytes);\n",
        """\
  static MicroAllocator* Create(SingleArenaBufferAllocator* memory_allocator, MicroMemoryPlanner* memory_planner,
                                ErrorReporter* error_reporter) {
    MicroAllocator* made = Create(memory_allocator, memory_planner);
    made->error_reporter_ = error_reporter;
    return made;
  }
""",
    ),
    (
        f"{_RECORDING}.h",
        "  static RecordingMicroAllocator* Create(uint8_t* tensor_arena, size_t arena_size);\n",
        """\
  static RecordingMicroAllocator* Create(uint8_t* tensor_arena, size_t arena_size, ErrorReporter*) {
    return Create(tensor_arena, arena_size);
  }
""",
    ),
    (f"{_INTERPRETER}.h", "  TfLiteContext context_;\n", "  ErrorReporter* error_reporter_ = nullptr;\n"),
    (
        f"{_INTERPRETER}.h",
        "  ~MicroInterpreter();\n",
        """\
  MicroInterpreter(const Model* model, const MicroOpResolver& op_resolver, MicroAllocator* allocator,
                   ErrorReporter* error_reporter, MicroResourceVariables* resource_variables = nullptr,
                   MicroProfilerInterface* profiler = nullptr)
      : MicroInterpreter(model, op_resolver, allocator, resource_variables, profiler) {
    error_reporter_ = error_reporter;
  }
""",
    ),
)


def _error_reporter(tree: Tree) -> None:
    for path, line, more in _WITH_REPORTER:
        tree.swap(path, line, line + more)
    tree.swap(f"{_INTERPRETER}.cc", """MicroPrintf("Didn't find op""", """error_reporter_->Report("Didn't find op""")
    tree.swap(_RESOLVER, "MicroMutableOpResolver() {}", "MicroMutableOpResolver(ErrorReporter* = nullptr) {}")


def _names_of_2022_04(tree: Tree) -> None:
    """Before 2022-07-07 (86abc0af9), 2022-09-24 (b496b2c2f) and 2023-05-26 (101d2bb93)."""
    tree.everywhere(r"\bTFLMRegistration\b", "TfLiteRegistration")
    tree.everywhere(r"\bMicroProfilerInterface\b", "MicroProfiler")
    tree.everywhere("micro_profiler_interface", "micro_profiler")
    tree.everywhere("SingleArenaBufferAllocator", "SimpleMemoryAllocator")
    begin, end = "class INonPersistentBufferAllocator", "class SimpleMemoryAllocator"
    interfaces = tree.texts[_SINGLE_ARENA].partition(begin)[2].partition(end)[0]
    tree.swap(_SINGLE_ARENA, f"{begin}{interfaces}", "")
    for path in (_SINGLE_ARENA, _RECORDING_ARENA):
        tree.rename(path, path.replace("single_arena_buffer_allocator", "simple_memory_allocator"))
    tree.everywhere(r"static_cast<TfLiteStatus>\(15\)", "static_cast<TfLiteStatus>(-9)")


_STEPS: dict[str, Callable[[Tree], None]] = {
    "2024-12": _to_2024_12,
    "2024-09": _to_2024_09,
    "2023-09": _to_2023_09,
    "2023-06": _to_2023_06,
    "2022-12": _to_2022_12,
    "2023-01": _to_2023_01,
    "2022-04": _to_2022_04,
}
NEWEST = "2026-01"
VARIANTS = (NEWEST, *_STEPS)
"""Generations, the newest first; `2023-01` is the beginning of 2022-12, whose traits are other ones."""


def generation_of(variant: str) -> str:
    """The generation that one of VARIANTS is of."""
    return {"2023-01": "2022-12"}.get(variant, variant)


def write_variant(name: str, folder: Path) -> Path:
    """Write the sources of one of VARIANTS into a folder; returns it."""
    tree = Tree(_read(_HERE / "2026"))
    for step in list(_STEPS.values())[: VARIANTS.index(name)]:
        step(tree)
    for path, text in tree.texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def _read(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}
