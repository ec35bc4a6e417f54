"""The far side of the debug link: what pyOCD loads, which needs no emulator."""
