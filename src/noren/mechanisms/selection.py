"""The best of some candidates, by a score that adds up over records; nothing else is shown.

Maths
    s_r is the sum over records of a whole number in [low, high]. With c = epsilon / G,
    exponential        P(r) proportional to exp(c s_r)
    permute-and-flip   visit in random order, take r with probability p_r = exp(c (s_r - max s)):
                       P(r) = p_r * integral over 0 < u < 1 of the product of (1 - u p_j), j != r

Privacy (pure; W = k (high - low), k rows a person; proof: docs/proofs/mechanisms/selection.md)
    G bounds how differently two scores can move: abs((s'_r - s_r) - (s'_j - s_j)) <= G, with
    G = W for ADD_REMOVE and 2 W for SUBSTITUTE. Exponential: the ratio is exp(c d_r) times one
    constant, so it lies in an interval [exp(a), exp(a + epsilon)] around 1: epsilon-DP, and by
    this bounded range rho = z - 1 - ln z, z = epsilon / (1 - exp(-epsilon)), tight.
    Permute-and-flip is the largest s_r + E_r with exponential E_r of rate c: whatever the other
    E_j, r needs E_r above a threshold, which moves by at most G: a factor exp(c G). Its epsilon is
    attained; it has no bounded range, so rho is the generic epsilon tanh(epsilon / 2).

Accuracy
    P(max s - s_chosen >= x) <= (m - 1) exp(-c x) for m candidates, both ways. In expectation the
    loss is at most ln(m) / c; permute-and-flip is never worse at the same epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.mechanisms.additive import (
    array_of,
    integers,
    read_price,
    require_noise,
    require_statistic,
)
from noren.mechanisms.wording import labels, neighbours, public_rows
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.charges import exponential_mechanism_rho_charge, pure_to_zcdp_charge
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure

PERMUTE_AND_FLIP = "permute-and-flip"
EXPONENTIAL = "exponential"
WIDEST = 2**31  # a score bound; sums over 2**31 records still fit 64 bits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores:
    """The score of each candidate, added up over records. Secret; adds up over partitions.

    Examples
    --------
    >>> Scores.of([[1, 0], [1, 5]], bounds=(0, 1))
    Scores(2 candidates)
    """

    values: NDArray[np.int64]
    bounds: tuple[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integers("scores", self.values))
        object.__setattr__(self, "bounds", read_bounds(self.bounds))

    @classmethod
    def of(cls, rows: Any, bounds: tuple[int, int]) -> Scores:
        """Add up one row of whole scores for each record, each moved into the bounds first."""
        given = array_of("scores", rows)
        flat = integers("scores", given.ravel()) if given.ndim == 2 else integers("scores", given)
        low, high = read_bounds(bounds)
        return cls(np.clip(flat, low, high).reshape(given.shape).sum(axis=0), bounds)

    def __add__(self, other: Scores) -> Scores:
        if self.bounds != other.bounds:
            raise ParameterError("bounds", other.bounds, f"{self.bounds}", "Score both alike.")
        return Scores(self.values + other.values, self.bounds)

    def __repr__(self) -> str:
        return f"Scores({self.values.size} candidates)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCandidate:
    """Ask which candidate scores best.

    Parameters
    ----------
    candidates : sequence of str
        Their public names.
    bounds : (int, int)
        The public bounds of the score that one record gives to one candidate.
    adjacency : Adjacency or str
        ADD_REMOVE or SUBSTITUTE, of records or of persons with up to `max_records` rows.
    epsilon, rho : number
        The price, exactly one of them.
    method : str, optional
        "permute-and-flip" or "exponential". Left out, the price decides: permute-and-flip for
        epsilon (best for one selection), exponential for rho (far cheaper when rho is added up).

    Examples
    --------
    >>> question = BestCandidate(
    ...     candidates=("red", "blue"), bounds=(0, 1), adjacency="add-remove", epsilon=2
    ... )
    >>> print(question.guarantee)
    epsilon 2, rho 1.523188312 (one record is added or removed)
    >>> print(question.forecast())
    a score within 1.498 of the best with probability 0.95
    >>> from noren import Noise
    >>> question.answer(Scores.of([[1, 0]] * 30, (0, 1)), Noise()).candidate
    'red'
    """

    kind: ClassVar[str] = "best-candidate"
    notes: ClassVar[tuple[str, ...]] = ()

    candidates: tuple[str, ...]
    bounds: tuple[int, int]
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        epsilon, rho = read_price(self.epsilon, self.rho)
        put = object.__setattr__
        put(self, "candidates", labels("candidates", self.candidates))
        put(self, "bounds", read_bounds(self.bounds))
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)
        put(self, "method", read_method(self.method, by_rho=rho is not None))

    @property
    def spread(self) -> int:
        """Give G, the most by which two scores can move apart (proof: module docstring)."""
        width = (self.bounds[1] - self.bounds[0]) * self.adjacency.max_records
        return width if self.adjacency.relation is ADD_REMOVE else 2 * width

    @property
    def strength(self) -> Fraction:
        """Give the epsilon that the draw uses: as stated, or the most that rho pays for."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.rho is not None
        return strongest(self.rho, str(self.method))

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking: epsilon, and the method's own rho."""
        epsilon = self.strength
        return Guarantee(self.adjacency, epsilon=epsilon, rho=CHARGES[str(self.method)](epsilon))

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law, and how far apart scores can move."""
        spread = Fraction(self.spread)
        law = f"{self.method} (range of score changes)"
        return (Mechanism(law=law, sensitivity=spread, norm="Linf", epsilon=self.strength),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("the candidates and the bounds of a score", *public_rows(self.adjacency))

    def margin(self, confidence: float) -> float:
        """Give x such that the chosen score is within x of the best, with this probability."""
        others = len(self.candidates) - 1
        rate = float(self.strength) / self.spread
        return max(0.0, math.log(others / (1 - confidence)) / rate) if others else 0.0

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far below the best the chosen one may be, before anything is spent."""
        margin = self.margin(0.95)
        loss = math.log(len(self.candidates)) * self.spread / float(self.strength)
        return Forecast(
            sentence=f"a score within {margin:.4g} of the best with probability 0.95",
            margin_95=margin,
            figures={"expected loss at most": loss},
        )

    def check(self, scores: Scores) -> None:
        """Refuse scores of other candidates, or with other bounds."""
        require_statistic(scores, Scores)
        if scores.bounds != self.bounds or scores.values.size != len(self.candidates):
            raise ParameterError(
                "scores",
                f"for {scores.values.size} candidates with bounds {scores.bounds}",
                f"for {len(self.candidates)} candidates with bounds {self.bounds}",
                "Score with Scores.of(rows, question.bounds).",
            )

    def answer(self, scores: Scores, noise: Noise) -> BestCandidateAnswer:
        """Draw one candidate."""
        self.check(scores)
        source = require_noise(noise)
        draw = (
            source.permute_and_flip
            if self.method == PERMUTE_AND_FLIP
            else source.exponential_mechanism
        )
        index = draw(scores.values, self.strength, self.spread, monotone=True)  # c = epsilon / G
        return BestCandidateAnswer(question=self, secure=noise.secure, index=int(index))

    def restore(self, record: dict[str, Any]) -> BestCandidateAnswer:
        """Give back the answer that a ledger stored."""
        index = int(record["index"])
        return BestCandidateAnswer(question=self, secure=was_secure(record), index=index)


@dataclass(frozen=True, kw_only=True)
class BestCandidateAnswer(Answer):
    """The chosen candidate; its score is not released."""

    index: int

    @property
    def candidate(self) -> str:
        """Name the chosen candidate."""
        return str(self.question.candidates[self.index])

    def margin(self, confidence: float = 0.95) -> float:
        """Give x such that its score is within x of the best, with this probability."""
        return float(self.question.margin(confidence))

    @property
    def headline(self) -> str:
        """Name the chosen one and how far from the best it may be."""
        return f"best: {self.candidate} (score within {self.margin():.4g} of the best at 95 %)"

    def chart(self) -> Any:
        """Draw all candidates in a row, the chosen one filled."""
        import altair

        rows = [
            {"candidate": name, "chosen": "chosen" if i == self.index else "not chosen"}
            for i, name in enumerate(self.question.candidates)
        ]
        return (
            altair.Chart({"values": rows})
            .mark_square(size=300)
            .encode(
                altair.X("candidate:N", sort=None, title=None),
                altair.Color("chosen:N", title=None, sort=["chosen", "not chosen"]),
            )
        )


CHARGES = {
    PERMUTE_AND_FLIP: pure_to_zcdp_charge,
    EXPONENTIAL: exponential_mechanism_rho_charge,
}


def read_bounds(given: tuple[int, int]) -> tuple[int, int]:
    """Take two whole numbers, the first below the second."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ParameterError("bounds", given, "two whole numbers (low, high)", "Rescale the score.")
    low, high = (whole("a bound", bound) for bound in given)
    if not -WIDEST <= low < high <= WIDEST:
        raise ParameterError(
            "bounds", (low, high), "low < high, both at most 2**31 in size", "Rescale the score."
        )
    return low, high


def read_method(given: str | None, *, by_rho: bool) -> str:
    """Take a method by name; left out, the form of the price decides."""
    method = given or (EXPONENTIAL if by_rho else PERMUTE_AND_FLIP)
    if method not in (EXPONENTIAL, PERMUTE_AND_FLIP):
        raise ParameterError(
            "method",
            repr(given),
            f"'{PERMUTE_AND_FLIP}' or '{EXPONENTIAL}'",
            "Choose one, or leave it out.",
        )
    return method


@lru_cache(maxsize=256)
def strongest(rho: Fraction, method: str) -> Fraction:
    """Give the largest epsilon, to 12 significant digits, that this rho pays for."""
    charge = CHARGES[method]
    high = Fraction(1)
    while charge(high) <= rho:
        high *= 2
    low = Fraction(0)
    while high - low > high / 10**12:
        middle = (low + high) / 2
        low, high = (middle, high) if charge(middle) <= rho else (low, middle)
    down = Context(prec=12, rounding=ROUND_FLOOR)
    return Fraction(down.divide(Decimal(low.numerator), Decimal(low.denominator)))
