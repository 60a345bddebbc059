"""The best of several private answers (a choice of settings), for three times the price of one.

Maths
    Draw the number of runs K, independently of the data, with P(K = n) = g (1 - g)**(n - 1).
    Each run picks one of the candidate questions uniformly and answers it: (answer, score). Only
    the run with the best score is released; of equal scores the smaller candidate wins, then the
    earlier run. K and the other runs are never shown, and nothing stops early.

Privacy (pure: 3 times the largest epsilon of a candidate, for every g in (0, 1])
    Let Q be the law of one run: epsilon-DP, a public mixture of epsilon-DP laws. For an outcome y
    let b be the Q-probability of an outcome that ranks no higher, a that of one that ranks
    strictly lower. With h(x) = E x**K = g x / (1 - (1 - g) x),
    P(y) = Q(y) (h(b) - h(a)) / (b - a) = Q(y) * g / ((1 - (1 - g) a) (1 - (1 - g) b)).
    1 - (1 - g) x = g + (1 - g)(1 - x), and 1 - x is a Q-probability, so each of the two factors
    changes by at most e**epsilon between neighbours, as Q(y) does: 3 epsilon in all, approached
    for small g. A K fixed in advance, or a stop that looks at scores, has no such bound.
    In rho: the generic 3 epsilon tanh(3 epsilon / 2). The candidates and g must be public.

Accuracy
    1 / g runs are expected; each of m candidates is run at least once with probability
    1 - h(1 - 1 / m) = 1 / (1 + g (m - 1)). The time taken tells K: keep it to yourself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from noren.errors import AdjacencyMismatch, NotPrivate, ParameterError
from noren.mechanisms.additive import require_noise, require_statistic
from noren.noise import Noise
from noren.privacy import Adjacency, Guarantee
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.guarantee import legal_conversions
from noren.privacy.numbers import probability
from noren.privacy.plan import check_statistic
from noren.question import Answer, Forecast, was_secure

SHARES = 3  # each of three factors of an outcome's probability moves by at most e**epsilon


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alternatives:
    """One statistic for each candidate question. Secret; adds up member by member."""

    members: tuple[Any, ...]

    def __add__(self, other: Alternatives) -> Alternatives:
        return Alternatives(tuple(a + b for a, b in zip(self.members, other.members, strict=True)))

    def __repr__(self) -> str:
        return f"Alternatives({len(self.members)} statistics)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOfPrivate:
    """Ask several private questions a random number of times and keep the best-scoring answer.

    Parameters
    ----------
    candidates : sequence of questions
        Each with a pure guarantee (delta 0) under one adjacency.
    score : str
        The public name of the field of their answers that is maximized.
    g : number
        In (0, 1]: one over the expected number of runs.

    Examples
    --------
    >>> from noren.mechanisms.sums import BoundedSum, Sum, fine_grid
    >>> grid = fine_grid(0, 1, missing=0)
    >>> one = BoundedSum(grid=grid, adjacency="add-remove", epsilon=1)
    >>> question = BestOfPrivate(candidates=(one, one), score="total", g="0.1")
    >>> print(question.guarantee)
    epsilon 3, rho 2.715444761 (one record is added or removed)
    >>> from noren import Noise
    >>> both = Alternatives((Sum.of([1] * 90, grid), Sum.of([0.5], grid)))
    >>> question.answer(both, Noise()).best.total > -100
    True
    """

    kind: ClassVar[str] = "best-of-private"

    candidates: tuple[Any, ...]
    score: str
    g: Fraction

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "candidates", read_candidates(self.candidates))
        put(self, "g", probability("g", self.g))
        if self.g == 0:
            raise ParameterError("g", 0, "above 0, at most 1", "1 / g runs are expected.")
        if not self.score.isidentifier() or self.score.startswith("_"):
            raise ParameterError(
                "score",
                repr(self.score),
                "the name of a released field",
                "It decides which answer is kept, so it must be one of its numbers.",
            )

    @property
    def adjacency(self) -> Adjacency:
        """Give the adjacency of the candidates."""
        return self.candidates[0].guarantee.adjacency  # type: ignore[no-any-return]

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking, however many runs there are."""
        epsilon = SHARES * max(question.guarantee.epsilon for question in self.candidates)
        return Guarantee(self.adjacency, epsilon=epsilon, rho=pure_to_zcdp_charge(epsilon))

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        inner = dict.fromkeys(fact for q in self.candidates for fact in q.assumed_public)
        return ("the candidate questions, their order and g", *inner)

    @property
    def notes(self) -> tuple[str, ...]:
        """Pass on what the candidates mark."""
        return tuple(dict.fromkeys(note for q in self.candidates for note in q.notes))

    def forecast(self, facts: Any = None) -> Forecast:
        """Say how many runs to expect, and how likely the best candidate is among them."""
        m, g = len(self.candidates), float(self.g)
        tried = 1 / (1 + g * (m - 1))
        return Forecast(
            sentence=f"{1 / g:.4g} runs expected; each of {m} candidates is tried with "
            f"probability {tried:.4g}",
            figures={"expected runs": 1 / g, "probability that a candidate is tried": tried},
        )

    def check(self, alternatives: Alternatives) -> None:
        """Refuse statistics that do not fit the candidates, one for each."""
        require_statistic(alternatives, Alternatives)
        m = len(self.candidates)
        if len(alternatives.members) != m:
            raise ParameterError(
                "alternatives",
                f"{len(alternatives.members)} statistics",
                f"{m}, one for each candidate question",
                "Hand over one statistic for each, in the same order.",
            )
        for question, statistic in zip(self.candidates, alternatives.members, strict=True):
            check_statistic(question, statistic)

    def answer(self, alternatives: Alternatives, noise: Noise) -> BestOfPrivateAnswer:
        """Draw the number of runs first, then run them all, then keep the best."""
        self.check(alternatives)
        require_noise(noise)
        m = len(self.candidates)
        runs = 1
        while not noise.bernoulli(self.g):
            runs += 1
        tried = []
        for _ in range(runs):
            i = noise.integers_below(m)
            tried.append((i, self.candidates[i].answer(alternatives.members[i], noise)))
        chosen, best = max(tried, key=lambda run: (self.score_of(run[1]), -run[0]))
        return BestOfPrivateAnswer(question=self, secure=noise.secure, chosen=chosen, best=best)

    def score_of(self, answer: Answer) -> float:
        """Read the released score; NaN ranks last, so that ranks are an order."""
        try:
            score = float(getattr(answer, self.score, None))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ParameterError(
                "score",
                repr(self.score),
                "the name of a number that every candidate releases",
                "It decides which answer is kept, so it must be one of its numbers.",
            ) from None
        return -math.inf if math.isnan(score) else score

    def restore(self, record: dict[str, Any]) -> BestOfPrivateAnswer:
        """Give back the answer that a ledger stored."""
        chosen = int(record["chosen"])
        best = self.candidates[chosen].restore(record["best"])
        secure = was_secure(record)
        return BestOfPrivateAnswer(question=self, secure=secure, chosen=chosen, best=best)


@dataclass(frozen=True, slots=True)
class Winner:
    """The winning question, at the price of the whole choice: alone it would have cost less."""

    asked: Any
    guarantee: Guarantee

    def __getattr__(self, name: str) -> Any:
        return getattr(self.asked, name)


@dataclass(frozen=True, kw_only=True, eq=False)
class BestOfPrivateAnswer(Answer):
    """The winning candidate and its answer, which states the price of the whole choice."""

    chosen: int
    best: Any

    def __post_init__(self) -> None:
        won = Winner(self.question.candidates[self.chosen], self.question.guarantee)
        best = replace(self.best, question=won, secure=self.secure, receipt=self.receipt)
        object.__setattr__(self, "best", best)

    def record(self) -> dict[str, Any]:
        """Give the released fields, the winner's own among them."""
        return {"chosen": self.chosen, "best": self.best.record(), "secure": self.secure}

    @property
    def headline(self) -> str:
        """Name the winner and its value."""
        m = len(self.question.candidates)
        return f"candidate {self.chosen + 1} of {m} won: {self.best.headline}"

    def chart(self) -> Any:
        """Draw the winner."""
        return self.best.chart()


def read_candidates(given: Sequence[Any]) -> tuple[Any, ...]:
    """Take questions that are pure and protect the same neighbours."""
    found = tuple(given)
    if not found:
        raise ParameterError(
            "candidates", "empty", "at least one question", "List the questions to choose among."
        )
    first = found[0].guarantee.adjacency
    for question in found:
        price = question.guarantee
        if price.adjacency != first:
            raise AdjacencyMismatch(first, price.adjacency, legal_conversions(first))
        if price.form != "pure":
            raise NotPrivate(
                f"A candidate has {price.form} privacy, but only pure epsilon (delta 0) is proved "
                "here. Ask each candidate with epsilon instead."
            )
    return found
