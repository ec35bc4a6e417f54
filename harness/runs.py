"""Many models on one unit, one after the other: a row for each, whatever happens to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.domain.board import Board
from harness.domain.reconciliation import Reconciliation
from harness.errors import DoesNotLinkError, HarnessError, ModelError
from harness.estimate import ModelFile, file_name, read_model
from harness.estimate.shapes_rewrite import resize_model
from harness.ports import Progress
from harness.reconcile import without_measurement
from harness.run_options import RunOptions
from harness.session import Session, open_session


def run_models(
    board: Board, paths: Sequence[Path], options: RunOptions, progress: Progress
) -> Iterator[Reconciliation]:
    """Run models one after the other on one unit; one row each, in order, as soon as it is known.

    What is wrong with one model, or happens to it on the device, ends in its row. What stops all of them (no
    compiler, no probe) raises.

    Raises:
        BenchError: nothing can be built or connected.
    """
    readable = any(isinstance(_read(path, options), ModelFile) for path in paths)
    with ExitStack() as stack:
        session = stack.enter_context(_open_or_refuse(board, options, progress)) if readable else None
        for path in paths:
            model = _read(path, options)
            if isinstance(model, HarnessError):
                yield without_measurement((file_name(path), "", board.id, ""), None, model)
            elif isinstance(session, DoesNotLinkError):
                yield without_measurement((model.name, model.sha256, board.id, ""), None, session)
            elif session:
                yield session.run(model)


@contextmanager
def _open_or_refuse(board: Board, options: RunOptions, progress: Progress) -> Iterator[Session | DoesNotLinkError]:
    """As `open_session`; a firmware that does not fit the board is no error, but what there is to say of each model."""
    with ExitStack() as stack:
        try:
            session: Session | DoesNotLinkError = stack.enter_context(open_session(board, options, progress))
        except DoesNotLinkError as error:
            session = error
        yield session


def _read(path: Path, options: RunOptions) -> ModelFile | ModelError:
    try:
        return resize_model(read_model(path), options.input_shapes)
    except ModelError as error:
        return error
