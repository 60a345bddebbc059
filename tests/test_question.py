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

from noren.mechanisms import CellCounts, Counts
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.question import NO_LEDGER, as_json, identity, public_form
from noren.testing import seeded_noise

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


def counts_question(cell: str) -> CellCounts:
    return CellCounts(cells=(cell, "other"), adjacency="add-remove", epsilon="0.5")


def test_a_notebook_shows_a_forecast_and_an_answer_with_its_price():
    question = counts_question("young")
    assert question.forecast().sentence in question.forecast()._repr_html_()
    answer = question.answer(Counts([3, 5]), Noise())
    shown = answer._repr_html_()
    for words in (answer.headline, str(answer.guarantee), str(answer.uncertainty), NO_LEDGER):
        assert words in shown
    seeded = question.answer(Counts([3, 5]), seeded_noise(1))._repr_html_()
    assert seeded.index("NOT PRIVATE") < seeded.index("largest of 2")
    assert "no guarantee" in seeded


def test_text_in_a_notebook_stays_text():
    nasty = "<img src=x onerror=alert(1)>"
    answer = counts_question(nasty).answer(Counts([90, 5]), Noise())
    assert "<img" not in answer._repr_html_()
    assert "&lt;img" in answer._repr_html_()
