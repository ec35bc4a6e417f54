"""The estimate: what a model will take of the arena, worked out from its file alone."""
