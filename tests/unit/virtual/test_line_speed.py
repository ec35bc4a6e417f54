from __future__ import annotations

import pytest

from harness.virtual.line_speed import as_received, garbled


def test_garbling_changes_every_byte() -> None:
    assert all(garbled(value) != value for value in range(256))


@pytest.mark.parametrize(
    ("device_baud", "arrives"),
    [(115200, True), (119000, True), (111000, True), (120000, False), (9600, False)],
)
def test_bytes_arrive_where_both_ends_agree_within_four_percent(device_baud: float, arrives: bool) -> None:
    assert (as_received(b"#H1", device_baud, 115200) == b"#H1") is arrives
