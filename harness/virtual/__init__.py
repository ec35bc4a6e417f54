"""Virtual boards: processes that real flashers write to and real serial code reads.

Each machine has a package of its own; here lies what all share. plugins.py loads `units` by name, and pyOCD its probe;
of the other packages only cli may import from here.
"""
