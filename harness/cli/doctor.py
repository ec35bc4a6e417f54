"""`harness doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from harness.cli.options import BoardType
from harness.cli.output import Row, format_option, show
from harness.domain.board import Board
from harness.errors import HarnessError, StorageError
from harness.files.folders import cache_folder, data_folder, runtime_folder, state_folder
from harness.virtual.machines import MACHINES

# ST-LINK in its versions, CMSIS-DAP by J-Link's and Raspberry Pi's vendors, and the usual serial bridges.
UDEV_RULES = """\
# /etc/udev/rules.d/60-harness.rules; then: sudo udevadm control --reload && sudo udevadm trigger
SUBSYSTEM=="usb", ATTRS{idVendor}=="0483", ATTRS{idProduct}=="374?|3752|3753|3754", MODE="0660", TAG+="uaccess"
SUBSYSTEM=="usb", ATTRS{idVendor}=="1366|2e8a|0d28", MODE="0660", TAG+="uaccess"
SUBSYSTEM=="tty", ATTRS{idVendor}=="0483|10c4|1a86|0403", MODE="0660", TAG+="uaccess"
"""

_PACKAGES = ("pyocd", "pyserial", "tflite", "pandas", "click")


@dataclass(frozen=True)
class _Line:
    """One check: what was found, and how to mend it when that is not enough."""

    check: str
    ok: bool
    found: str
    mend: str = ""


@click.command()
@click.option("--board", type=BoardType(), help="Ask only for what this board needs.")
@click.option("--udev", is_flag=True, help="Print the udev rules and nothing else.")
@format_option
def command(*, board: Board | None, udev: bool, output_format: str) -> int:
    """Check toolchain, probes, ports and permissions, and say how to mend what is wrong."""
    if udev:
        click.echo(UDEV_RULES, nl=False)
        return os.EX_OK
    lines = [line for check in _CHECKS for line in check(board)]
    show([_row(line) for line in lines], output_format, folded=True)
    return os.EX_OK if all(line.ok for line in lines) else HarnessError.exit_code


def _row(line: _Line) -> Row:
    return {"check": line.check, "ok": line.ok, "found": line.found, "mend": "" if line.ok else line.mend}


def _python(board: Board | None) -> Iterator[_Line]:
    yield _Line("python", sys.version_info >= (3, 11), platform.python_version(), "harness needs 3.11 or newer")
    for package in _PACKAGES:
        yield _Line(f"package {package}", True, version(package))
    for machine, emulation in MACHINES.items():
        try:
            yield _Line(f"package {emulation.package}", True, version(emulation.package))
        except PackageNotFoundError:
            needed = board is None or board.machine == machine
            found = f"missing: no virtual {machine.upper()}"
            yield _Line(f"package {emulation.package}", not needed, found, "pip install 'harness[virtual]'")


def _toolchains(board: Board | None) -> Iterator[_Line]:
    from harness import plugins

    for name in [board.toolchain] if board else sorted(plugins.installed(plugins.TOOLCHAINS)):
        yield _attempt(f"toolchain {name}", partial(_compiler_version, name))


def _tflm(_board: Board | None) -> Iterator[_Line]:
    from harness import plugins

    for name in sorted(set(plugins.installed(plugins.TFLM)) - {plugins.PREBUILT, plugins.TREE}):
        yield _attempt(f"tflm {name}", partial(_tflm_version, name))


def _folders(_board: Board | None) -> Iterator[_Line]:
    for what, find, variable in (
        ("cache", cache_folder, "XDG_CACHE_HOME"),
        ("data", data_folder, "XDG_DATA_HOME"),
        ("state", state_folder, "XDG_STATE_HOME"),
    ):
        yield _folder(f"{what} folder", find, variable)
    if os.name == "posix":
        yield _attempt("runtime folder", _runtime_folder)


def _folder(check: str, find: Callable[[], Path], variable: str) -> _Line:
    try:
        path = find()
    except StorageError as error:
        return _Line(check, False, error.what, error.hint)
    nearest = next(folder for folder in (path, *path.parents) if folder.exists())
    return _Line(check, os.access(nearest, os.W_OK), str(path), f"make {nearest} writable, or set {variable}")


def _runtime_folder() -> str:
    found = runtime_folder()
    return found.note or str(found.path)


def _probes(board: Board | None) -> Iterator[_Line]:
    from harness import plugins

    def listed() -> str:
        probes = plugins.flasher("pyocd").probes()
        return ", ".join(f"{probe.unique_id} ({probe.description})" for probe in probes) or "none plugged in"

    if board is None or board.flasher == "pyocd":
        yield _attempt("debug probes", listed)


def _ports(_board: Board | None) -> Iterator[_Line]:
    from harness import plugins

    try:
        ports = plugins.transport("serial").ports()
    except HarnessError as error:
        yield _Line("serial ports", False, error.what, error.hint)
        return
    if not ports:
        yield _Line("serial ports", True, "none plugged in")
    for port in ports:
        yield _Line(
            f"serial port {port.path}",
            os.access(port.path, os.R_OK | os.W_OK),
            port.description,
            "sudo usermod -aG dialout $USER and log in anew, or install: harness doctor --udev",
        )


def _cargo(_board: Board | None) -> Iterator[_Line]:
    path = shutil.which("cargo")
    yield _Line("cargo", True, path or "not installed (needed only until TFLM's sources are in the cache)")


_CHECKS: tuple[Callable[[Board | None], Iterator[_Line]], ...] = (
    _python,
    _toolchains,
    _cargo,
    _tflm,
    _folders,
    _probes,
    _ports,
)


def _attempt(check: str, find: Callable[[], str]) -> _Line:
    try:
        return _Line(check, True, find())
    except HarnessError as error:
        return _Line(check, False, error.what, error.hint)


def _compiler_version(name: str) -> str:
    from harness import plugins

    info = plugins.toolchain(name).identify()
    return f"{info.version} ({info.remark})" if info.remark else info.version


def _tflm_version(name: str) -> str:
    from harness import plugins

    return plugins.tflm_provider(name).fetch(_silent).version


def _silent(what: str, done: int, total: int) -> None:
    """A check shows no progress: its line is its result."""
