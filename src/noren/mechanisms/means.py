"""The mean of one bounded value over all records, with integer noise on a public grid.

Maths
    In grid steps let a = q(low), b = q(high), Q = b - a. Where the number n of records is public,
    release S + Z for the sum S of q - a, so the mean is (a + (S + Z) / n) g. Where it is not,
    release A + Z1 and B + Z2 for A = sum of q - a and B = sum of b - q: then A + B = n Q, and the
    mean is (a + Q A / (A + B)) g, with the noisy A and B. Number and sum share one price.

Privacy (k rows of one person; k = 1 where the unit is a record)
    SUBSTITUTE, k = 1   n is public; S changes by at most Q: w = (Q)
    ADD_REMOVE          n is private. j <= k rows change (A, B) by (u, j Q - u), 0 <= u <= j Q:
                        the two always add up to j Q, so w = (k Q)
    SUBSTITUTE, k > 1   a person's rows may become more or fewer, so n is private too; A and B each
                        change by at most k Q: w = (k Q, k Q)
    All attained; the price follows from w (`noren.mechanisms.additive`). Dividing by the true
    n under ADD_REMOVE would have no guarantee at all: the outputs for n and n + 1 lie on different
    lattices. What is released is the integers; mean, number and interval are computed from them.

Accuracy
    About sd(Z) g / n: for private n the error is Q g W / (noisy A + B), W = (1 - u) Z1 - u Z2 at
    u = A / (A + B). Next to separate prices for sum and number this halves the variance.
    Z is within 1 of a continuous Laplace variable of scale t, and an average of two of those is
    nearer to 0 than one (Proschan 1965), so P(abs(W) > 1 + t ln(1 / beta)) <= beta: the interval
    for u is (noisy A +- m) / (noisy A + B), m at most 2 above the margin of one Z.
    Rounding: at most g / 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noren.errors import ParameterError
from noren.mechanisms.additive import (
    IntegerNoise,
    read_confidence,
    read_price,
    require_noise,
    require_statistic,
)
from noren.mechanisms.sums import PUBLIC_GRID, Sum, interval_chart, read_grid, require_grid
from noren.mechanisms.wording import neighbours, public_rows
from noren.noise import Noise
from noren.noise.grid import Grid
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure

COUPLING = 2  # steps by which the margin of one Z is widened to hold for W


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedMean:
    """Ask for the mean of one bounded value over all records.

    Parameters
    ----------
    grid : Grid
        The public bounds and the public grid of the value: see `fine_grid`.
    adjacency : Adjacency or str
        ADD_REMOVE or SUBSTITUTE, of records or of persons with up to `max_records` rows.
    epsilon, rho : number
        The price: epsilon for discrete Laplace noise, or rho for discrete Gaussian noise.
    records : int, optional
        Their number, where it is public: required when one record is substituted, refused else.

    Examples
    --------
    >>> from noren.mechanisms.sums import fine_grid
    >>> hours = fine_grid(0, 24, missing=0)
    >>> question = BoundedMean(grid=hours, adjacency="add-remove", epsilon="0.5")
    >>> print(question.forecast({"records": 10_000}))
    the mean within +-0.01438 with probability 0.95 (10000 records)
    >>> from noren import Noise
    >>> answer = question.answer(Sum.of([6.0, 9.0] * 5000, hours), Noise())
    >>> 7 < answer.mean < 8
    True
    """

    kind: ClassVar[str] = "bounded-mean"
    notes: ClassVar[tuple[str, ...]] = ()

    grid: Grid
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    records: int | None = None

    def __post_init__(self) -> None:
        epsilon, rho = read_price(self.epsilon, self.rho)
        put = object.__setattr__
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)
        read_grid(self.grid)
        put(self, "records", read_records(self.records, public=public_number(self.adjacency)))

    @property
    def worst(self) -> tuple[int, ...]:
        """Give the worst change of what is released (proof: module docstring)."""
        low, high = self.grid.ends
        width = self.adjacency.max_records * (high - low)
        both = self.adjacency.relation is SUBSTITUTE and self.records is None
        return (width, width) if both else (width,)

    @property
    def law(self) -> IntegerNoise:
        """Give the law of the noise, with its price."""
        return IntegerNoise(self.adjacency, self.worst, self.epsilon, self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking, the noisy number of records included."""
        return self.law.guarantee

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in grid steps."""
        return (self.law.mechanism(1 if self.records else 2),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return (PUBLIC_GRID, *public_rows(self.adjacency))

    def forecast(self, facts: Mapping[str, int] | None = None) -> Forecast:
        """Say how far off the mean may be; facts: {"records": a public guess of their number}."""
        records = self.records or (facts and whole("records", facts["records"], 1))
        figures = {"rounding of the mean at most": self.grid.step / 2}
        if not records:
            error = self.law.variance**0.5 * self.grid.step
            sentence = f"standard error of the mean at most {error:.4g} / records"
            return Forecast(sentence=sentence, figures=figures)
        margin = self.margin_in_steps(0.95) * self.grid.step / records
        return Forecast(
            sentence=f"the mean within +-{margin:.4g} with probability 0.95 ({records} records)",
            variance=self.law.variance * (self.grid.step / records) ** 2,
            margin_95=margin,
            figures=figures,
        )

    def margin_in_steps(self, confidence: float) -> int:
        """Give m that bounds the noise of S, or of (1 - u) A - u B for every share u."""
        inside = read_confidence(confidence)
        if self.records:
            return self.law.margin(inside)
        if self.epsilon is not None:
            return self.law.margin(inside) + COUPLING
        return self.law.margin(1 - (1 - inside) / 2)  # both parts, by the union bound

    def check(self, total: Sum) -> None:
        """Refuse a sum on another grid, or of another number of records where that is public.

        Their number is public as long as no record is left out for what it holds: read them by a
        schema that drops none (`noren.data.require_every_record`).
        """
        require_statistic(total, Sum)
        require_grid(total.grid, self.grid)
        if self.records is not None and total.records != self.records:
            raise ParameterError(
                "records",
                self.records,
                "the number of records that were counted",
                "It is public: state how many the table has, and leave none out for its cells.",
            )

    def answer(self, total: Sum, noise: Noise) -> BoundedMeanAnswer:
        """Add the noise, in steps; the number of records takes part of the price if private."""
        self.check(total)
        low, high = self.grid.ends
        parts = [total.steps - total.records * low]
        if self.records is None:
            parts.append(total.records * high - total.steps)
        drawn = self.law.draw(require_noise(noise), len(parts)).tolist()
        released = tuple(part + z for part, z in zip(parts, drawn, strict=True))
        return BoundedMeanAnswer(question=self, secure=noise.secure, parts=released)

    def restore(self, record: dict[str, Any]) -> BoundedMeanAnswer:
        """Give back the answer that a ledger stored."""
        parts = tuple(int(part) for part in record["parts"])
        return BoundedMeanAnswer(question=self, secure=was_secure(record), parts=parts)


@dataclass(frozen=True, kw_only=True)
class BoundedMeanAnswer(Answer):
    """Noisy distances from the low bound (and from the high one); all else is computed from them.

    The mean is never outside the bounds; `parts` are as drawn.
    """

    parts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Give the noisy mean."""
        return self._value(self._share(0, 0))

    @property
    def records(self) -> float:
        """Give the number of records: the public one, or the noisy one."""
        return float(self.question.records or Fraction(sum(self.parts), self._width))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Give an interval that holds the mean of the clamped, rounded values."""
        m = self.question.margin_in_steps(confidence)
        if self._share(0, 0) is None:  # so few records that their noisy number is not positive
            return self._value(Fraction(0)), self._value(Fraction(1))
        return self._value(self._share(-m, m)), self._value(self._share(m, -m))

    def margin(self, confidence: float = 0.95) -> float:
        """Give the larger distance from the mean to the ends of its interval."""
        low, high = self.interval(confidence)
        return max(high - self.mean, self.mean - low)

    @property
    def _width(self) -> int:
        """Give Q."""
        low, high = self.question.grid.ends
        return int(high - low)

    def _share(self, up: int, down: int) -> Fraction | None:
        """Give A / (A + B) after moving A by `up` and B by `down`; None where it says nothing."""
        if self.question.records:
            return Fraction(self.parts[0] + up, self._width * self.question.records)
        whole_ = sum(self.parts) + up + down
        return Fraction(self.parts[0] + up, whole_) if whole_ > 0 else None

    def _value(self, share: Fraction | None) -> float:
        """Turn a share of the width into a value within the bounds."""
        grid = self.question.grid
        inside = Fraction(1, 2) if share is None else min(max(share, Fraction(0)), Fraction(1))
        return float((grid.ends[0] + self._width * inside) * Fraction(grid.step))

    @property
    def headline(self) -> str:
        """Give the mean with its interval."""
        low, high = self.interval()
        return f"mean {self.mean:.6g} (95 %: {low:.6g} to {high:.6g})"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the mean and the number of records among the values."""
        made = Answer.to_dict(self)
        return made | {"value": {"mean": self.mean, "records": self.records, **made["value"]}}

    def chart(self) -> Any:
        """Draw the mean with its intervals at three confidences."""
        return interval_chart("mean", self.mean, self.interval)


def public_number(adjacency: Adjacency) -> bool:
    """Say whether neighbours always have the same number of records."""
    return adjacency.relation is SUBSTITUTE and adjacency.max_records == 1


def read_records(given: int | None, *, public: bool) -> int | None:
    """Take the number of records exactly where it is public."""
    if public:
        advice = "Substituting a record keeps their number, so state it."
        if given is None:
            raise ParameterError("records", None, "the public number of records", advice)
        return whole("records", given, 1)
    if given is not None:
        raise ParameterError(
            "records",
            "stated",
            "left out",
            "These neighbours differ in it, so it is private and drawn with noise.",
        )
    return None
