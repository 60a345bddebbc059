"""What an answer's record holds comes back as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from noren.ledger.chain import as_text
from noren.ledger.stored import PART, assembled, description, from_stored, parts, to_stored


def there_and_back(value):
    arrays: list[np.ndarray] = []
    text = as_text(to_stored(value, arrays))
    described = json.loads(as_text([description(array) for array in arrays]))
    again = [
        assembled(about, [bytes(part) for part in parts(array)])
        for about, array in zip(described, arrays, strict=True)
    ]
    return from_stored(json.loads(text), again)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.fractions(),
    st.binary(max_size=20),
    st.decimals(allow_nan=False),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(), inner, max_size=4),
        st.dictionaries(st.integers(), inner, max_size=4),
    ),
    max_leaves=12,
)


def same(first, second):
    return (type(first), first) == (type(second), second)


@given(values)
def test_plain_values_come_back_with_their_types(value):
    again = there_and_back(value)
    assert again == value
    assert repr(again) == repr(value)


@given(
    hnp.arrays(
        st.one_of(
            hnp.boolean_dtypes(),
            hnp.integer_dtypes(),
            hnp.floating_dtypes(),
            hnp.unicode_string_dtypes(),
            hnp.array_dtypes(hnp.scalar_dtypes(), min_size=2, max_size=2, allow_subarrays=False),
        ),
        hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
    )
)
def test_arrays_come_back_bit_for_bit(array):
    again = there_and_back({"cells": (array, 1)})["cells"][0]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()


def test_arrays_in_another_order_come_back_equal():
    array = np.arange(24).reshape(2, 3, 4).T[::2]
    assert np.array_equal(there_and_back(array), array)


def test_arrays_of_names_come_back():
    array = np.array([["rs1", None], ["rs3", "x"]], dtype=object)
    again = there_and_back(array)
    assert again.dtype == object
    assert again.tolist() == array.tolist()


def test_numbers_of_numpy_become_plain_ones():
    assert same(there_and_back(np.float64(0.25)), 0.25)
    assert same(there_and_back(np.int64(3)), 3)
    assert same(there_and_back(np.bool_(True)), True)


def test_a_dataclass_becomes_its_fields_and_an_enum_its_value():
    class Color(Enum):
        RED = "red"

    @dataclass
    class Inner:
        color: Color
        share: Fraction

    assert there_and_back(Inner(Color.RED, Fraction(1, 3))) == {
        "color": "red",
        "share": Fraction(1, 3),
    }
    assert there_and_back(Decimal("1.10")) == Decimal("1.10")


def test_no_row_is_larger_than_promised():
    sizes = [len(part) for part in parts(np.zeros(PART // 8 * 2 + 1))]
    assert sizes == [PART, PART, 8]


def test_a_value_that_cannot_be_stored_is_named():
    with pytest.raises(TypeError, match="holds a object"):
        to_stored(object(), [])
