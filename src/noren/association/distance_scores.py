"""Scores of all tests with exact noise: decision, p-value and rank come with them, free.

Maths
    For each of M tests release y = s + Z. The score s is a whole number, at least 1 if and only if
    the test is significant at the public threshold tau (`noren.association.scoring`). The Z are
    independent two-sided geometric variables, P(Z = z) = (1-t)/(1+t) t^|z|, t = exp(-e). The price
    e of one test follows from the total: e = epsilon / M, or with delta > 0 the largest e whose
    exact composition stays within (epsilon, delta) (`noren.association.composition`).
    y is read in one of two ways, which are never mixed:
        "agreement"  the decision is [y >= 1]: it agrees with the plain test at tau as often as any
                     private decision can. It does not have level alpha.
        "valid"      the decision is p <= alpha after correction for all tests, p being the
                     guaranteed p-value of y: it has level alpha, whatever the noise.

Privacy (pure for each test; the scan (epsilon, delta), or rho = M e tanh(e/2))
    One person's change moves every s by at most 1, so each y is e-private: the ratio of its
    probabilities is at most t^-1, and this is attained. A person's row feeds all M tests, so they
    compose: M e as pure epsilon; exactly the stated delta for pure mechanisms whose prices are
    fixed beforehand; rho adds up. tau, the list of tests and the sizes must be public. Ranks,
    decisions, p-values and corrections are computed from y and public numbers.

Accuracy
    P(|Z| > m) = 2 t^(m+1) / (1+t). A decision that stands d people away from the border is wrong
    with probability t^(d-1) / (1 + e^e), and no e-private decision that is as good at the border
    is better anywhere (docs/proofs/association/distance_scores.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.modes import (
    AGREEMENT,
    MODES,
    VALID,
    corrected,
    read_alpha,
    read_mode,
    require_null,
)
from noren.association.pricing import per_test, prices, scan_guarantee
from noren.association.scoring import Scoring
from noren.association.statistic import Counts, Flags, Floats
from noren.association.variants import Variants, described, how_many, read_variants
from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.noise.laws import discrete_laplace_margin, discrete_laplace_variance
from noren.privacy import Guarantee
from noren.privacy.numbers import read_delta, read_epsilon
from noren.question import Answer, Forecast, Mechanism, as_json, was_secure


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceScores:
    """Ask for the score of every variant.

    Parameters
    ----------
    design : Scoring
        The public side of the study: `CaseControl`.
    variants : Sites or int
        The public list of variants, or how many there are.
    epsilon, delta : number
        The total price of all tests; the price of one is derived.
    mode : str
        "valid" (a test of level alpha, by p-values) or "agreement" (the plain test's decision).
    tau : number, optional
        The threshold inside the score. Needed for "agreement"; for "valid" the one that suits the
        level best is taken unless given.
    alpha : number, optional
        For "valid": the level of all tests together, 0.05 unless given.

    Examples
    --------
    >>> from noren.association import CaseControl, Tables
    >>> study = CaseControl(cases=200, controls=200)
    >>> question = DistanceScores(design=study, variants=2, epsilon=1, mode="agreement", tau="3.84")
    >>> print(question.guarantee)
    epsilon 1, rho 0.2449186624 (one record is replaced by any other (within: same status))
    >>> print(question.forecast())
    each score within +-6 with probability 0.95 (epsilon 0.5 for each of 2 tests); a variant that
    10 people keep from the opposite decision is called wrongly with probability 0.0042
    >>> from noren import Noise
    >>> answer = question.answer(Tables([130, 60], [60, 60], 200, 200), Noise())
    >>> answer.scores.dtype.name, answer.decisions().tolist()
    ('int64', [True, False])
    """

    kind: ClassVar[str] = "distance-scores"

    design: Scoring
    variants: Variants
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    mode: str = VALID
    tau: Fraction | None = None
    alpha: Fraction | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "variants", read_variants(self.variants))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "delta", read_delta(self.delta))
        put(self, "mode", read_mode(self.mode))
        put(self, "alpha", read_alpha(self.alpha, self.mode, self.design))
        put(self, "tau", self._read_tau(self.tau))
        if self.tau is not None and self.alpha is not None:
            self.design.require_law(self.tau)

    def _read_tau(self, given: object) -> Fraction:
        """Take the threshold given, or the best one for the level."""
        if given is not None:
            return self.design.read_tau(given)
        if self.alpha is None:
            raise ParameterError(
                "tau", None, "stated when the mode is 'agreement'", "It is the plain test's own."
            )
        return self.design.best_tau(self.per_test, self.alpha / self.tests)

    @property
    def tests(self) -> int:
        """How many tests there are, M."""
        return how_many(self.variants)

    @property
    def per_test(self) -> Fraction:
        """What each test may spend of the total: the e of its noise."""
        return per_test(self.epsilon, self.delta, self.tests)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in people."""
        return 1 / self.per_test

    @property
    def guarantee(self) -> Guarantee:
        """State the price of the whole scan."""
        return scan_guarantee(self.design.adjacency, self.epsilon, self.delta, self.tests)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        one, many = Fraction(1), self.tests
        law = Mechanism(
            law="discrete Laplace", sensitivity=one, scale=self.scale, draws=many, rounds=many
        )
        return (law,)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return (*self.design.assumed_public, "the threshold tau")

    @property
    def notes(self) -> tuple[str, ...]:
        """Say in which of the two ways the scores are meant to be read."""
        return (*self.design.notes, f"mode: {MODES[self.mode]}")

    @property
    def settings(self) -> dict[str, Any]:
        """Name the public settings and both prices, for the record of an answer."""
        mine = {
            "mode": self.mode,
            "tau": float(self.tau or 0),
            "alpha": None if self.alpha is None else float(self.alpha),
            "design": self.design,
        }
        return mine | prices(self.per_test, self.tests, self.epsilon, self.delta)

    def wrong_bit(self, distance: int) -> float:
        """Give the probability that [y >= 1] is wrong at this many people from the border.

        Examples
        --------
        >>> from noren.association import CaseControl
        >>> question = DistanceScores(
        ...     design=CaseControl(cases=9, controls=9), variants=1, epsilon=1,
        ...     mode="agreement", tau=3.84,
        ... )
        >>> round(question.wrong_bit(1), 12)
        0.26894142137
        """
        e = float(self.per_test)
        return math.exp(-e * distance) / (1 + math.exp(-e))

    def callable_from(self) -> float:
        """Give about which |z| a common variant needs to be called.

        It adds up the cut-off that the noise alone forces at the level, and the width of a score.
        """
        assert self.tau is not None
        e = float(self.per_test)
        cut = 1.0
        if self.alpha is not None:
            level = float(self.alpha) / self.tests
            cut = max(1.0, math.log(1 / (level * (1 + math.exp(-e)))) / e)
        return math.sqrt(self.tau) + cut / self.design.width

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off each score may be, and what may be found, before anything is spent."""
        margin = discrete_laplace_margin(self.scale)
        each = f"epsilon {float(self.per_test):.4g} for each of {self.tests} tests"
        if self.alpha is None:
            wrong = self.wrong_bit(10)
            found = (
                "a variant that 10 people keep from the opposite decision is called wrongly with "
                f"probability {wrong:.2g}"
            )
        else:
            found = (
                "a variant that half of the people carry is called at level "
                f"{float(self.alpha):g} of all tests from about |z| = {self.callable_from():.1f} on"
            )
        return Forecast(
            sentence=f"each score within +-{margin} with probability 0.95 ({each}); {found}",
            variance=discrete_laplace_variance(self.scale),
            margin_95=margin,
            figures=prices(self.per_test, self.tests, self.epsilon, self.delta)
            | {"tau": float(self.tau or 0), "called_from_z": self.callable_from()},
        )

    def check(self, statistic: Any) -> None:
        """Refuse a statistic of other groups, or of another number of variants."""
        self.design.check(statistic, self.tests)

    def answer(self, statistic: Any, noise: Noise) -> DistanceScoresAnswer:
        """Add the noise to every score."""
        self.check(statistic)
        assert self.tau is not None
        true = self.design.scores(statistic, self.tau)
        drawn = require_noise(noise).discrete_laplace(self.scale, self.tests)
        return DistanceScoresAnswer(question=self, secure=noise.secure, scores=true + drawn)

    def restore(self, record: dict[str, Any]) -> DistanceScoresAnswer:
        """Give back the answer that a ledger stored."""
        scores = np.asarray(record["scores"], dtype=np.int64)
        return DistanceScoresAnswer(question=self, secure=was_secure(record), scores=scores)


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceScoresAnswer(Answer):
    """Noisy scores, one for each variant, and what can be read from them for free."""

    scores: Counts

    def p_values(self, null: str = "permutation", rate_range: Any = None) -> Floats:
        """Give the guaranteed p-value of each test by itself.

        Parameters
        ----------
        null : str
            "permutation" (given all genotypes, every choice of the cases is equally likely) or
            "common_rate" (people are independent and carry the variant at one rate).
        rate_range : (number, number), optional
            With "common_rate": public bounds of that rate.
        """
        asked = self.question
        require_null(null, asked.design)
        return asked.design.p_values(  # type: ignore[no-any-return]
            self.scores, asked.tau, asked.per_test, null, rate_range
        )

    def adjusted(
        self, correction: str = "holm", null: str = "permutation", rate_range: Any = None
    ) -> Floats:
        """Give p-values corrected for all tests: "holm", "bonferroni", "benjamini-yekutieli"."""
        return np.asarray(corrected(correction)(self.p_values(null, rate_range)))

    def decisions(
        self, correction: str = "holm", null: str = "permutation", rate_range: Any = None
    ) -> Flags:
        """Decide every test, in the mode of the question."""
        if self.question.mode == AGREEMENT:
            return self.scores >= 1
        level = float(self.question.alpha)
        return np.asarray(self.adjusted(correction, null, rate_range) <= level)

    @property
    def ranks(self) -> Counts:
        """Rank the variants by score, the highest first; equal scores share the better rank."""
        falling = np.sort(self.scores)[::-1]
        return 1 + np.searchsorted(-falling, -self.scores, side="left")

    def margin(self, confidence: float = 0.95) -> int:
        """Give m such that each score is within +-m of the truth, with this probability."""
        return discrete_laplace_margin(self.question.scale, confidence)

    def columns(
        self, correction: str = "holm", null: str = "permutation", rate_range: Any = None
    ) -> dict[str, Any]:
        """Give the result table: name, place, score, then p-values or bits, by the mode."""
        made = described(self.question.variants) | {"score": self.scores}
        if self.question.mode == AGREEMENT:
            return made | {"significant": self.decisions()} | self.asymptotic()
        p = self.p_values(null, rate_range)
        adjusted = corrected(correction)(p)
        level = float(self.question.alpha)
        return made | {"p": p, "p_adjusted": adjusted, "associated": adjusted <= level}

    def asymptotic(self) -> dict[str, Floats]:
        """Give p-values that are not proved, by a name that says so, where a design has them."""
        give = getattr(self.question.design, "asymptotic_p", None)
        if give is None:
            return {}
        asked = self.question
        return {"p_asymptotic": give(self.scores, asked.tau, asked.per_test)}

    @property
    def headline(self) -> str:
        """Count what was called, and name the highest score."""
        return self.said()

    def said(
        self, correction: str = "holm", null: str = "permutation", rate_range: Any = None
    ) -> str:
        """Say the same of decisions that are read in another way."""
        asked = self.question
        top = described(asked.variants, [int(np.argmax(self.scores))])["snp"][0]
        strongest = f"highest score {self.scores.max()} (+-{self.margin()}): {top}"
        decided = self.decisions(correction, null, rate_range)
        called = f"{int(decided.sum())} of {asked.tests} variants"
        if asked.mode == AGREEMENT:
            return f"{called} called significant at tau {float(asked.tau):g}; {strongest}"
        level = f"{float(asked.alpha):g} ({correction.title()})"
        return f"{called} associated at level {level}; {strongest}"

    def chart(self) -> Any:
        """Draw the scan along the genome (a Manhattan plot)."""
        from noren.association.charts import manhattan

        return manhattan(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the public settings and both prices beside the value."""
        return {**super().to_dict(), "settings": as_json(self.question.settings)}
