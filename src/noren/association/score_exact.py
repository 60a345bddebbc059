"""The score of the adjusted test in whole numbers of any length: the oracle, and for near ties.

Maths
    For a genotype vector g (0/1; doses 0/1/2 where they are added up), in the numbers of a public
    null model:
        U = r'g,  V = w'(g^2) - z' Kc z clipped to [0, cap],  significant iff U^2 > tau (V + v0)
        q = max_i w_i |1 - 2 h_i| + theta2          (doses: max |1-2h|, |3-2h|, 4|1-h|, + 4 theta2)
        G+(t), G-(t) = the t largest gains of U, of -U, by changing one genotype each
    After t changes V lies within V -+ (t q + theta2 t (t-1)) (doses: 4 theta2), so
        inside   C(t): X = max(U + G+(t), -U + G-(t)) > 0, X^2 >= tau (max(0, V - ...) + v0)
        outside  C(t): |U| - G(t) <= 0, or its square <= tau (min(cap, V + ...) + v0)
    where G takes U towards 0, is implied by "the opposite decision is t changes away". The distance
    d is the least t >= 1 with C(t), or N if none is; the score is d if significant, 1 - d if not.
    Everything is compared in units of 2^-(60 + shift), exactly; a tie in C holds, in the decision
    it is not significant.

Privacy
    Proof that one person changes the score by at most 1: docs/proofs/association/score_test.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.null_model import BITS, NullModel
from noren.association.statistic import Counts

SPARE_BITS = 10  # the cap is Omega/4 (1 + 2^-10): above every V, whatever was rounded
NEAR = 1e-9  # of the largest change, within which candidates are compared exactly


@dataclass(frozen=True, slots=True)
class Rule:
    """The public side of a comparison: tau, floor and cap in the units of the exact numbers."""

    model: NullModel
    tau: Fraction
    floor: Fraction
    additive: bool = False

    @property
    def unit_bits(self) -> int:
        """How many bits follow the point."""
        return 2 * BITS + self.model.shift

    @property
    def cap(self) -> int:
        """The public cap of V: Omega/4 (doses: Omega), and a little more."""
        bits = BITS + self.model.shift - SPARE_BITS - (0 if self.additive else 2)
        return self.model.omega * ((1 << SPARE_BITS) + 1) << bits

    @property
    def drift(self) -> int:
        """Half of what one change adds to q at most."""
        return self.model.theta2 * (4 if self.additive else 1)

    def compare(self, root: int, variance: int) -> int:
        """Give the sign of root^2 - tau (variance + floor), root in units of 2^-30."""
        floor = self.floor * (1 << self.unit_bits)
        left = (root * root << self.model.shift) * self.tau.denominator * floor.denominator
        right = self.tau.numerator * (variance * floor.denominator + floor.numerator)
        return (left > right) - (left < right)


@dataclass(frozen=True, slots=True)
class Sums:
    """What the sums of one variant say: U in units of 2^-30, V (clipped) and q in exact units."""

    u: int
    variance: int
    q: int


def exact_score(model: NullModel, genotypes: Counts, rule: Rule) -> int:
    """Give the score of one genotype vector, from nothing but whole numbers.

    Examples
    --------
    >>> model = NullModel.fit([[1]] * 8, [1, 1, 1, 1, 0, 0, 0, 0], "linear")
    >>> rule = Rule(model, Fraction(3), Fraction(1, 100))
    >>> exact_score(model, np.array([1, 1, 1, 1, 0, 0, 0, 0]), rule)
    2
    """
    sums = exact_sums(genotypes, rule)
    plus, minus = (gains(model, genotypes, rule.additive, sign) for sign in (1, -1))
    if rule.compare(sums.u, sums.variance) > 0:
        return from_outside(sums, minus if sums.u > 0 else plus, rule)
    return 1 - from_inside(sums, plus, minus, rule)


def exact_sums(genotypes: Counts, rule: Rule) -> Sums:
    """Add up one variant."""
    model, g = rule.model, genotypes.astype(np.int64)
    return sums_of(int(g @ model.residuals), int((g * g) @ model.weights), g @ model.vectors, rule)


def sums_of(u: int, weight: int, z: Any, rule: Rule) -> Sums:
    """Give V and q from U, w'(g^2) and z."""
    total = [int(entry) for entry in z]
    up = BITS + rule.model.shift
    variance = min(rule.cap, max(0, (weight << up) - rule.model.form(total, total)))
    return Sums(u, variance, largest_change(total, rule))


def largest_change(z: list[int], rule: Rule) -> int:
    """Give q: exactly, over everybody whom doubles cannot rule out."""
    model, up = rule.model, BITS + rule.model.shift
    y = [sum(k * b for k, b in zip(row, z, strict=True)) for row in model.matrix.tolist()]
    near_y = np.array([float(entry) for entry in y])
    wide = model.distinct[:, 1:].astype(np.float64)
    weights = np.ldexp(model.distinct[:, 0].astype(np.float64), up)
    near = change(weights, wide @ near_y, rule.additive)
    doubt = NEAR * float((4 * weights + 4 * np.abs(wide) @ np.abs(near_y)).max())
    rows = model.distinct[near >= near.max() - doubt]
    found = 0
    for weight, *row in rows.tolist():
        fitted = sum(a * b for a, b in zip(row, y, strict=True))
        found = max(found, int(change(weight << up, fitted, rule.additive)))
    return found + rule.drift


def change(weight: Any, fitted: Any, additive: bool) -> Any:
    """Give w_i |1 - 2 h_i|, or its likes for doses, from w_i and w_i h_i."""
    one = abs(weight - 2 * fitted)
    if not additive:
        return one
    three, four = abs(3 * weight - 2 * fitted), 4 * abs(weight - fitted)
    return np.maximum(np.maximum(one, three), four) if np.ndim(one) else max(one, three, four)


def gains(model: NullModel, genotypes: Counts, additive: bool, sign: int) -> Iterator[int]:
    """Yield what U (or -U) may gain by one person after the other, the most first."""
    towards = sign * model.residuals > 0
    room = np.where(towards, (2 if additive else 1) - genotypes, genotypes)
    by_person = room * np.abs(model.residuals)
    order = np.argsort(-by_person, kind="stable") if additive else model.order
    return (gain for gain in by_person[order].tolist() if gain)


def from_inside(sums: Sums, plus: Iterator[int], minus: Iterator[int], rule: Rule) -> int:
    """Give the least t at which significance may be reached."""
    up, down = sums.u, -sums.u
    for t in range(1, rule.model.people):
        up, down = up + next(plus, 0), down + next(minus, 0)
        lost = t * sums.q + rule.drift * t * (t - 1)
        if (root := max(up, down)) > 0 and rule.compare(root, max(0, sums.variance - lost)) >= 0:
            return t
    return rule.model.people


def from_outside(sums: Sums, towards: Iterator[int], rule: Rule) -> int:
    """Give the least t at which significance may be lost."""
    left = abs(sums.u)
    for t in range(1, rule.model.people):
        left -= next(towards, 0)
        won = t * sums.q + rule.drift * t * (t - 1)
        if left <= 0 or rule.compare(left, min(rule.cap, sums.variance + won)) <= 0:
            return t
    return rule.model.people
