"""harness: the truth about the memory of neural networks on microcontrollers."""

__version__ = "2026.12.0"
