"""Encoded columns lie in [-1, 1], and each row depends on its own record alone."""

import numpy as np
import pytest

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
)
from noren.data.encoding import encode, encoded_names
from noren.errors import SchemaError

SCHEMA = Schema(
    [
        Numeric(name="bmi", lower=10, upper=50, missing=OWN),
        Integer(name="age", lower=0, upper=100, missing=fill(50)),
        Boolean(name="smokes", missing=OWN),
        Ordered(name="grade", categories=("low", "mid", "high"), missing=fill("mid")),
        Categorical(name="town", categories=("Nara", "Uji"), missing=OWN),
    ]
)
TABLE = {
    "bmi": [10, 30, 99, None],
    "age": [0, 25, 100, -5],
    "smokes": ["yes", "no", "?", "no"],
    "grade": ["low", "mid", "high", ""],
    "town": ["Uji", "Nara", "Kyoto", "Uji"],
}


def test_every_kind_of_column_has_the_coordinates_it_names():
    assert encoded_names(SCHEMA) == (
        "bmi", "bmi is missing", "age", "smokes", "smokes is missing", "grade",
        "town = Nara", "town = Uji", "town = missing",
    )  # fmt: skip
    expected = [
        [-1, 0, -1, 1, 0, -1, 0, 1, 0],
        [0, 0, -0.5, -1, 0, 0, 1, 0, 0],
        [1, 0, 1, 0, 1, 1, 0, 0, 1],
        [0, 1, -1, -1, 0, 0, 0, 1, 0],
    ]
    assert np.array_equal(encode(block_of(TABLE, SCHEMA), SCHEMA), expected)


def test_a_row_does_not_depend_on_the_other_rows():
    whole = encode(block_of(TABLE, SCHEMA), SCHEMA)
    alone = {name: [cells[2]] for name, cells in TABLE.items()}
    assert np.array_equal(encode(block_of(alone, SCHEMA), SCHEMA), whole[2:3])


def test_text_is_refused_by_its_name():
    with pytest.raises(SchemaError, match="'note' is text"):
        encoded_names(Schema([Text(name="note", missing=DROP)]))
