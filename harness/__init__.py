"""harness: the truth about the memory of neural networks on microcontrollers."""

__version__ = "0.1.0"
