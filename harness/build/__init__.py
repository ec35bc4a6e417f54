"""The build: from a board, TFLM's sources and a compiler to a firmware image, and a model's image beside it.

Imported by bench (for the files that come with harness), measure, session and cli.
"""
