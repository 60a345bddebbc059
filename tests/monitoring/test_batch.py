"""Counting stored reports: both readers, both loops, first reports only, rows that are strange."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noren.errors import FileProblem, SchemaError
from noren.monitoring.batch import count_first_reports, count_reports
from noren.monitoring.statistic import SlotCounts


def written(tmp_path, columns, name="reports.parquet", groups=1000):
    file = tmp_path / name
    pq.write_table(pa.table(columns), file, row_group_size=groups)
    return file


def made(n=20_000, horizon=7):
    draw = np.random.default_rng(1)
    return draw.integers(1, horizon + 1, n), draw.integers(0, 2, n)


@pytest.mark.parametrize("slot_type", [np.uint8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("bit_type", [np.uint8, np.int64, bool])
def test_parquet_is_counted_exactly(tmp_path, slot_type, bit_type):
    slots, bits = made()
    file = written(tmp_path, {"slot": slots.astype(slot_type), "y": bits.astype(bit_type)})
    found = count_reports(file, 7)
    for slot in range(1, 8):
        assert found.reports[slot - 1, 0] == (slots == slot).sum()
        assert found.ones[slot - 1, 0] == bits[slots == slot].sum()
    assert found.strange == 0


def test_json_lines_and_parquet_say_the_same_and_add_up(tmp_path):
    slots, bits = made(3000)
    kinds = np.arange(3000) % 2
    parquet = written(tmp_path, {"slot": slots, "y": bits, "class": kinds})
    lines = tmp_path / "reports.jsonl"
    rows = zip(slots.tolist(), bits.tolist(), kinds.tolist(), strict=True)
    lines.write_text("\n".join(json.dumps({"slot": s, "y": y, "class": c}) for s, y, c in rows))
    first, second = (count_reports(file, 7, classes=2) for file in (parquet, lines))
    assert (first.reports == second.reports).all()
    assert (first.ones == second.ones).all()
    both = count_reports([parquet, lines], 7, classes=2)
    assert (both.reports == (first + second).reports).all()
    assert both.ones[:, 1].sum() == 2 * bits[kinds == 1].sum()


def test_rows_that_are_no_report_are_counted_apart(tmp_path):
    slots = pa.array([1, None, 0, 8, -1, 2, 3, 3], pa.int32())
    bits = pa.array([1, 1, 1, 1, 1, None, 2, -1], pa.int64())
    found = count_reports(written(tmp_path, {"slot": slots, "y": bits}), 7)
    assert (found.reports.sum(), found.ones.sum(), found.strange) == (1, 1, 7)
    lines = tmp_path / "reports.jsonl"
    bad = ['{"slot":1,"y":1}', '{"slot":1.0,"y":1}', '{"slot":1,"y":true}', "[1]", "x",
           '{"slot":1,"y":2}', '{"slot":99999999999999999999,"y":1}', '{"y":0}']  # fmt: skip
    lines.write_text("\n".join(bad))
    found = count_reports(lines, 7)
    assert (found.reports.sum(), found.strange) == (1, 7)


def test_only_the_first_report_of_a_client_counts(tmp_path):
    draw = np.random.default_rng(2)
    n = 5000
    columns = {"epoch": draw.integers(0, 2, n), "slot": draw.integers(1, 5, n)}
    columns |= {"client": [f"c{i}" for i in draw.integers(0, 300, n)], "y": draw.integers(0, 2, n)}
    rows = list(zip(*(np.asarray(it).tolist() for it in columns.values()), strict=True))
    truth = {}
    for epoch, slot, client, y in rows:
        if epoch == 1:
            truth.setdefault((slot, client), y)
    found = count_first_reports(written(tmp_path, columns, groups=300), 4, 1)
    for slot in range(1, 5):
        mine = [y for (t, _), y in truth.items() if t == slot]
        assert (found.reports[slot - 1, 0], found.ones[slot - 1, 0]) == (len(mine), sum(mine))
    lines = tmp_path / "reports.ndjson"
    lines.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows))
    again = count_first_reports(lines, 4, 1)
    assert (again.ones == found.ones).all()


def test_an_empty_file_counts_nothing(tmp_path):
    columns = {"slot": pa.array([], pa.int32()), "y": pa.array([], pa.uint8())}
    assert count_reports(written(tmp_path, columns), 3).reports.sum() == 0


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(FileProblem, match="does not exist"):
        count_reports(tmp_path / "none.parquet", 3)
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(FileProblem, match="no suffix"):
        count_reports(tmp_path / "x.txt", 3)
    (tmp_path / "x.parquet").write_text("x")
    with pytest.raises(FileProblem, match="PARQUET"):
        count_reports(tmp_path / "x.parquet", 3)
    with pytest.raises(SchemaError, match="no column 'y'"):
        count_reports(written(tmp_path, {"slot": [1]}), 3)


def test_counts_of_other_slots_do_not_add_up():
    with pytest.raises(ValueError, match="same slots"):
        SlotCounts.zero(3) + SlotCounts.zero(4)
