"""Virtual boards: processes that real flashers write to and real serial code reads."""
