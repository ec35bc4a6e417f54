"""Boards that tests use by name."""

BOARD = "stm32f407-virtual"
"""The one for tests that any board would do for."""
