"""Pictures of this room: coefficients, what combining brings, and how files do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def drawn_learners(counts: Iterable[int]) -> Any:
    """Draw how often each learner was drawn."""
    import altair

    values = [{"learner": place + 1, "drawn": int(count)} for place, count in enumerate(counts)]
    return (
        altair.Chart({"values": values})
        .mark_bar()
        .encode(altair.X("learner:O", title="received learner"), altair.Y("drawn:Q", title="draws"))
    )


def sides(rows: Sequence[Mapping[str, Any]], title: str) -> Any:
    """Draw the local and the combined side with an interval each: keys side, value, low, high."""
    import altair

    base = altair.Chart({"values": list(rows)}).encode(altair.Y("side:N", sort=None, title=None))
    interval = base.mark_rule().encode(
        altair.X("low:Q", title=title, scale=altair.Scale(zero=False)), altair.X2("high:Q")
    )
    return interval + base.mark_point(filled=True, size=90).encode(altair.X("value:Q", title=title))


def difference(low: float, middle: float, high: float, title: str) -> Any:
    """Draw one difference with its interval, and where nothing differs."""
    import altair

    row = {"values": [{"low": low, "middle": middle, "high": high}]}
    interval = (
        altair.Chart(row).mark_rule(size=2).encode(altair.X("low:Q", title=title), x2="high:Q")
    )
    point = altair.Chart(row).mark_point(filled=True, size=90).encode(x="middle:Q")
    zero = altair.Chart({"values": [{"none": 0}]}).mark_rule(strokeDash=[4, 4]).encode(x="none:Q")
    return zero + interval + point


def file_health(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Draw each file: its cosine with the combined model against its loss alone."""
    import altair

    return (
        altair.Chart({"values": list(rows)})
        .mark_point(filled=True, size=80)
        .encode(
            altair.X("cosine:Q", title="cosine with the combined model"),
            altair.Y("loss:Q", title="mean loss alone", scale=altair.Scale(zero=False)),
            altair.Color("organization:N", title=None),
            tooltip=["organization:N", "source:N", "remark:N"],
        )
    )


def by_epsilon(rows: Sequence[Mapping[str, Any]], y: str) -> Any:
    """Draw one line for each way against epsilon: keys epsilon, value, way."""
    import altair

    return (
        altair.Chart({"values": list(rows)})
        .mark_line(point=True)
        .encode(
            altair.X("epsilon:Q", title="epsilon of each organization"),
            altair.Y("value:Q", title=y, scale=altair.Scale(zero=False)),
            altair.Color("way:N", title=None),
        )
    )
