"""One run: build, connect, then for each model estimate, flash, measure and reconcile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness import plugins
from harness.build import build
from harness.device import Device, patience_for
from harness.domain.board import Board
from harness.domain.dut import Dut
from harness.domain.estimate import Estimate, Profile
from harness.domain.firmware import FirmwareImage, FlashPart, PackedModel
from harness.domain.measurement import Measurement
from harness.domain.postmortem import PostMortem
from harness.domain.recipe import Subject
from harness.domain.reconciliation import Reconciliation
from harness.errors import BenchError, DoesNotLinkError, HarnessError, ModelError, UsageError
from harness.estimate import ModelFile, device_refusals, estimate, file_name, load_graph, read_model
from harness.estimate.corrections import corrected, load_correction
from harness.estimate.host_run import host_run
from harness.estimate.shapes_rewrite import resize_model
from harness.flash import FLASH_SYMPTOMS, blamed_on_flash, flash_parts
from harness.identity import find_port
from harness.input_data import input_data
from harness.measure import measure
from harness.min_arena import find_min_arena
from harness.model_image import HEADER_BYTES, pack
from harness.output_check import unchecked, with_output_check
from harness.ports import Flasher, FlashSession, Line, Progress
from harness.postmortem import DEATHS, blame, examine, name_culprit, with_postmortem
from harness.reconcile import reconcile, without_measurement
from harness.run_options import RunOptions
from harness.serial_log import RecordedLine, SerialLog

__all__ = ["RunOptions", "Session", "open_session", "run_models"]


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


@contextmanager
def open_session(board: Board, options: RunOptions, progress: Progress) -> Iterator[Session]:
    """Build the firmware and connect to a unit.

    Raises:
        BenchError: one of the two does not work.
    """
    flasher = plugins.flasher(board.flasher)
    flasher.prepare()  # it gets ready while the firmware is built
    image = build(board, plugins.tflm_provider(options.tflm), plugins.toolchain(board.toolchain), progress)
    _check_arena(options.recipe.arena_size_bytes, image)
    session = Session(board, image, flasher, options, progress)
    try:
        session.connect()
        yield session
    finally:
        session.close()


def _check_arena(size_bytes: int | None, image: FirmwareImage) -> None:
    if size_bytes is not None and size_bytes > image.arena_max_bytes:
        raise UsageError(
            "the arena is larger than the RAM that the firmware leaves",
            where=image.board_id,
            measured=f"{size_bytes:,} bytes",
            expected=f"at most {image.arena_max_bytes:,}",
            hint="choose a smaller --arena-size",
        )


@dataclass(frozen=True)
class _Bench:
    """A unit and the probe's connection to it."""

    dut: Dut
    flash: FlashSession


class Session:
    """A built firmware and a connected unit.

    Args:
        board: what kind of unit.
        image: the firmware.
        flasher: writes and starts the unit.
        options: what to do.
        progress: told how far it is.
    """

    def __init__(
        self, board: Board, image: FirmwareImage, flasher: Flasher, options: RunOptions, progress: Progress
    ) -> None:
        self._board = board
        self._image = image
        self._flasher = flasher
        self._options = options
        self._progress = progress
        self._stack = ExitStack()
        self._bench: _Bench | None = None
        self._serial_log = SerialLog()
        self._postmortem: PostMortem | None = None
        self._port = ""

    @property
    def image(self) -> FirmwareImage:
        """The firmware."""
        return self._image

    @property
    def dut(self) -> Dut | None:
        """The unit, while there is a connection to it."""
        return self._bench.dut if self._bench else None

    @property
    def serial_log(self) -> SerialLog:
        """What has passed over the serial line since it was last taken."""
        return self._serial_log

    def connect(self) -> _Bench:
        """Find the unit and connect to it, unless that is already done."""
        if self._bench is None:
            source = plugins.unit_source(self._board.units)
            dut = self._stack.enter_context(source.acquire(self._board, self._options.probe, self._options.port))
            flash = self._stack.enter_context(self._flasher.connect(dut))
            self._bench = _Bench(dut, flash)
            self._port = dut.port
        return self._bench

    def close(self) -> None:
        """Give unit and probe back."""
        self._bench = None
        self._stack.close()

    def run(self, model: ModelFile, options: RunOptions | None = None) -> Reconciliation:
        """Estimate, flash, measure and reconcile one model.

        Args:
            model: which.
            options: for this model and the next ones, instead of those before; of the same TFLM, probe and port.
        """
        self._options = options or self._options
        self._postmortem = None
        expected: Estimate | None = None
        try:
            expected = self._estimate(model)
            found = self._measure(model, expected)
            # The device knows the sizes of its own structures better than the profile's table does.
            expected = self._estimate(model, found.struct_sizes, found.arena_size_bytes)
        except HarnessError as error:
            if isinstance(error, BenchError) or (self._postmortem and self._postmortem.probe_trouble):
                with suppress(HarnessError):  # what broke first is what there is to say
                    self.close()  # the next model begins with a fresh connection
            row = (model.name, model.sha256, self._board.id, self._image.tflm)
            return with_postmortem(without_measurement(row, expected, error), self._postmortem)
        result = reconcile(expected, found, self._options.threshold_percent)
        return self._with_checked_output(result, model, found) if self._options.check_output else result

    def _with_checked_output(self, row: Reconciliation, model: ModelFile, found: Measurement) -> Reconciliation:
        recipe = self._options.recipe
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
            self.flash(None)
            with self._talk(self.connect()) as device:
                device.await_boot()
        except HarnessError:
            with suppress(HarnessError):
                self.close()
            raise

    def flash(self, model: ModelFile | None) -> list[str]:
        """Write what is not there yet; returns what was written."""
        parts = self._parts(model)
        return flash_parts(self.connect().flash, parts, self._progress, force=self._options.force_flash)

    def _parts(self, model: ModelFile | None) -> Sequence[FlashPart]:
        """What the flash is to hold."""
        packed = None
        if model is not None:
            data = pack(model.data, model.sha256, self._image.build_id)
            packed = PackedModel(model.name, data, HEADER_BYTES)
        return plugins.packager(self._board.packager).parts(self._image, packed)

    def _estimate(
        self, model: ModelFile, struct_sizes: Mapping[str, int] | None = None, arena_size_bytes: int | None = None
    ) -> Estimate:
        profile = Profile(self._image.tflm, self._board.abi)
        refusals = device_refusals(load_graph(model), profile)
        if refusals:
            raise ModelError(refusals[0], hint=f"TFLM {self._image.tflm} on the device cannot run this model")
        found = estimate(
            model,
            profile,
            arena_size_bytes=arena_size_bytes or self._options.recipe.arena_size_bytes or self._image.arena_max_bytes,
            margin_percent=self._options.margin_percent,
            struct_sizes=struct_sizes,
            board=self._board.id,
        )
        return corrected(found, load_correction(self._options.corrections, profile))

    def _measure(self, model: ModelFile, expected: Estimate) -> Measurement:
        self.flash(model)
        bench = self.connect()
        subject = Subject(model.name, model.sha256, self._board, bench.dut.probe_id, self._image)
        try:
            with self._talk(bench) as device:
                return self._ask(device, subject, expected)
        except FLASH_SYMPTOMS as error:
            # The line is closed: the flasher may need its port.
            segments = [part.segment for part in self._parts(model)]
            raise blamed_on_flash(error, bench.flash, segments, self._port) from error

    def _ask(self, device: Device, subject: Subject, expected: Estimate) -> Measurement:
        try:
            found = measure(device, subject, self._options.recipe)
        except DEATHS as error:
            minimum_bytes = expected.min_working_arena_bytes
            self._postmortem = examine(error, subject, minimum_bytes, device, self.connect().flash)
            raise blame(error, self._postmortem) from error
        found = name_culprit(found, device, subject, self._options.recipe)
        if not self._options.min_arena:
            return found
        guess = expected.min_working_arena_bytes
        minimum = find_min_arena(device, subject, self._options.recipe, found.arena_size_bytes, guess)
        return replace(found, min_working_arena_bytes=minimum.size_bytes, min_arena_failure=minimum.failure)

    @contextmanager
    def _talk(self, bench: _Bench) -> Iterator[Device]:
        """Start the device, and hold its line open."""
        transport = plugins.transport(self._board.transport)
        self._port = self._port or find_port(bench.flash, self._board, transport)

        def open_line() -> Line:
            return RecordedLine(transport.open(self._port, self._board.baud_rate), self._serial_log)

        line = bench.flash.start(open_line)
        try:
            yield Device(line, lambda: bench.flash.restart(line), patience_for(self._board))
        finally:
            line.close()
