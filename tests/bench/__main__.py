"""`make bench`."""

from tests.bench import stm32f407
from tests.bench.table import show

show(stm32f407.rows())
