"""The options of a run as JSON for another machine, and back: every field, but for what means nothing there."""

from __future__ import annotations

from harness.domain.recipe import Recipe
from harness.domain.run_options import RunOptions
from harness.files.fields import Fields
from harness.results.as_json import Json, tflm_options_from_json, tflm_options_to_json

LEFT_BEHIND = frozenset({"probe", "port", "corrections"})
"""Fields of RunOptions that do not travel: units are chosen by name, and the files of corrections travel beside."""

_MOST_PERCENT = 1000


def options_to_json(options: RunOptions) -> Json:
    """All fields but LEFT_BEHIND."""
    return {
        "tflm": options.tflm,
        "tflm_options": tflm_options_to_json(options.tflm_options),
        "recipe": _recipe_to_json(options.recipe),
        "min_arena": options.min_arena,
        "force_flash": options.force_flash,
        "keep_flash": options.keep_flash,
        "threshold_percent": options.threshold_percent,
        "margin_percent": options.margin_percent,
        "check_output": options.check_output,
        "input_shapes": {name: list(shape) for name, shape in options.input_shapes.items()},
        "shared_arena": options.shared_arena,
        "operators": sorted(options.operators) if options.operators is not None else None,
    }


def options_from_json(item: Fields) -> RunOptions:
    """The reverse of `options_to_json`."""
    shapes = item.inner("input_shapes")
    return RunOptions(
        tflm=item.text("tflm"),
        tflm_options=tflm_options_from_json(item.inner("tflm_options")),
        recipe=_recipe_from_json(item.inner("recipe")),
        min_arena=item.truth("min_arena"),
        force_flash=item.truth("force_flash"),
        keep_flash=item.truth("keep_flash"),
        threshold_percent=item.number("threshold_percent", 0, _MOST_PERCENT),
        margin_percent=item.number("margin_percent", 0, _MOST_PERCENT),
        check_output=item.truth("check_output"),
        input_shapes={name: shapes.integers(name) for name in shapes.values},
        shared_arena=item.truth("shared_arena"),
        operators=frozenset(item.texts("operators")) if item.has("operators") else None,
    )


def _recipe_to_json(recipe: Recipe) -> Json:
    return {
        "arena_size_bytes": recipe.arena_size_bytes,
        "inputs": [data.hex() for data in recipe.inputs],
        "invokes": recipe.invokes,
        "random_seed": recipe.random_seed,
    }


def _recipe_from_json(item: Fields) -> Recipe:
    return Recipe(
        arena_size_bytes=item.integer_or_none("arena_size_bytes"),
        inputs=tuple(bytes.fromhex(data) for data in item.texts("inputs")),
        invokes=item.integer("invokes"),
        random_seed=item.integer_or_none("random_seed"),
    )
