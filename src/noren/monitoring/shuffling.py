"""What remains to be seen when a shuffler hides who sent which report of a slot.

Maths
    K people answer by randomized response with local epsilon0: p = 1 / (1 + e**-epsilon0) keeps the
    bit, q = 1 - p flips it. An observer of the shuffled slot sees only the number S of ones. How
    much one person's bit moves the law of S depends on M, how many of the K - 1 others hold a 1:

        B = law of Bin(M, p) + Bin(K - 1 - M, q)
        P1(s) = p B(s - 1) + q B(s),    P0(s) = q B(s - 1) + p B(s)
        delta_M(e) = max over both directions of sum_s max(0, P1(s) - e**e P0(s))

    exact    max over M. All others equal (M = 0) is not always the worst: that is `shuffle_floor`.
    clones   each other person is an independent blanket of fair coins with chance 2 q; the number C
             of blankets and how many of them say 1 are revealed. Holds for every M.
    closed   Feldman, McMillan and Talwar's formula, for epsilon0 <= ln(K / (16 ln(2 / delta))).

    People who report in several slots with lies of their own for each (strategy independent): the
    clones pairs of the slots compose, by the accountant of privacy losses.

Privacy (LOCAL: one person's trajectory is replaced, all others fixed)
    For k = 1 slots are disjoint and the schedule ignores the data, so the figure of the smallest
    slot is the figure of the epoch, also when others' later states react to S. It holds against
    whoever sees only (K, S): not against a collector who sees names, which is why a shuffler must
    drop duplicates itself. K counts honest people with the same epsilon0, oneself included: state
    the number that is assumed. Lies that are drawn together (block, ramp) with k > 1 depend on each
    other, and nothing is claimed beyond the local epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, floor, log, log1p, sqrt, tanh

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from noren.errors import NotPrivate, ParameterError
from noren.monitoring.plans import MonitoringPlan
from noren.privacy import LOCAL, USER, Adjacency
from noren.privacy.numbers import Number, exact, read_epsilon, whole

EXACT_UP_TO = 2000
STEPS = 60
BOUNDS = ("exact", "clones", "closed")
Floats = NDArray[np.float64]


def shuffled_epsilon(
    reports: int,
    epsilon0: Number,
    delta: Number,
    bound: str | None = None,
    *,
    reports_per_person: int = 1,
) -> float:
    """Give the epsilon at delta of one shuffled slot, never below the truth.

    Parameters
    ----------
    reports : int
        K, how many honest people report in the slot.
    epsilon0 : number
        The local epsilon of each report.
    delta : number
        In (0, 1).
    bound : {"exact", "clones", "closed"}, optional
        Left out: exact up to 2000 reports, clones above.
    reports_per_person : int
        Anything but 1 is refused: lies drawn together are not amplified.

    Examples
    --------
    >>> round(shuffled_epsilon(100, 1, 1e-5), 9)
    0.407817895
    """
    held, local, level = read_settings(reports, epsilon0, delta)
    if reports_per_person != 1:
        raise NotPrivate(
            f"reports_per_person is {reports_per_person}, but shuffling is claimed for 1 only. "
            "Reports of one person lie together, so state their local epsilon, or ask for 1."
        )
    chosen = ("exact" if held <= EXACT_UP_TO else "clones") if bound is None else bound
    if chosen not in BOUNDS:
        raise ParameterError("bound", bound, f"one of {', '.join(BOUNDS)}")
    if chosen == "closed":
        return closed_form(held, local, level)
    return exact_epsilon(held, local, level) if chosen == "exact" else clones(held, local, level)


def shuffle_floor(reports: int, epsilon0: Number, delta: Number) -> float:
    """Give the epsilon that is attained when all others agree: no guarantee can be lower.

    Examples
    --------
    >>> round(shuffle_floor(1000, 1, 1e-8), 9)
    0.162844223
    """
    held, local, level = read_settings(reports, epsilon0, delta)
    pair = Pair.of(held, local, 0)
    return bisect(lambda e: pair.delta(e) <= level, local)


def shuffled_plan(plan: MonitoringPlan, delta: Number) -> float:
    """Give the epsilon at delta of a plan's epoch (or window) to whoever sees counts alone.

    All people of the plan are assumed to be honest. Refused where lies are drawn together.
    """
    chosen, held = plan.chosen, max(1, plan.reports_per_slot)
    coins = chosen.name in ("independent", "rolling")
    if chosen.name in ("published", "tree") or (chosen.reports > 1 and not coins):
        raise NotPrivate(
            f"Nothing is claimed for shuffling under '{chosen.name}' with {chosen.reports} reports "
            "a person, but only for one report or for coins of their own. The local epsilon holds; "
            "use strategy 'independent' if shuffling is what you rely on."
        )
    local = chosen.epsilon / chosen.reports
    if chosen.reports == 1:
        return shuffled_epsilon(held, local, delta)
    return shuffled_epsilon_over_slots(held, local, delta, chosen.reports)


def read_settings(reports: int, epsilon0: Number, delta: Number) -> tuple[int, float, float]:
    """Read the three numbers."""
    level = float(exact("delta", delta))
    if not 0 < level < 1:
        raise ParameterError("delta", delta, "strictly between 0 and 1")
    return whole("reports", reports, 1), float(read_epsilon(epsilon0)), level


class Pair:
    """The laws of S for one person's bit 1 and 0, the others fixed."""

    def __init__(self, up: Floats, down: Floats) -> None:
        self.up, self.down = up, down

    @classmethod
    def of(cls, reports: int, epsilon0: float, ones: int) -> Pair:
        """Let `ones` of the others hold a 1; convolved directly, because an FFT loses the tails."""
        p, q = 1 / (1 + exp(-epsilon0)), exp(-epsilon0) / (1 + exp(-epsilon0))
        others = reports - 1
        first = binom.pmf(np.arange(ones + 1), ones, p)
        second = binom.pmf(np.arange(others - ones + 1), others - ones, q)
        law = np.convolve(first, second)
        before, same = np.append(0.0, law), np.append(law, 0.0)
        return cls(p * before + q * same, q * before + p * same)

    def delta(self, epsilon: float) -> float:
        """Give delta at an epsilon, in the worse direction."""
        factor = exp(epsilon)
        one = np.maximum(0.0, self.up - factor * self.down).sum()
        other = np.maximum(0.0, self.down - factor * self.up).sum()
        return float(max(one, other))


def bisect(enough: Callable[[float], bool], epsilon0: float) -> float:
    """Give the upper end of a bisection for the least epsilon that is enough."""
    low, high = 0.0, epsilon0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def exact_epsilon(reports: int, epsilon0: float, delta: float) -> float:
    """Take the worst M; M and K - 1 - M mirror each other, so half of them suffice."""
    if reports > EXACT_UP_TO:
        raise ParameterError(
            "reports", reports, f"at most {EXACT_UP_TO} for the exact bound", "Use bound='clones'."
        )
    worst = 0.0
    for ones in range((reports - 1) // 2 + 1):
        pair = Pair.of(reports, epsilon0, ones)
        if worst == 0.0 or pair.delta(worst) > delta:
            worst = bisect(lambda e, pair=pair: pair.delta(e) <= delta, epsilon0)  # type: ignore[misc]
    return worst


def clones(reports: int, epsilon0: float, delta: float) -> float:
    """Bisect the clones bound."""
    return bisect(lambda e: clones_delta(reports, epsilon0, e) <= delta, epsilon0)


def clones_delta(reports: int, epsilon0: float, epsilon: float) -> float:
    """Give delta of the clones bound; numbers of blankets left out add their whole chance."""
    if epsilon >= epsilon0:
        return 0.0
    p, q = 1 / (1 + exp(-epsilon0)), exp(-epsilon0) / (1 + exp(-epsilon0))
    others, chance = reports - 1, 2 * q
    spread = 40 * sqrt(others * chance * (1 - chance)) + 100
    least = max(0, floor(others * chance - spread))
    most = min(others, floor(others * chance + spread) + 1)
    blankets = np.arange(least, most + 1)
    gain, loss = p - exp(epsilon) * q, exp(epsilon) * p - q
    ratio = loss / gain
    cut = np.floor(ratio * (blankets + 1) / (1 + ratio)) + 1
    inside = gain * binom.sf(cut - 2, blankets, 0.5) - loss * binom.sf(cut - 1, blankets, 0.5)
    mass = binom.pmf(blankets, others, chance)
    left_out = binom.cdf(least - 1, others, chance) + binom.sf(most, others, chance)
    return float((mass * np.maximum(0.0, inside)).sum() + left_out)


def closed_form(reports: int, epsilon0: float, delta: float) -> float:
    """Give the closed form where it is proved."""
    if epsilon0 > log(reports / (16 * log(2 / delta))):
        raise ParameterError(
            "epsilon0", epsilon0, "at most ln(reports / (16 ln(2 / delta))) for the closed form",
            "Use bound='clones'.",
        )  # fmt: skip
    inner = 8 * sqrt(exp(epsilon0) * log(4 / delta) / reports) + 8 * exp(epsilon0) / reports
    return min(epsilon0, log1p(tanh(epsilon0 / 2) * inner))


def shuffled_epsilon_over_slots(
    reports: int, epsilon0: Number, delta: Number, slots: int, *, step: float | None = None
) -> float:
    """Give the epsilon at delta of several shuffled slots, each lie a coin of its own.

    The clones pairs of the slots are composed by the accountant: `step` is its grid, finer is
    smaller. For lies that are drawn together nothing is claimed, so do not use it for them.
    """
    from noren.privacy import compose_profiles, finite_profile

    held, local, level = read_settings(reports, epsilon0, delta)
    times = whole("slots", slots, 1)
    up, down = clones_pair(held, local)
    adjacency = Adjacency(LOCAL, unit=USER, within="one epoch")
    profile = finite_profile(adjacency, [(up, down), (down, up)])
    found = compose_profiles([profile] * times, step=step).epsilon(level)
    return min(found.high, times * local)


def clones_pair(reports: int, epsilon0: float) -> tuple[Floats, Floats]:
    """Give the two laws of (C, number of ones); what a window leaves out may show everything."""
    p, q = 1 / (1 + exp(-epsilon0)), exp(-epsilon0) / (1 + exp(-epsilon0))
    others, chance = reports - 1, 2 * q
    blankets = window(others, chance)
    mass = binom.pmf(blankets, others, chance)
    up, down, left = [], [], []
    for number, weight in zip(blankets.tolist(), mass.tolist(), strict=True):
        ones = window(number, 0.5)
        ones = np.append(ones, ones[-1] + 1)
        fair, before = binom.pmf(ones, number, 0.5), binom.pmf(ones - 1, number, 0.5)
        up.append(weight * (p * before + q * fair))
        down.append(weight * (q * before + p * fair))
        left.append(outside(ones[:-1], number, 0.5))
    first, second = np.concatenate(up), np.concatenate(down)
    gone = outside(blankets, others, chance) + float(mass @ left)
    return np.append(first, [gone, 0.0]), np.append(second, [0.0, gone])


def outside(values: NDArray[np.int64], n: int, p: float) -> float:
    """Give the chance of a binomial outside a window, as the sum of its tails."""
    return float(binom.cdf(values[0] - 1, n, p) + binom.sf(values[-1], n, p))


def window(n: int, p: float) -> NDArray[np.int64]:
    """Give the values of a binomial within ten deviations."""
    spread = 10 * sqrt(n * p * (1 - p)) + 10
    return np.arange(max(0, floor(n * p - spread)), min(n, floor(n * p + spread) + 1) + 1)
