"""Shapes that the file leaves open, and models at other input shapes. Imported within estimate only."""
