"""Scores of a study in which nobody may learn who is a case.

A plain scan hides genotypes, not status. Here status is hidden too, in one of two ways, neither of
which implies the other at the same price:

    SwappedStatus   The number of cases is public. Neighbors differ in one person's whole row,
                    status included; if that changes the number of cases, another person's status
                    is flipped back. So one step may touch two people.
    AnyStatus       Only the number of people is public. Neighbors differ in one whole record. The
                    number of cases is never printed, stored or used for any choice: it is data.

The scores keep the contract of `noren.association.scoring` (proof:
docs/proofs/association/private_status.md), so every question works over them unchanged, at the
same price. There are no p-values: the laws of `noren.association.pvalue` are those of other
distances, and both nulls need the number of cases. Whoever has no status counts as a control: a
missing status is private as well, so nobody is left out for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.geometry import read_tau
from noren.association.leading import leading_of
from noren.association.loci import Groups
from noren.association.scoring import RELATIVES
from noren.association.statistic import Counts, Floats, Tables, group_size
from noren.association.status import StatusTables
from noren.association.status_scores import ANY, SWAP, private_status_scores, read_reachable
from noren.errors import NotPrivate, ParameterError
from noren.privacy import SUBSTITUTE, Adjacency
from noren.privacy.numbers import whole

SAME_NUMBER = Adjacency(SUBSTITUTE, within="same number of cases")
ANY_RECORD = Adjacency(SUBSTITUTE)
LISTED = "the list of variants and which allele of each is counted"
FLIPPED = (
    "neighbors differ in one person's whole record, and in another's status that is flipped back "
    "if the number of cases changed"
)
UNKNOWN = "status is private: whoever has none counts as a control"
NO_LAW = (
    "Scores with private status have no p-values: their law is not known. Use the mode "
    "'agreement' at a stated tau, or read ranks."
)


class _WithoutLaw:
    """What both designs refuse."""

    __slots__ = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what happens to people without a status."""
        return (UNKNOWN,)

    @property
    def nulls(self) -> tuple[str, ...]:
        """None: no law of these scores is known."""
        return ()

    def require_law(self, tau: Fraction) -> None:
        """Refuse: there is no known law."""
        raise NotPrivate(NO_LAW)

    def p_values(
        self, y: Any, tau: Fraction, epsilon: Fraction, null: str, rate_range: Any = None
    ) -> Floats:
        """Refuse: there is no known law."""
        raise NotPrivate(NO_LAW)

    def best_tau(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """Refuse: a threshold that suits a level needs a law."""
        raise NotPrivate(NO_LAW)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwappedStatus(_WithoutLaw):
    """Say how many cases and controls there are; who is which is private.

    Parameters
    ----------
    cases, controls : int
        The public sizes of the groups.

    Examples
    --------
    >>> print(SwappedStatus(cases=200, controls=200).adjacency)
    one record is replaced by any other (within: same number of cases)
    """

    kind: ClassVar[str] = "private status, swapped"

    cases: int
    controls: int

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "cases", group_size("cases", self.cases))
        put(self, "controls", group_size("controls", self.controls))

    @classmethod
    def of(cls, tables: Tables) -> SwappedStatus:
        """Take the public facts of tables; their counts are not looked at."""
        return cls(cases=tables.cases, controls=tables.controls)

    @property
    def people(self) -> int:
        """The number of people."""
        return self.cases + self.controls

    @property
    def adjacency(self) -> Adjacency:
        """One person's record is replaced, the number of cases kept by flipping another's."""
        return SAME_NUMBER

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the number of cases and of controls, not who is which", LISTED, RELATIVES)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a neighbor is, and what happens to people without a status."""
        return (FLIPPED, UNKNOWN)

    @property
    def width(self) -> float:
        """Score units by one unit of z, for a variant that half of the people carry."""
        return math.sqrt(self.cases * (self.controls / self.people)) / 2

    @property
    def gap(self) -> float:
        """Twice the width: what one z is worth to the rule for the top K."""
        return 2 * self.width

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold of chi-squared as the exact value given, below the people."""
        return read_reachable(tau, self.people)

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether some table passes: chi-squared is at most the number of people."""
        return read_tau(tau) < self.people

    def check(self, statistic: Any, count: int) -> None:
        """Refuse anything but tables of these groups for that many variants."""
        if not isinstance(statistic, Tables):
            raise ParameterError(
                "the statistic", f"a {type(statistic).__name__}", "Tables", "See count_tables."
            )
        same = (statistic.cases, statistic.controls) == (self.cases, self.controls)
        if not same or statistic.step != 1 or len(statistic) != count:
            raise ParameterError(
                "the statistic",
                f"{statistic!r}",
                f"for {count} variants, {self.cases} cases, {self.controls} controls, of people",
                "Make the question from the tables' public facts: SwappedStatus.of(tables).",
            )

    def scores(self, statistic: Tables, tau: Fraction) -> Counts:
        """Give the score of every variant."""
        return np.atleast_1d(private_status_scores(statistic, tau, SWAP))

    def leading(self, statistic: Tables, tau: Fraction, groups: Groups, many: int) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""
        return leading_of(self.scores(statistic, tau), groups, many)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyStatus(_WithoutLaw):
    """Say how many people there are; who is a case, and how many are, is private.

    Parameters
    ----------
    people : int
        The public number of people.

    Examples
    --------
    >>> design = AnyStatus.of(StatusTables([130, 3], [95, 0], cases=180, controls=220))
    >>> design, print(design.adjacency)
    one record is replaced by any other
    (AnyStatus(people=400), None)
    """

    kind: ClassVar[str] = "private status, any record"

    people: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", whole("people", self.people, 2))

    @classmethod
    def of(cls, tables: StatusTables) -> AnyStatus:
        """Take the one public fact of tables."""
        return cls(people=tables.people)

    @property
    def adjacency(self) -> Adjacency:
        """One person's record, genotypes and status, is replaced by any other."""
        return ANY_RECORD

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the number of people", LISTED, RELATIVES)

    @property
    def width(self) -> float:
        """Score units by one unit of z, if half of the people were cases (a public guess)."""
        return math.sqrt(self.people) / 2

    @property
    def gap(self) -> float:
        """Twice the width: what one z is worth to the rule for the top K."""
        return 2 * self.width

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold of chi-squared as the exact value given, below the people."""
        return read_reachable(tau, self.people)

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether some data passes: only the number of people decides."""
        return read_tau(tau) < self.people

    def check(self, statistic: Any, count: int) -> None:
        """Refuse anything but tables of so many people for that many variants."""
        if not isinstance(statistic, StatusTables):
            raise ParameterError(
                "the statistic", f"a {type(statistic).__name__}", "StatusTables",
                "StatusTables.of(tables) hides the number of cases.",
            )  # fmt: skip
        if statistic.people != self.people or len(statistic) != count:
            raise ParameterError(
                "the statistic", f"{statistic!r}", f"for {count} variants and {self.people} people",
                "Make the question from the tables' public facts: AnyStatus.of(tables).",
            )  # fmt: skip

    def scores(self, statistic: StatusTables, tau: Fraction) -> Counts:
        """Give the score of every variant."""
        return np.atleast_1d(private_status_scores(statistic, tau, ANY))

    def leading(self, statistic: StatusTables, tau: Fraction, groups: Groups, many: int) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""
        return leading_of(self.scores(statistic, tau), groups, many)
