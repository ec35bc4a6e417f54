"""The results database: every attempt that was ever made, with its full key, and its serial log beside it."""

from harness.store.database import Store, open_store
from harness.store.schema import DEFAULT_STORE, VERSION

__all__ = ["DEFAULT_STORE", "VERSION", "Store", "open_store"]
