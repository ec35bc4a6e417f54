"""A built firmware and a unit to run it on: estimate, flash, measure and reconcile one model after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import Protocol

from harness import plugins
from harness.bench.connection import Connection, HeldUnit
from harness.bench.flash import flash_parts, refuse_others
from harness.build.firmware import build
from harness.build.model_image import pack_all
from harness.device.commands import check_arena_size
from harness.device.input_data import input_data
from harness.device.serial_log import SerialLog
from harness.device.talk import Device
from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.domain.estimate import Estimate
from harness.domain.firmware import FirmwareImage, FlashPart
from harness.domain.graph import variable_names
from harness.domain.measurement import Measurement
from harness.domain.postmortem import PostMortem
from harness.domain.recipe import FlashedModel, Subject
from harness.domain.reconciliation import Reconciliation, RowSubject
from harness.domain.run_options import RunOptions
from harness.errors import BenchError, ForeignHandError, HarnessError
from harness.estimate import ModelFile, host_run, load_graph, struct_sizes
from harness.measure.expectation import advised_for_board, expect, label_of, profile_of
from harness.measure.min_arena import find_min_arena
from harness.measure.output_check import unchecked, with_output_check
from harness.measure.postmortem import DEATHS, Remains, blame, examine, name_culprit, with_postmortem
from harness.measure.procedure import measure
from harness.ports import Progress
from harness.results.reconcile import reconcile, without_measurement

__all__ = ["ModelSession", "OpenSession", "RunOptions", "Session", "open_session"]

_TRIES = 3
"""Measurements that are begun before somebody else's hand in them is told."""


class ModelSession(Protocol):
    """What whoever has many models to run needs of a session."""

    @property
    def image(self) -> FirmwareImage:
        """The firmware."""

    @property
    def serial_log(self) -> SerialLog:
        """What has passed over the serial line since it was last taken."""

    def run(self, model: ModelFile, options: RunOptions | None = None) -> Reconciliation:
        """Estimate, flash, measure and reconcile one model; what happens to it is in the row."""

    def run_shared(self, models: Sequence[ModelFile]) -> Reconciliation:
        """The same with several models in one arena, which take turns."""

    def await_answer(self) -> None:
        """Start the device, and wait until it says hello.

        Raises:
            HarnessError: it does not, or there is no way to it.
        """


OpenSession = Callable[[Board, RunOptions, Progress], AbstractContextManager[ModelSession]]
"""Builds a firmware and connects to a unit, as `open_session` does."""


@contextmanager
def open_session(board: Board, options: RunOptions, progress: Progress) -> Iterator[Session]:
    """Build the firmware and connect to a unit.

    Raises:
        BenchError: one of the two does not work.
        UsageError: the firmware leaves too little RAM for the arena asked for.
    """
    family, flasher = plugins.family(board.family), plugins.flasher(board.flasher)
    flasher.prepare()  # it gets ready while the firmware is built
    connection = Connection(board, family, flasher, options)
    provider, toolchain = plugins.tflm_provider(options.tflm, options.tflm_options), plugins.toolchain(board.toolchain)
    image = build(board, provider, toolchain, progress, operators=options.operators)
    check_arena_size(options.recipe.arena_size_bytes or 0, image.arena_max_bytes, image.board_id)
    session = Session(board, image, connection, options, progress)
    try:
        session.connect()
        yield session
    finally:
        session.close()


class Session:
    """A built firmware and the way to a unit.

    Args:
        board: what kind of unit.
        image: the firmware.
        connection: the way to the unit.
        options: what to do.
        progress: told how far it is.
    """

    def __init__(
        self, board: Board, image: FirmwareImage, connection: Connection, options: RunOptions, progress: Progress
    ) -> None:
        self._board = board
        self._image = image
        self._connection = connection
        self._options = options
        self._progress = progress
        self._postmortem: PostMortem | None = None

    @property
    def image(self) -> FirmwareImage:
        """The firmware."""
        return self._image

    @property
    def dut(self) -> Dut | None:
        """The unit, while there is a connection to it."""
        return self._connection.dut

    @property
    def serial_log(self) -> SerialLog:
        """What has passed over the serial line since it was last taken."""
        return self._connection.serial_log

    def connect(self) -> HeldUnit:
        """Find the unit and connect to it, unless that is already done."""
        return self._connection.open()

    def close(self) -> None:
        """Give unit and probe back."""
        self._connection.close()

    def run(self, model: ModelFile, options: RunOptions | None = None) -> Reconciliation:
        """Estimate, flash, measure and reconcile one model.

        Args:
            model: which.
            options: for this model and the next ones, instead of those before; of the same TFLM, probe and port.
        """
        self._options = options or self._options
        row = self._run([model])
        return self._with_checked_output(row, model) if self._options.check_output else row

    def run_shared(self, models: Sequence[ModelFile]) -> Reconciliation:
        """The same with several models in one arena, which take turns."""
        return self._run(models)

    def _run(self, models: Sequence[ModelFile]) -> Reconciliation:
        self._postmortem = None
        expected: Estimate | None = None
        try:
            expected = expect(models, self._image, self._board, self._options)
            found = self._measured_undisturbed(models, expected)
        except HarnessError as error:
            if isinstance(error, BenchError) or (self._postmortem and self._postmortem.probe_trouble):
                with suppress(HarnessError):  # what broke first is what there is to say
                    self.close()  # the next model begins with a fresh connection
            told = advised_for_board(
                error, expected, self._options.recipe.arena_size_bytes, self._image.arena_max_bytes
            )
            subject = RowSubject(*label_of(models), self._board.id, self._image.tflm)
            return with_postmortem(without_measurement(subject, expected, told), self._postmortem)
        return reconcile(expected, found, self._options.threshold_percent)

    def _with_checked_output(self, row: Reconciliation, model: ModelFile) -> Reconciliation:
        recipe, found = self._options.recipe, row.measurement
        if found is None:
            return row
        try:
            data = input_data(found.inputs, recipe.inputs, recipe.random_seed)
            host = host_run(model, data, recipe.all_invokes)
        except HarnessError as error:
            return unchecked(row, error)
        return with_output_check(row, found, host.outputs, host.tflm)

    def await_answer(self) -> None:
        """Start the device with this firmware, and wait until it says hello.

        Raises:
            HarnessError: it does not, or there is no way to it.
        """
        try:
            self.flash()
            with self._connection.talk([]) as device:
                device.await_boot()
        except HarnessError:
            with suppress(HarnessError):
                self.close()
            raise

    def flash(self, models: Sequence[ModelFile] = ()) -> list[str]:
        """Write the firmware and these models, as far as they are not there yet; returns what was written."""
        return self._flash(self._parts(models))

    def _flash(self, parts: Sequence[FlashPart]) -> list[str]:
        chip = self.connect().flash
        if self._options.keep_flash:
            refuse_others(chip, parts, plugins.packager(self._board.packager))
        return flash_parts(chip, parts, self._progress, force=self._options.force_flash)

    def _parts(self, models: Sequence[ModelFile]) -> Sequence[FlashPart]:
        """What the flash is to hold."""
        packed = None
        if models:
            names = ", ".join(model.name for model in models)
            packed = pack_all(names, [(model.data, model.sha256) for model in models], self._image.build_id)
        return plugins.packager(self._board.packager).parts(self._image, packed)

    def _measured_undisturbed(self, models: Sequence[ModelFile], expected: Estimate) -> Measurement:
        """A measurement that nobody has reset or halted the chip in: one that somebody did is made anew."""
        for _ in range(_TRIES - 1):
            with suppress(ForeignHandError):
                return self._measure(models, expected)
        return self._measure(models, expected)

    def _measure(self, models: Sequence[ModelFile], expected: Estimate) -> Measurement:
        parts = self._parts(models)
        self._flash(parts)
        subject = self._subject(models)
        with self._connection.talk(parts) as device:
            return self._ask(device, subject, expected)

    def _subject(self, models: Sequence[ModelFile]) -> Subject:
        name, sha256 = label_of(models)
        return Subject(
            model=name,
            sha256=sha256,
            board=self._board,
            probe_id=self.connect().dut.probe_id,
            image=self._image,
            models=tuple(FlashedModel(model.sha256, len(variable_names(load_graph(model)))) for model in models),
            struct_sizes=struct_sizes(profile_of(self._image, self._board)),
        )

    def _ask(self, device: Device, subject: Subject, expected: Estimate) -> Measurement:
        try:
            found = measure(device, subject, self._options.recipe)
        except DEATHS as error:
            minimum_bytes = expected.min_working_arena_bytes
            remains = Remains(device, self.connect().flash, self._connection.family)
            self._postmortem = examine(error, subject, minimum_bytes, remains)
            raise blame(error, self._postmortem) from error
        found = name_culprit(found, device, subject, self._options.recipe, self._connection.family)
        if not self._options.min_arena:
            return found
        guess = expected.min_working_arena_bytes
        minimum = find_min_arena(device, subject, self._options.recipe, found.arena_size_bytes, guess)
        return replace(found, min_working_arena_bytes=minimum.size_bytes, min_arena_failure=minimum.failure)
