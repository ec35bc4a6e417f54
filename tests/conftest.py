"""What holds for all tests."""

import os

import pytest
from hypothesis import settings

# A busy machine is no failure, so Hypothesis times no example. All else stays as its own profile for here or CI has it.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def _locks_of_these_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Locks hold for the whole machine, and so would those of tests that somebody else runs at the same time.

    The processes of one test run share them: they share the flash files of virtual boards as well.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "locks of all processes"
    folder.mkdir(exist_ok=True)
    os.environ["HARNESS_LOCK_FOLDER"] = str(folder)
