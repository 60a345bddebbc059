"""The paper's figures 3 to 5 again: accuracy by epsilon, with the honest baseline drawn in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from noren.papers.collaboration_terms import (
    AGGREGATE,
    CANCER,
    DIABETES,
    FIFTH,
    GAIN_HONEST,
    GAINS,
    TIGHT_AGGREGATE,
    TIGHT_WEAK,
    WEAK_ACCURACY,
)
from noren.papers.rows import PaperRow

CURVES = (AGGREGATE, WEAK_ACCURACY, TIGHT_WEAK[0])


def charts(rows: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw accuracy by epsilon for each data set, and how many organizations gain."""
    found = list(rows)
    figures = [(f"{FIFTH}: accuracy", sphere_curves(found)), (f"{FIFTH}: gains", gains(found))]
    figures += [(name, small_curves(found, name)) for name in (CANCER, DIABETES)]
    return [
        (caption, lines(points, "organizations" if "gains" in caption else "accuracy"))
        for caption, points in figures
        if points
    ]


def sphere_curves(rows: list[PaperRow]) -> list[dict[str, Any]]:
    """Give the curves of 5.1, and its baselines as level lines."""
    points = [
        point(epsilon_of(row), row, row.quantity)
        for row in rows
        if row.experiment == FIFTH
        and epsilon_of(row)
        and (row.quantity in CURVES or row.quantity.startswith(TIGHT_AGGREGATE))
    ]
    return points + levels(rows, FIFTH, points)


def small_curves(rows: list[PaperRow], experiment: str) -> list[dict[str, Any]]:
    """Give the curves of one small table, and its baselines as level lines."""
    points = [
        point(epsilon_of(row), row, row.setting.partition(", ")[2])
        for row in rows
        if row.experiment == experiment and epsilon_of(row)
    ]
    return points + levels(rows, experiment, points)


def levels(
    rows: list[PaperRow], experiment: str, points: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Draw what does not depend on epsilon over the range of what does."""
    ends = sorted({one["x"] for one in points})[:: max(1, len({o["x"] for o in points}) - 1)]
    return [
        point(end, row, row.setting)
        for row in rows
        if row.experiment == experiment and row.quantity == "accuracy" and row.ours is not None
        for end in ends
    ]


def gains(rows: list[PaperRow]) -> list[dict[str, Any]]:
    """Give how many gain, by form and baseline, and what the paper prints."""
    points = []
    for row in rows:
        if row.experiment == FIFTH and row.quantity in (GAINS, GAIN_HONEST):
            form = row.setting.partition(", ")[2]
            honest = "proper local" if row.quantity == GAIN_HONEST else "published baseline"
            points.append(point(epsilon_of(row), row, f"{form}, {honest}"))
            if row.quantity == GAINS and form == "signs":
                printed = point(epsilon_of(row), row, "printed") | {"y": row.published}
                points.append(printed)
    return points


def epsilon_of(row: PaperRow) -> float | None:
    """Read the epsilon of a setting."""
    word = row.setting.partition(", ")[0]
    return float(word.removeprefix("epsilon ")) if word.startswith("epsilon ") else None


def point(x: float | None, row: PaperRow, way: str) -> dict[str, Any]:
    """Make one point of a line."""
    return {"x": x, "y": row.ours, "way": way}


def lines(points: list[dict[str, Any]], title: str) -> Any:
    """Draw one line for each way."""
    import altair

    return (
        altair.Chart({"values": points})
        .mark_line(point=True)
        .encode(
            altair.X("x:Q", title="epsilon of each organization"),
            altair.Y("y:Q", title=title, scale=altair.Scale(zero=False)),
            altair.Color("way:N", title=None, sort=None),
        )
    )
