"""Parts of a TFLM that tests make: header trees, libraries, manifests. None of them can be compiled or linked."""

import re
import struct
from pathlib import Path

from harness.domain.generations import DEFAULT, canonical, layer_of
from harness.files.resources import firmware_dir

MICRO = "tensorflow/lite/micro"
RESOLVER = f"{MICRO}/micro_mutable_op_resolver.h"
MICRO_OPS = f"{MICRO}/kernels/micro_ops.h"
SCHEMA = "tensorflow/lite/schema/schema_generated.h"
INTERPRETER = "_ZN6tflite16MicroInterpreter15AllocateTensorsEv"
RECORDING = "_ZN6tflite23RecordingMicroAllocator6CreateEPhj"

_SCHEMA_TEXT = '#include "flatbuffers/flatbuffers.h"\nenum BuiltinOperator { BuiltinOperator_CONV_2D = 3 };\n'
_OF_2020 = {
    "tensorflow/lite/core/api/error_reporter.h": "class ErrorReporter {};\n",
    f"{MICRO}/kernels/all_ops_resolver.h": "class AllOpsResolver {};\n",
    MICRO_OPS: "TfLiteRegistration* Register_CONV_2D();\nTfLiteRegistration* Register_CIRCULAR_BUFFER();\n",
    "tensorflow/lite/version.h": "#define TFLITE_SCHEMA_VERSION (3)\n",
    SCHEMA: _SCHEMA_TEXT,
}
_SINCE_2021 = {
    f"{MICRO}/debug_log.h": 'extern "C" void DebugLog(const char* s);\n',
    RESOLVER: """
        template <unsigned int N> class MicroMutableOpResolver {
          TfLiteStatus AddConv2D(const R& registration = Register_CONV_2D()) {
            return AddBuiltin(BuiltinOperator_CONV_2D, registration, Parse);
          }
          TfLiteStatus AddSoftmax() { return AddBuiltin(BuiltinOperator_SOFTMAX, Register_SOFTMAX(), Parse); }
        };
        """,
    f"{MICRO}/micro_interpreter.h": "#define TFLITE_SCHEMA_VERSION (3)\n",
    SCHEMA: _SCHEMA_TEXT,
}
_OPTIONS = "tensorflow/lite/c/builtin_op_data.h"
_TRANSPOSE = "typedef struct { int stride; int activation; } TfLiteTransposeConvParams;\n"
_SLICE = "typedef struct { int mask; bool offset; } TfLiteStridedSliceParams;\n"
_CONV = "typedef struct { int stride; TfLiteType quantized_bias_type; } TfLiteConvParams;\n"
_LOGS_ARGUMENTS = 'extern "C" void DebugLog(const char* format, va_list args);\n'
# What each generation brought, the oldest first; a header that comes again is written anew.
_BROUGHT = {
    "TF 2.4": {f"{MICRO}/recording_micro_interpreter.h": "class RecordingMicroInterpreter {};\n"},
    "2021-05": {f"{MICRO}/micro_graph.h": "class MicroGraph {};\n"},
    "2021-09": {f"{MICRO}/memory_planner/micro_memory_planner.h": "class MicroMemoryPlanner {};\n"},
    "2022-03": {f"{MICRO}/micro_allocation_info.h": "class AllocationInfoBuilder {};\n"},
    "2022-04": {
        f"{MICRO}/ibuffer_allocator.h": "class IPersistentBufferAllocator {};\n",
        f"{MICRO}/simple_memory_allocator.h": "class A { ErrorReporter* error_reporter_; };\n",
    },
    "2022-09": {
        f"{MICRO}/simple_memory_allocator.h": "",
        f"{MICRO}/arena_allocator/single_arena_buffer_allocator.h": "class SingleArenaBufferAllocator {};\n",
        f"{MICRO}/micro_resource_variable.h": "struct MicroResourceVariable { int id; };\n",
    },
    "2022-12": {
        _OPTIONS: _TRANSPOSE,
        f"{MICRO}/kernels/lstm_shared.h": "struct OpDataLSTM {};\n",
        f"{MICRO}/micro_resource_variable.h": "struct MicroResourceVariable { int id; int8_t default_value; };\n",
    },
    "2023-06": {_OPTIONS: _TRANSPOSE + _SLICE},
    "2023-09": {_OPTIONS: _TRANSPOSE + _SLICE + _CONV, f"{MICRO}/debug_log.h": _LOGS_ARGUMENTS},
    "2024-09": {f"{MICRO}/kernels/fully_connected.h": "struct OpDataFullyConnected { bool is_per_channel; };\n"},
    "2024-12": {f"{MICRO}/kernels/conv.h": "struct OpDataConv { int weights_scratch_index; };\n"},
    "2026-01": {f"{MICRO}/kernels/reduce.h": "struct OpDataReduce { int scratch_accumulator_idx; };\n"},
}
HEADER_GENERATIONS = ("2020-07", *_BROUGHT)
"""All that `header_tree` can make, the oldest first."""


def _marks(generation: str) -> dict[str, str]:
    """The headers of a generation that tell it from others."""
    if generation == "2020-07":
        return _OF_2020
    names = list(_BROUGHT)
    brought = [_BROUGHT[name] for name in names[: names.index(canonical(generation)) + 1]]
    return _SINCE_2021 | {header: text for texts in brought for header, text in texts.items()}


def header_tree(folder: Path, generation: str, **texts: str | None) -> list[Path]:
    """Headers of a generation below `folder`: empty ones, but for what harness reads from them.

    Args:
        folder: where to write them.
        generation: which.
        texts: by the path with `__` for `/` and without `.h`, a header's text; None to leave it out.

    Returns:
        The include folders.
    """
    layers = firmware_dir() / "tflm"
    own = layers / f"{layer_of(generation) or layer_of(DEFAULT)}.cc"
    layer = "".join(path.read_text() for path in (own, *layers.glob("*.h")) if path.is_file())
    changed = {f"{name.replace('__', '/')}.h": text for name, text in texts.items()}
    named = dict.fromkeys(re.findall(r'#include "(tensorflow/[^"]+)"', layer), "")
    headers = {**named, **_marks(generation), "flatbuffers/flatbuffers.h": "", **changed}
    folders = [folder / "tflm", folder / "third_party"]
    for each in folders:
        each.mkdir(parents=True, exist_ok=True)
    for name, text in headers.items():
        if text is not None:
            path = folders[name.startswith("flatbuffers")] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folders


def archive(members: dict[str, bytes], symbols: dict[str, list[str]] | None = None, magic=b"!<arch>\n") -> bytes:
    """An ar archive of System V's kind.

    Args:
        members: names, shorter than 16 bytes, and contents.
        symbols: the members that define each symbol; None for an archive without an index.
        magic: its first bytes.
    """
    pairs = [(symbol, member) for symbol, where in (symbols or {}).items() for member in where]
    names = b"".join(symbol.encode() + b"\0" for symbol, _ in pairs)
    index_bytes = 4 + 4 * len(pairs) + len(names)
    offsets, position = {}, len(magic) + (60 + index_bytes + index_bytes % 2 if symbols is not None else 0)
    for name, content in members.items():
        offsets[name] = position
        position += 60 + len(content) + len(content) % 2
    index = struct.pack(f">{1 + len(pairs)}I", len(pairs), *(offsets[member] for _, member in pairs)) + names
    parts = [_member("/", index)] if symbols is not None else []
    return magic + b"".join([*parts, *(_member(f"{name}/", content) for name, content in members.items())])


def _member(name: str, content: bytes) -> bytes:
    header = f"{name:16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)


def library(path: Path, *symbols: str) -> Path:
    """A library that defines some symbols, each in a member of its own."""
    members = {f"{number}.o": b"" for number in range(len(symbols))}
    path.write_bytes(archive(members, {symbol: [name] for symbol, name in zip(symbols, members, strict=True)}))
    return path


def manifest(folder: Path, include: list[Path], libraries: list[Path], *lines: str) -> Path:
    """A manifest of headers and libraries."""
    path = folder / "tflm.toml"
    lists = {"include": include, "libraries": libraries}
    path.write_text("\n".join([*(f"{key} = {list(map(str, paths))}" for key, paths in lists.items()), *lines]) + "\n")
    return path
