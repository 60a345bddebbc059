"""The similarity paper's two figures drawn again, with the confidence attackers really have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from noren.papers.rows import PaperRow
from noren.papers.similarity_data import STAND_IN
from noren.papers.similarity_figures import (
    CALIBRATION,
    FIGURE_1,
    FIGURE_2,
    LEVELS,
    LN2,
    QUANTITIES,
)
from noren.papers.similarity_useful import ONE_QUERY
from noren.similarity.as_published import published_law
from noren.similarity.charts import lines


def charts(rows: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw what the rows hold: figure 1 with the attackers behind it, figure 2, usefulness."""
    held = list(rows)
    return [*first_figures(held), (FIGURE_2, second_figure()), *usefulness(held)]


def first_figures(rows: list[PaperRow]) -> list[tuple[str, Any]]:
    """Draw figure 1 for the stand-in, and for a reader's own copy."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        data, _, size = row.setting.partition(", q = ")
        if (
            row.experiment in (FIGURE_1, CALIBRATION)
            and size.isdigit()
            and row.quantity in QUANTITIES
        ):
            point = {"columns in the query": int(size), "value": row.ours, "of": row.quantity}
            found.setdefault(data, []).append(point)
    return [
        (f"{FIGURE_1} ({data})", lines(points, "columns in the query", "value", "of"))
        for data, points in found.items()
    ]


def second_figure() -> Any:
    """Draw records by score, before and after the paper's noise."""
    import altair

    noisy = np.array(LEVELS) @ published_law(5, LN2)
    values = [
        {"score": score, "records": float(count), "of": word}
        for word, counts in (("true", LEVELS), ("randomized, expected", noisy))
        for score, count in enumerate(counts)
    ]
    return (
        altair.Chart({"values": values})
        .mark_bar()
        .encode(
            altair.X("score:O"),
            altair.XOffset("of:N", sort=None),
            altair.Y("records:Q"),
            altair.Color("of:N", title=None, sort=None),
        )
    )


def usefulness(rows: list[PaperRow]) -> list[tuple[str, Any]]:
    """Draw P@10 of each way, by query."""
    import altair

    values = [
        {"query": row.setting.removeprefix(f"{STAND_IN}, "), "P@10": row.ours,
         "way": row.quantity.removeprefix("P@10 of ")}
        for row in rows
        if row.experiment == ONE_QUERY and row.quantity.startswith("P@10")
        and "repaired" not in row.quantity
    ]  # fmt: skip
    if not values:
        return []
    chart = (
        altair.Chart({"values": values})
        .mark_bar()
        .encode(
            altair.X("query:N", sort=None, title=None),
            altair.XOffset("way:N", sort=None),
            altair.Y("P\\@10:Q", title="P@10"),
            altair.Color("way:N", title=None, sort=None),
        )
    )
    return [(ONE_QUERY, chart)]
