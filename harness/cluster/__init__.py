"""Several machines: a sweep's jobs, handed to units on other machines by dask.distributed.

Each machine offers its units (`harness worker`); the machine with the sweep decides which unit does what, and alone
writes the results database. dask itself pickles what it carries, and whoever reaches a scheduler or worker can have it
run anything: so everything listens on loopback unless told otherwise, and between machines belongs TLS. Of ours, only
JSON text and bytes are carried.
"""

import logging


def quiet() -> None:
    """Keep dask from writing its own log, tracebacks and all, beside harness's messages."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
