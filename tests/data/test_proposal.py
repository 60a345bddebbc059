"""A schema proposed from a public table: it fits that table, and a person can correct it."""

import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noren.data import (
    Boolean,
    Categorical,
    Integer,
    Numeric,
    Schema,
    Text,
    block_of,
    propose,
    read_whole,
)
from noren.errors import FileProblem

TABLE = {
    "age": [31, 48, 77, None],
    "income": [1200.5, 310.25, 99.0, 4400.125],
    "town": ["Nara", "Uji", "NA", "Nara"],
    "smokes": ["yes", "no", "", "yes"],
    "person": ["p1", "p2", "p3", "p4"],
    "empty": ["", "", "", ""],
}


def test_each_kind_of_column_is_recognised():
    kinds = {column.name: type(column) for column in propose(TABLE).schema}
    assert kinds == {
        "age": Integer,
        "income": Numeric,
        "town": Categorical,
        "smokes": Boolean,
        "person": Text,
        "empty": Categorical,
    }


def test_bounds_hold_every_public_value_and_hardly_more():
    schema = propose(TABLE).schema
    assert (schema["age"].lower, schema["age"].upper) == (31, 77)
    assert 90 <= schema["income"].lower <= 99
    assert 4400.125 <= schema["income"].upper <= 4500


def test_undeclared_words_of_the_private_table_have_a_level():
    town = propose(TABLE).schema["town"]
    assert town.levels == ("Nara", "Uji", "other", "missing")


def test_the_toml_form_is_the_schema_with_a_reason_for_every_column():
    made = propose(TABLE)
    text = made.toml()
    assert Schema.from_dict(tomllib.loads(text)) == made.schema
    assert all(f"# {reason}" in text for reason in made.reasons.values())


@given(st.lists(st.floats(-1e299, 1e299), min_size=1, max_size=8))
def test_any_finite_numbers_get_bounds_that_hold_them(values):
    column = propose({"x": np.array(values)}).schema["x"]
    if column.kind in ("numeric", "integer"):
        assert column.lower <= min(values)
        assert column.upper >= max(values)
    else:
        assert column.kind == "boolean"
        assert set(values) <= {0.0, 1.0}


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
@example(["\x7f", "\x7f"])
@example(["0", "0", "0\n0"])
def test_any_words_can_be_declared_and_written(words):
    made = propose({"w": words})
    again = Schema.from_dict(tomllib.loads(made.toml()))
    assert again == made.schema
    assert len(block_of({"w": words}, again)) == len(words)


def test_a_column_of_numbers_with_a_few_words_is_one_of_numbers():
    income = [str(1000 + i) for i in range(200)] + ["n.k."] * 10
    made = propose({"income": income})
    column = made.schema["income"]
    assert (column.kind, column.lower, column.upper) == ("integer", 1000, 1199)
    assert "10 cells are no numbers" in made.reasons["income"]
    block = block_of({"income": income}, made.schema)
    assert block.missing["income"].sum() == 10
    half = [str(1000 + i) if i % 2 else f"x{i}" for i in range(250)]
    assert propose({"code": half}).schema["code"].kind == "text"


def test_text_files_come_back_as_they_are_spelt(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n007,"x, y"\nNA,\n1.50,z\n')
    table = read_whole(path)
    assert table.to_pydict() == {"a": ["007", "NA", "1.50"], "b": ["x, y", "", "z"]}


def test_parquet_and_npz_files_keep_their_types(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "b": ["x", None]}), tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", a=np.array([1, 2]))
    assert read_whole(tmp_path / "t.parquet").to_pydict() == {"a": [1, 2], "b": ["x", None]}
    assert read_whole(tmp_path / "t.npz").to_pydict() == {"a": [1, 2]}


def test_a_file_without_rows_is_an_empty_table(tmp_path):
    (tmp_path / "none.csv").write_text("a,b\n")
    assert read_whole(tmp_path / "none.csv").num_rows == 0


@pytest.mark.parametrize("text", ["a,a\n1,2\n", "a,\n1,2\n", ""])
def test_a_header_that_does_not_name_every_column_once_is_refused(tmp_path, text):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(FileProblem):
        read_whole(tmp_path / "bad.csv")
