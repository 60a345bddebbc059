"""The exact law of the score when the number of carriers is given.

Maths
    Given that n people carry a variant, and that every choice of the cases is equally likely, the
    carriers A among the cases are hypergeometric. This module gives T_n(k) = Pr[s >= k | n] for
    every n and k. T_{N-n} = T_n, so n <= N/2 is enough.
    Among tables with n carriers, those that are not significant are a = L_n..U_n, which whole
    numbers alone decide: with tau = P/Q and R = isqrt(P n (N-n) m1 m2 // (Q N)),
    U_n = floor((n m1 + R)/N) and L_n = ceil((n m1 - R)/N), kept inside the table.
    {s >= k} is {a > u} or {b > v} for k >= 1, and {a >= w} or {b >= x} for k <= 0. One more move
    lets a table reach the next columns m = n - r and n + r, so u, v, w and x follow from running
    extremes over the columns, one for each residue of m; no distance is ever computed:
        u = max of (2 U_m - m + n + e)/2     over columns that have a table which is not significant
        w = min of (2 (U_m + 1) - m + n - e)/2   over columns that have a significant one above
    and likewise v and x from the other group's side, with e = step r - min(o, 2 step - o) for
    o = (m - n - step r) mod 2 step, the units gained by r moves. Each T_n(k) is two tails.

Accuracy
    The tails are sums of positive terms, from the far end inwards; terms are left out once all that
    follow are below 1e-17 of the largest. Relative rounding stays below 1e-10.
    When alleles are counted (step 2) the two-interval form was found to hold for tau >= 1 and to
    fail for tiny tau, so smaller thresholds are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from noren.association.distance import refuse_unreachable
from noren.association.geometry import read_tau
from noren.association.statistic import Counts, Floats, group_size, read_step
from noren.errors import NotPrivate, ParameterError

BLOCK = 512  # numbers of carriers whose rows are held at a time
FEW_PEOPLE = 600  # up to here NumPy is quicker than loading a compiler
LARGEST = 10_000_000  # people; the time for a law grows as their number to the power 3/2
FAR = 2**60  # stands for "no column yet"


@dataclass(frozen=True, slots=True)
class Rows:
    """Some laws of the score: row i holds Pr[s >= k] for k = lowest, lowest + 1, ...

    To the left of the row the probability is 1, to the right 0.
    """

    first: int
    lowest: int
    tails: Floats


@dataclass(frozen=True, slots=True)
class Design:
    """The groups, the threshold and the step of a test; all of it public."""

    cases: int
    controls: int
    tau: Fraction
    step: int = 1

    @classmethod
    def read(cls, cases: int, controls: int, tau: object, step: int = 1) -> Design:
        """Check a design, and that its score has a law."""
        step = read_step(step)
        design = cls(
            group_size("cases", cases, step),
            group_size("controls", controls, step),
            read_tau(tau),
            step,
        )
        refuse_unreachable(design.tau, design.people, tau)
        if design.people > LARGEST:
            raise ParameterError(
                "the number of people", design.people, f"at most {LARGEST:,} for p-values",
                "Their law takes too long beyond that; use the mode 'agreement'.",
            )  # fmt: skip
        if step == 2 and design.tau < 1:
            raise NotPrivate(
                f"tau is {tau}, but p-values from counts of alleles are proved for a tau of at "
                "least 1 only. Choose a larger tau (best_tau never gives a smaller one)."
            )
        return design

    @property
    def people(self) -> int:
        """The number N of people (or alleles)."""
        return self.cases + self.controls


@dataclass(frozen=True, slots=True)
class Columns:
    """What each number of carriers m contributes to the running extremes."""

    above: Counts  # 2 U_m - m, or -FAR if no table of the column is not significant
    below: Counts  # m - 2 L_m, likewise
    over: Counts  # 2 (U_m + 1) - m, or FAR if no table lies above U_m
    under: Counts  # 2 (m - L_m + 1) - m, or FAR if no table lies below L_m


def bounds(design: Design) -> tuple[Counts, Counts]:
    """Give L_n and U_n, the tables that are not significant, for n = 0..N."""
    m1, m2, people = design.cases, design.controls, design.people
    numerator, denominator = design.tau.numerator * m1 * m2, design.tau.denominator * people
    low, high = np.empty(people + 1, np.int64), np.empty(people + 1, np.int64)
    for n in range(people // 2 + 1):
        root = isqrt(numerator * n * (people - n) // denominator)
        bottom, top = max(0, n - m2), min(n, m1)
        upper, lower = (n * m1 + root) // people, -((root - n * m1) // people)
        high[n] = top if n == 0 else max(bottom - 1, min(top, upper))
        low[n] = bottom if n == 0 else min(top + 1, max(bottom, lower))
    half = np.arange(people // 2 + 1)
    high[people - half], low[people - half] = m1 - low[half], m1 - high[half]
    return low, high


def columns_of(design: Design) -> Columns:
    """Prepare each column for the running extremes."""
    low, high = bounds(design)
    m = np.arange(design.people + 1)
    bottom, top = np.maximum(0, m - design.controls), np.minimum(m, design.cases)
    some = low <= high
    return Columns(
        np.where(some, 2 * high - m, -FAR),
        np.where(some, m - 2 * low, -FAR),
        np.where(high < top, 2 * (high + 1) - m, FAR),
        np.where(low > bottom, 2 * (m - low + 1) - m, FAR),
    )


@dataclass(slots=True)
class LawGivenCarriers:
    """Give T_n for n = 0..N/2 in blocks; blocks that fit `keep_bytes` are kept for the next time.

    Examples
    --------
    >>> rows = next(LawGivenCarriers(Design.read(20, 20, 3.84)).blocks())
    >>> rows.tails.shape[0]
    21
    """

    design: Design
    keep_bytes: int = 1 << 26
    kept: list[Rows] | None = field(default=None, repr=False)

    def blocks(self) -> Iterator[Rows]:
        """Yield the rows, from n = 0 upwards."""
        if self.kept is not None:
            yield from self.kept
            return
        kept: list[Rows] | None = []
        size, columns = 0, columns_of(self.design)
        work = Workspace()
        for start in range(0, self.design.people // 2 + 1, BLOCK):
            stop = min(start + BLOCK, self.design.people // 2 + 1)
            rows = block_of_rows(self.design, columns, start, stop, work)
            size += rows.tails.nbytes
            kept = None if kept is None or size > self.keep_bytes else [*kept, rows]
            yield rows
        self.kept = kept


@dataclass(slots=True)
class Workspace:
    """How many levels the last block needed, down and up from k = 1."""

    down: int = 60
    up: int = 60


def block_of_rows(design: Design, columns: Columns, start: int, stop: int, work: Workspace) -> Rows:
    """Give T_n for n = start..stop-1."""
    if design.people <= FEW_PEOPLE:
        return rows_with_numpy(design, columns, start, stop)
    from noren.association.score_law_kernel import fill_rows

    while True:
        tails = np.empty((stop - start, work.down + work.up))
        used_down, used_up = fill_rows(
            start, design.cases, design.controls, design.step, work.down,
            columns.above, columns.below, columns.over, columns.under, tails,
        )  # fmt: skip
        if used_down < work.down and used_up < work.up:
            used = tails[:, work.down - used_down : work.down + used_up]
            return Rows(start, 1 - used_down, np.ascontiguousarray(used))
        work.down += work.down if used_down >= work.down else 0
        work.up += work.up if used_up >= work.up else 0


def rows_with_numpy(design: Design, columns: Columns, start: int, stop: int) -> Rows:
    """Give the same rows by whole arrays, one number of moves after the other."""
    n = np.arange(start, stop)
    tails = HypergeometricTails(design, n)
    extremes = Extremes(design, columns, n)
    up, down, r = [], [], 0
    while True:
        extremes.widen(r)
        up.append(tails.either(extremes.u + 1, n - extremes.v - 1))
        down.append(tails.either(extremes.w, n - extremes.x))
        if (up[-1] == 0).all() and (down[-1] == 1).all():
            break
        r += 1
    levels = down[:0:-1] + up  # k = 1 - r, ..., 0, then 1, ..., r + 1
    return Rows(start, 1 - r, np.stack(levels, axis=1))


class HypergeometricTails:
    """Both tails of the carriers among the cases, for each of some numbers of carriers."""

    def __init__(self, design: Design, n: Counts) -> None:
        from scipy.special import gammaln

        m1, m2 = design.cases, design.controls
        a = np.arange(m1 + 1)
        b = n[:, None] - a
        inside = (b >= 0) & (b <= m2)
        b = np.where(inside, b, 0)
        log = -(gammaln(a + 1) + gammaln(m1 - a + 1) + gammaln(b + 1) + gammaln(m2 - b + 1))
        mass = np.where(
            inside, np.exp(log - log.max(axis=1, where=inside, initial=-np.inf)[:, None]), 0
        )
        mass /= mass.sum(axis=1, keepdims=True)
        nothing = np.zeros((len(n), 1))
        self.lower = np.hstack([nothing, np.cumsum(mass, axis=1)])  # Pr[A < j]
        self.upper = np.hstack([np.cumsum(mass[:, ::-1], axis=1)[:, ::-1], nothing])  # Pr[A >= j]

    def either(self, least: Counts, most: Counts) -> Floats:
        """Give Pr[A >= least or A <= most]; 1 where that is everything."""
        m1 = self.lower.shape[1] - 2
        rows = np.arange(len(self.lower))
        sums = self.upper[rows, np.clip(least, 0, m1 + 1)]
        sums = sums + self.lower[rows, np.clip(most + 1, 0, m1 + 1)]
        return np.where(most + 1 >= least, 1.0, np.minimum(sums, 1.0))


class Extremes:
    """The thresholds u, v, w, x of some numbers of carriers, after r moves."""

    def __init__(self, design: Design, columns: Columns, n: Counts) -> None:
        self.n, self.step, self.people, self.columns = n, design.step, design.people, columns
        shape = (2 * design.step, len(n))
        self.best: dict[str, Any] = {
            "above": np.full(shape, -FAR),
            "below": np.full(shape, -FAR),
            "over": np.full(shape, FAR),
            "under": np.full(shape, FAR),
        }
        self.u = self.v = np.full(len(n), -FAR)
        self.w = self.x = np.full(len(n), FAR)

    def widen(self, r: int) -> None:
        """Let r moves reach the next columns, and move the thresholds."""
        for units in range(max(0, self.step * (r - 1) + 1), self.step * r + 1):
            for m in {units, -units}:
                self.see(self.n + m)
        rows = np.arange(len(self.n))
        for offset in range(2 * self.step):
            gained = self.step * r - min(offset, 2 * self.step - offset)
            residue = (self.n + self.step * r + offset) % (2 * self.step)
            best = {name: array[residue, rows] for name, array in self.best.items()}
            self.u = np.maximum(self.u, (best["above"] + self.n + gained) // 2)
            self.v = np.maximum(self.v, (best["below"] + self.n + gained) // 2)
            self.w = np.minimum(self.w, (best["over"] + self.n - gained) // 2)
            self.x = np.minimum(self.x, (best["under"] + self.n - gained) // 2)

    def see(self, m: Counts) -> None:
        """Take one column for each row into the running extremes."""
        there = (m >= 0) & (m <= self.people)
        rows, m = np.flatnonzero(there), m[there]
        residue = m % (2 * self.step)
        for name, best in self.best.items():
            better = np.maximum if name in ("above", "below") else np.minimum
            best[residue, rows] = better(best[residue, rows], getattr(self.columns, name)[m])
