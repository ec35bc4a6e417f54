"""Providers of TFLM sources."""
