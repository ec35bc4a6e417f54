"""Layouts of firmware and model in flash."""
