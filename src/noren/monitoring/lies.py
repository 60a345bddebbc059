"""Laws of lies: when a device tells the truth and when it does not, drawn before it sees anything.

Maths
    A person reports in k slots of an epoch. Before the first state is seen, the device draws a sign
    vector b in {+1, -1}**k from a law D, and in its i-th slot sends the true bit if b_i = +1 and
    its complement if b_i = -1. All patterns with j lies weigh the same, e**l(j):

        block   l(j) = epsilon if j <= j0, else 0
        ramp    l(j) = min(epsilon, max(0, o - slot_epsilon j))

    P(j lies) is proportional to C(k, j) e**l(j), and the contrast of one report, P(truth) - P(lie),
    is c = E[1 - 2 j / k]. j0 and o are chosen to make c as large as possible; among equals, the
    smallest. slot_epsilon = epsilon / k gives independent coins; slot_epsilon >= epsilon the block.

Privacy (pure; LOCAL: one person's whole trajectory within one epoch is replaced by any other)
    With states s in {+1, -1}, the transcript is y = s b, element by element: for every trajectory,
    also one in which a state depends on what everybody sent before, a bijection of b. So
    P(y | v) = D(y s), and the mechanism is epsilon-private for trajectories exactly if
    max D <= e**epsilon min D; a change of one slot flips one sign, so it costs at most
    slot_epsilon exactly if D(b) <= e**slot_epsilon D(b') for b, b' one sign apart. Both limits
    hold on integer weights (`noren.monitoring.weights`) and both are attained. A change of d slots
    costs min(epsilon, d slot_epsilon); fewer than k answers are a marginal of D and cost no more.
    The slots must not depend on the states, and neither may whether a device answers. A lie that is
    not used yet must never be shown, not even to the program that is measured.

Accuracy
    See `noren.monitoring.accuracy`; among all laws with these two limits and this k, none has a
    larger contrast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from noren.errors import ParameterError
from noren.monitoring.weights import exact_contrast, lie_masses, lowered
from noren.privacy import LOCAL, USER, Adjacency, Guarantee
from noren.privacy.numbers import Number, positive, read_epsilon, whole

TIE = 1e-12  # contrasts this close, relatively, are equal; the smallest setting wins
LEAST_CONTRAST = 1e-9
MOST_TOGETHER = 4096  # reports whose lies are drawn together: their integers have as many bits
EPOCH = Adjacency(LOCAL, unit=USER, within="one epoch")
SLOT = Adjacency(LOCAL, unit=USER, within="one slot")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LieLaw:
    """Report k bits of a trajectory, some of them lies, by integers that the lies are drawn from.

    Attributes
    ----------
    reports : int
        k, how many reports one draw is for.
    epsilon, slot_epsilon : Fraction
        The price of the whole trajectory, and of a change in one slot.
    offset : Fraction
        o of the ramp; for a block, j0 as a number.
    weights : tuple of int
        The weight of each pattern with 0, 1, .., k lies.
    """

    kind: ClassVar[str] = "lie-law"

    reports: int
    epsilon: Fraction
    slot_epsilon: Fraction
    offset: Fraction
    weights: tuple[int, ...] = field(repr=False)

    @property
    def exact_contrast(self) -> Fraction:
        """P(truth) - P(lie) of one report, exactly."""
        return exact_contrast(self.weights)

    @property
    def contrast(self) -> float:
        """P(truth) - P(lie) of one report."""
        return float(self.exact_contrast)

    @property
    def lie_probabilities(self) -> tuple[float, ...]:
        """P(0 lies), P(1 lie), .., P(k lies)."""
        masses = lie_masses(self.weights)
        total = sum(masses)
        return tuple(float(Fraction(mass, total)) for mass in masses)

    @property
    def guarantee(self) -> Guarantee:
        """The price of an epoch."""
        return Guarantee(EPOCH, epsilon=self.epsilon)

    @property
    def slot_guarantee(self) -> Guarantee:
        """The price of a change in one slot alone."""
        return Guarantee(SLOT, epsilon=self.slot_epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; integers as text, because many readers of JSON round large ones."""
        return {
            "reports": self.reports,
            "epsilon": str(self.epsilon),
            "slot_epsilon": str(self.slot_epsilon),
            "weights": [str(weight) for weight in self.weights],
        }


def block_law(k: int, epsilon: Number) -> LieLaw:
    """Give the best law of lies for k reports when only the whole trajectory has a price.

    Examples
    --------
    >>> law = block_law(2, 2)
    >>> round(law.contrast, 12), law.offset
    (0.61497945897, Fraction(0, 1))
    """
    return _block(read_together(k), read_epsilon(epsilon))


def ramp_law(k: int, epsilon: Number, slot_epsilon: Number) -> LieLaw:
    """Give the best law of lies for k reports when a change of one slot has a price of its own.

    Examples
    --------
    >>> law = ramp_law(10, 10, 2)
    >>> round(law.contrast, 10), law.offset
    (0.7566414418, Fraction(10, 1))
    """
    reports, price = read_together(k), read_epsilon(epsilon)
    slot = min(price, positive("slot_epsilon", slot_epsilon, "It is at most epsilon."))
    return _block(reports, price) if slot == price else _ramp(reports, price, slot)


def read_together(k: int) -> int:
    """Read the number of reports whose lies are drawn together."""
    reports = whole("k", k, 1)
    if reports > MOST_TOGETHER:
        raise ParameterError(
            "k", k, f"at most {MOST_TOGETHER} for lies that are drawn together",
            "Fewer reports a person are hardly worse; or give each lie a coin of its own.",
        )  # fmt: skip
    return reports


def independent_law(k: int, epsilon: Number) -> LieLaw:
    """Give the law of one of k independent coins, each with its share of the price."""
    share = read_epsilon(epsilon) / whole("k", k, 1)
    return _block(1, share)


def best_contrast(k: int, epsilon: Fraction, slot_epsilon: Fraction | None) -> float:
    """Give the contrast of the best law in floats: to choose k, never to draw or to estimate."""
    if slot_epsilon is None or slot_epsilon >= epsilon:
        return float(_block_contrasts(k, float(epsilon)).max())
    return _best_ramp_contrast(k, float(epsilon), float(slot_epsilon))


@lru_cache(maxsize=512)
def _block(k: int, epsilon: Fraction) -> LieLaw:
    """Build the block law."""
    j0 = first_best(_block_contrasts(k, float(epsilon)))
    exponents = [epsilon if j <= j0 else Fraction(0) for j in range(k + 1)]
    weights = lowered(exponents, epsilon, epsilon)
    law = LieLaw(
        reports=k, epsilon=epsilon, slot_epsilon=epsilon, offset=Fraction(j0), weights=weights
    )
    return usable(law)


@lru_cache(maxsize=512)
def _ramp(k: int, epsilon: Fraction, slot: Fraction) -> LieLaw:
    """Build the ramp law."""
    offsets, contrasts = _ramp_contrasts(k, epsilon, slot)
    offset = offsets[first_best(contrasts)]
    exponents = [min(epsilon, max(Fraction(0), offset - slot * j)) for j in range(k + 1)]
    weights = lowered(exponents, epsilon, slot)
    law = LieLaw(reports=k, epsilon=epsilon, slot_epsilon=slot, offset=offset, weights=weights)
    return usable(law)


def usable(law: LieLaw) -> LieLaw:
    """Refuse a law that tells nothing."""
    if law.contrast < LEAST_CONTRAST:
        raise ParameterError(
            "epsilon",
            float(law.epsilon),
            f"large enough for a contrast of at least {LEAST_CONTRAST}",
            "Fewer reports, or a larger epsilon: these reports would hold nothing but noise.",
        )
    return law


def first_best(contrasts: Floats) -> int:
    """Give the first setting whose contrast is the largest, up to rounding."""
    return int(np.argmax(contrasts >= contrasts.max() * (1 - TIE)))


def _block_contrasts(k: int, epsilon: float) -> Floats:
    """Give c for every j0 in 0..k // 2.

    With t = e**epsilon - 1, c = t C(k-1, j0) / (t sum_{j <= j0} C(k, j) + 2**k), because
    sum_{j <= j0} C(k, j) (1 - 2 j / k) = C(k-1, j0); both sides of the fraction are divided by
    2**k e**epsilon.
    """
    j = np.arange(k // 2 + 1)
    scale = k * np.log(2)
    head = np.exp(log_comb(k - 1, np.minimum(j, k - 1)) - scale)
    below = np.cumsum(np.exp(log_comb(k, j) - scale))
    rise, rest = -np.expm1(-epsilon), np.exp(-epsilon)
    found: Floats = np.where(j < k, rise * head / (rise * below + rest), 0.0)
    return found


def _ramp_contrasts(k: int, epsilon: Fraction, slot: Fraction) -> tuple[list[Fraction], Floats]:
    """Give c at every breakpoint o: between two of them c is monotone."""
    offsets = breakpoints(k, epsilon, slot)
    given = np.array([float(offset) for offset in offsets])
    return offsets, contrasts_at(given, k, float(epsilon), float(slot))


def _best_ramp_contrast(k: int, epsilon: float, slot: float) -> float:
    """Find the largest c over o, from a coarse grid inward: c has a single peak in o."""
    low, high = 0.0, epsilon + k * slot
    while high - low > 4 * slot:
        grid = np.linspace(low, high, 17)
        peak = int(contrasts_at(grid, k, epsilon, slot).argmax())
        low, high = float(grid[max(peak - 1, 0)]), float(grid[min(peak + 1, 16)])
    near = slot * np.arange(np.floor(low / slot) - 1, np.ceil(high / slot) + 2)
    beyond = epsilon + slot * np.arange(
        np.floor((low - epsilon) / slot) - 1, np.ceil((high - epsilon) / slot) + 2
    )
    tried = np.concatenate([near, beyond])
    return float(contrasts_at(tried[tried >= 0], k, epsilon, slot).max())


def contrasts_at(offsets: Floats, k: int, epsilon: float, slot: float) -> Floats:
    """Give the contrast of the ramp at each offset."""
    j = np.arange(k + 1)
    logs = np.clip(offsets[:, None] - slot * j, 0.0, epsilon) + log_comb(k, j)
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = (masses @ (1 - 2 * j / k)) / masses.sum(axis=1)
    return found


def breakpoints(k: int, epsilon: Fraction, slot: Fraction) -> list[Fraction]:
    """List the offsets at which a ramp may be best, from the smallest.

    They are the multiples of `slot` up to epsilon + (k + 1) slot, and epsilon plus 0..k of them.
    Offsets from (k + 1) slot up to epsilon leave all of the ramp unclipped, so they are one law.
    """
    last = ceil(epsilon / slot) + k + 1
    first_flat, flat_end = k + 1, floor(epsilon / slot)
    steps = list(range(min(last, first_flat + 1) + 1))
    steps += range(max(flat_end, steps[-1] + 1), last + 1)
    return sorted({slot * i for i in steps} | {epsilon + slot * i for i in range(k + 1)})


def log_comb(n: int, j: Any) -> Floats:
    """Give the logarithm of C(n, j)."""
    found: Floats = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - np.asarray(j) + 1)
    return found


def candidate_counts(horizon: int) -> list[int]:
    """List the numbers of reports to try: all, or for long horizons a grid that thins out."""
    if horizon <= 1000:
        return list(range(1, horizon + 1))
    counts, k = set(range(1, 65)), 64
    while k < horizon:
        k = min(horizon, k + max(1, k // 16))
        counts.add(k)
    return sorted(counts | {isqrt(horizon)})
