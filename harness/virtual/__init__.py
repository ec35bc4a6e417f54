"""Virtual boards: processes that real flashers write to and real serial code reads.

Each machine has a package of its own; here lies what all share. Imported by nobody: plugins.py loads `units` by name,
and the commands about virtual boards and bench scans ask the launcher and the registry.
"""
