"""The guaranteed supremum of a tail over all carrier rates.

Maths
    If people are independent and carry a variant with one rate pi, the number of carriers is
    binomial, and f_y(pi) = Pr[s + Z >= y] is the binomial mixture of the laws h_n(y) given n.
    With lambda = log(pi/(1-pi)), f = G / (1 + e^lambda)^N where G = sum_n C(N,n) h_n e^(n lambda),
    and log G is convex (Hoelder). The second derivative of N log(1 + e^lambda) is N pi (1-pi).
    So between two rates of a grid f is at most the larger of the values at its ends times
    exp(N max pi(1-pi) (step in lambda)^2 / 8): a relative bound, however small f is. On the grid
    lambda = 0, then lambda -= spacing / sqrt(N pi (1-pi)), the factor is exp(spacing^2 / 8)
    everywhere; below N e^lambda = 2.5e-4 down to pi = 0 it is e^(2.5e-4) at most. Rates above 1/2
    mirror those below, because s does not change when carriers and others change names.

Accuracy
    p <= p_hi <= 1.00099 p + 1e-15 for every y, epsilon and tau, up to 200,000 people; beyond that
    the grid is wider and p_hi <= 1.032 p + 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noren.association.score_law import LawGivenCarriers, Rows
from noren.association.statistic import Floats

SPACING = 0.0885  # exp(spacing^2 / 8) is 1.00098
WIDE_SPACING = 0.5  # 1.0318; for groups so large that the finer grid would take minutes
LARGE = 200_000  # people
FEWEST_CARRIERS = 2.5e-4  # expected number below which the grid ends
CUT = 1e-17


def grid_of_rates(people: int, spacing: float = SPACING) -> Floats:
    """Give the rates of the grid, from the rarest to 1/2.

    Examples
    --------
    >>> len(grid_of_rates(400)), float(grid_of_rates(400)[-1])
    (359, 0.5)
    """
    rates, odds = [0.5], 0.0
    while people * math.exp(odds) > FEWEST_CARRIERS:
        odds -= spacing / math.sqrt(people * rates[-1] * (1 - rates[-1]))
        rates.append(1 / (1 + math.exp(-odds)))
    return np.array(rates[::-1])


def binomial_weights(people: int, rate: float) -> tuple[int, Floats]:
    """Give Pr[n carriers], n and N - n taken together, from some n on (to N/2 at most)."""
    low, weights = binomial(people, rate)
    half = people // 2
    if low + len(weights) - 1 <= half:
        return low, weights
    folded = np.zeros(half + 1)
    n = np.arange(low, low + len(weights))
    np.add.at(folded, np.minimum(n, people - n), weights)
    start = int(min(n[0], people - n[-1]))
    return start, folded[start:]


def binomial(people: int, rate: float) -> tuple[int, Floats]:
    """Give the binomial law from the mode outwards, until all further terms are below CUT."""
    mode, odds = min(people, int((people + 1) * rate)), rate / (1 - rate)
    reach = int(10 * math.sqrt(people * rate * (1 - rate))) + 60
    up = np.arange(mode, min(people, mode + reach))
    down = np.arange(mode, max(0, mode - reach), -1)
    above = falling((people - up) / (up + 1) * odds)
    below = falling(down / ((people - down + 1) * odds))
    weights = np.concatenate([below[::-1], [1.0], above])
    return mode - len(below), weights / weights.sum()


def falling(ratios: Floats) -> Floats:
    """Give the products of falling ratios, until all that follow are below CUT."""
    terms = np.asarray(np.cumprod(ratios), dtype=np.float64)
    small = (ratios < 1) & (terms < CUT * (1 - np.minimum(ratios, 1)))
    return terms[: int(np.argmax(small))] if small.any() else terms


@dataclass(slots=True)
class LawGivenRate:
    """Give Pr[s >= k] at each rate of the grid; what fits `keep_bytes` is kept.

    The rows of a block belong to the rates `first`, `first + 1`, ... of the grid.
    """

    given: LawGivenCarriers
    spacing: float = 0.0
    keep_bytes: int = 1 << 26
    rates: Floats = field(init=False, repr=False)
    kept: list[Rows] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        people = self.given.design.people
        self.spacing = self.spacing or (SPACING if people <= LARGE else WIDE_SPACING)
        self.rates = grid_of_rates(people, self.spacing)

    def blocks(self) -> Iterator[Rows]:
        """Yield the rows, from the rarest rate upwards."""
        if self.kept is not None:
            yield from self.kept
            return
        kept: list[Rows] | None = []
        size, mixture = 0, Mixture(self.given.design.people, self.rates)
        for rows in self.given.blocks():
            done = mixture.add(rows)
            if len(done.tails):
                size += done.tails.nbytes
                kept = None if kept is None or size > self.keep_bytes else [*kept, done]
                yield done
        self.kept = kept


class Mixture:
    """Sums the laws given n into the laws given a rate, while n goes up."""

    def __init__(self, people: int, rates: Floats) -> None:
        self.people, self.rates = people, rates
        self.begun = self.done = 0  # rates begun.. and done so far: both go up with n
        self.weights: dict[int, tuple[int, Floats]] = {}
        self.lowest = 1
        self.sums = np.zeros((0, 1))
        self.seen = np.zeros(0)  # the weight summed so far of each rate under way

    def add(self, rows: Rows) -> Rows:
        """Take a block of laws in; give the laws of those rates that are complete."""
        stop = rows.first + len(rows.tails)
        self.begin(stop)
        self.widen(rows.lowest, rows.lowest + rows.tails.shape[1])
        weights = np.array([self.part(j, rows.first, stop) for j in range(self.done, self.begun)])
        weights = weights.reshape(self.begun - self.done, stop - rows.first)
        left = rows.lowest - self.lowest
        self.sums[:, left : left + rows.tails.shape[1]] += weights @ rows.tails
        total = weights.sum(axis=1)
        self.sums[:, :left] += total[:, None]
        self.seen += total
        return self.finish(stop)

    def begin(self, stop: int) -> None:
        """Begin the rates whose weights reach below n = stop."""
        while self.begun < len(self.rates):
            start, weights = self.weights.get(self.begun) or binomial_weights(
                self.people, float(self.rates[self.begun])
            )
            self.weights[self.begun] = (start, weights)
            if start >= stop:
                break
            self.begun += 1
        new = self.begun - self.done - len(self.sums)
        self.sums = np.vstack([self.sums, np.zeros((new, self.sums.shape[1]))])
        self.seen = np.concatenate([self.seen, np.zeros(new)])

    def widen(self, low: int, high: int) -> None:
        """Make room for further levels: what was summed so far is 1 to the left, 0 to the right."""
        left = max(0, self.lowest - low)
        right = max(0, high - self.lowest - self.sums.shape[1])
        if left or right:
            before = np.repeat(self.seen[:, None], left, axis=1)
            self.sums = np.hstack([before, self.sums, np.zeros((len(self.sums), right))])
            self.lowest -= left

    def part(self, rate: int, first: int, stop: int) -> Floats:
        """Give a rate's weights for n = first..stop-1."""
        start, weights = self.weights[rate]
        part = np.zeros(stop - first)
        low, high = max(first, start), min(stop, start + len(weights))
        part[low - first : high - first] = weights[low - start : high - start]
        return part

    def finish(self, stop: int) -> Rows:
        """Give out the rates whose weights end before n = stop."""
        first, lowest = self.done, self.lowest
        while self.done < self.begun:
            start, weights = self.weights[self.done]
            if start + len(weights) > stop:
                break
            del self.weights[self.done]
            self.done += 1
        done = self.done - first
        rows = Rows(first, lowest, self.sums[:done])
        self.sums, self.seen = self.sums[done:], self.seen[done:]
        return rows


def rates_around(rates: Floats, lowest: Any, highest: Any) -> Any:
    """Mark the rates of the grid inside a public range, and the next ones outside it."""
    low, high = sorted((min(lowest, 1 - lowest), min(highest, 1 - highest)))
    high = 0.5 if lowest <= 0.5 <= highest else high
    first = max(0, int(np.searchsorted(rates, float(low), side="right")) - 1)
    last = min(len(rates) - 1, int(np.searchsorted(rates, float(high), side="left")))
    places = np.arange(len(rates))
    return (places >= first) & (places <= last)
