"""How the answers and reports of this room are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def ranked(rows: Sequence[tuple[str, float, float]], title: str) -> Any:
    """Draw records in their order, each with its value and margin."""
    import altair

    values = [
        {"record": name, "value": value, "low": value - margin, "high": value + margin}
        for name, value, margin in rows
    ]
    base = altair.Chart({"values": values}).encode(altair.Y("record:N", sort=None, title="record"))
    points = base.mark_point(filled=True, size=80).encode(altair.X("value:Q", title=title))
    return points + base.mark_rule().encode(altair.X("low:Q", title=title), altair.X2("high:Q"))


def chosen(names: Sequence[str]) -> Any:
    """Draw the names of chosen records: there is nothing else to draw."""
    import altair

    values = [{"record": name} for name in names]
    return (
        altair.Chart({"values": values})
        .mark_text(fontSize=16)
        .encode(altair.Y("record:N", title=None, axis=None), text="record:N")
    )


def bars(rows: Sequence[Mapping[str, Any]], x: str, y: str, title: str = "") -> Any:
    """Draw one bar for each row."""
    import altair

    return (
        altair.Chart({"values": list(rows)})
        .mark_bar()
        .encode(altair.X(f"{x}:O", sort=None, title=x), altair.Y(f"{y}:Q", title=title or y))
    )


def lines(rows: Sequence[Mapping[str, Any]], x: str, y: str, of: str) -> Any:
    """Draw one line for each kind of row."""
    import altair

    return (
        altair.Chart({"values": list(rows)})
        .mark_line(point=True)
        .encode(
            altair.X(f"{x}:Q", title=x),
            altair.Y(f"{y}:Q", title=y),
            altair.Color(f"{of}:N", title=None),
        )
    )
