"""Flashing by pyOCD, which runs in a process of its own."""

from harness.flashers.pyocd.client import PyocdFlasher

__all__ = ["PyocdFlasher"]
