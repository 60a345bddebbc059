"""Stratified tables: how many cases and how many controls of each stratum carry each variant.

A stratum is a public group of people (a site, a batch, a sex, a self-reported ancestry, a band of
ages). Stratum k has m1 cases and m2 controls, which is public; a of these cases and b of these
controls carry the variant, which is secret. Tables of other people in the same strata are added;
tables of the same people at other variants are put side by side (`StratifiedTables.concatenate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.association.statistic import LARGEST_COUNT, Counts, Tables
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.privacy.numbers import whole

ACCEPTED = "whole numbers from 0 to the size of the group in the stratum"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StratifiedTables:
    """Hold the tables of every stratum, for each variant (or for a single one).

    Parameters
    ----------
    a, b
        Carriers among the cases and among the controls: one row for each stratum with one number
        for each variant, or one number for each stratum (a single variant).
    cases, controls
        The public sizes of the groups in each stratum.
    sites
        The public list of variants that the tables belong to.

    Examples
    --------
    >>> tables = StratifiedTables([[4, 7], [1, 5]], [[2, 2], [3, 1]], (8, 6), (8, 10))
    >>> tables
    StratifiedTables(2 variants, 2 strata, 14 cases, 18 controls)
    >>> tables.pooled
    Tables(2 variants, 14 cases, 18 controls)
    """

    a: Counts
    b: Counts
    cases: tuple[int, ...]
    controls: tuple[int, ...]
    sites: Sites | None = None

    def __init__(
        self, a: Any, b: Any, cases: Any, controls: Any, sites: Sites | None = None
    ) -> None:
        put = object.__setattr__
        sizes = read_sizes(cases, controls)
        put(self, "cases", sizes[0])
        put(self, "controls", sizes[1])
        put(self, "a", read_counts("a", a, sizes[0]))
        put(self, "b", read_counts("b", b, sizes[1]))
        put(self, "sites", sites)
        if self.a.shape != self.b.shape:
            raise ParameterError("the shape of a and b", "not one", "the same")
        if sites is not None and self.a.shape[1:] != (len(sites),):
            raise ParameterError("sites", f"a list of {len(sites)} variants", "as long as a and b")

    @property
    def strata(self) -> int:
        """The number K of strata."""
        return len(self.cases)

    @property
    def people(self) -> int:
        """The number of people in all strata."""
        return sum(self.cases) + sum(self.controls)

    @property
    def pooled(self) -> Tables:
        """The tables of all people together, as if there were no strata."""
        a, b = self.a.sum(axis=0), self.b.sum(axis=0)
        return Tables(a, b, sum(self.cases), sum(self.controls), sites=self.sites)

    def __len__(self) -> int:
        return int(self.a[0].size)

    def __repr__(self) -> str:
        many = f"{len(self)} variant{'' if len(self) == 1 else 's'}"
        groups = f"{sum(self.cases)} cases, {sum(self.controls)} controls"
        return f"StratifiedTables({many}, {self.strata} strata, {groups})"

    def __add__(self, other: StratifiedTables) -> StratifiedTables:
        """Merge tables of other people in the same strata, at the same variants."""
        if not isinstance(other, StratifiedTables):
            return NotImplemented
        if self.a.shape != other.a.shape or self.sites != other.sites:
            raise ParameterError(
                "what is added", "a set of tables at other variants, or of other strata",
                "tables of other people in the same strata, at the same variants",
            )  # fmt: skip
        cases = [one + more for one, more in zip(self.cases, other.cases, strict=True)]
        controls = [one + more for one, more in zip(self.controls, other.controls, strict=True)]
        return StratifiedTables(self.a + other.a, self.b + other.b, cases, controls, self.sites)

    def select(self, which: Any) -> StratifiedTables:
        """Keep some variants: a slice, a list of places or a mask, chosen in public."""
        kept = None if self.sites is None else self.sites.select(which)
        a, b = self.a[:, which], self.b[:, which]
        return StratifiedTables(a, b, self.cases, self.controls, kept)


def read_sizes(cases: Any, controls: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read the public sizes of the groups in each stratum; one of a stratum's may be empty."""
    both = []
    for name, given in (("cases", cases), ("controls", controls)):
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise ParameterError(name, given, "a list with one whole number for each stratum")
        both.append(tuple(whole(name, size, 0) for size in given))
    if len(both[0]) != len(both[1]) or not both[0]:
        raise ParameterError(
            "cases and controls", f"of {len(both[0])} and {len(both[1])} strata",
            "of the same strata, at least one",
        )  # fmt: skip
    if sum(both[0]) + sum(both[1]) >= LARGEST_COUNT:
        raise ParameterError("cases", "too large", f"below {LARGEST_COUNT} people in all")
    if not any(m1 and m2 for m1, m2 in zip(*both, strict=True)):
        raise ParameterError(
            "cases and controls", "apart in every stratum",
            "such that at least one stratum has both", "Merge strata by their public sizes.",
        )  # fmt: skip
    return both[0], both[1]


def read_counts(name: str, given: Any, sizes: tuple[int, ...]) -> Counts:
    """Read secret counts; an error quotes none of them, nor which one is wrong."""
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError):
        array = np.asarray(None)
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():  # NaN is unequal too
        raise ParameterError(name, "not made of whole numbers", ACCEPTED)
    if array.dtype.kind not in "iuf":
        raise ParameterError(name, "not made of numbers", ACCEPTED)
    if array.ndim not in (1, 2) or len(array) != len(sizes):
        raise ParameterError(
            name, "not one row for each stratum", f"{len(sizes)} rows, one for each stratum"
        )
    limits = np.array(sizes, dtype=np.int64).reshape(-1, *[1] * (array.ndim - 1))
    if array.size and not ((array >= 0).all() and (array <= limits).all()):
        raise ParameterError(name, "outside its range", ACCEPTED)
    counts = array.astype(np.int64)
    counts.flags.writeable = False
    return counts
