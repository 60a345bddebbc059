"""Counting by dictionary codes says what counting by values says, and leaves the rest alone."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.errors import FileProblem
from noren.monitoring import batch
from noren.monitoring.batch import count_reports
from noren.monitoring.coded_columns import pair_counts

HORIZON = 96


def written(folder, slots, bits, **settings):
    path = folder / "reports.parquet"
    pq.write_table(pa.table({"slot": slots, "y": bits}), path, **settings)
    return path


def by_codes(path):
    """Count each row group by codes; None where a group is not read so."""
    file = pq.ParquetFile(path)
    found = np.zeros((HORIZON + 1, 2), np.int64)
    with path.open("rb") as raw:
        for group in range(file.num_row_groups):
            counted = pair_counts(raw, file.metadata, group, ("slot", "y"))
            if counted is None:
                return None
            np.add.at(found, (counted.first, counted.second), counted.times)
    return found


def by_values(slots, bits):
    return np.bincount(2 * np.asarray(slots, int) + bits, minlength=2 * HORIZON + 2).reshape(-1, 2)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("slot_type", [np.int16, np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("order", ["random", "sorted", "one value"])
def test_codes_say_what_values_say(tmp_path, compression, slot_type, order):
    draw = np.random.default_rng(3)
    slots, bits = draw.integers(1, HORIZON + 1, 50_003), draw.integers(0, 2, 50_003)
    slots = {"random": slots, "sorted": np.sort(slots), "one value": np.full(50_003, 7)}[order]
    path = written(tmp_path, slots.astype(slot_type), bits.astype(np.uint8),
                   compression=compression, row_group_size=20_011)  # fmt: skip
    assert (by_codes(path) == by_values(slots, bits)).all()
    counted = count_reports(path, HORIZON)
    assert (counted.ones[:, 0] == by_values(slots, bits)[1:, 1]).all()
    assert counted.reports.sum() == 50_003


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(1, HORIZON), st.integers(0, 1)), min_size=1, max_size=300),
    values=st.integers(1, HORIZON), repeat=st.integers(1, 40), required=st.booleans(),
)  # fmt: skip
def test_codes_of_every_width_and_run_say_what_values_say(tmp_path_factory, rows, values, repeat,
                                                         required):  # fmt: skip
    slots = np.repeat([1 + slot % values for slot, _ in rows], repeat)
    bits = np.repeat([bit for _, bit in rows], repeat)
    fields = [pa.field("slot", pa.int32(), not required), pa.field("y", pa.uint8(), not required)]
    table = pa.table([slots.astype(np.int32), bits.astype(np.uint8)], schema=pa.schema(fields))
    path = tmp_path_factory.mktemp("rows") / "reports.parquet"
    pq.write_table(table, path)
    assert (by_codes(path) == by_values(slots, bits)).all()


@pytest.mark.parametrize(
    ("change", "settings"),
    [
        ({"y": pa.array([1, None, 0] * 100, pa.uint8())}, {}),
        ({"y": pa.array([True, False, True] * 100)}, {}),
        ({"slot": pa.array(range(300), pa.int32())}, {}),  # more values than codes of a byte
        ({"slot": pa.array([1] * 300, pa.date32())}, {}),
        ({}, {"use_dictionary": False}),
        ({}, {"data_page_version": "2.0"}),
        ({}, {"write_statistics": False}),
    ],
    ids=[
        "missing bits",
        "true and false",
        "many slots",
        "dates",
        "no codes",
        "other pages",
        "plain",
    ],
)
def test_what_has_another_form_is_left_to_the_ordinary_reader(tmp_path, change, settings):
    columns = {"slot": pa.array([1, 2, 3] * 100, pa.int32()), "y": pa.array([1, 0, 1] * 100)}
    path = written(tmp_path, *(columns | change).values(), **settings)
    assert by_codes(path) is None
    if "slot" not in change:
        counted = count_reports(path, 3)
        assert counted.reports.sum() + counted.strange == 300


def test_rows_that_are_no_report_are_strange_by_codes_too(tmp_path):
    slots, bits = pa.array([0, 1, 2, 3, -1] * 10, pa.int32()), pa.array([1, 1, 2, 0, 1] * 10)
    path = written(tmp_path, slots, bits)
    with path.open("rb") as raw:
        metadata = pq.ParquetFile(path).metadata
        assert pair_counts(raw, metadata, 0, ("slot", "y")).times.tolist() == [10] * 5
    counted = count_reports(path, 2)
    assert (counted.reports[:, 0].tolist(), counted.strange) == ([10, 0], 40)


def test_a_damaged_file_is_refused_or_counted_and_never_read_beyond_its_end(tmp_path):
    draw = np.random.default_rng(5)
    slots, bits = draw.integers(1, HORIZON + 1, 3000), draw.integers(0, 2, 3000)
    path = written(tmp_path, slots.astype(np.int32), bits.astype(np.uint8), compression="none")
    whole = path.read_bytes()
    end = pq.ParquetFile(path).metadata.row_group(0).column(1).total_compressed_size
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for place in draw.integers(4, len(whole) // 2 + end, 3):
            damaged[place] = draw.integers(256)
        path.write_bytes(damaged)
        try:
            count_reports(path, HORIZON)
        except FileProblem:
            refused += 1
    assert 0 < refused < 300


def test_without_the_short_cut_the_counts_are_the_same(tmp_path, monkeypatch):
    draw = np.random.default_rng(6)
    slots, bits = draw.integers(0, HORIZON + 3, 9000), draw.integers(0, 3, 9000)
    path = written(tmp_path, slots.astype(np.int32), bits.astype(np.uint8))
    short = count_reports(path, HORIZON)
    monkeypatch.setattr(batch, "coded_block", lambda *_: None)
    plain = count_reports(path, HORIZON)
    assert (short.reports == plain.reports).all()
    assert (short.ones == plain.ones).all()
    assert short.strange == plain.strange > 0
