"""What a score must be, and the score of a plain case/control study.

The score contract
    For each test there is one whole number s, computed from secret data and public settings alone,
    such that (1) one person changes it by at most 1, in either direction, and (2) s >= 1 if and
    only if the test, at a public threshold tau, is significant. Every question of this room that
    releases or compares scores needs nothing else: its proof starts from (1), its meaning from (2).
    A `Scoring` is the public side of such a family of tests: who is protected, which thresholds it
    knows, how scores come from a statistic, what is known of their law.

The plain study (`CaseControl`)
    The statistic is `Tables`; the test is chi-squared > tau; the score is the distance to the
    opposite decision (`noren.association.distance`), which is the largest score that keeps the
    contract. The sizes of both groups, who belongs to which, and the list of variants are public.
    Protected is one person's row of genotypes: it may be any other row.

What that means to people
    Somebody who knows a person's genome, and everybody else's, cannot tell from an answer whether
    that person's genotypes are among the cases. Membership is not hidden if the list of
    participants is known, and status itself is not protected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np

from noren.association.distance import refuse_unreachable, scores
from noren.association.geometry import read_tau
from noren.association.leading import leading_scores
from noren.association.loci import Groups
from noren.association.pvalue import best_tau, p_value
from noren.association.score_law import Design
from noren.association.statistic import Counts, Floats, Tables, group_size, read_step
from noren.errors import ParameterError
from noren.privacy import SUBSTITUTE, Adjacency

SAME_STATUS = Adjacency(SUBSTITUTE, within="same status")
RELATIVES = "that each person counts alone: k relatives who share a change pay k times epsilon"
PROPORTIONS = "p-values, if any, assume Hardy-Weinberg proportions: a person's alleles independent"


class Scoring(Protocol):
    """The public side of tests whose scores keep the contract above."""

    kind: ClassVar[str]

    @property
    def adjacency(self) -> Adjacency:
        """Who is protected."""

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """What the proof takes to be public, in words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Marks that travel with every answer."""

    @property
    def width(self) -> float:
        """How far the score moves when the test statistic of a common variant moves by one."""

    @property
    def gap(self) -> float:
        """The unit in which the public rule for the top K measures how far scores lie apart."""

    @property
    def nulls(self) -> tuple[str, ...]:
        """The null hypotheses under which a released score has a p-value; none: refused."""

    def require_law(self, tau: Fraction) -> None:
        """Refuse a threshold under which scores have no p-values, before anything is paid."""

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold, and refuse one that no data could pass."""

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether some data passes a threshold: a public fact."""

    def check(self, statistic: Any, count: int) -> None:
        """Refuse a statistic of other groups, or of another number of variants."""

    def scores(self, statistic: Any, tau: Fraction) -> Counts:
        """Give the score of every variant."""

    def leading(self, statistic: Any, tau: Fraction, groups: Groups, many: int) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""

    def p_values(
        self, y: Any, tau: Fraction, epsilon: Fraction, null: str, rate_range: Any = None
    ) -> Floats:
        """Give guaranteed p-values of released scores."""

    def best_tau(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """Give the public threshold that suits a level best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseControl:
    """Say how many cases and controls there are, and whether people or alleles are counted.

    Parameters
    ----------
    cases, controls : int
        The public sizes of the groups (of alleles, with `step=2`: two for each person).
    step : int
        1 where each person is a carrier or not, 2 where alleles are counted.

    Examples
    --------
    >>> CaseControl.of(Tables([130, 3], [95, 0], cases=200, controls=200))
    CaseControl(cases=200, controls=200, step=1)
    """

    kind: ClassVar[str] = "case-control"

    cases: int
    controls: int
    step: int = 1

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "step", read_step(self.step))
        put(self, "cases", group_size("cases", self.cases, self.step))
        put(self, "controls", group_size("controls", self.controls, self.step))

    @classmethod
    def of(cls, tables: Tables) -> CaseControl:
        """Take the public facts of tables; their counts are not looked at."""
        return cls(cases=tables.cases, controls=tables.controls, step=tables.step)

    @property
    def people(self) -> int:
        """The sum of a table: N people, or alleles."""
        return self.cases + self.controls

    @property
    def adjacency(self) -> Adjacency:
        """One person's genotypes are replaced by any others."""
        return SAME_STATUS

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return (
            "the number of cases and of controls, and who is which",
            "the list of variants and which allele of each is counted",
            RELATIVES,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing is unproved; p-values of counted alleles assume something more of people."""
        return () if self.step == 1 else (PROPORTIONS,)

    @property
    def width(self) -> float:
        """Score units by one unit of z, for a variant that half of the people carry."""
        smaller, larger = sorted((self.cases, self.controls))
        return math.sqrt(self.people * (smaller / larger)) / 2 / self.step

    @property
    def gap(self) -> float:
        """The harmonic number of people in the groups, as a root: sqrt(4 m1 m2 / N)."""
        return math.sqrt(4 * self.cases * (self.controls / self.people)) / self.step

    @property
    def nulls(self) -> tuple[str, ...]:
        """Both null hypotheses of `noren.association.pvalue`."""
        return ("permutation", "common_rate")

    def require_law(self, tau: Fraction) -> None:
        """Refuse a threshold, or groups, whose scores have no p-values in reach."""
        Design.read(self.cases, self.controls, tau, self.step)

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold of chi-squared as the exact value given, below the table's sum."""
        threshold = read_tau(tau)
        refuse_unreachable(threshold, self.people, tau)
        return threshold

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether some table passes: chi-squared is at most the table's sum."""
        return tau < self.people

    def check(self, statistic: Any, count: int) -> None:
        """Refuse anything but tables of these groups for that many variants."""
        if not isinstance(statistic, Tables):
            raise ParameterError(
                "the statistic", f"a {type(statistic).__name__}", "Tables", "See count_tables."
            )
        if CaseControl.of(statistic) != self or len(statistic) != count:
            raise ParameterError(
                "the statistic",
                f"{statistic!r}",
                f"for {count} variants, {self.cases} cases, {self.controls} controls, "
                f"step {self.step}",
                "Make the question from the tables' public facts: CaseControl.of(tables).",
            )

    def scores(self, statistic: Tables, tau: Fraction) -> Counts:
        """Give the score of every variant."""
        return np.atleast_1d(scores(statistic, tau, self.step))

    def leading(self, statistic: Tables, tau: Fraction, groups: Groups, many: int) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""
        return leading_scores(statistic, tau, groups, many)

    def p_values(
        self, y: Any, tau: Fraction, epsilon: Fraction, null: str, rate_range: Any = None
    ) -> Floats:
        """Give guaranteed p-values of released scores (`noren.association.p_value`)."""
        found = p_value(
            y, self.cases, self.controls, tau, epsilon, null, step=self.step, rate_range=rate_range
        )
        return np.asarray(found)

    def best_tau(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """Give the public threshold that suits a level best, to four decimals."""
        found = best_tau(self.cases, self.controls, epsilon / self.step, alpha)
        return Fraction(f"{found:.4f}")
