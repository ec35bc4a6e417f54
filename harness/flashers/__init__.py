"""Ways to write a chip's flash."""
