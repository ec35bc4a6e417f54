"""From the bytes of a model file to a graph, every offset checked before it is followed.

Imported within estimate only.
"""
