"""`make bench`."""

from itertools import chain

from tests.bench import esp32, long_run, source_trees, stm32f407, store, sweep
from tests.bench.table import show

show(chain(stm32f407.rows(), esp32.rows(), source_trees.rows(), sweep.rows(), store.rows(), long_run.rows()))
