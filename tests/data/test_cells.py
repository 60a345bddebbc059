"""Cells become clean values by the declared rule, each by itself, however they are stored."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.data import DROP, OWN, Boolean, Categorical, Integer, Numeric, Ordered, Text, fill
from noren.data.cells import CLAMPED, EMPTY, FINE, OTHER, UNUSABLE, check_storage, convert
from noren.data.schema import MISSING_WORDS
from noren.errors import SchemaError

X = Numeric(name="x", lower=-1, upper=3, missing=OWN)
K = Integer(name="k", lower=0, upper=9, missing=fill(4))
STRICT = Integer(name="k", lower=0, upper=9, missing=OWN, outside="missing")
C = Categorical(name="c", categories=("a", "NA", "7"), other="rest", missing=OWN)
NARROW = Ordered(name="o", categories=("low", "high"), missing=fill("high"))
B = Boolean(name="b", missing=fill(True))
T = Text(name="t", missing=fill("?"))
ALL = (X, K, STRICT, C, NARROW, B, T)


def read(column, cells, storage=None):
    result = convert(column, pa.array(cells, storage), MISSING_WORDS)
    return result.values.tolist(), result.verdicts.tolist()


# 1. oracle: a table worked out by hand, and a reader of single cells written for these tests


@pytest.mark.parametrize(
    ("column", "cell", "value", "verdict"),
    [
        (X, "2.5", 2.5, FINE),
        (X, " +2.5e0\t", 2.5, FINE),
        (X, ".5", 0.5, FINE),
        (X, "-7", -1.0, CLAMPED),
        (X, "1e300", 3.0, CLAMPED),
        (X, "inf", 1.0, UNUSABLE),
        (X, "1e999", 1.0, UNUSABLE),
        (X, "nan", 1.0, EMPTY),
        (X, "", 1.0, EMPTY),
        (X, None, 1.0, EMPTY),
        (X, "1,5", 1.0, UNUSABLE),
        (X, "0x1", 1.0, UNUSABLE),
        (X, "1_0", 1.0, UNUSABLE),
        (X, "\uff11", 1.0, UNUSABLE),
        (X, "true", 1.0, UNUSABLE),
        (K, "9", 9, FINE),
        (K, "9.0", 9, FINE),
        (K, "10", 9, CLAMPED),
        (K, "2.5", 4, UNUSABLE),
        (K, "99999999999999999999", 9, CLAMPED),
        (STRICT, "10", 4, UNUSABLE),
        (STRICT, "-1", 4, UNUSABLE),
        (C, "a", 0, FINE),
        (C, " a ", 0, FINE),
        (C, "NA", 1, FINE),
        (C, "7.0", 2, FINE),
        (C, "A", 3, OTHER),
        (C, "7.5", 3, OTHER),
        (C, "null", 4, EMPTY),
        (C, None, 4, EMPTY),
        (NARROW, "low", 0, FINE),
        (NARROW, "Low", 1, UNUSABLE),
        (NARROW, "", 1, EMPTY),
        (B, "Yes", True, FINE),
        (B, "F", False, FINE),
        (B, "0.0", False, FINE),
        (B, "2", True, UNUSABLE),
        (B, "NA", True, EMPTY),
        (T, " x y ", "x y", FINE),
        (T, "NULL", "?", EMPTY),
    ],
)
def test_one_cell_of_text_is_read_by_its_rule(column, cell, value, verdict):
    assert read(column, [cell], pa.string()) == ([value], [verdict])


@pytest.mark.parametrize(
    ("column", "cells", "storage", "values", "verdicts"),
    [
        (X, [2.5, 4.0, math.nan, math.inf, None], pa.float64(), [2.5, 3, 1, 1, 1], [0, 1, 3, 4, 3]),
        (X, [2, 9], pa.int8(), [2, 3], [0, 1]),
        (X, [2, None], pa.int8(), [2, 1], [0, 3]),
        (K, [2.0, 2.5, -1.0], pa.float32(), [2, 4, 0], [0, 4, 1]),
        (K, [2**63 + 5], pa.uint64(), [9], [1]),
        (STRICT, [3, 2**62], pa.int64(), [3, 4], [0, 4]),
        (K, [None, None], pa.null(), [4, 4], [3, 3]),
        (C, [7, 8, None], pa.int32(), [2, 3, 4], [0, 2, 3]),
        (C, [7.0, math.nan], pa.float64(), [2, 4], [0, 3]),
        (C, [b"a", b"\xff"], pa.binary(), [0, 3], [0, 2]),
        (C, ["a", None, "z"], pa.large_string(), [0, 4, 3], [0, 3, 2]),
        (C, ["a", None, "z"], pa.string_view(), [0, 4, 3], [0, 3, 2]),
        (B, [True, False, None], pa.bool_(), [True, False, True], [0, 0, 3]),
        (B, [1, 0, 2], pa.int8(), [True, False, True], [0, 0, 4]),
        (B, [1.0, 0.0, math.nan], pa.float64(), [True, False, True], [0, 0, 3]),
        (T, [1.0, 0.5, 1e300], pa.float64(), ["1", "0.5", "1e+300"], [0, 0, 0]),
        (T, [12, None], pa.int64(), ["12", "?"], [0, 3]),
    ],
)
def test_stored_numbers_and_truth_values_follow_the_same_rules(
    column, cells, storage, values, verdicts
):
    assert read(column, cells, storage) == (values, verdicts)


def test_decimals_and_dictionaries_are_read_by_their_content():
    from decimal import Decimal

    decimals = pa.array([Decimal("0.1"), Decimal("9.9"), None], pa.decimal128(5, 2))
    assert convert(X, decimals, MISSING_WORDS).values.tolist() == [0.1, 3.0, 1.0]
    levels = pa.array(["a", "q", None, "a"]).dictionary_encode()
    assert convert(C, levels, MISSING_WORDS).values.tolist() == [0, 3, 4, 0]


def one_cell(column, text):
    """Read one cell of text in plain Python, as the documentation says it."""
    text = None if text is None else text.strip(" \t\n\v\f\r")
    absent = text is None or text in MISSING_WORDS
    if column.kind in ("numeric", "integer"):
        plain = (text or "").lstrip("+-").replace("e", "").replace("E", "")
        legible = text and set(plain) <= set("0123456789.+-") and text.isascii()
        try:
            number = float(text) if legible else math.nan
        except ValueError:
            number = math.nan
        outside = not column.lower <= number <= column.upper
        if not math.isfinite(number) or (column.kind == "integer" and number % 1):
            return column.stand_in
        if outside and column.outside == "missing":
            return column.stand_in
        return min(max(number, column.lower), column.upper)
    if column.kind in ("categorical", "ordered"):
        declared = list(column.categories)
        if text in declared:
            return declared.index(text)
        if text and text.endswith(".0") and text[:-2] in declared and text[:-2].isdecimal():
            return declared.index(text[:-2])
        if absent or column.other is None:
            return column.stand_in
        return column.levels.index(column.other)
    if column.kind == "boolean":
        yes, no = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
        word = (text or "").lower()
        return True if word in yes else False if word in no else column.stand_in
    return column.stand_in if absent else text


numberish = st.from_regex(r"\A[+-]{0,2}[0-9_.]{0,4}([eE][+-]?[0-9]{0,3})?[ \t]?\Z")
telling = st.sampled_from(
    ["NA", "", "inf", "nan", "a", "7", "7.0", "-7.0", "yes", "NO", "1.0", "low", "rest", "missing"]
)
ascii_text = st.text(st.characters(max_codepoint=127), max_size=5)
texts = st.none() | numberish | telling | ascii_text


@settings(max_examples=300)
@given(st.lists(texts, min_size=1, max_size=8), st.sampled_from(ALL))
def test_text_is_read_as_the_single_cell_reader_reads_it(cells, column):
    values, _ = read(column, cells, pa.string())
    assert values == [one_cell(column, cell) for cell in cells]


# 2. property


@given(st.lists(texts, min_size=2, max_size=12), st.sampled_from(ALL), st.data())
def test_a_cell_is_read_the_same_whatever_its_neighbours_are(cells, column, data):
    changed = data.draw(st.integers(0, len(cells) - 1))
    others = [*cells[:changed], data.draw(texts), *cells[changed + 1 :]]
    first, second = read(column, cells, pa.string()), read(column, others, pa.string())
    for side in (0, 1):
        kept = [i for i in range(len(cells)) if i != changed]
        assert [first[side][i] for i in kept] == [second[side][i] for i in kept]


whole_cells = st.lists(st.none() | st.integers(-(2**62), 2**62) | st.integers(-12, 12), min_size=1)


@given(whole_cells, st.sampled_from([X, K, STRICT, C, NARROW]))
def test_integers_read_the_same_as_text_as_integers_and_as_floats(cells, column):
    texts = [None if cell is None else str(cell) for cell in cells]
    assert read(column, cells, pa.int64()) == read(column, texts, pa.string())
    small = [None if cell is None else cell % 1000 for cell in cells]
    floats = [None if cell is None else float(cell) for cell in small]
    assert read(column, small, pa.int64()) == read(column, floats, pa.float64())


@given(st.lists(st.none() | st.floats(allow_infinity=False), min_size=1))
def test_floats_read_the_same_from_their_shortest_text(cells):
    texts = [None if cell is None else repr(cell) for cell in cells]
    assert read(X, cells, pa.float64()) == read(X, texts, pa.string())


@given(st.lists(st.floats(), min_size=1), st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_clean_numbers_always_lie_between_the_bounds(cells, lower, width):
    column = Numeric(name="x", lower=lower, upper=lower + width, missing=OWN)
    values = np.array(read(column, cells, pa.float64())[0])
    assert ((values >= column.lower) & (values <= column.upper)).all()


@given(st.lists(st.binary(max_size=6), min_size=1), st.sampled_from(ALL))
def test_no_bytes_make_a_column_raise(cells, column):
    values, verdicts = read(column, cells, pa.binary())
    assert len(values) == len(verdicts) == len(cells)


# 4. misuse


@pytest.mark.parametrize(
    "storage", [pa.list_(pa.int8()), pa.timestamp("s"), pa.date32(), pa.struct([("a", pa.int8())])]
)
@pytest.mark.parametrize("column", ALL, ids=lambda column: column.kind)
def test_storage_that_holds_no_such_cells_is_refused_by_the_columns_name(storage, column):
    with pytest.raises(SchemaError, match=f"Column '{column.name}' is declared {column.kind}"):
        check_storage(column, storage)


def test_truth_values_are_no_numbers():
    with pytest.raises(SchemaError, match="'x' is declared numeric"):
        check_storage(X, pa.bool_())
    check_storage(B, pa.bool_())


def test_a_clean_column_is_not_printed():
    result = convert(Text(name="t", missing=DROP), pa.array(["PRIVATE-7731"]), MISSING_WORDS)
    assert "PRIVATE-7731" not in repr(result)
