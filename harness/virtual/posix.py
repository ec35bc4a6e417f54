"""What virtual boards need of the system that they run on."""

from __future__ import annotations

from importlib import import_module

from harness.errors import PluginError

_NEEDED = ("fcntl", "pty", "termios")


def require_posix() -> None:
    """Refuse a system that has no file locks and no pseudo-terminals.

    Raises:
        PluginError: it has not.
    """
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        raise PluginError(
            "virtual boards need a POSIX system",
            measured=f"no {', '.join(missing)}",
            expected="Linux, macOS, or WSL",
            hint="real boards work here: name one with --board; estimates need no board at all",
        )


def _is_there(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True
