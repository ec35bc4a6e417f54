import io
from dataclasses import replace

import pandas as pd
import pytest

from harness.domain.attempt import Attempt, Circumstances
from harness.report.export import to_frame, write_csv, write_parquet

ATTEMPT = Attempt(
    7, 2, 3, 1, "done", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z", "lab", "0.1", "kws.tflite", "ab" * 32,
    "desk", "left", Circumstances(tflm="2020-07", build_id="0" * 16), used_bytes=1000, error_percent=1.5,
    corrections=("fit-1",), verdict="ok", causes=("a", "b"), exit_code=0,
)  # fmt: skip
FAILED = replace(ATTEMPT, id=8, used_bytes=None, error_percent=None, verdict="error", sweep=None)


def test_csv_has_the_whole_key_and_whole_numbers():
    text = io.StringIO()
    write_csv(to_frame([ATTEMPT, FAILED]), text)
    frame = pd.read_csv(io.StringIO(text.getvalue()), dtype=str, keep_default_na=False)
    assert list(frame["used_bytes"]) == ["1000", ""]
    assert list(frame["sweep"]) == ["2", ""]
    assert [frame[each][0] for each in ("build_id", "corrections", "causes")] == ["0" * 16, "fit-1", "a; b"]
    assert {"sha256", "toolchain", "tflm_hash", "flags", "kernels", "dut", "host", "started_at"} <= set(frame.columns)


def test_parquet_keeps_the_types(tmp_path):
    pytest.importorskip("pyarrow")
    write_parquet(to_frame([ATTEMPT, FAILED]), tmp_path / "a.parquet")
    frame = pd.read_parquet(tmp_path / "a.parquet")
    assert frame["used_bytes"].tolist() == [1000, pd.NA]
    assert frame["error_percent"].tolist() == [1.5, pd.NA]


def test_no_attempts_give_the_columns():
    assert len(to_frame([])) == 0
    assert "build_id" in to_frame([]).columns


def test_no_name_becomes_a_formula():
    text = io.StringIO()
    write_csv(to_frame([replace(ATTEMPT, model="=1+1", error_percent=-3.5)]), text)
    assert "'=1+1" in text.getvalue()
    assert ",-3.5," in text.getvalue()
