"""Tables of a study in which nobody may learn who is a case, not even how many cases there are.

    one variant          case      control      sum
        carries it       a         b            n
        does not         m - a     ...          N - n
        sum              m         N - m        N

N is public; a, b and m are secret. m may be anything from 0 to N: no size of a group is refused,
because a refusal would tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noren.association.statistic import LARGEST_COUNT, Counts, Tables, read_counts
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.privacy.numbers import whole


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StatusTables:
    """Hold one table for each variant (or a single one), the groups' sizes being secret.

    Parameters
    ----------
    a, b
        Carriers among the cases and among the controls.
    cases, controls
        The sizes of the groups, either of which may be 0: secret; only their sum is public.
    sites
        The public list of variants that the tables belong to.

    Examples
    --------
    >>> StatusTables([130, 3], [95, 0], cases=180, controls=220)
    StatusTables(2 variants, 400 people)
    """

    a: Counts
    b: Counts
    cases: int
    controls: int
    sites: Sites | None = None

    def __init__(
        self, a: Any, b: Any, cases: int, controls: int, sites: Sites | None = None
    ) -> None:
        put = object.__setattr__
        for name, size in (("cases", cases), ("controls", controls)):
            put(self, name, read_secret_size(name, size))
        if not 2 <= self.people < LARGEST_COUNT:
            raise ParameterError("the number of people", "out of range", "at least 2")
        put(self, "a", read_counts("a", a, self.cases, "cases"))
        put(self, "b", read_counts("b", b, self.controls, "controls"))
        put(self, "sites", sites)
        if self.a.shape != self.b.shape or self.a.ndim > 1:
            raise ParameterError("the shape of a and b", "not one", "the same")
        if sites is not None and self.a.shape != (len(sites),):
            raise ParameterError("sites", f"a list of {len(sites)} variants", "as long as a and b")

    @classmethod
    def of(cls, tables: Tables) -> StatusTables:
        """Take tables whose groups' sizes shall be secret from now on."""
        return cls(tables.a, tables.b, tables.cases, tables.controls, tables.sites)

    @property
    def people(self) -> int:
        """The public number of people."""
        return self.cases + self.controls

    def __len__(self) -> int:
        return int(self.a.size)

    def __repr__(self) -> str:
        many = f"{len(self)} variant{'' if len(self) == 1 else 's'}"
        return f"StatusTables({many}, {self.people} people)"

    def __add__(self, other: StatusTables) -> StatusTables:
        """Merge tables of other people at the same variants."""
        if not isinstance(other, StatusTables):
            return NotImplemented
        if self.a.shape != other.a.shape or self.sites != other.sites:
            raise ParameterError(
                "what is added", "a set of tables at other variants",
                "tables of other people at the same variants",
            )  # fmt: skip
        cases, controls = self.cases + other.cases, self.controls + other.controls
        return StatusTables(self.a + other.a, self.b + other.b, cases, controls, self.sites)

    def select(self, which: Any) -> StatusTables:
        """Keep some variants: a slice, a list of places or a mask, chosen in public."""
        kept = None if self.sites is None else self.sites.select(which)
        return StatusTables(self.a[which], self.b[which], self.cases, self.controls, kept)


def read_secret_size(name: str, given: Any) -> int:
    """Read the size of a group; an error does not repeat it."""
    try:
        return whole(name, given, 0)
    except ParameterError:
        accepted = "a whole number, at least 0"
        raise ParameterError(name, "not such a number", accepted) from None
