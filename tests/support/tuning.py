"""Estimates, and measurements that are off by so many bytes."""

from dataclasses import replace

from harness.domain.estimate import Estimate, Profile, Section
from harness.results.tune import pair_up, samples_of, tune
from tests.support.figures import MEASUREMENT

PROFILE = Profile("2026-08", "arm32", "cmsis-nn")
SECTIONS = ("eval_tensors", "persistent_buffers")


def estimate(number, head=1024, sections=(240, 512), minimum=None):
    tail = sum(sections) + 100
    named = [Section(name, "tail", size) for name, size in zip(SECTIONS, sections, strict=True)]
    return Estimate(
        model=f"model {number}.tflite",
        sha256=f"{number:064x}",
        profile=PROFILE,
        method="layout",
        arena_used_bytes=head + tail,
        head_bytes=head,
        tail_bytes=tail,
        min_working_arena_bytes=head + tail if minimum is None else minimum,
        recommended_arena_bytes=-(-(head + tail) // 16) * 16,
        sections=(Section("planned", "head", head), *named, Section("rest", "tail", 100)),
        # A recording interpreter's own objects move the padding.
        recorded_sections=tuple(Section(part.name, "tail", part.size_bytes + 8) for part in named),
        board="bench-board",
    )


def measurement(expected, head=0, tail=0, sections=(0, 0), minimum=None):
    """What a device says that takes so many bytes more than expected; sections are part of the tail."""
    tail_bytes = expected.tail_bytes + tail + sum(sections)
    return replace(
        MEASUREMENT,
        model=expected.model,
        sha256=expected.sha256,
        board=expected.board,
        kernels=expected.profile.kernels,
        tflm=expected.profile.tflm,
        arena_size_bytes=65536,
        arena_used_bytes=expected.head_bytes + head + tail_bytes,
        head_bytes=expected.head_bytes + head,
        tail_bytes=tail_bytes,
        min_working_arena_bytes=None if minimum is None else expected.min_working_arena_bytes + minimum,
        sections={
            name: next(part.size_bytes for part in expected.recorded_sections if part.name == name) + more
            for name, more in zip(SECTIONS, sections, strict=True)
        },
    )


def samples(*pairs):
    (found,) = pair_up([([one for one, _ in pairs], [other for _, other in pairs])]).values()
    return samples_of(found)


def fitted(*pairs):
    return tune(PROFILE, samples(*pairs), ["run.json"], "2026-11-29")
