"""Studies small enough to look at whole: strata, swaps of status, any record replaced."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from noren.association import StratifiedTables

Cell: TypeAlias = tuple[int, ...]
Cells: TypeAlias = dict[Cell, int]  # the signed distance of each table
Sizes: TypeAlias = tuple[int, ...]

SWAPS: tuple[Cell, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
RECORDS: tuple[Cell, ...] = tuple(
    tuple((place == to) - (place == came) for place in range(4))
    for to, came in itertools.permutations(range(4), 2)
)
"""One unit moved between two of (a, b, cases without, controls without)."""


def along_axes(counts: int) -> tuple[Cell, ...]:
    """Give the moves of one count by one."""
    return tuple(
        tuple(sign * (place == axis) for place in range(counts))
        for axis in range(counts)
        for sign in (1, -1)
    )


def stratified_cells(cases: Sizes, controls: Sizes) -> list[Cell]:
    """List all table sets of some strata as (a, b) of each stratum in turn."""
    sides = [size + 1 for pair in zip(cases, controls, strict=True) for size in pair]
    return list(itertools.product(*map(range, sides)))


def stratified_tables(cells: list[Cell], cases: Sizes, controls: Sizes) -> StratifiedTables:
    """Put such table sets side by side as variants."""
    counts = np.array(cells).T
    return StratifiedTables(counts[0::2], counts[1::2], cases, controls)


def every_study(people: int) -> dict[int, list[Cell]]:
    """List all tables of so many people as four cells, by the number of cases."""
    found: dict[int, list[Cell]] = {cases: [] for cases in range(people + 1)}
    for a, b, c in itertools.product(range(people + 1), repeat=3):
        if a + b + c <= people:
            found[a + c].append((a, b, c, people - a - b - c))
    return found


def neighbors(cells: Iterable[Cell], moves: tuple[Cell, ...]) -> Iterator[tuple[Cell, Cell]]:
    """Give all pairs that one move tells apart."""
    known = set(cells)
    for here in known:
        for move in moves:
            there = moved(here, move)
            if there in known:
                yield here, there


def moved(cell: Cell, move: Cell) -> Cell:
    """Move a table."""
    return tuple(map(sum, zip(cell, move, strict=True)))


def largest_change(signed: Cells, moves: tuple[Cell, ...]) -> int:
    """Give the largest change of the score (d, or 1 - d) by one move."""
    score = {cell: d if d > 0 else 1 + d for cell, d in signed.items()}
    return max(abs(score[here] - score[there]) for here, there in neighbors(score, moves))


def by_breadth(decided: dict[Cell, bool], moves: tuple[Cell, ...]) -> Cells:
    """Search the true distance to the opposite decision, breadth first."""
    found: Cells = {}
    for side in (True, False):
        steps = {cell: 0 for cell, own in decided.items() if own != side}
        queue = deque(steps)
        while queue:
            here = queue.popleft()
            for move in moves:
                there = moved(here, move)
                if there in decided and there not in steps:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        found |= {cell: steps[cell] for cell, own in decided.items() if own == side}
    return found
