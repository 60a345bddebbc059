"""Who is protected: the relation between neighbouring datasets.

A guarantee says nothing until it says between which datasets. An `Adjacency` is that sentence as
a value: the relation (someone is added or removed; a record is substituted; zeroed out; a person
gives any other input), the unit (a record, a person with up to `max_records` rows, one bit), and
`within`, public words that narrow the neighbours. All of it is part of equality: amounts under
different adjacencies are never added up.

`distance(D, D2)` is the number of steps from D to D2, so that tests and auditors can check
that a pair of datasets really is adjacent. Datasets are sequences of hashable rows: ADD_REMOVE
counts the multiset difference; SUBSTITUTE and ZERO_OUT the differing positions (infinite when
sizes differ); BIT the differing cells; USER the differing persons, rows given as (person, row);
LOCAL is 0 or 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, cast

from noren.errors import ParameterError
from noren.privacy.numbers import whole


class Relation(Enum):
    """What may change between two neighbouring datasets."""

    ADD_REMOVE = "add-remove"
    SUBSTITUTE = "substitute"
    ZERO_OUT = "zero-out"
    LOCAL = "local"


class Unit(Enum):
    """Whose change it is."""

    RECORD = "record"
    USER = "user"
    BIT = "bit"


ADD_REMOVE = Relation.ADD_REMOVE
SUBSTITUTE = Relation.SUBSTITUTE
ZERO_OUT = Relation.ZERO_OUT
LOCAL = Relation.LOCAL
RECORD = Unit.RECORD
USER = Unit.USER
BIT = Unit.BIT

WORDS = {
    "add-remove": (ADD_REMOVE, RECORD),
    "addremove": (ADD_REMOVE, RECORD),
    "s2": (ADD_REMOVE, RECORD),
    "substitute": (SUBSTITUTE, RECORD),
    "replace": (SUBSTITUTE, RECORD),
    "s1": (SUBSTITUTE, RECORD),
    "record": (SUBSTITUTE, RECORD),
    "zero-out": (ZERO_OUT, RECORD),
    "bit": (SUBSTITUTE, BIT),
    "local": (LOCAL, USER),
}

SENTENCES = {
    (ADD_REMOVE, RECORD): "one record is added or removed",
    (ADD_REMOVE, USER): "one person, with up to {rows} rows, is added or removed",
    (SUBSTITUTE, RECORD): "one record is replaced by any other",
    (SUBSTITUTE, USER): "the up to {rows} rows of one person are replaced by any others",
    (SUBSTITUTE, BIT): "one bit of one record is flipped",
    (ZERO_OUT, RECORD): "one record is replaced by the null record",
    (ZERO_OUT, USER): "the up to {rows} rows of one person are replaced by null records",
    (LOCAL, RECORD): "one person gives any other input",
    (LOCAL, USER): "one person gives any other inputs",
}

Dataset: TypeAlias = Sequence[Hashable]
People: TypeAlias = dict[Hashable, list[Hashable]]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Say which datasets are neighbours.

    Examples
    --------
    >>> adjacency = Adjacency(ADD_REMOVE)
    >>> print(adjacency)
    one record is added or removed
    >>> adjacency.distance(["ann", "bob"], ["bob"])
    1
    >>> Adjacency.read("replace") == Adjacency(SUBSTITUTE)
    True
    """

    relation: Relation
    unit: Unit = RECORD
    max_records: int = 1
    within: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.relation, Relation) or not isinstance(self.unit, Unit):
            raise ParameterError(
                "adjacency",
                self.relation,
                "made of a Relation and a Unit",
                "Or use Adjacency.read('add-remove').",
            )
        if (self.relation, self.unit) not in SENTENCES:
            raise ParameterError(
                "unit",
                self.unit.value,
                f"one that '{self.relation.value}' knows",
                "Bits are substituted; persons and records may be added, removed or substituted.",
            )
        object.__setattr__(self, "max_records", whole("max_records", self.max_records, 1))
        if self.max_records > 1 and self.unit is not USER:
            raise ParameterError(
                "max_records",
                self.max_records,
                f"1 when the unit is a {self.unit.value}",
                "A person with several rows is unit=USER.",
            )

    @classmethod
    def read(cls, given: Adjacency | str | None) -> Adjacency:
        """Take an `Adjacency` or its word; never guess one."""
        if isinstance(given, Adjacency):
            return given
        found = WORDS.get(given.strip().lower()) if isinstance(given, str) else None
        if found is None:
            raise ParameterError(
                "adjacency",
                given,
                "an Adjacency or one of 'add-remove', 'substitute', 'bit', 'zero-out', 'local'",
                "It decides who is protected, so there is no default.",
            )
        return cls(*found)

    @property
    def word(self) -> str:
        """The short public word: 'add-remove', 'substitute', 'bit', 'zero-out' or 'local'."""
        return "bit" if self.unit is BIT else self.relation.value

    def __str__(self) -> str:
        sentence = SENTENCES[self.relation, self.unit].format(rows=self.max_records)
        return f"{sentence} (within: {self.within})" if self.within else sentence

    def distance(self, first: Dataset, second: Dataset) -> float:
        """Count the steps between two datasets: 0 equal, 1 neighbours, infinite unreachable."""
        if self.relation is LOCAL:
            return int(list(first) != list(second))
        if self.unit is USER:
            return self._person_distance(rows_of_each(first), rows_of_each(second))
        if self.relation is ADD_REMOVE:
            return multiset_difference(Counter(first), Counter(second))
        return differing_cells(first, second) if self.unit is BIT else differing(first, second)

    def _person_distance(self, first: People, second: People) -> float:
        """Count persons: absent on one side is one step, other rows one (two if add-remove)."""
        if any(len(rows) > self.max_records for p in (first, second) for rows in p.values()):
            return math.inf
        changed = sum(first[person] != second[person] for person in first.keys() & second.keys())
        gone, new = len(first.keys() - second.keys()), len(second.keys() - first.keys())
        if self.relation is ADD_REMOVE:
            return gone + new + 2 * changed
        return changed + gone if gone == new else math.inf


def rows_of_each(dataset: Dataset) -> People:
    """Gather (person, row) pairs by person, rows in an order of their own."""
    people: People = {}
    for person, row in cast("Sequence[tuple[Hashable, Hashable]]", dataset):
        people.setdefault(person, []).append(row)
    return {person: sorted(rows, key=repr) for person, rows in people.items()}


def multiset_difference(first: Counter[Hashable], second: Counter[Hashable]) -> int:
    """Count the records to remove and to add."""
    return ((first - second) + (second - first)).total()


def differing(first: Dataset, second: Dataset) -> float:
    """Count the positions that differ (infinite when the sizes do)."""
    if len(first) != len(second):
        return math.inf
    return sum(a != b for a, b in zip(first, second, strict=True))


def differing_cells(first: Dataset, second: Dataset) -> float:
    """Count the cells that differ, over all records."""
    if len(first) != len(second):
        return math.inf
    pairs = cast("Iterable[tuple[Dataset, Dataset]]", zip(first, second, strict=True))
    return float(sum(differing(a, b) for a, b in pairs))
