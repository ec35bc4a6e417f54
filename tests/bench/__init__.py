"""Benchmarks: what harness itself costs in time and memory. They print; they never fail a test."""
