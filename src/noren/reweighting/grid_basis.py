"""Basis functions in whole steps, so that sums are exact and one row moves them by a known amount.

Maths
    phi_l(x) is rounded down to a multiple of 2**-20: q_l = floor(2**20 phi_l(x)). Rows are added
    up as integers, in any order, in any blocks, on any number of machines.

Privacy (bit for bit)
    The proof needs q to be a function of the row alone. A plain matrix product is not: its last
    bits depend on where in a block the row stands, and removing a row moves all others. So rows
    and centres are first rounded to multiples of 2**-16 and rows clamped so that |x| |c| < 2**20
    for every centre c: then each product, and each partial sum in any order, is a multiple of
    2**-32 below 2**20, which a double holds exactly. The rest is done element by element, or is a
    sum along one row. In single precision the same holds with 2**-8, 2**7 and 2**-16.
    Missing coordinates (NaN) become 0 and infinite ones are clamped: no cell raises an error.
    q >= 0, and the q of one row add up to at most 2**20: in double precision as rounding errors
    are far below one step, in single precision because an excess is taken from the largest.
    All partitions of one release must be counted by the same build.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.mechanisms.additive import IntegerNoise
from noren.privacy import ADD_REMOVE, Adjacency
from noren.question import Mechanism
from noren.reweighting.basis import nonzero_centres, read_width
from noren.reweighting.reading import Reading, read_sums
from noren.reweighting.rows import Floats, Integers, frozen, matrix, public_matrix

UNIT_BITS = 20
UNIT = 1 << UNIT_BITS
CELLS = 1 << 17  # of a block's basis values: they stay in a processor's cache


@dataclass(frozen=True, slots=True)
class Precision:
    """What one float type holds exactly: the places of a coordinate, and the reach of |x| |c|."""

    dtype: Any
    places: int
    reach: int


PRECISIONS = {"float64": Precision(np.float64, 16, 20), "float32": Precision(np.float32, 8, 7)}


class Basis(Protocol):
    """A public basis whose values are whole steps of 1 / unit."""

    unit: int
    row_total: int | None

    @property
    def size(self) -> int:
        """How many functions there are."""

    @property
    def identity(self) -> str:
        """The SHA-256 of what defines the functions."""

    def steps(self, rows: ArrayLike) -> Integers:
        """Evaluate every function at some rows, in steps."""

    def worst(self, adjacency: Adjacency) -> tuple[int, ...]:
        """Give the worst change of the sums between neighbours, in steps."""

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the basis in a question's identity."""


class Summed:
    """What bases share whose values are never negative and add up to the same in every row."""

    __slots__ = ()

    def law(
        self: Any, adjacency: Adjacency, epsilon: Fraction | None, rho: Fraction | None
    ) -> IntegerNoise:
        """Give the noise for a price."""
        return IntegerNoise(adjacency, self.worst(adjacency), epsilon, rho)

    def mechanisms(self: Any, law: IntegerNoise) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in steps."""
        return (law.mechanism(self.size),)

    def exact(self, statistic: Any, adjacency: Adjacency) -> Integers:
        """Give what the noise is added to."""
        return statistic.steps  # type: ignore[no-any-return]

    def read(self, steps: Integers, records: int | None, law: IntegerNoise) -> Reading:
        """Read the noisy means and their error off a release."""
        return read_sums(self, steps, records, law)

    def released_size(self: Any, adjacency: Adjacency) -> int:
        """How many numbers a release holds."""
        return int(self.size)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalizedBasis(Summed):
    """Gaussian bumps divided by their sum, in steps of 2**-20.

    Parameters
    ----------
    centres : array
        Public centres, one a row; they are rounded to the places of the precision.
    width : number
        The public width of every bump.
    precision : str
        "float64", or "float32" for twice the speed where coordinates are small.

    Examples
    --------
    >>> basis = NormalizedBasis([0.0, 1.0], 1)
    >>> basis.steps([0.0, 50.0]).tolist()
    [[652695, 395880], [0, 1048576]]
    """

    kind: ClassVar[str] = "normalized"
    unit: ClassVar[int] = UNIT
    row_total: ClassVar[int | None] = 1

    centres: Floats
    width: float
    precision: str = "float64"

    def __init__(self, centres: ArrayLike, width: Any, precision: str = "float64") -> None:
        if precision not in PRECISIONS:
            raise ParameterError("precision", precision, "'float64' or 'float32'")
        put = object.__setattr__
        put(self, "precision", precision)
        put(self, "width", read_width("width", width))
        step = 2.0 ** PRECISIONS[precision].places
        put(self, "centres", frozen(np.rint(public_matrix("centres", centres) * step) / step))
        nonzero_centres(self.centres)
        if self.limit < np.abs(self.centres).max():
            raise ParameterError(
                "centres",
                "too far from 0",
                f"within the range that {precision} holds exactly",
                "Use columns scaled to about [-1, 1], or double precision.",
            )

    @property
    def size(self) -> int:
        """How many functions there are."""
        return len(self.centres)

    @property
    def dimension(self) -> int:
        """How many coordinates a row has."""
        return int(self.centres.shape[1])

    @property
    def limit(self) -> float:
        """Where coordinates are clamped: a power of two with |x| |c| below the exact range."""
        longest = max(1.0, float(np.sqrt((self.centres**2).sum(axis=1)).max()))
        room = 2.0 ** PRECISIONS[self.precision].reach / (math.sqrt(self.dimension) * longest)
        return 2.0 ** (math.ceil(math.log2(room)) - 1)

    @property
    def identity(self) -> str:
        """The SHA-256 of centres, width and precision."""
        content = hashlib.sha256(self.centres.tobytes())
        content.update(f"{self.centres.shape} {self.width!r} {self.precision}".encode())
        return content.hexdigest()

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the basis in a question's identity."""
        return {"basis": self.kind, "size": self.size, "sha256": self.identity}

    def worst(self, adjacency: Adjacency) -> tuple[int, ...]:
        """Give the worst change of the sums: one row's steps, or those of two rows."""
        if adjacency.relation is ADD_REMOVE:
            return (UNIT * adjacency.max_records,)
        return (UNIT, UNIT)

    def rounded(self, rows: ArrayLike) -> Any:
        """Clamp rows and move them to the places that are exact."""
        exact = PRECISIONS[self.precision]
        given = matrix("rows", rows, self.dimension)
        given[np.isnan(given)] = 0.0
        np.clip(given, -self.limit, self.limit, out=given)
        np.multiply(given, 2.0**exact.places, out=given)
        np.rint(given, out=given)
        return np.ascontiguousarray(given * 2.0**-exact.places, exact.dtype)

    def blocks(self, rows: ArrayLike) -> Iterator[Any]:
        """Yield the steps of a few rows at a time, as floats without fraction or int32."""
        exact = PRECISIONS[self.precision]
        given = matrix("rows", rows, self.dimension) if not is_rows(rows) else np.asarray(rows)
        centres = self.centres.astype(exact.dtype)
        turned = np.ascontiguousarray(centres.T)
        half = (centres * centres).sum(axis=1) / exact.dtype(2)
        sharp = exact.dtype(1 / self.width**2)
        stride = max(1, CELLS // self.size)
        for start in range(0, len(given), stride):
            steps = self.rounded(given[start : start + stride]) @ turned
            steps -= half
            steps -= steps.max(axis=1, keepdims=True)
            steps *= sharp
            np.exp(steps, out=steps)
            steps *= exact.dtype(UNIT) / steps.sum(axis=1, keepdims=True)
            np.floor(steps, out=steps)
            yield steps if self.precision == "float64" else capped(steps)

    def steps(self, rows: ArrayLike) -> Integers:
        """Evaluate every function at some rows, in steps."""
        parts = [part.astype(np.int64) for part in self.blocks(rows)]
        return np.concatenate(parts) if parts else np.zeros((0, self.size), np.int64)

    def total(self, rows: ArrayLike) -> Integers:
        """Add the steps of all rows, holding few of them at a time."""
        found = np.zeros(self.size, np.int64)
        for part in self.blocks(rows):  # a block's sums are whole and below 2**53: exact as floats
            found += part.sum(axis=0, dtype=np.float64).astype(np.int64)
        return found

    def __repr__(self) -> str:
        return f"NormalizedBasis({self.size} centres in {self.dimension} dimensions)"


def is_rows(rows: Any) -> bool:
    """Tell whether this is a matrix already, which can be cut before it is converted."""
    return isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "biuf"


def capped(steps: Any) -> Any:
    """Take from the largest entry of a row what its steps exceed 2**20 by."""
    whole = steps.astype(np.int32)
    excess = whole.sum(axis=1) - UNIT
    over = np.flatnonzero(excess > 0)
    whole[over, whole[over].argmax(axis=1)] -= excess[over]
    return whole


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LevelBasis(Summed):
    """Indicators of the levels of some categorical columns: tables of counts, for raking.

    Rows are codes, one column for each categorical one; a code outside 0..levels-1 counts as the
    last level.

    Parameters
    ----------
    levels : tuple of int
        How many levels each column has.
    """

    kind: ClassVar[str] = "levels"
    unit: ClassVar[int] = 1

    levels: tuple[int, ...]

    def __init__(self, levels: tuple[int, ...]) -> None:
        if not levels or min(levels) < 1:
            raise ParameterError("levels", levels, "the number of levels of each column, from 1")
        object.__setattr__(self, "levels", tuple(int(level) for level in levels))

    @property
    def row_total(self) -> int:
        """How many ones a row has."""
        return len(self.levels)

    @property
    def size(self) -> int:
        """How many indicators there are."""
        return sum(self.levels)

    @property
    def identity(self) -> str:
        """The SHA-256 of the numbers of levels."""
        return hashlib.sha256(repr(self.levels).encode()).hexdigest()

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the basis in a question's identity."""
        return {"basis": self.kind, "levels": list(self.levels)}

    def worst(self, adjacency: Adjacency) -> tuple[int, ...]:
        """Give the worst change: one count of each table, or two where a row is replaced."""
        if adjacency.relation is ADD_REMOVE:
            return (adjacency.max_records,) * len(self.levels)
        return tuple(1 for count in self.levels for _ in range(min(2, count)))

    def codes(self, rows: ArrayLike) -> Integers:
        """Give each row's place among all indicators, one for each column."""
        given = matrix("rows", rows, len(self.levels))
        last = np.array(self.levels) - 1
        places = np.where((given >= 0) & (given <= last), given, last).astype(np.int64)
        found: Integers = places + np.concatenate([[0], np.cumsum(self.levels)[:-1]])
        return found

    def steps(self, rows: ArrayLike) -> Integers:
        """Evaluate every indicator at some rows."""
        places = self.codes(rows)
        found = np.zeros((len(places), self.size), np.int64)
        np.put_along_axis(found, places, 1, axis=1)
        return found

    def total(self, rows: ArrayLike) -> Integers:
        """Count every level."""
        return np.bincount(self.codes(rows).ravel(), minlength=self.size).astype(np.int64)

    def __repr__(self) -> str:
        return f"LevelBasis({len(self.levels)} columns, {self.size} levels)"


def values(basis: Any, rows: ArrayLike) -> Floats:
    """Evaluate a basis at public rows, rounded as the private rows are."""
    found: Floats = basis.steps(rows) / basis.unit
    return found
