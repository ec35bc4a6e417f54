"""The words of the project as frozen data. No I/O, no outside library."""
