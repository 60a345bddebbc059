"""What a secret random sample adds to privacy, and where it does not.

Maths (Balle, Barthe, Gaboardi 2018)
    A mechanism that is (epsilon, delta)-DP, run on a secret sample, is (epsilon', delta')-DP with
    epsilon' = ln(1 + q (e^epsilon - 1)) and

    sampling                     q                   neighbors   delta'
    Poisson, rate q              q                   add-remove  q delta
    without replacement, m of n  m / n               substitute  q delta   (n is public)
    with replacement, m draws    1 - (1 - 1 / n)^m   substitute  sum over k = 1..m of
                                                     C(m, k) n^-k (1 - 1/n)^(m - k) delta_k(epsilon)

    where delta_k is the base mechanism's curve for groups of k at the same epsilon. It is above 0
    for k >= 2 even if the mechanism is pure, so without that curve the last row is refused.

Refused, because the formula would be wrong: Poisson sampling of a substitute guarantee (an
epsilon 1 mechanism at rate 0.1 really costs up to 0.2239, not 0.1586), any guarantee in rho, and
a sample of public size under neighbors that are narrowed (`within`): the proof compares a sample
with one in which somebody else took the place, whom the narrower neighbors may not allow.

The gain exists only while nobody knows who is in the sample. Noren drew it from its own secure
source (`DrawnHere`), or somebody vouches for it (`AssumedSample`), which every answer then prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from noren.errors import AdjacencyMismatch, GuaranteeMismatch, NotPrivate, ParameterError
from noren.privacy.adjacency import (
    ADD_REMOVE,
    BIT,
    RECORD,
    SUBSTITUTE,
    USER,
    Adjacency,
    Relation,
    Unit,
)
from noren.privacy.decimals import decimal, precise, rounded_down, rounded_up
from noren.privacy.guarantee import Guarantee
from noren.privacy.numbers import Number, not_negative, positive, probability, shown

PLURALS = {RECORD: "records", USER: "persons with all their rows", BIT: "bits"}
GroupDelta: TypeAlias = Callable[[int, float], float]  # (size of the group, epsilon) -> delta
SUM_SLACK = Fraction(1, 10**9)  # covers the float sum of the with-replacement row


@dataclass(frozen=True, slots=True)
class PoissonSample:
    """Every unit (a record, or a person with all rows) is taken independently, at a public rate."""

    rate: Fraction
    unit: Unit = RECORD
    relation: ClassVar[Relation] = ADD_REMOVE

    def __init__(self, rate: Number, unit: Unit = RECORD) -> None:
        object.__setattr__(self, "rate", probability("rate", rate))
        object.__setattr__(self, "unit", unit)

    def __str__(self) -> str:
        return f"a Poisson sample of {PLURALS[self.unit]}, rate {shown(self.rate)}"


@dataclass(frozen=True, slots=True)
class SampleWithout:
    """`size` of `population` units, none twice; both numbers are public."""

    size: int
    population: int
    unit: Unit = RECORD
    relation: ClassVar[Relation] = SUBSTITUTE

    def __post_init__(self) -> None:
        _check_sizes(self.size, self.population, most=self.population)

    @property
    def rate(self) -> Fraction:
        """The chance that one of them is in the sample."""
        return Fraction(self.size, self.population)

    def __str__(self) -> str:
        units = PLURALS[self.unit]
        return f"{self.size} of {self.population} {units}, drawn without replacement"


@dataclass(frozen=True, slots=True)
class SampleWith:
    """`size` draws from `population` units, repeats allowed; both numbers are public.

    `group_delta(k, epsilon)` is the base mechanism's delta for groups of k at that epsilon.
    """

    size: int
    population: int
    group_delta: GroupDelta | None = None
    unit: Unit = RECORD
    relation: ClassVar[Relation] = SUBSTITUTE

    def __post_init__(self) -> None:
        _check_sizes(self.size, self.population, most=None)

    @property
    def rate(self) -> Fraction:
        """The chance that one of them is in the sample."""
        return 1 - (1 - Fraction(1, self.population)) ** self.size

    def __str__(self) -> str:
        units = PLURALS[self.unit]
        return f"{self.size} draws from {self.population} {units}, with replacement"


@dataclass(frozen=True, slots=True)
class DrawnHere:
    """The question itself draws the sample from Noren's secure source and keeps it secret."""

    def __str__(self) -> str:
        return "the sample is drawn here, secretly"


@dataclass(frozen=True, slots=True)
class AssumedSample:
    """The data already is a sample, and `vouched_by` says so; nothing here can check it."""

    vouched_by: str

    def __post_init__(self) -> None:
        if not self.vouched_by.strip():
            raise ParameterError(
                "vouched_by",
                "empty",
                "the name of who vouches for the sample",
                "Somebody must answer for it, by name.",
            )

    def __str__(self) -> str:
        return (
            f"ASSUMED, vouched for by {self.vouched_by}: the data is a random sample that nobody "
            "else knows"
        )


Sample: TypeAlias = PoissonSample | SampleWithout | SampleWith


@dataclass(frozen=True, slots=True)
class Amplified:
    """A guarantee that rests on a secret sample, and the mark that must travel with it."""

    guarantee: Guarantee
    sample: Sample
    secrecy: DrawnHere | AssumedSample

    @property
    def note(self) -> str:
        """Say what the guarantee rests on: for `notes`, so that every answer prints it."""
        return f"amplified by {self.sample}; {self.secrecy}"


def amplify(base: Guarantee, sample: Sample, secrecy: DrawnHere | AssumedSample) -> Amplified:
    """Give the guarantee of a mechanism that sees only a secret sample.

    Examples
    --------
    >>> base = Guarantee("add-remove", epsilon=1)
    >>> print(amplify(base, PoissonSample("0.01"), DrawnHere()).guarantee)
    epsilon 0.01703686324 (one record is added or removed)
    """
    if not isinstance(secrecy, (DrawnHere, AssumedSample)):
        raise NotPrivate(
            "A sample adds to privacy only while nobody knows who is in it. Let the question draw "
            "it (DrawnHere()), or say who vouches for it (AssumedSample(...)), which is printed."
        )
    if (base.adjacency.relation, base.adjacency.unit) != (sample.relation, sample.unit):
        raise AdjacencyMismatch(
            base.adjacency,
            Adjacency(sample.relation, sample.unit),
            f"The formula for {sample} holds for the latter only; with other neighbors it would "
            "claim too much. Ask the question under the sample's neighbors.",
        )
    if base.adjacency.within and sample.relation is SUBSTITUTE:
        raise NotPrivate(
            f"The guarantee ({base}) has narrowed neighbors, but the formula for {sample} is "
            "proved only where anybody may take anybody's place. Ask without `within`."
        )
    if base.epsilon is None:
        raise GuaranteeMismatch(
            f"A zCDP guarantee ({base}) has no formula for a sample. State epsilon, or compose "
            "the profile of the sampled mechanism (sampled_gaussian_profile)."
        )
    epsilon = amplified_epsilon_charge(base.epsilon, sample.rate)
    return Amplified(Guarantee(base.adjacency, epsilon, _delta(base, sample)), sample, secrecy)


def amplified_epsilon_charge(epsilon: Number, rate: Number) -> Fraction:
    """Give ln(1 + rate (e^epsilon - 1)), rounded up."""
    size, q = not_negative("epsilon", epsilon), probability("rate", rate)
    if not size or not q:
        return Fraction(0)
    with precise(min(size, q)):
        return min(size, rounded_up((1 + decimal(q) * (decimal(size).exp() - 1)).ln()))


def base_epsilon_budget(epsilon: Number, rate: Number) -> Fraction:
    """Give the base epsilon that a rate amplifies to `epsilon`, rounded down."""
    size, q = not_negative("epsilon", epsilon), positive("rate", probability("rate", rate))
    if not size:
        return Fraction(0)
    with precise(min(size, q)):
        return rounded_down((1 + (decimal(size).exp() - 1) / decimal(q)).ln())


def amplified_epsilon(epsilon: Number, rate: Number) -> float:
    """Give the epsilon of a mechanism that sees a secret sample only.

    Examples
    --------
    >>> round(amplified_epsilon(epsilon=1, rate="0.01"), 12)
    0.017036863236
    """
    return float(amplified_epsilon_charge(epsilon, rate))


def base_epsilon(epsilon: Number, rate: Number) -> float:
    """Give the epsilon that the mechanism itself may have, for a target after sampling."""
    return float(base_epsilon_budget(epsilon, rate))


def _delta(base: Guarantee, sample: Sample) -> Fraction:
    """Give the delta that belongs to the amplified epsilon."""
    if not isinstance(sample, SampleWith):
        return sample.rate * base.delta
    if sample.group_delta is None:
        raise GuaranteeMismatch(
            f"A sample ({sample}) may hold one record several times: what that costs is the base "
            "mechanism's curve for groups. Give group_delta(k, epsilon), or sample without "
            "replacement."
        )
    assert base.epsilon is not None  # the caller has checked
    m, n, epsilon = sample.size, sample.population, float(base.epsilon)
    chances = [_binomial(m, k, 1 / n) for k in range(1, m + 1)]
    total = math.fsum(
        chance * sample.group_delta(k, epsilon) for k, chance in enumerate(chances, start=1)
    )
    return Fraction(total) * (1 + SUM_SLACK)


def _binomial(m: int, k: int, p: float) -> float:
    """Compute C(m, k) p^k (1 - p)^(m - k)."""
    if p == 1:
        return float(k == m)
    log_ways = math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)
    return math.exp(log_ways + k * math.log(p) + (m - k) * math.log1p(-p))


def _check_sizes(size: int, population: int, most: int | None) -> None:
    """Check two public numbers of units."""
    for name, given in (("size", size), ("population", population)):
        if not isinstance(given, int) or given < 1:
            raise ParameterError(
                name, given, "a whole number, at least 1", "State the public number."
            )
    if most is not None and size > most:
        raise ParameterError(
            "size",
            size,
            f"at most the population, {population}",
            "A sample without replacement repeats nobody.",
        )
