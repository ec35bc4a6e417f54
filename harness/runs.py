"""Many models on one unit, one after the other: a row for each, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from harness.domain.board import Board
from harness.domain.estimate import SHARED_NAME
from harness.domain.reconciliation import Reconciliation, RowSubject
from harness.domain.run_options import RunOptions
from harness.errors import DoesNotLinkError, HarnessError, ModelError, UsageError
from harness.estimate import ModelFile, file_name, read_model, resize_model
from harness.ports import Progress
from harness.results.reconcile import without_measurement
from harness.results.sharing import beside_alone
from harness.session import ModelSession, OpenSession, open_session


def run_models(
    board: Board,
    paths: Sequence[Path],
    options: RunOptions,
    progress: Progress,
    opener: OpenSession = open_session,
) -> Iterator[Reconciliation]:
    """Run models one after the other on one unit; one row each, in order, as soon as it is known.

    What is wrong with one model, or happens to it on the device, ends in its row. What stops all of them (no
    compiler, no probe) raises. When they are to share an arena, a row of all together comes last.

    Args:
        board: the kind of unit.
        paths: model files.
        options: how to run them.
        progress: told how far it is.
        opener: builds the firmware and connects to the unit.

    Raises:
        BenchError: nothing can be built or connected.
        UsageError: there is a single model only to share an arena.
    """
    if options.shared_arena and len(paths) < 2:
        raise UsageError("a shared arena is for two models or more", measured=len(paths))
    models = [_read(path, options) for path in paths]
    readable = [model for model in models if isinstance(model, ModelFile)]
    with ExitStack() as stack:
        session: ModelSession | HarnessError = ModelError("no model can be read")
        if readable:
            session = stack.enter_context(_open_or_refuse(opener(board, options, progress)))
        rows = []
        for row in _each_alone(paths, models, board, session):
            rows.append(row)
            yield row
        if options.shared_arena:
            yield beside_alone(_together(models, board, session), rows)


def _each_alone(
    paths: Sequence[Path], models: Sequence[ModelFile | ModelError], board: Board, session: ModelSession | HarnessError
) -> Iterator[Reconciliation]:
    for path, model in zip(paths, models, strict=True):
        if isinstance(model, ModelError):
            yield without_measurement(RowSubject(file_name(path), "", board.id, ""), None, model)
        elif isinstance(session, HarnessError):
            yield without_measurement(RowSubject(model.name, model.sha256, board.id, ""), None, session)
        else:
            yield session.run(model)


def _together(
    models: Sequence[ModelFile | ModelError], board: Board, session: ModelSession | HarnessError
) -> Reconciliation:
    sound = [model for model in models if isinstance(model, ModelFile)]
    runner = next((model for model in models if isinstance(model, ModelError)), session)
    if isinstance(runner, HarnessError):
        return without_measurement(RowSubject(SHARED_NAME, "", board.id, ""), None, runner)
    return runner.run_shared(sound)


@contextmanager
def _open_or_refuse(
    opening: AbstractContextManager[ModelSession],
) -> Iterator[ModelSession | DoesNotLinkError]:
    """A session; a firmware that does not fit the board is no error, but what there is to say of each model."""
    with ExitStack() as stack:
        try:
            session: ModelSession | DoesNotLinkError = stack.enter_context(opening)
        except DoesNotLinkError as error:
            session = error
        yield session


def _read(path: Path, options: RunOptions) -> ModelFile | ModelError:
    try:
        return resize_model(read_model(path), options.input_shapes)
    except ModelError as error:
        return error
