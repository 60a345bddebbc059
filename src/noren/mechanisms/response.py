"""One answer of each person out of k, randomized before anybody sees it.

Maths
    Each person reports the true category with probability p = e**epsilon / (e**epsilon + k - 1),
    every other one with probability q = 1 / (e**epsilon + k - 1). With c_j reports of category j
    from n people, (c_j / n - q) / (p - q) is an unbiased estimate of its share.

Privacy (pure, local: any two inputs of one person)
    For every report y and inputs x, x': P(y | x) / P(y | x') is at most p / q = e**epsilon, and
    equal to it for x = y != x', so epsilon cannot be lowered. In rho: the tight value for k
    categories (the Kullback-Leibler divergence for k <= 6). People are independent, so each one's
    guarantee stands whatever the others do. The number of people and that each reports once must
    be public. Estimates are computed from reports alone.

Accuracy
    Given the true answers, Var(c_j) <= n v (1 - v), v the expected share of reports (a sum of
    unequal coins varies less than one of equal coins), so the standard error of a share is at most
    sqrt(v (1 - v) / n) / (p - q), and never above 1 / (2 sqrt(n) (p - q)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.mechanisms.additive import integers, read_confidence, require_noise, require_statistic
from noren.mechanisms.wording import labels, neighbours
from noren.noise import Noise
from noren.privacy import LOCAL, Adjacency, Guarantee
from noren.privacy.charges import randomized_response_rho_charge
from noren.privacy.numbers import read_epsilon, whole
from noren.question import Answer, Forecast, Mechanism, was_secure


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Responses:
    """The true category, 0..k-1, of each person. Secret; partitions are put side by side.

    Examples
    --------
    >>> Responses([0, 1, 1]) + Responses([0])
    Responses(4 people)
    """

    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", integers("codes", self.codes))

    def __add__(self, other: Responses) -> Responses:
        return Responses(np.concatenate([self.codes, other.codes]))

    def __repr__(self) -> str:
        return f"Responses({self.codes.size} people)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse:
    """Ask each person for one of k categories, randomized on the way out.

    Parameters
    ----------
    categories : sequence of str
        Their public names, at least two. A code outside 0..k-1 is moved to the nearest end.
    adjacency : Adjacency or str
        LOCAL.
    epsilon : number
        The price for each person.

    Examples
    --------
    >>> question = RandomizedResponse(categories=("no", "yes"), adjacency="local", epsilon=1)
    >>> print(question.guarantee)
    epsilon 1, rho 0.4621171573 (one person gives any other inputs)
    >>> print(question.forecast({"people": 10_000}))
    each share within +-0.02121 with probability 0.95 (10000 people)
    >>> from noren import Noise
    >>> question.answer(Responses([0] * 70 + [1] * 30), Noise()).reports.sum().item()
    100
    """

    kind: ClassVar[str] = "randomized-response"
    notes: ClassVar[tuple[str, ...]] = ()

    categories: tuple[str, ...]
    adjacency: Adjacency
    epsilon: Fraction

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "categories", labels("categories", self.categories))
        put(self, "adjacency", neighbours(self.adjacency, LOCAL))
        put(self, "epsilon", read_epsilon(self.epsilon))
        if len(self.categories) < 2:
            raise ParameterError("categories", "one name", "at least two", "One needs no asking.")
        if self.adjacency.max_records > 1:
            raise ParameterError(
                "max_records",
                self.adjacency.max_records,
                "1, since each person reports once",
                "A person who reports k times pays k times: ask k questions, and add them up.",
            )

    @property
    def guarantee(self) -> Guarantee:
        """State the price that each person pays."""
        rho = randomized_response_rho_charge(self.epsilon, len(self.categories))
        return Guarantee(self.adjacency, epsilon=self.epsilon, rho=rho)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law."""
        law = f"randomized response of {len(self.categories)} categories"
        return (Mechanism(law=law, sensitivity=Fraction(1), norm="Linf", epsilon=self.epsilon),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the categories", "the number of people", "that each person reports once")

    @property
    def lying(self) -> float:
        """Give q, the probability of each category that is not the true one."""
        small = math.exp(-float(self.epsilon))
        return small / (1 + (len(self.categories) - 1) * small)

    @property
    def contrast(self) -> float:
        """Give p - q, by which shares shrink."""
        small = math.exp(-float(self.epsilon))
        return -math.expm1(-float(self.epsilon)) / (1 + (len(self.categories) - 1) * small)

    def forecast(self, facts: Mapping[str, int] | None = None) -> Forecast:
        """Say how far off each share may be; facts: {"people": their public number}."""
        honest = self.lying + self.contrast
        middle = min(max(0.5, self.lying), honest)  # the expected share that varies most
        one = middle * (1 - middle) / self.contrast**2
        if facts is None:
            return Forecast(
                sentence=f"standard error of each share at most {math.sqrt(one):.4g} / sqrt(people)"
            )
        people = whole("people", facts["people"], 1)
        margin = NormalDist().inv_cdf(0.975) * math.sqrt(one / people)
        return Forecast(
            sentence=f"each share within +-{margin:.4g} with probability 0.95 ({people} people)",
            variance=one / people,
            margin_95=margin,
        )

    def check(self, responses: Responses) -> None:
        """Refuse an empty list of people: their number is public."""
        require_statistic(responses, Responses)
        if not responses.codes.size:
            raise ParameterError(
                "people", 0, "at least 1", "Their number is public here: ask them."
            )

    def answer(self, responses: Responses, noise: Noise) -> RandomizedResponseAnswer:
        """Randomize each person's category and count the reports."""
        self.check(responses)
        k = len(self.categories)
        reports = require_noise(noise).randomized_response(responses.codes, k, self.epsilon)
        counts = np.bincount(reports, minlength=k)
        return RandomizedResponseAnswer(question=self, secure=noise.secure, reports=counts)

    def restore(self, record: dict[str, Any]) -> RandomizedResponseAnswer:
        """Give back the answer that a ledger stored."""
        reports = np.asarray(record["reports"], dtype=np.int64)
        return RandomizedResponseAnswer(question=self, secure=was_secure(record), reports=reports)


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizedResponseAnswer(Answer):
    """How many reports named each category, and what that says of the true shares."""

    reports: NDArray[np.int64]

    @property
    def people(self) -> int:
        """Give the number of people, which is public."""
        return int(self.reports.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        """Estimate the true shares, without bias: small ones may come out negative."""
        question = self.question
        return (self.reports / self.people - question.lying) / question.contrast  # type: ignore[no-any-return]

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Give the standard error of each share; an expected share is never outside [q, p]."""
        least, most = self.question.lying, self.question.lying + self.question.contrast
        seen = np.clip(self.reports / self.people, least, most)
        return np.sqrt(seen * (1 - seen) / self.people) / self.question.contrast  # type: ignore[no-any-return]

    def margin(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Give a margin for each share (normal approximation)."""
        z = NormalDist().inv_cdf((1 + read_confidence(confidence)) / 2)
        return z * self.standard_errors

    @property
    def uncertainty(self) -> Forecast:
        """The error to expect with this number of people."""
        return self.question.forecast({"people": self.people})  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """Name the largest share."""
        top = int(np.argmax(self.reports))
        share, margin = self.shares[top], self.margin()[top]
        return f"{self.question.categories[top]}: {share:.4g} +-{margin:.4g} (largest share)"

    def chart(self) -> Any:
        """Draw each share with its 95 % margin."""
        import altair

        rows = [
            {"category": name, "share": share, "low": share - margin, "high": share + margin}
            for name, share, margin in zip(
                self.question.categories, self.shares.tolist(), self.margin().tolist(), strict=True
            )
        ]
        base = altair.Chart({"values": rows}).encode(altair.X("category:N", sort=None, title=None))
        points = base.mark_point(filled=True, size=80).encode(
            altair.Y("share:Q", title="estimated share")
        )
        return points + base.mark_rule().encode(altair.Y("low:Q", title=""), altair.Y2("high:Q"))
