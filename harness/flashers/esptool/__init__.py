"""Flashing by esptool, which runs in a process of its own."""

from harness.flashers.esptool.client import EsptoolFlasher

__all__ = ["EsptoolFlasher"]
