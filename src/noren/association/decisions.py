"""Decisions alone: significant or not, for every test, and nothing else.

Maths
    The bit [y >= 1] of each score that `DistanceScores` draws, y = s + Z; the scores are dropped
    before the answer exists. At a test that stands d people away from the opposite decision the
    bit is wrong with probability e^(-e (d-1)) / (1 + e^e), e being the price of one test.
    If no data at all could pass tau, every bit is 0, which is public and costs nothing.

Privacy
    Post-processing of `DistanceScores`, so the same price. It cannot be lowered: at d = 1 the two
    probabilities of a bit have the ratio e^e. Asking for the scores costs no more and tells more.

Accuracy
    Among all private decisions that are as good where d = 1, none is better anywhere
    (docs/proofs/association/distance_scores.md). The decisions agree with the plain test as often
    as possible; they are not a test of level alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.distance_scores import DistanceScores
from noren.association.geometry import read_tau
from noren.association.modes import AGREEMENT, MODES
from noren.association.pricing import prices
from noren.association.scoring import Scoring
from noren.association.statistic import Flags
from noren.association.variants import Variants, described, how_many, read_variants
from noren.noise import Noise
from noren.privacy import Guarantee
from noren.privacy.numbers import read_delta, read_epsilon
from noren.question import Answer, Forecast, Mechanism, as_json, was_secure


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Ask which variants are significant, and for nothing else.

    Parameters
    ----------
    design : Scoring
        The public side of the study: `CaseControl`.
    variants : Sites or int
        The public list of variants, or how many there are.
    epsilon, delta : number
        The total price of all tests; the price of one is derived.
    tau : number
        The threshold of the plain test.

    Examples
    --------
    >>> from noren.association import CaseControl, Tables
    >>> study = CaseControl(cases=200, controls=200)
    >>> question = Decisions(design=study, variants=2, epsilon=1, tau="3.84")
    >>> from noren import Noise
    >>> answer = question.answer(Tables([130, 60], [60, 60], 200, 200), Noise())
    >>> answer.bits.tolist()
    [True, False]
    """

    kind: ClassVar[str] = "decisions"

    design: Scoring
    variants: Variants
    epsilon: Fraction
    tau: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "variants", read_variants(self.variants))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "delta", read_delta(self.delta))
        put(self, "tau", read_tau(self.tau))

    @property
    def is_settled(self) -> bool:
        """Tell whether no data could pass tau, so that every bit is 0 for certain."""
        return not self.design.is_reachable(self.tau)

    @property
    def scores(self) -> DistanceScores:
        """The question whose bits these are."""
        return DistanceScores(
            design=self.design,
            variants=self.variants,
            epsilon=self.epsilon,
            delta=self.delta,
            mode=AGREEMENT,
            tau=self.tau,
        )

    @property
    def guarantee(self) -> Guarantee:
        """State the price of all tests; nothing where the answer is known beforehand."""
        if self.is_settled:
            return Guarantee(self.design.adjacency, epsilon=0, rho=0)
        return self.scores.guarantee

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart."""
        return () if self.is_settled else self.scores.mechanisms

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return (*self.design.assumed_public, "the threshold tau")

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the bits mean."""
        return (*self.design.notes, f"mode: {MODES[AGREEMENT]}")

    @property
    def settings(self) -> dict[str, Any]:
        """Name the public settings and both prices, for the record of an answer."""
        mine = {"mode": AGREEMENT, "tau": float(self.tau), "design": self.design}
        if self.is_settled:
            return mine | prices(Fraction(0), how_many(self.variants), Fraction(0), Fraction(0))
        return mine | self.scores.settings

    def forecast(self, facts: None = None) -> Forecast:
        """Say how often a decision may be wrong, before anything is spent."""
        if self.is_settled:
            return Forecast(sentence="no data can pass tau: every decision is 0, at no cost")
        wrong = {d: self.scores.wrong_bit(d) for d in (1, 10, 100)}
        said = ", ".join(f"{d}: {p:.2g}" for d, p in wrong.items())
        each = f"epsilon {float(self.scores.per_test):.4g} for each of {self.scores.tests} tests"
        return Forecast(
            sentence=f"a decision is wrong, by people from the border, with probability {said} "
            f"({each})",
            figures=self.scores.forecast().figures,
        )

    def check(self, statistic: Any) -> None:
        """Refuse a statistic of other groups, or of another number of variants."""
        self.design.check(statistic, how_many(self.variants))

    def answer(self, statistic: Any, noise: Noise) -> DecisionsAnswer:
        """Draw the scores, and keep their bits alone."""
        self.check(statistic)
        if self.is_settled:
            bits = np.zeros(how_many(self.variants), dtype=bool)
        else:
            bits = self.scores.answer(statistic, noise).scores >= 1
        return DecisionsAnswer(question=self, secure=noise.secure, bits=bits)

    def restore(self, record: dict[str, Any]) -> DecisionsAnswer:
        """Give back the answer that a ledger stored."""
        bits = np.asarray(record["bits"], dtype=bool)
        return DecisionsAnswer(question=self, secure=was_secure(record), bits=bits)


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionsAnswer(Answer):
    """One bit for each variant."""

    bits: Flags

    def decisions(self) -> Flags:
        """Give the bits, as every scan names them."""
        return self.bits

    def columns(self) -> dict[str, Any]:
        """Give the result table: name, place and decision."""
        return described(self.question.variants) | {"significant": self.bits}

    @property
    def headline(self) -> str:
        """Count what was called."""
        called = f"{int(self.bits.sum())} of {self.bits.size} variants"
        return f"{called} called significant at tau {float(self.question.tau):g}"

    def chart(self) -> Any:
        """Draw the decisions along the genome."""
        from noren.association.charts import manhattan

        return manhattan(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the public settings and both prices beside the value."""
        return {**super().to_dict(), "settings": as_json(self.question.settings)}
