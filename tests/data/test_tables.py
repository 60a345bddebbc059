"""Tables in files of three formats: the same content gives the same blocks, and nothing leaks."""

import csv
import datetime
import pickle
import tracemalloc
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.data import (
    DROP,
    OWN,
    Boolean,
    Categorical,
    Integer,
    Numeric,
    Ordered,
    Schema,
    Text,
    block_of,
    fill,
    inspect_table,
    partitions,
    read,
)
from noren.errors import FileProblem, NorenError, ParameterError, SchemaError

CANARY = "PRIVATE-7731"
FORMATS = ("csv", "parquet", "npz")
SCHEMA = Schema(
    [
        Numeric(name="x", lower=-1, upper=1, missing=OWN),
        Integer(name="k", lower=0, upper=5, missing=fill(2)),
        Categorical(name="c", categories=("u", "v"), other="else", missing=OWN),
        Ordered(name="o", categories=("low", "high"), missing=DROP),
        Boolean(name="b", missing=OWN),
        Text(name="t", missing=fill("")),
    ]
)
STORED = {
    "x": (st.floats(-2, 2) | st.just(float("nan")), np.float64),
    "k": (st.integers(-2, 9), np.int64),
    "c": (st.sampled_from(["u", "v", "w", "", "NA"]), np.str_),
    "o": (st.sampled_from(["low"] * 5 + ["high", "none"]), np.str_),
    "b": (st.booleans(), np.bool_),
    "t": (st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=5), np.str_),
}
records = st.lists(st.tuples(*(strategy for strategy, _ in STORED.values())), max_size=25)


def columns_of(rows):
    """Give records as arrays of the types that a NumPy or Arrow user would store."""
    parts = zip(*rows, strict=True) if rows else [()] * len(STORED)
    return {
        name: np.array(part, dtype)
        for (name, (_, dtype)), part in zip(STORED.items(), parts, strict=True)
    }


def write(folder, form, columns, group=1 << 20, stem="t", page=1 << 20):
    """Write a table in one of the formats."""
    path = folder / f"{stem}.{form}"
    if form == "parquet":
        table = pa.table({name: pa.array(array) for name, array in columns.items()})
        pq.write_table(table, path, group, use_dictionary=["c"], data_page_size=page)
    elif form == "npz":
        np.savez(path, **columns)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = zip(*(array.tolist() for array in columns.values()), strict=True)
            csv.writer(file).writerows([list(columns), *rows])
    return path


def problem_of(reader, *settings):
    """Give the error raised on purpose, if one is; let others through."""
    try:
        list(reader(*settings))
    except NorenError as error:
        return error
    return None


def joined(blocks):
    """Put blocks end to end, as comparable lists."""
    blocks = list(blocks)
    return {
        name: (
            [v for block in blocks for v in block[name].tolist()],
            [v for block in blocks for v in block.missing[name].tolist()],
        )
        for name in SCHEMA.names
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give one folder whose files each example writes anew."""
    return tmp_path_factory.mktemp("tables")


# 1. oracle


@pytest.mark.parametrize("form", FORMATS)
def test_a_small_table_comes_out_as_worked_out_by_hand(tmp_path, form):
    rows = [
        (0.5, 3, "u", "low", True, "one"),
        (7.0, 9, "w", "high", False, ""),
        (float("nan"), -4, "", "low", True, "NA"),
        (0.0, 0, "v", "none", True, "dropped: its grade is not declared"),
    ]
    found = joined(read(write(tmp_path, form, columns_of(rows)), SCHEMA))
    assert found == {
        "x": ([0.5, 1.0, 0.0], [False, False, True]),
        "k": ([3, 5, 0], [False, False, False]),
        "c": ([0, 2, 3], [False, False, True]),
        "o": ([0, 1, 0], [False, False, False]),
        "b": ([True, False, True], [False, False, False]),
        "t": (["one", "", ""], [False, True, True]),
    }


def test_columns_may_be_stacked_into_a_matrix():
    schema = SCHEMA.select(["k", "x"])
    block = block_of({"x": [0.5, 9], "k": [1, 2]}, schema)
    assert block.stack(["x", "k"]).tolist() == [[0.5, 1.0], [1.0, 2.0]]


# 2. property


@settings(max_examples=60)
@given(rows=records, size=st.integers(1, 9), piece=st.integers(1, 400), group=st.integers(1, 9))
def test_every_format_cut_and_streamed_anyhow_gives_the_table_in_memory(
    folder, rows, size, piece, group
):
    columns = columns_of(rows)
    whole = joined([block_of(columns, SCHEMA)])
    for form in FORMATS:
        path = write(folder, form, columns, group)
        assert joined(read(path, SCHEMA)) == whole
        parts = partitions(path, SCHEMA, rows=size, piece_bytes=piece)
        assert joined(block for part in parts for block in part.read()) == whole
        assert all(len(block) <= size for part in parts for block in part.read())


@settings(max_examples=60)
@given(rows=records, at=st.integers(0), other=st.tuples(*(s for s, _ in STORED.values())))
def test_one_record_changes_at_most_its_own_clean_record(rows, at, other):
    rows = [*rows, other]
    at %= len(rows)
    first = block_of(columns_of(rows[:at] + rows[at + 1 :]), SCHEMA)
    second = block_of(columns_of(rows), SCHEMA)
    assert 0 <= len(second) - len(first) <= 1
    kept = [i for i, row in enumerate(rows) if row[3] != "none"]
    kept = [place for place, i in enumerate(kept) if i != at]
    for name in SCHEMA.names:
        assert first[name].tolist() == second[name][kept].tolist()


def test_lists_frames_tables_and_arrays_in_memory_read_alike():
    given_columns = {"x": [0.5, None, 3], "c": ["u", None, "w"]}
    schema = SCHEMA.select(["x", "c"])
    arrow = pa.table(given_columns)
    halves = pa.concat_tables([arrow.slice(0, 1), arrow.slice(1)])
    arrays = {
        "x": np.array([0.5, np.nan, 3], np.dtype(">f4")),
        "c": np.array(["u", None, "w"], object),
    }
    expected = [0.5, 0.0, 1.0], [0, 3, 2]
    for table in (given_columns, arrow, halves, arrow.to_batches()[0], arrays):
        block = block_of(table, schema)
        assert (block["x"].tolist(), block["c"].tolist()) == expected


@pytest.mark.parametrize(
    "array",
    [
        np.array([0, 1], np.float16),
        np.array([0, 1], np.longdouble),
        np.array([0, 1], ">i8"),
        np.array([b"0", b"1"]),
        np.array(["0", "1"], ">U1"),
        [0, "1"],
        (0.0, 1),
        [b"0", 1],
    ],
)
def test_numbers_are_read_from_any_plain_array(array):
    assert block_of({"x": array}, SCHEMA.select(["x"]))["x"].tolist() == [0.0, 1.0]


def test_a_piece_is_a_name_and_a_range_that_can_be_sent_away(tmp_path):
    rows = [(0.5, i % 6, "u", "low", True, "x" * 9) for i in range(400)]
    for form in FORMATS:
        path = write(tmp_path, form, columns_of(rows), group=100)
        parts = partitions(path, SCHEMA, piece_bytes=1000)
        assert len(parts) > 1
        sent = pickle.dumps(parts)
        assert len(sent) < 2000 * len(parts)
        back = pickle.loads(sent)
        assert [part.id for part in back] == [part.id for part in parts]
        assert joined(b for part in back for b in part.read()) == joined(read(path, SCHEMA))


def test_pieces_do_not_depend_on_how_the_path_is_spelled(tmp_path, monkeypatch):
    write(tmp_path, "csv", columns_of([]))
    monkeypatch.chdir(tmp_path)
    (first,), (second,) = partitions("t.csv", SCHEMA), partitions(tmp_path / "." / "t.csv", SCHEMA)
    assert first.id == second.id


@pytest.mark.parametrize("form", FORMATS)
def test_peak_memory_does_not_grow_with_the_table(tmp_path, form):
    def peak(n):
        columns = {
            "x": np.linspace(-2, 2, n),
            "k": np.arange(n) % 7,
            "c": np.array(["u", "v", "w"])[np.arange(n) % 3],
        }
        path = write(tmp_path, form, columns, group=n, stem=f"t{n}", page=1 << 14)
        schema = SCHEMA.select(["x", "k", "c"])
        arrow = before = pa.total_allocated_bytes()
        tracemalloc.start()
        for block in read(path, schema, rows=2000):
            arrow = max(arrow, pa.total_allocated_bytes())
            del block
        python = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return python + arrow - before

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noren.data.lines.CHUNK", 1 << 16)
        patch.setattr("noren.data.parquet.BUFFER", 1 << 14)
        peak(2000)  # imports and caches
        small, large = peak(20_000), peak(160_000)
    assert large < 1.5 * small + 200_000


# 4. misuse


@pytest.mark.parametrize("form", FORMATS)
def test_an_absent_column_is_named_and_the_files_own_are_not(tmp_path, form):
    path = write(tmp_path, form, {"x": np.array([0.1]), CANARY: np.array([1])})
    with pytest.raises(SchemaError, match="'k' is declared") as caught:
        partitions(path, SCHEMA)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04PRIVATE-7731", b"PAR1PRIVATE-7731PAR1"])
def test_a_file_of_another_kind_is_named_and_not_quoted(tmp_path, form, content):
    path = tmp_path / f"wrong.{form}"
    path.write_bytes(content)
    with pytest.raises(NorenError) as caught:
        list(read(path, SCHEMA))
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_a_file_cut_short_is_a_problem_of_the_file(tmp_path, form):
    path = write(tmp_path, form, columns_of([(0.5, 1, "u", "low", True, CANARY)] * 50))
    content = path.read_bytes()
    for size in (len(content) - 1, len(content) // 2, 10):
        path.write_bytes(content[:size])
        with pytest.raises(FileProblem) as caught:
            list(read(path, SCHEMA))
        assert CANARY not in str(caught.value)


def test_damage_found_while_reading_is_a_problem_of_the_file_and_not_quoted(tmp_path):
    rows = [(0.5, 1, "u", "low", True, CANARY)] * 50
    found = set()
    for form in ("parquet", "npz"):
        path = write(tmp_path, form, columns_of(rows))
        parts, content = partitions(path, SCHEMA), path.read_bytes()
        for at in range(4, 400, 7):
            path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
            error = problem_of(parts[0].read)
            assert CANARY not in str(error)
            assert getattr(error, "__context__", None) is None
            found |= {form} if error else set()
    assert found == {"parquet", "npz"}


def test_a_cell_that_is_no_utf8_in_a_string_column_never_raises(tmp_path):
    cells = pa.Array.from_buffers(pa.binary(), 3, pa.array([b"u", b"\xff", b"v"]).buffers())
    strings = pa.StringArray.from_buffers(3, *cells.buffers()[1:])
    pq.write_table(pa.table({"c": strings}), tmp_path / "t.parquet")
    (block,) = read(tmp_path / "t.parquet", SCHEMA.select(["c"]))
    assert block["c"].tolist() == [0, 2, 1]


def test_paths_that_are_no_files_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "absent.csv", "\0", 7, None):
        with pytest.raises(FileProblem, match="must be a file"):
            partitions(path, SCHEMA)


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(FileProblem, match=r"\.csv, \.tsv, \.tab, \.parquet, \.pq, \.npz"):
        partitions(path, SCHEMA)
    with pytest.raises(ParameterError, match="'csv', 'parquet' or 'npz'"):
        partitions(path, SCHEMA, form="xlsx")
    with pytest.raises(FileProblem, match="cannot be read as NPZ"):
        partitions(path, SCHEMA, form="npz")


def test_settings_of_the_wrong_kind_are_refused(tmp_path):
    path = write(tmp_path, "csv", columns_of([]))
    with pytest.raises(ParameterError, match="schema is dict"):
        partitions(path, {})
    with pytest.raises(ParameterError, match="rows is 0"):
        read(path, SCHEMA, rows=0)
    with pytest.raises(ParameterError, match="piece_bytes"):
        partitions(path, SCHEMA, piece_bytes=-1)


def test_a_column_of_another_storage_is_refused_before_a_record_is_read(tmp_path):
    schema = SCHEMA.select(["x"])
    pq.write_table(pa.table({"x": [datetime.date(2020, 1, 1)]}), tmp_path / "d.parquet")
    np.savez(tmp_path / "d.npz", x=np.array(["2020-01-01"], "M8[D]"))
    np.savez(tmp_path / "b.npz", x=np.array([True]))
    np.savez(tmp_path / "o.npz", x=np.array([CANARY, 1], object))
    np.savez(tmp_path / "two.npz", x=np.zeros((2, 2)))
    np.savez(tmp_path / "uneven.npz", x=np.zeros(2), k=np.zeros(3))
    for name in ("d.parquet", "d.npz", "b.npz", "o.npz", "two.npz"):
        with pytest.raises(NorenError) as caught:
            partitions(tmp_path / name, schema)
        assert CANARY not in str(caught.value)
    with pytest.raises(FileProblem, match="differ in length"):
        partitions(tmp_path / "uneven.npz", SCHEMA.select(["x", "k"]))


@pytest.mark.parametrize("rows", [12, 10**9, 10**15, -1])
def test_an_archive_that_promises_another_number_of_rows_is_refused_at_once(tmp_path, rows):
    path = tmp_path / "t.npz"
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows,)}
    with zipfile.ZipFile(path, "w") as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, header)
        member.write(bytes(8 * 11))
    with pytest.raises(FileProblem):
        partitions(path, SCHEMA.select(["x"]))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"k": [1]}, "'x' is declared"),
        ({"x": [1, 2], "k": [1]}, "differ in length"),
        ({"x": [[1, 2], [3]], "k": [1, 2]}, "one-dimensional"),
        ({"x": [[1, 2], [3, 4]], "k": [1, 2]}, "one-dimensional"),
        ({"x": 3, "k": [1]}, "one-dimensional"),
        ({"x": np.array([1j]), "k": [1]}, "one-dimensional"),
        ({"x": pa.array([[1.0]]), "k": [1]}, "'x' is declared numeric"),
        ({"x": [datetime.date(2020, 1, 1)], "k": [1]}, None),
    ],
)
def test_a_table_in_memory_of_the_wrong_shape_is_refused_in_words(table, said):
    schema = SCHEMA.select(["x", "k"])
    if said is None:  # any object is a cell, and one that is no number is missing
        assert block_of(table, schema).missing["x"].tolist() == [True]
        return
    with pytest.raises(SchemaError) as caught:
        block_of(table, schema)
    assert said in str(caught.value)


def test_blocks_and_pieces_print_neither_values_nor_sizes(tmp_path):
    path = write(tmp_path, "parquet", columns_of([(0.5, 1, "u", "low", True, CANARY)] * 37))
    (part,) = partitions(path, SCHEMA)
    (block,) = part.read()
    text = f"{block!r} {block} {part!r} {part}"
    assert CANARY not in text
    assert "37" not in text.replace(str(path), "")
    assert "k: int64" in text


# what only the data's keeper looks at


def test_inspection_counts_what_each_rule_touched_and_shows_some_of_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("k,o\n3,low\n9,low\n9,high\nx,none\n,\n")
    seen = inspect_table(path, SCHEMA.select(["k", "o"]))
    assert (seen.records, seen.dropped) == (5, 2)
    assert seen.verdicts["k"] == {"fine": 1, "clamped": 2, "unusable": 1, "empty": 1}
    assert seen.verdicts["o"] == {"fine": 3, "unusable": 1, "empty": 1}
    assert seen.examples == {"k": ("9", "x", ""), "o": ("none", "")}
    assert seen.to_dict()["columns"]["k"]["examples"] == ["9", "x", ""]
    assert inspect_table(path, SCHEMA.select(["k"]), most=1).examples["k"] == ("9",)


@pytest.mark.parametrize("form", FORMATS)
def test_inspection_agrees_with_reading(tmp_path, form):
    rows = [(0.5 * i, i, "uvw"[i % 3], ("low", "none")[i % 2], True, "") for i in range(9)]
    path = write(tmp_path, form, columns_of(rows))
    seen = inspect_table(path, SCHEMA)
    assert seen.records - seen.dropped == sum(len(block) for block in read(path, SCHEMA))


def test_inspection_says_it_is_secret_and_prints_nothing_unasked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"k\n{CANARY}\n")
    seen = inspect_table(path, SCHEMA.select(["k"]))
    assert CANARY not in f"{seen} {seen!r}"
    assert "SECRET" in str(seen)
    assert seen.lines()[0].startswith("SECRET")
    assert CANARY in "\n".join(seen.lines())
    assert seen.to_dict()["secret"].startswith("SECRET")


@settings(max_examples=150)
@given(form=st.sampled_from(["parquet", "npz"]), noise=st.binary(max_size=40), at=st.integers(0))
def test_no_damage_makes_a_reader_fail_in_another_way(folder, form, noise, at):
    path = write(folder, form, columns_of([(0.5, 1, "u", "low", True, CANARY)] * 3), stem="fuzz")
    content = path.read_bytes()
    at %= len(content)
    path.write_bytes(content[:at] + noise + content[at + len(noise) :])
    assert CANARY not in str(problem_of(read, path, SCHEMA))
