"""The reweighting paper's figures 2 to 4 again: fitted ratios by method and epsilon, and errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from noren.papers.reweighting_setting import (
    EPSILONS,
    METHODS,
    Draw,
    plain,
    true_ratio,
)
from noren.papers.rows import PaperRow

FIGURES = {"A, total 2 epsilon": "figure 2: A", "B": "figure 3: B", "C": "figure 4: C",
           "kriging": "the same by kriging"}  # fmt: skip
SEED = 1


def charts(rows: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw the weights of one draw by method, and the errors of all draws."""
    draw = Draw(SEED)
    order = np.argsort(draw.public)
    exact = curve(draw, order, true_ratio(draw.public), "true ratio")
    exact += curve(draw, order, plain(draw, draw.own, draw.tuned), "uLSIF without noise")
    figures = []
    for method, caption in FIGURES.items():
        points = list(exact)
        for epsilon in EPSILONS:
            weights = METHODS[method](draw, epsilon)
            points += curve(draw, order, weights / max(weights.mean(), 1e-9), f"epsilon {epsilon}")
        figures.append((f"{caption}, weights divided by their mean (one draw, simulated)",
                        lines(points)))  # fmt: skip
    figures.append(("normalized error by method (medians, simulated)", errors(rows)))
    return figures


def curve(draw: Draw, order: Any, weights: Any, name: str) -> list[dict[str, Any]]:
    """Give the points of one line."""
    return [{"x": float(draw.public[i]), "y": float(weights[i]), "weights": name} for i in order]


def lines(points: list[dict[str, Any]]) -> Any:
    """Draw weights over x."""
    import altair

    return (
        altair.Chart({"values": points})
        .mark_line(point=True, clip=True)
        .encode(
            altair.X("x:Q", title="x, of the public rows"),
            altair.Y("y:Q", title="weight", scale=altair.Scale(domain=[0, 6])),
            altair.Color("weights:N", title=None, sort=None),
        )
    )


def errors(rows: Iterable[PaperRow]) -> Any:
    """Draw the normalized errors that have a range."""
    import altair

    points = [
        {"setting": row.setting.partition(", ")[0] + epsilon_of(row.setting), "error": row.ours}
        for row in rows
        if "normalized, median" in row.quantity
    ]
    return (
        altair.Chart({"values": points})
        .mark_bar()
        .encode(
            altair.X("error:Q", title="relative squared error"),
            altair.Y("setting:N", title=None, sort=None),
        )
    )


def epsilon_of(setting: str) -> str:
    """Give the epsilon of a setting, where it has one."""
    _, found, rest = setting.partition("epsilon ")
    return f", epsilon {rest.partition(',')[0]}" if found and rest[:1].isdigit() else ""
