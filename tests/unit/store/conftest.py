import pytest

from harness.store import open_store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "harness.db"


@pytest.fixture
def store(path):
    with open_store(path, create=True) as opened:
        yield opened
