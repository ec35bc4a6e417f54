"""`make bench`."""

from itertools import chain

from tests.bench import esp32, long_run, stm32f407, store, sweep
from tests.bench.table import show

show(chain(stm32f407.rows(), esp32.rows(), sweep.rows(), store.rows(), long_run.rows()))
