"""TFLM since 2022: one allocator, one order of allocations, one planner; the generations differ in tables.

Imported by the layout modules of these generations.
"""
