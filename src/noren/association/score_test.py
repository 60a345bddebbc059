"""The covariate-adjusted score test: public covariates and status, private genotypes.

Maths
    A public null model (`null_model`) gives residuals r, weights w and a matrix Kc. For a genotype
    vector g: U = r'g, V = w'(g^2) - z' Kc z with z = C'W g, and the test is significant if
    U^2 > tau (V + v0). Its score is a proved lower bound of the number of people whose genotypes
    must change until the decision is the opposite one (`score_exact`); it keeps the contract of
    `noren.association.scoring`: whole, moved by one person by at most 1, and at least 1 if and only
    if the test is significant.
    v0 > 0 is a public floor (1 unless given). Without it a variant that nobody carries would be
    decided by rounding; with a larger one, rare variants stand farther from the border.

Privacy (docs/proofs/association/score_test.md)
    Protected is one person's row of genotypes, as in a plain study. Covariates, status, tau, v0 and
    cap are public, so the null model is public and fitted once, without budget. Nothing that was
    computed from genotypes may enter it, unless it is in fact published and declared by name: then
    the promise covers only rows with the same values, and every answer says so.
    Status cannot be private here: r is a function of everybody's status.

Accuracy
    No p-value is proved for these scores. Decisions agree with the plain test; ranks follow it. An
    asymptotic p-value (`asymptotic_p`) is a function of the released score and public numbers, and
    is marked for what it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.geometry import SMALLEST_TAU, read_tau
from noren.association.loci import Groups
from noren.association.null_model import UNIT, NullModel
from noren.association.public_covariates import covariate_of
from noren.association.score_asymptotic import asymptotic_p
from noren.association.score_exact import Rule
from noren.association.score_layout import ADDITIVE, read_dose_coding
from noren.association.score_rows import GenotypeRows
from noren.association.scoring import RELATIVES, SAME_STATUS
from noren.association.statistic import Counts, Floats, plain
from noren.errors import NotPrivate, ParameterError
from noren.privacy import Adjacency
from noren.privacy.numbers import positive

FLOOR = Fraction(1)
NO_P = (
    "No p-value of a score test is proved, so it has no mode 'valid'. Use the mode 'agreement' "
    "with a threshold tau, decisions alone, or the top K. An asymptotic p-value, not proved and "
    "marked so, stands beside every score of the mode 'agreement'."
)


def score_distance(
    model: NullModel, genotypes: Any, tau: object, floor: object = 1, *, coding: str = "carrier"
) -> Any:
    """Give the whole-number score of the adjusted test, which one person changes by at most 1.

    Parameters
    ----------
    model
        The public null model.
    genotypes
        Copies 0, 1 or 2 of the counted allele for each person (of carriers, 0 or 1); or one such
        row for each variant.
    tau
        The threshold, the exact value given.
    floor
        The public floor v0 of the variance.
    coding
        "carrier", "recessive", "heterozygous" or "additive" (the dose).

    Returns
    -------
    int or array of int64
        d if significant, 1 - d if not, d being the proved distance to the opposite decision.

    Examples
    --------
    >>> model = NullModel.fit([[1]] * 8, [1, 1, 1, 1, 0, 0, 0, 0])
    >>> score_distance(model, [1, 1, 1, 1, 0, 0, 0, 0], 3, floor=0.01)
    2
    >>> score_distance(model, [[0] * 8, [1] * 8], 3).tolist()
    [-3, -3]
    """
    rows = GenotypeRows.held(model, genotypes, coding)
    found = rows.scores(read_tau(tau), read_floor(floor))
    return plain(found.reshape(np.shape(genotypes)[:-1]))


def read_floor(given: object) -> Fraction:
    """Read the variance floor: positive, and the exact value given."""
    advice = "1 is usual; 0 would let rounding decide about rare variants."
    floor = positive("floor", given, advice)
    if floor < SMALLEST_TAU:
        raise ParameterError("floor", given, f"at least {float(SMALLEST_TAU):g}", advice)
    return floor


def refuse_private_status(kind: object) -> None:
    """Refuse a score test that is to hide who is a case."""
    if kind is not None:
        raise NotPrivate(
            f"The score test with covariates cannot keep status private ({kind}): the residuals of "
            "its null model are a function of everybody's status. Use the test without covariates "
            "where status is private."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTest:
    """Describe an adjusted study: its public null model, what is counted, the floor.

    Parameters
    ----------
    model : NullModel
        The public null model.
    coding : str
        "carrier", "recessive", "heterozygous" or "additive" (the dose).
    floor : number
        The public floor v0 of the variance, fixed before the genotypes are seen.

    Examples
    --------
    >>> model = NullModel.fit([[1]] * 400, [1] * 200 + [0] * 200)
    >>> design = ScoreTest(model=model)
    >>> round(design.width, 6), round(design.gap, 6)
    (10.0, 20.0)
    """

    kind: ClassVar[str] = "score-test"

    model: NullModel
    coding: str = "carrier"
    floor: Fraction = FLOOR

    def __post_init__(self) -> None:
        if not isinstance(self.model, NullModel):
            raise ParameterError("model", f"a {type(self.model).__name__}", "a NullModel")
        object.__setattr__(self, "coding", read_dose_coding(self.coding))
        object.__setattr__(self, "floor", read_floor(self.floor))

    @property
    def adjacency(self) -> Adjacency:
        """One person's genotypes are replaced by any others."""
        return SAME_STATUS

    @property
    def declared(self) -> Mapping[str, str]:
        """The covariates that were declared public, and why."""
        return self.model.declared

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        columns = dict.fromkeys(covariate_of(name) for name in self.model.names)
        named = ", ".join(name for name in columns if name not in self.declared)
        declared = tuple(
            f"{name}, declared public although computed from genotypes: {why}. The promise covers "
            f"only rows with the same {name}"
            for name, why in self.declared.items()
        )
        return (
            "who is a case and who a control",
            f"everybody's covariates ({named}), none of them computed from the genotypes",
            *declared,
            "the family, cap and floor of the test, fixed before the genotypes were seen",
            "the list of variants and which allele of each is counted",
            RELATIVES,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the test is about, and what no p-value is proved for."""
        return (
            "adjusted score test: the null hypothesis holds given the covariates",
            "no p-value is proved for these scores; p_asymptotic is asymptotic only",
        )

    @property
    def largest_residual(self) -> float:
        """How far one carrier moves U at most, max |r_i|."""
        return float(np.abs(self.model.residuals).max() / UNIT)

    @property
    def width(self) -> float:
        """Score units by one unit of z, for a variant that half of the people carry."""
        variance = self.model.omega / UNIT / (2 if self.coding == ADDITIVE else 4)
        return math.sqrt(variance) / self.largest_residual / self.whole

    @property
    def whole(self) -> int:
        """The largest dose."""
        return 2 if self.coding == ADDITIVE else 1

    @property
    def gap(self) -> float:
        """sqrt(4 r'r), which is sqrt(4 m1 m2 / N) without covariates (doses: sqrt(2 r'r))."""
        squares = float(np.square(self.model.residuals / UNIT).sum())
        return math.sqrt((2 if self.coding == ADDITIVE else 4) * squares)

    @property
    def nulls(self) -> tuple[str, ...]:
        """None is proved."""
        return ()

    def require_law(self, tau: Fraction) -> None:
        """Refuse: no law is proved."""
        raise NotPrivate(NO_P)

    def read_tau(self, tau: object) -> Fraction:
        """Read a threshold as the exact value given, and refuse one that no data could pass."""
        threshold = read_tau(tau)
        if not self.is_reachable(threshold):
            raise ParameterError(
                "tau", tau, "one that some genotypes pass",
                "Whatever the genotypes are, U^2 stays below tau times the variance floor.",
            )  # fmt: skip
        return threshold

    def is_reachable(self, tau: Fraction) -> bool:
        """Tell whether U^2 may exceed tau v0 at all: if not, no data passes (a public fact)."""
        r = self.model.residuals
        most = Fraction(max(int(r[r > 0].sum()), -int(r[r < 0].sum())), UNIT) * self.whole
        return most * most > tau * self.floor

    def check(self, statistic: Any, count: int) -> None:
        """Refuse anything but genotypes of these people for that many variants."""
        if not isinstance(statistic, GenotypeRows):
            raise ParameterError(
                "the statistic", f"a {type(statistic).__name__}", "GenotypeRows",
                "See open_adjusted, or GenotypeRows.held for genotypes in memory.",
            )  # fmt: skip
        same = statistic.layout.model is self.model or (
            statistic.layout.model.public_form() == self.model.public_form()
        )
        if not same or statistic.layout.coding != self.coding or len(statistic) != count:
            raise ParameterError(
                "the statistic", f"{statistic!r}",
                f"for {count} variants, the same null model and the coding {self.coding}",
                "Make the statistic from the model and coding of the question.",
            )  # fmt: skip

    def scores(self, statistic: GenotypeRows, tau: Fraction) -> Counts:
        """Give the score of every variant."""
        return statistic.scores(tau, self.floor)

    def leading(self, statistic: GenotypeRows, tau: Fraction, groups: Groups, many: int) -> Counts:
        """Give the largest scores (of each group its largest), in falling order."""
        found = self.scores(statistic, tau)
        best = found if groups is None else groups.best(found)
        return np.sort(best)[::-1][:many]

    def p_values(
        self, y: Any, tau: Fraction, epsilon: Fraction, null: str, rate_range: Any = None
    ) -> Floats:
        """Refuse: none is proved."""
        raise NotPrivate(NO_P)

    def asymptotic_p(self, y: Any, tau: Fraction, epsilon: Fraction) -> Floats:
        """Give p-values of released scores that hold asymptotically, and are not proved."""
        rule = Rule(self.model, tau, self.floor, self.coding == ADDITIVE)
        return asymptotic_p(rule, y, epsilon)

    def best_tau(self, epsilon: Fraction, alpha: Fraction) -> Fraction:
        """Refuse: it belongs to tests with a level."""
        raise NotPrivate(NO_P)
