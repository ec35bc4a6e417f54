"""The silicon: core, buses, memories and peripherals, as software and a debugger meet them. It knows no socket."""
