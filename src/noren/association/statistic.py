"""Tables: how many cases and how many controls carry each variant.

    one variant          case      control    sum
        carries it       a         b          n1 = a + b
        does not         cases - a            N - n1
        sum              cases     controls   N

The sizes of the groups are public, the counts a and b are secret. Tables of different people at
the same variants are added; tables of the same people at different variants are put side by side
(`concatenate`). With `step=2` the columns count alleles instead of people: a person brings two,
so the sums are twice the numbers of people and one person moves a count by up to two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.privacy.numbers import whole

Counts: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

LARGEST_COUNT = 2**62


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tables:
    """Hold one table for each variant (or a single table, from whole numbers).

    Parameters
    ----------
    a, b
        Carriers among the cases and among the controls: whole numbers or arrays of them.
    cases, controls
        The public sizes of the groups (of alleles, with `step=2`).
    step
        How far one person moves a count: 1 if people are counted, 2 if alleles are.
    sites
        The public list of variants that the tables belong to.

    Examples
    --------
    >>> tables = Tables([130, 3], [95, 0], cases=200, controls=200)
    >>> tables
    Tables(2 variants, 200 cases, 200 controls)
    >>> (tables + tables).cases
    400
    """

    a: Counts
    b: Counts
    cases: int
    controls: int
    step: int = 1
    sites: Sites | None = None

    def __init__(
        self,
        a: Any,
        b: Any,
        cases: int,
        controls: int,
        step: int = 1,
        sites: Sites | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "step", read_step(step))
        put(self, "cases", group_size("cases", cases, self.step))
        put(self, "controls", group_size("controls", controls, self.step))
        put(self, "a", read_counts("a", a, self.cases, "cases"))
        put(self, "b", read_counts("b", b, self.controls, "controls"))
        put(self, "sites", sites)
        if self.a.shape != self.b.shape or self.a.ndim > 1:
            raise ParameterError(
                "the shape of a and b",
                "not one",
                "the same: two numbers, or two lists with one number for each variant",
            )
        if sites is not None and self.a.shape != (len(sites),):
            raise ParameterError("sites", f"a list of {len(sites)} variants", "as long as a and b")

    @property
    def people(self) -> int:
        """The number N of people (of alleles, with `step=2`)."""
        return self.cases + self.controls

    def __len__(self) -> int:
        return int(self.a.size)

    def __repr__(self) -> str:
        counted = "alleles of " if self.step == 2 else ""
        many = f"{len(self)} variant{'' if len(self) == 1 else 's'}"
        return f"Tables({many}, {self.cases} {counted}cases, {self.controls} {counted}controls)"

    def __add__(self, other: Tables) -> Tables:
        """Merge tables of other people at the same variants."""
        if not isinstance(other, Tables):
            return NotImplemented
        if self.a.shape != other.a.shape or self.step != other.step or self.sites != other.sites:
            raise ParameterError(
                "what is added",
                "a set of tables at other variants, or counted otherwise",
                "tables of other people at the same variants",
                "Use concatenate() for the same people at further variants.",
            )
        cases, controls = self.cases + other.cases, self.controls + other.controls
        a, b = self.a + other.a, self.b + other.b
        return Tables(a, b, cases, controls, self.step, self.sites)

    def select(self, which: Any) -> Tables:
        """Keep some variants: a slice, a list of places or a mask, chosen in public."""
        kept = None if self.sites is None else self.sites.select(which)
        return Tables(self.a[which], self.b[which], self.cases, self.controls, self.step, kept)


def concatenate(parts: Sequence[Tables]) -> Tables:
    """Put tables of the same people at different variants side by side.

    Examples
    --------
    >>> concatenate([Tables([1], [2], 5, 5), Tables([3, 4], [0, 0], 5, 5)])
    Tables(3 variants, 5 cases, 5 controls)
    """
    if not parts:
        raise ParameterError("parts", "empty", "at least one set of tables")
    groups = {(part.cases, part.controls, part.step) for part in parts}
    listed = [part.sites for part in parts if part.sites is not None]
    if len(groups) > 1 or len(listed) not in (0, len(parts)):
        raise ParameterError(
            "parts",
            "tables of different groups, or only some with a list of variants",
            "tables of the same people",
            "Use + for tables of other people at the same variants.",
        )
    a = np.concatenate([np.atleast_1d(part.a) for part in parts])
    b = np.concatenate([np.atleast_1d(part.b) for part in parts])
    sites = Sites.concatenate(listed) if listed else None
    return Tables(a, b, parts[0].cases, parts[0].controls, parts[0].step, sites)


def plain(values: Any) -> Any:
    """Give what a single table yields as a plain number, and arrays as they are."""
    return values.item() if np.ndim(values) == 0 else values


def read_step(step: object) -> int:
    """Refuse a step other than 1 (people) and 2 (alleles)."""
    if isinstance(step, bool) or step not in (1, 2):
        raise ParameterError(
            "step", step, "1 or 2", "One person moves a count of people by 1, of alleles by 2."
        )
    return whole("step", step)


def group_size(name: str, size: object, step: int = 1) -> int:
    """Read the public size of a group."""
    number = whole(name, size)
    if number < 1 or number >= LARGEST_COUNT:
        raise ParameterError(
            name,
            size,
            "a whole number, at least 1",
            "Both groups need somebody; check the phenotypes and which people are kept.",
        )
    if number % step:
        raise ParameterError(name, size, "even when alleles are counted: two for each person")
    return number


def read_counts(name: str, given: Any, size: int, group: str) -> Counts:
    """Read secret counts; an error quotes none of them, nor which one is wrong."""
    accepted = f"whole numbers from 0 to the number of {group}"
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError):
        array = np.asarray(None)
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():  # NaN is unequal too
        raise ParameterError(name, "not made of whole numbers", accepted)
    if array.dtype.kind not in "iuf":
        raise ParameterError(name, "not made of numbers", accepted)
    if array.size and not ((array >= 0).all() and (array <= size).all()):
        raise ParameterError(name, "outside its range", accepted, f"Check who the {group} are.")
    counts = array.astype(np.int64)
    counts.flags.writeable = False
    return counts
