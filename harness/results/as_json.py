"""Estimates, measurements and reconciliations as JSON, and back. The keys are part of harness's interface."""

from __future__ import annotations

import math
from pathlib import Path

from harness.domain.estimate import Estimate, Profile, Section
from harness.domain.generations import MEASURED, canonical
from harness.domain.measurement import Measurement, TensorInfo
from harness.domain.reconciliation import VERDICTS, Reconciliation
from harness.domain.tflm_options import TflmOptions
from harness.errors import ResultError
from harness.files.fields import Fields, objects_in
from harness.files.text import read_json
from harness.results.postmortem_file import postmortem_from_json, postmortem_to_json

Json = dict[str, object]

_FILE_LIMIT_BYTES = 256 * 1024 * 1024


def estimate_to_json(estimate: Estimate) -> Json:
    """The stable keys of an estimate."""
    return {
        "model": estimate.model,
        "sha256": estimate.sha256,
        "tflm": estimate.profile.tflm,
        "board": estimate.board,
        "abi": estimate.profile.abi,
        "kernels": estimate.profile.kernels,
        "static_memory": estimate.profile.static_memory,
        "traits": sorted(estimate.profile.traits),
        "basis": estimate.basis,
        "exact": estimate.exact,
        "unknown_parts": list(estimate.unknown_parts),
        "refused_by_tflm": list(estimate.refused_by_tflm),
        "method": estimate.method,
        "arena_used_bytes": estimate.arena_used_bytes,
        "head_bytes": estimate.head_bytes,
        "tail_bytes": estimate.tail_bytes,
        "min_working_arena_bytes": estimate.min_working_arena_bytes,
        "recommended_arena_bytes": estimate.recommended_arena_bytes,
        "sections": _sections_to_json(estimate.sections),
        "recorded_sections": _sections_to_json(estimate.recorded_sections),
        "corrections": list(estimate.corrections),
        "warnings": list(estimate.warnings),
    }


def measurement_to_json(measurement: Measurement) -> Json:
    """The stable keys of a measurement."""
    return {
        "model": measurement.model,
        "sha256": measurement.sha256,
        "board": measurement.board,
        "probe_id": measurement.probe_id,
        "unit": measurement.unit,
        "tflm": measurement.tflm,
        "kernels": measurement.kernels,
        "build_id": measurement.build_id,
        "arena_size_bytes": measurement.arena_size_bytes,
        "arena_used_bytes": measurement.arena_used_bytes,
        "painted_used_bytes": measurement.painted_used_bytes,
        "head_bytes": measurement.head_bytes,
        "tail_bytes": measurement.tail_bytes,
        "touched_by_allocation_bytes": measurement.touched_by_allocation_bytes,
        "untouched_tail_bytes": measurement.untouched_tail_bytes,
        "sections": dict(measurement.sections),
        "recording_failure": measurement.recording_failure,
        "min_working_arena_bytes": measurement.min_working_arena_bytes,
        "min_arena_failure": measurement.min_arena_failure,
        "overruns": list(measurement.overruns),
        "stack_used_bytes": measurement.stack_used_bytes,
        "inputs": [_tensor_to_json(tensor) for tensor in measurement.inputs],
        "outputs": [
            _tensor_to_json(tensor) | {"hex": data.hex()}
            for tensor, data in zip(measurement.outputs, measurement.output_data, strict=True)
        ],
        "output_sha256": measurement.output_sha256,
        "alloc_ticks": measurement.alloc_ticks,
        "invoke_ticks": measurement.invoke_ticks,
        "clock_hz": measurement.clock_hz,
        "emulated": measurement.emulated,
        "struct_sizes": dict(measurement.struct_sizes),
        "resets": measurement.resets,
        "log": list(measurement.log),
    }


def reconciliation_to_json(row: Reconciliation) -> Json:
    """The stable keys of a row of `harness run`."""
    return {
        "model": row.model,
        "sha256": row.sha256,
        "board": row.board,
        "tflm": row.tflm,
        "verdict": row.verdict,
        "estimate": estimate_to_json(row.estimate) if row.estimate else None,
        "measurement": measurement_to_json(row.measurement) if row.measurement else None,
        "error_bytes": row.error_bytes,
        "error_percent": row.error_percent,
        "causes": list(row.causes),
        "error_class": row.error_class,
        "exit_code": row.exit_code,
        "postmortem": postmortem_to_json(row.postmortem) if row.postmortem else None,
    }


def read_results(path: Path) -> tuple[list[Estimate], list[Measurement]]:
    """The estimates and measurements in a file that `--format json` of `estimate` or `run` wrote.

    Raises:
        ResultError: the file cannot be read, or is no such list.
    """
    estimates: list[Estimate] = []
    measurements: list[Measurement] = []
    for item in _read_list(path):
        if item.has("verdict"):
            if item.has("measurement"):  # a model that was not measured has nothing to lay an estimate beside
                estimates.append(estimate_from_json(item.inner("estimate")))
                measurements.append(measurement_from_json(item.inner("measurement")))
        elif item.has("method"):
            estimates.append(estimate_from_json(item))
        else:
            measurements.append(measurement_from_json(item))
    return estimates, measurements


def read_reconciliations(path: Path) -> list[Reconciliation]:
    """The rows of a file that `harness run --format json` wrote.

    Raises:
        ResultError: the file cannot be read, or is no such list.
    """
    return [reconciliation_from_json(item) for item in _read_list(path)]


def reconciliation_from_json(item: Fields) -> Reconciliation:
    """The reverse of `reconciliation_to_json`; also of files from before it told error class and exit status."""
    verdict = item.text("verdict")
    if verdict not in VERDICTS:
        raise item.wrong("verdict", f"one of {', '.join(VERDICTS)}")
    return Reconciliation(
        model=item.text("model"),
        sha256=item.text("sha256"),
        board=item.text("board"),
        tflm=canonical(item.text("tflm")),
        verdict=verdict,
        estimate=estimate_from_json(item.inner("estimate")) if item.has("estimate") else None,
        measurement=measurement_from_json(item.inner("measurement")) if item.has("measurement") else None,
        error_bytes=item.integer_or_none("error_bytes"),
        error_percent=item.number("error_percent", -100.0, math.inf) if item.has("error_percent") else None,
        causes=item.texts("causes"),
        exit_code=item.integer_or_none("exit_code") or 0,
        error_class=item.text("error_class") if item.has("error_class") else "",
        postmortem=postmortem_from_json(item.inner("postmortem")) if item.has("postmortem") else None,
    )


def estimate_from_json(item: Fields) -> Estimate:
    """The reverse of `estimate_to_json`."""
    return Estimate(
        model=item.text("model"),
        sha256=item.text("sha256"),
        profile=_profile_from_json(item),
        board=item.text("board") if item.has("board") else None,
        method=item.text("method"),
        arena_used_bytes=item.integer("arena_used_bytes"),
        head_bytes=item.integer_or_none("head_bytes"),
        tail_bytes=item.integer_or_none("tail_bytes"),
        min_working_arena_bytes=item.integer_or_none("min_working_arena_bytes"),
        recommended_arena_bytes=item.integer("recommended_arena_bytes"),
        sections=_sections_from_json(item, "sections"),
        recorded_sections=_sections_from_json(item, "recorded_sections") if item.has("recorded_sections") else (),
        corrections=item.texts("corrections"),
        warnings=item.texts("warnings"),
        basis=item.text("basis") if item.has("basis") else MEASURED,
        unknown_parts=item.texts("unknown_parts") if item.has("unknown_parts") else (),
        refused_by_tflm=item.texts("refused_by_tflm") if item.has("refused_by_tflm") else (),
    )


def tflm_options_to_json(options: TflmOptions) -> Json:
    """Every field; paths absolute, since they are read elsewhere."""
    return {
        "kernels": options.kernels,
        "include": [str(folder.absolute()) for folder in options.include],
        "cmsis_nn": str(options.cmsis_nn.absolute()) if options.cmsis_nn else None,
        "esp_nn": str(options.esp_nn.absolute()) if options.esp_nn else None,
    }


def tflm_options_from_json(item: Fields) -> TflmOptions:
    """The reverse of `tflm_options_to_json`.

    Raises:
        HarnessError: of the class of `item`: a field is not what is expected.
    """
    return TflmOptions(
        kernels=item.text("kernels") if item.has("kernels") else None,
        include=tuple(map(Path, item.texts("include"))),
        cmsis_nn=Path(item.text("cmsis_nn")) if item.has("cmsis_nn") else None,
        esp_nn=Path(item.text("esp_nn")) if item.has("esp_nn") else None,
    )


def _profile_from_json(item: Fields) -> Profile:
    return Profile(
        item.text("tflm"),
        item.text("abi"),
        item.text("kernels"),
        static_memory=item.truth("static_memory") if item.has("static_memory") else True,
        traits=frozenset(item.texts("traits")) if item.has("traits") else frozenset(),
    )


def measurement_from_json(item: Fields) -> Measurement:
    """The reverse of `measurement_to_json`."""
    outputs = item.inners("outputs")
    return Measurement(
        model=item.text("model"),
        sha256=item.text("sha256"),
        board=item.text("board"),
        probe_id=item.text("probe_id"),
        unit=item.text("unit"),
        tflm=item.text("tflm"),
        build_id=item.text("build_id"),
        arena_size_bytes=item.count("arena_size_bytes"),
        arena_used_bytes=item.integer("arena_used_bytes", least=1),
        head_bytes=item.count("head_bytes"),
        tail_bytes=item.count("tail_bytes"),
        painted_used_bytes=item.count("painted_used_bytes"),
        touched_by_allocation_bytes=item.count("touched_by_allocation_bytes"),
        untouched_tail_bytes=item.count("untouched_tail_bytes"),
        stack_used_bytes=item.count("stack_used_bytes"),
        alloc_ticks=item.count("alloc_ticks"),
        invoke_ticks=item.count("invoke_ticks"),
        clock_hz=item.count("clock_hz"),
        emulated=item.truth("emulated"),
        inputs=tuple(_tensor_from_json(tensor) for tensor in item.inners("inputs")),
        outputs=tuple(_tensor_from_json(tensor) for tensor in outputs),
        output_data=tuple(tensor.data("hex") for tensor in outputs),
        output_sha256=item.text("output_sha256"),
        log=item.texts("log"),
        min_working_arena_bytes=item.integer_or_none("min_working_arena_bytes"),
        min_arena_failure=item.text("min_arena_failure") if item.has("min_arena_failure") else None,
        overruns=item.texts("overruns"),
        sections=item.inner("sections").all_integers(),
        recording_failure=item.text("recording_failure") if item.has("recording_failure") else None,
        struct_sizes=item.inner("struct_sizes").all_integers(),
        resets=item.integer_or_none("resets") or 0,
        kernels=item.text("kernels") if item.has("kernels") else "reference",
    )


def _sections_to_json(sections: tuple[Section, ...]) -> list[Json]:
    return [{"name": part.name, "region": part.region, "size_bytes": part.size_bytes} for part in sections]


def _sections_from_json(item: Fields, key: str) -> tuple[Section, ...]:
    return tuple(
        Section(part.text("name"), part.text("region"), part.integer("size_bytes")) for part in item.inners(key)
    )


def _tensor_to_json(tensor: TensorInfo) -> Json:
    return {"type": tensor.type, "shape": list(tensor.shape), "size_bytes": tensor.size_bytes}


def _tensor_from_json(item: Fields) -> TensorInfo:
    return TensorInfo(item.text("type"), item.integers("shape"), item.integer("size_bytes"))


def _read_list(path: Path) -> list[Fields]:
    hint = "write it with: harness run … --format json"
    return objects_in(read_json(path, _FILE_LIMIT_BYTES, ResultError, hint), str(path), ResultError, hint)
