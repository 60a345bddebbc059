"""Delimited text: a record is a line, whatever is in it."""

import csv
import io

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.data import DROP, OWN, Categorical, Numeric, Schema, Text, fill, lines, partitions, read
from noren.errors import FileProblem, NorenError, ParameterError, SchemaError

PAIR = Schema([Text(name="a", missing=fill("-")), Text(name="b", missing=fill("-"))])
CANARY = "PRIVATE-7731"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give one folder whose files each example writes anew."""
    return tmp_path_factory.mktemp("csv")


def pairs(path, schema=PAIR, **settings):
    """Give all records as tuples of the schema's columns."""
    blocks = list(read(path, schema, **settings))
    columns = [[v for block in blocks for v in block[name].tolist()] for name in schema.names]
    return list(zip(*columns, strict=True))


def problem_of(reader, *settings):
    """Give the error raised on purpose, if one is; let others through."""
    try:
        list(reader(*settings))
    except NorenError as error:
        return error
    return None


def written(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# 1. oracle


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ("a,b\n1,2\n3,4\n", [("1", "2"), ("3", "4")]),
        ("a,b\r\n1,2\r\n3,4", [("1", "2"), ("3", "4")]),
        ("b,c,a\n2,x,1\n", [("1", "2")]),
        (" a , b \n 1 ,2\t\n", [("1", "2")]),
        ("\ufeffa,b\n1,2\n", [("1", "2")]),
        ('a,b\n"1,5","say ""hi"""\n', [("1,5", 'say "hi"')]),
        ('"a","b"\n"1",2\n3,"4"\n5,6\n', [("1", "2"), ("3", "4"), ("5", "6")]),
        ("a,b\n\n1,2\n\n\n", [("1", "2")]),
        ("a,b\n1\n1,2,3\n5,6\n", [("-", "-"), ("-", "-"), ("5", "6")]),
        ('a,b\n1,"open\n3,4\n', [("-", "-"), ("3", "4")]),
        ('a,b\n1,"open\n5",x\n3,"4"\n', [("-", "-"), ('5"', "x"), ("3", "4")]),
        ('a,b\n"1"x,2\n3,4\n', [("-", "-"), ("3", "4")]),
        ("a,b\n", []),
        ("a,b", []),
        (b"a,b\n\xff,2\n", [("\ufffd", "2")]),
        (b"a,b\n\xe2\x82,2\n3,\xe2\n", [("\ufffd", "2"), ("3", "\ufffd")]),
        ("a,b\n1\x00,2\n", [("1\x00", "2")]),
    ],
)
def test_small_files_are_read_as_written(tmp_path, content, records):
    assert pairs(written(tmp_path, content)) == records


def test_files_without_a_header_take_the_names_given_and_may_have_more_cells(tmp_path):
    path = written(tmp_path, "1\tx\t5\t99\n2\ty\n3\n", "u.tsv")
    assert pairs(path, names=["a", "b"]) == [("1", "x"), ("2", "y"), ("-", "-")]


def test_a_byte_order_mark_is_no_part_of_the_first_cell_without_a_header(tmp_path):
    path = written(tmp_path, "\ufeff1,2\n3,4\n")
    assert pairs(path, names=["a", "b"]) == [("1", "2"), ("3", "4")]
    parts = partitions(path, PAIR, names=["a", "b"], piece_bytes=1)
    assert [block["a"].tolist() for part in parts for block in part.read()] == [["1"], ["3"]]


def test_another_delimiter_can_be_named(tmp_path):
    assert pairs(written(tmp_path, "a|b\n1|2,3\n"), delimiter="|") == [("1", "2,3")]


def test_a_stray_quote_swallows_no_neighbour_as_it_does_in_general_csv(tmp_path):
    content = 'a,b\n1,x\n7,"oops\n2,y\n3,z\n'
    skip = pa.csv.ParseOptions(newlines_in_values=False, invalid_row_handler=lambda row: "skip")
    general = pa.csv.read_csv(io.BytesIO(content.encode()), parse_options=skip)
    assert general.num_rows < 4  # the power of this test: a general reader loses neighbours
    assert pairs(written(tmp_path, content)) == [("1", "x"), ("-", "-"), ("2", "y"), ("3", "z")]


def test_of_a_line_that_never_ends_only_the_beginning_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LINE_LIMIT", 8)
    path = written(tmp_path, "a,b\n1," + "x" * 50 + "\n3,4\n")
    for chunk in (4, 9, 1000):
        monkeypatch.setattr(lines, "CHUNK", chunk)
        assert pairs(path) == [("1", "x" * 6), ("3", "4")]


# 2. property

cell = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=4)
rows = st.lists(st.tuples(cell, cell), max_size=12)
line = st.binary(max_size=12).map(lambda b: b.replace(b"\n", b""))


@given(rows=rows, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_what_the_standard_library_wrote_comes_back(folder, rows, quoting):
    path = folder / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=quoting).writerows([("a", "b"), *rows])
    absent = set(PAIR.missing_words)
    spaces = " \t\n\v\f\r"
    expected = [
        tuple("-" if v.strip(spaces) in absent else v.strip(spaces) for v in row) for row in rows
    ]
    assert pairs(path) == expected


@settings(max_examples=200)
@given(
    content=st.lists(line, max_size=12),
    chunk=st.integers(1, 40),
    piece=st.integers(1, 60),
    size=st.integers(1, 5),
)
def test_ranges_chunks_and_blocks_of_any_size_give_the_whole(folder, content, chunk, piece, size):
    path = written(folder, b"a,b\n" + b"\n".join(content))
    whole = pairs(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK", chunk)
        parts = partitions(path, PAIR, piece_bytes=piece, rows=size)
        blocks = [block for part in parts for block in part.read()]
    assert [v for block in blocks for v in block["a"].tolist()] == [a for a, _ in whole]
    assert all(len(block) <= size for block in blocks)
    assert len({part.id for part in parts}) == len(parts)


@settings(max_examples=200)
@given(st.lists(line, min_size=1, max_size=10), st.data())
def test_what_a_line_holds_changes_no_other_record(folder, content, data):
    content = [b"%d," % i + one for i, one in enumerate(content)]  # no line is blank
    at = data.draw(st.integers(0, len(content) - 1))
    changed = [*content[:at], b"?" + data.draw(line), *content[at + 1 :]]
    first = pairs(written(folder, b"a,b\n" + b"\n".join(content), "1.csv"))
    second = pairs(written(folder, b"a,b\n" + b"\n".join(changed), "2.csv"))
    assert len(first) == len(second) == len(content)
    assert first[:at] + first[at + 1 :] == second[:at] + second[at + 1 :]


# 4. misuse


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"{CANARY},2\n3,4\n", "no column"),
        (f"{CANARY}\n", "no column"),
        ("", "no column"),
        (f"a,{CANARY}\n1,2\n", "'b' is declared, but the file has no column"),
        (f"a,b,{CANARY},b\n1,2,3,4\n", "'b' is declared, but the file has more than one"),
        (f'a,"b {CANARY}\n1,2\n', "no column"),
    ],
)
def test_a_wrong_header_is_refused_and_not_quoted(tmp_path, content, said):
    with pytest.raises(SchemaError) as caught:
        partitions(written(tmp_path, content), PAIR)
    assert said in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("delimiter", [";;", '"', "\n", "a", "7", "é", ""])
def test_a_delimiter_that_cannot_delimit_is_refused(tmp_path, delimiter):
    with pytest.raises(ParameterError, match="delimiter"):
        list(read(written(tmp_path, "a,b\n"), PAIR, delimiter=delimiter))


@pytest.mark.parametrize("names", ["ab", [], [1, 2]])
def test_names_that_are_no_names_are_refused(tmp_path, names):
    with pytest.raises(ParameterError, match="names"):
        partitions(written(tmp_path, "1,2\n"), PAIR, names=names)


def test_a_file_that_vanished_is_named_and_its_error_held_back(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    part = partitions(path, PAIR)[0]
    path.unlink()
    with pytest.raises(FileProblem, match=r"t\.csv cannot be read as CSV") as caught:
        list(part.read())
    assert caught.value.__context__ is None


@settings(max_examples=300)
@given(header=st.sampled_from([b"x,c\n", b""]), content=st.binary(max_size=200))
def test_no_bytes_after_a_header_make_a_reader_raise(folder, header, content):
    path = written(folder, header + content + CANARY.encode())
    schema = Schema(
        [
            Numeric(name="x", lower=0, upper=1, missing=OWN),
            Categorical(name="c", categories=("u",), missing=DROP),
        ]
    )
    error = problem_of(read, path, schema)
    assert error is None or not header
    assert CANARY not in str(error)
