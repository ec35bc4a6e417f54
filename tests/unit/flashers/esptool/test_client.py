"""What the esptool flasher costs those who do not use it."""

import subprocess
import sys


def test_flasher_is_light() -> None:
    """Neither the command line nor a list of boards may pay for importing esptool."""
    script = "import sys, harness.flashers.esptool; sys.exit('esptool' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
