"""The official TFLM wheel on this machine, in a process of its own. Imported within estimate only."""
