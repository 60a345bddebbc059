"""A question's identity is its public content, whatever holds it in memory."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from noren.privacy import ADD_REMOVE, Adjacency
from noren.question import as_json, identity, public_form

Pair = namedtuple("Pair", "low high")


class Side(Enum):
    LEFT = "left"


@dataclass(frozen=True)
class Asked:
    kind: ClassVar[str] = "asked"
    field: Any


@dataclass(frozen=True)
class Inner:
    price: Fraction


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Fraction(1, 3), "1/3"),
        (Decimal("0.10"), "0.10"),
        ((1, "a", None, True, 0.5), [1, "a", None, True, 0.5]),
        (Pair(Fraction(1), [2]), ["1", [2]]),
        ({1: Side.LEFT}, {"1": "left"}),
        (np.int64(3), 3),
        (np.array([1, 2]), [1, 2]),
        (Inner(Fraction(1, 2)), {"price": "1/2"}),
    ],
)
def test_values_become_plain_json(value, form):
    assert as_json(value) == form


def test_a_public_array_stands_by_its_own_digest():
    form = public_form(Asked(np.arange(3)))["field"]
    assert (form["array"], form["shape"], len(form["sha256"])) == ("int64", [3], 64)
    assert identity(Asked(np.arange(3))) == identity(Asked(np.arange(3).copy()))
    assert identity(Asked(np.arange(3))) != identity(Asked(np.arange(3.0)))
    assert identity(Asked(np.zeros((2, 3)))) != identity(Asked(np.zeros((3, 2))))
    assert identity(Asked(np.arange(6)[::2])) == identity(Asked(np.array([0, 2, 4])))


def test_an_array_of_objects_is_known_by_what_they_are_and_not_where_they_lie():
    def names(last):
        return Asked(np.array(["".join(["a", "b"]), last], dtype=object))

    assert identity(names("c")) == identity(names("".join(["", "c"])))
    assert identity(names("c")) != identity(names("d"))


def test_a_nested_question_is_known_by_kind_and_fields_and_an_adjacency_by_all_it_says():
    assert public_form(Asked(Inner(Fraction(2))))["field"] == {"kind": "Inner", "price": "2"}
    narrow = Adjacency(ADD_REMOVE, within="one epoch")
    assert identity(Asked(narrow)) != identity(Asked(Adjacency(ADD_REMOVE)))
    assert identity(Asked([narrow])) == identity(Asked((narrow,)))
