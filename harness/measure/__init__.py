"""Measuring one model on a connected unit: what to expect, the procedure, the smallest arena, post-mortems.

Imported by session, and by runs for what a row is called.
"""
