"""Scores of a stratified study: who goes with the disease within sites, batches, ancestries.

Where strata differ both in how common a variant is and in how common the disease is, a plain test
finds variants that have nothing to do with it. The stratified test of Cochran, Mantel and Haenszel
(`noren.association.strata_geometry`) compares cases with controls of the same stratum only.

The score keeps the contract of `noren.association.scoring`: one person's row of genotypes changes
it by at most 1, and it is at least 1 if and only if CMH > tau
(docs/proofs/association/strata.md). So every question works over it unchanged. The strata, and who
is in which, are public; they must not have been made from genotypes.

There are no p-values, because none is proved: scores are read in the mode "agreement". For small
strata `noren.association.stratified_p_value` finds a numerical supremum, marked as one.
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
from noren.association.private_status import FLIPPED, UNKNOWN
from noren.association.scoring import RELATIVES, SAME_STATUS
from noren.association.statistic import Counts, Floats
from noren.association.strata import StratifiedTables, read_sizes
from noren.association.strata_geometry import sphere_weight
from noren.association.strata_scores import stratified_scores
from noren.association.strata_shape import largest_cmh, read_reachable_tau, two_sided
from noren.errors import NotPrivate, ParameterError
from noren.privacy import SUBSTITUTE, Adjacency

NO_LAW = (
    "Scores of a stratified study have no proved p-values. Use the mode 'agreement' at a stated "
    "tau, or read ranks."
)
SAME_NUMBERS = Adjacency(SUBSTITUTE, within="same number of cases in each stratum")
MANY = 50  # strata from which the covariate-adjusted test does better


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """Say how many cases and controls there are in each stratum.

    Parameters
    ----------
    cases, controls : sequence of int
        The public sizes of the groups, one of each for every stratum. A stratum without cases or
        without controls says nothing, and is left out of the test.
    labels : sequence of str, optional
        The public names of the strata.
    digest : str
        What stands for the public lists of who is in which stratum and group, so that other lists
        make another question. Files fill it in.
    private_status : bool
        Whether who is a case is private too, the number of cases in each stratum being public.
        Neighbors then differ in one person's row and status, and in another's status in the same
        stratum that is flipped back: two steps of the score, which is halved (rounded up).

    Examples
    --------
    >>> design = Strata(cases=(8, 6), controls=(8, 10))
    >>> design.people, design.strata
    (32, 2)
    >>> print(design.adjacency)
    one record is replaced by any other (within: same status)
    """

    kind: ClassVar[str] = "stratified"

    cases: tuple[int, ...]
    controls: tuple[int, ...]
    labels: tuple[str, ...] = ()
    digest: str = ""
    private_status: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        cases, controls = read_sizes(self.cases, self.controls)
        put(self, "cases", cases)
        put(self, "controls", controls)
        put(self, "labels", tuple(map(str, self.labels)))
        if self.labels and len(self.labels) != len(cases):
            raise ParameterError(
                "labels", f"{len(self.labels)} names", f"one for each of {len(cases)} strata"
            )

    @classmethod
    def of(cls, tables: StratifiedTables) -> Strata:
        """Take the public facts of tables; their counts are not looked at."""
        return cls(cases=tables.cases, controls=tables.controls)

    @property
    def strata(self) -> int:
        """The number K of strata."""
        return len(self.cases)

    @property
    def people(self) -> int:
        """The number of people in all strata."""
        return sum(self.cases) + sum(self.controls)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Name the strata that have one group only, and so say nothing."""
        sizes = zip(self.cases, self.controls, strict=True)
        names = self.labels or tuple(f"stratum {k + 1}" for k in range(self.strata))
        return tuple(name for name, (m1, m2) in zip(names, sizes, strict=True) if not (m1 and m2))

    @property
    def adjacency(self) -> Adjacency:
        """One person's genotypes are replaced by any others; with private status see above."""
        return SAME_NUMBERS if self.private_status else SAME_STATUS

    @property
    def steps(self) -> int:
        """How many moves of a count neighbors may lie apart."""
        return 2 if self.private_status else 1

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        which = "not who is which" if self.private_status else "who is which"
        return (
            f"the number of cases and of controls in each stratum, {which}, and that strata were "
            "not made from genotypes",
            "the list of variants and which allele of each is counted",
            RELATIVES,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what was left out, and where another test does better."""
        made: list[str] = ["test: Cochran-Mantel-Haenszel within strata, without correction"]
        if self.private_status:
            made += [f"{FLIPPED}, in the same stratum", UNKNOWN]
        if self.dropped:
            made.append(f"left out, having one group only: {', '.join(self.dropped)}")
        if not self.private_status and (self.strata > MANY or 1 in self.cases):
            made.append("many or tiny strata: the covariate-adjusted score test does better")
        return tuple(made)

    @property
    def width(self) -> float:
        """Score units by one unit of z, for a variant that half of the people carry."""
        both = two_sided(self.cases, self.controls)
        step = max(max(m1, m2) / (m1 + m2) for m1, m2 in both)
        return math.sqrt(sphere_weight(self.cases, self.controls)) / step / self.steps

    @property
    def gap(self) -> float:
        """The harmonic numbers of people in the groups, summed, as a root."""
        both = two_sided(self.cases, self.controls)
        return math.sqrt(sum(4 * m1 * (m2 / (m1 + m2)) for m1, m2 in both)) / self.steps

    @property
    def nulls(self) -> tuple[str, ...]:
        """None: no p-value of these scores is proved."""
        return ()

    def require_law(self, tau: Fraction) -> None:
        """Refuse: there is no proved law."""
        raise NotPrivate(NO_LAW)

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold of CMH as the exact value given, below the largest there is."""
        return read_reachable_tau(self.cases, self.controls, tau)

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether some tables pass: a public fact."""
        return read_tau(tau) < largest_cmh(self.cases, self.controls)

    def check(self, statistic: Any, count: int) -> None:
        """Refuse anything but tables of these strata for that many variants."""
        if not isinstance(statistic, StratifiedTables):
            raise ParameterError(
                "the statistic", f"a {type(statistic).__name__}", "StratifiedTables",
                "See count_stratified_tables.",
            )  # fmt: skip
        sizes = (statistic.cases, statistic.controls)
        if sizes != (self.cases, self.controls) or len(statistic) != count:
            raise ParameterError(
                "the statistic",
                f"{statistic!r}",
                f"for {count} variants, and of the strata that the question names",
                "Make the question from the tables' public facts: Strata.of(tables).",
            )

    def scores(self, statistic: StratifiedTables, tau: Fraction) -> Counts:
        """Give the score of every variant."""
        found = np.atleast_1d(stratified_scores(statistic, tau))
        return -(-found // self.steps)

    def leading(
        self, statistic: StratifiedTables, tau: Fraction, groups: Groups, many: int
    ) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""
        return leading_of(self.scores(statistic, tau), groups, many)

    def p_values(
        self, y: Any, tau: Fraction, epsilon: Fraction, null: str, rate_range: Any = None
    ) -> Floats:
        """Refuse: there is no proved law."""
        raise NotPrivate(NO_LAW)

    def best_tau(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """Refuse: a threshold that suits a level needs a law."""
        raise NotPrivate(NO_LAW)
