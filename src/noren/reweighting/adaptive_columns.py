"""The columns among which an adaptive question looks: scaled ones, and projections.

Maths
    Offered: every column, numbers scaled to the public mean 0 and sd 1; and the projections
    (x - m)'a on the directions found, clipped to [-4, 4]. Pairs of numbers whose public correlation
    exceeds 0.98 in size are not offered.

    Directions: with dF the noisy difference of raw moments (means of coordinates, squares and
    products), dm its first d entries and M its second-order ones as a symmetric matrix, m and C the
    public mean and covariance, V = C^-1/2,
        dC = M - dm m' - m dm' - dm dm'
        a = V u for u = V dm / |V dm|, and for the three eigenvectors u of V dC V of the largest
        |eigenvalue|: along the shift of the mean, and where the covariance differs most.

Privacy
    Directions are computed from a release. The columns of a row are functions of that row alone,
    bit for bit: element by element, one coordinate after the other, and rounded to 2^-16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from noren.reweighting.coded_columns import Cells, CodedColumn, numeric_values
from noren.reweighting.rows import Floats, matrix
from noren.reweighting.whitening import Whitening, row_products

PLACES = 2.0**16
FARTHEST = 4.0
WIDEST = 2.0**10
ALIKE = 0.98
TURNS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """How encoded rows become the offered columns: scales of coordinates, then projections."""

    shift: Floats
    scale: Floats
    directions: Floats

    @classmethod
    def of(cls, public: Floats, columns: Sequence[CodedColumn]) -> Derivation:
        """Scale values to the public sd 1, and leave flags and levels as they are."""
        shift, scale = np.zeros(public.shape[1]), np.ones(public.shape[1])
        for at in numeric_values(columns):
            spread = float(public[:, at].std(ddof=1))
            shift[at], scale[at] = public[:, at].mean(), spread or 1.0
        return cls(shift, scale, np.zeros((public.shape[1], 0)))

    def along(self, directions: Floats) -> Derivation:
        """Add projections on directions (one a column, over all encoded coordinates)."""
        return Derivation(self.shift, self.scale, np.rint(directions * PLACES) / PLACES)

    def rows(self, encoded: Any) -> Floats:
        """Give encoded rows, then their scaled columns, then their projections."""
        given = matrix("rows", encoded, len(self.shift))
        given[np.isnan(given)] = 0.0
        np.clip(given, -WIDEST, WIDEST, out=given)
        parts = [given, on_grid((given - self.shift) / self.scale)]
        if self.directions.shape[1]:
            across = row_products(given - self.shift, self.directions)
            parts.append(np.clip(on_grid(across), -FARTHEST, FARTHEST))
        return np.hstack(parts)

    def form(self) -> dict[str, Any]:
        """Give it as plain lists."""
        names = ("shift", "scale", "directions")
        return {name: getattr(self, name).tolist() for name in names}

    @classmethod
    def read(cls, form: dict[str, Any]) -> Derivation:
        """Read it back."""
        shift, scale = np.array(form["shift"]), np.array(form["scale"])
        directions = np.array(form["directions"], np.float64).reshape(len(shift), -1)
        return cls(shift, scale, directions)


def on_grid(values: Floats) -> Floats:
    """Round to multiples of 2^-16, element by element."""
    found: Floats = np.rint(values * PLACES) / PLACES
    return found


@dataclass(frozen=True, eq=False)
class Offer:
    """The columns on offer, over the rows of a `Derivation`."""

    columns: tuple[CodedColumn, ...]
    public: Floats

    @classmethod
    def of(cls, columns: Sequence[CodedColumn], derivation: Derivation, public: Floats) -> Offer:
        """Offer each column in its scaled form, and each projection."""
        width = len(derivation.shift)
        scaled = [CodedColumn(c.name, c.kind, c.start + width, c.stop + width) for c in columns]
        turned = [
            CodedColumn(f"direction {i + 1}", "numeric", 2 * width + i, 2 * width + i + 1)
            for i in range(derivation.directions.shape[1])
        ]
        return cls((*scaled, *turned), derivation.rows(public))

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """How each column on offer is cut."""
        return tuple(Cells.of(column, self.public) for column in self.columns)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of columns that may be chosen, in public order."""
        return tuple(
            (i, j)
            for i, j in combinations(range(len(self.columns)), 2)
            if not alike(self.columns[i], self.columns[j], self.public)
        )

    def coordinates(self, pair: tuple[int, int]) -> tuple[int, ...]:
        """Give the coordinates of a pair."""
        return tuple(at for k in pair for at in range(self.columns[k].start, self.columns[k].stop))

    def names(self, pair: tuple[int, int]) -> tuple[str, str]:
        """Name the columns of a pair."""
        return self.columns[pair[0]].name, self.columns[pair[1]].name


def alike(first: CodedColumn, second: CodedColumn, public: Floats) -> bool:
    """Whether two numbers say nearly the same in the public table."""
    if not (first.numeric and second.numeric):
        return False
    x, y = (public[:, c.start] - public[:, c.start].mean() for c in (first, second))
    sizes = float(np.sqrt((x @ x) * (y @ y)))
    return sizes > 0 and abs(float(x @ y)) > ALIKE * sizes


def directions_from(
    whitening: Whitening, gap: Floats, public: Floats, places: Sequence[int], width: int
) -> Floats:
    """Turn the noisy difference of whitened moments into directions over all coordinates."""
    values = public[:, list(places)]
    d = values.shape[1]
    mean, spread = values.mean(axis=0), np.atleast_2d(np.cov(values, rowvar=False))
    difference = whitening.root @ gap
    shift = difference[:d]
    root = inverse_root(spread)
    turns = [unit(root @ shift)]
    if whitening.order == 3:
        second = np.diag(difference[d : 2 * d])
        upper = np.triu_indices(d, 1)
        second[upper] = difference[2 * d :]
        second = second + np.triu(second, 1).T
        cross = np.outer(shift, mean)
        change = second - cross - cross.T - np.outer(shift, shift)
        sizes, vectors = np.linalg.eigh(root @ change @ root)
        largest = np.argsort(-np.abs(sizes), kind="stable")[:TURNS]
        turns += [vectors[:, k] for k in largest]
    found = np.zeros((width, len(turns)))
    found[list(places)] = root @ np.column_stack(turns)
    return found


def inverse_root(spread: Floats) -> Floats:
    """Give C^-1/2, leaving out directions without spread."""
    sizes, vectors = np.linalg.eigh(spread)
    kept = sizes > 1e-10 * sizes[-1]
    found: Floats = (vectors[:, kept] / np.sqrt(sizes[kept])) @ vectors[:, kept].T
    return found


def unit(vector: Floats) -> Floats:
    """Divide by the length, which noise keeps from being zero."""
    length = float(np.sqrt(vector @ vector))
    found: Floats = vector / length if length else np.eye(len(vector))[0]
    return found
