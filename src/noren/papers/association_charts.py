"""The association paper's three figures, drawn again with all methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from noren.association import Tables
from noren.papers.association_tables import balanced, two_cases
from noren.papers.association_terms import (
    E1,
    E1_METHODS,
    E2,
    E3,
    EPSILONS,
    MEAN_ERROR,
    WORDS,
    mean_error,
)
from noren.papers.rows import PaperRow

SIZES = range(4, 26)  # powers of two


def charts(rows: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw the three figures again, with all methods; the third from the rows themselves."""
    size = "log2 of the number of people"
    first = curves(E1_METHODS, balanced, "0.1")
    second = curves(E1_METHODS[1:], two_cases, "1")
    figures = [
        (E1, lines(first, size, logarithmic=True)),
        (E2, lines(second, size)),
    ]
    for data, points in by_epsilon(rows).items():
        caption = f"{E3} ({data})"
        figures.append((caption, lines(points, "epsilon of one decision")))
    return figures


def curves(
    methods: Iterable[str], make: Callable[[int], Tables], epsilon: str
) -> list[dict[str, Any]]:
    """Give the error of each method by the size of a study."""
    return [
        {"x": power, "y": mean_error(make(2**power), method, epsilon), "method": WORDS[method]}
        for method in methods
        for power in SIZES
    ]


def by_epsilon(rows: Iterable[PaperRow]) -> dict[str, list[dict[str, Any]]]:
    """Give the errors of E3 by epsilon, for the stand-in and for a reader's own files."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        data, _, epsilon = row.setting.partition(", epsilon ")
        if row.experiment == E3 and epsilon in EPSILONS:
            method = row.quantity.removeprefix(MEAN_ERROR)
            found.setdefault(data, []).append(
                {"x": float(epsilon), "y": row.ours, "method": method}
            )
    return found


def lines(points: list[dict[str, Any]], title: str, *, logarithmic: bool = False) -> Any:
    """Draw one line for each method."""
    import altair

    scale = altair.Scale(type="log") if logarithmic else altair.Scale(zero=True)
    return (
        altair.Chart({"values": points})
        .mark_line(point=True)
        .encode(
            altair.X("x:Q", title=title, scale=altair.Scale(zero=False)),
            altair.Y("y:Q", title="mean error of a decision", scale=scale),
            altair.Color("method:N", title=None, sort=None),
        )
    )
