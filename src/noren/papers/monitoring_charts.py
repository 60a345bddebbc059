"""The monitoring paper's figures, drawn again with the improved ways beside the published one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from noren.papers.monitoring_runs import BLOCK, FIRST, PUBLISHED, RAMP, SECOND, f_of
from noren.papers.rows import PaperRow

RUNS = 60
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100)
HORIZONS = (100, 200, 400, 600, 1000)
EPSILONS = (1, 10, 200)


def charts(rows: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw F by m, and F by T, for the paper's three epsilons (simulated anew)."""
    del rows  # they hold fewer points than the curves
    figures = [(f"{FIRST}, epsilon {e}", drawn(by_number(e), "m")) for e in EPSILONS]
    return figures + [(f"{SECOND}, epsilon {e}", drawn(by_horizon(e), "T")) for e in EPSILONS]


def by_number(epsilon: int) -> list[dict[str, Any]]:
    """Give F by the number of reports a person, and the two improved ways at their own."""
    found = [point(m, PUBLISHED, f_of(PUBLISHED, 10_000, 100, epsilon, RUNS, m)) for m in NUMBERS]
    for way in (RAMP, BLOCK):
        level = f_of(way, 10_000, 100, epsilon, RUNS)
        found += [point(m, f"{way}, at its best k", level) for m in (NUMBERS[0], NUMBERS[-1])]
    return found


def by_horizon(epsilon: int) -> list[dict[str, Any]]:
    """Give F by the horizon."""
    found = []
    for horizon in HORIZONS:
        for name, way, m in (
            (f"{PUBLISHED}, m*", PUBLISHED, None),
            (f"{PUBLISHED}, m = T", PUBLISHED, horizon),
            (RAMP, RAMP, None),
            (BLOCK, BLOCK, None),
        ):
            found.append(point(horizon, name, f_of(way, 100_000, horizon, epsilon, RUNS, m)))
    return found


def point(x: int, way: str, f: float) -> dict[str, Any]:
    """Give one point of a line."""
    return {"x": x, "way": way, "f": f}


def drawn(points: list[dict[str, Any]], title: str) -> Any:
    """Draw one line for each way."""
    from noren.monitoring.charts import f_measures

    return f_measures(points, "x", title)
