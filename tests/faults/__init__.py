"""Every fault that a virtual board can have, and what harness has to say about it: `make faults`."""
