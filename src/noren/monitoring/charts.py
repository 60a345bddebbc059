"""Pictures of monitoring: estimates over time, and how well slots were told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from noren.monitoring.decisions import displayed

VERDICTS = ("up", "down", "undecided")
SHAPES = ("triangle-up", "triangle-down", "circle")


def over_time(decisions: Iterable[Mapping[str, Any]], horizon: int) -> Any:
    """Draw estimate, interval and threshold over time, marked up, down or undecided.

    A smoothed estimate is drawn beside the raw one where the decisions hold it. Slots without data
    leave a gap. (An Altair chart.)
    """
    import altair as alt

    rows = [row(decision, horizon) for decision in decisions]
    told = [it for it in rows if it["share"] is not None]
    if not told:
        return alt.Chart({"values": [{"says": "no slot has data yet"}]}).mark_text().encode(
            text="says:N"
        )  # fmt: skip
    slots = alt.Axis(tickMinStep=1, format="d")
    x = alt.X("place:Q", title="slot", axis=slots, scale=alt.Scale(zero=False, nice=False))
    y = alt.Y("share:Q", title="estimated share", scale=alt.Scale(zero=False))
    data = {"values": told}
    band = alt.Chart(data).mark_area(opacity=0.25).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"))
    line = alt.Chart({"values": rows}).mark_line(strokeWidth=1.2).encode(x, y)
    marks = alt.Chart(data).mark_point(filled=True, size=45).encode(
        x, y,
        shape=alt.Shape("verdict:N", title=None,
                        scale=alt.Scale(domain=list(VERDICTS), range=list(SHAPES))),
        color=alt.Color("verdict:N", title=None, scale=alt.Scale(domain=list(VERDICTS))),
        tooltip=["epoch:Q", "slot:Q", "share:Q", "low:Q", "high:Q", "verdict:N", "reports:Q"],
    )  # fmt: skip
    limit = {"values": [{"threshold": told[0]["threshold"]}]}
    rule = alt.Chart(limit).mark_rule(strokeDash=[6, 4]).encode(alt.Y("threshold:Q"))
    layers = [band, line, rule, marks]
    if any(it["smoothed"] is not None for it in told):
        layers.insert(
            2, alt.Chart(data).mark_line(strokeDash=[2, 2]).encode(x, alt.Y("smoothed:Q"))
        )
    return alt.layer(*layers)


def row(decision: Mapping[str, Any], horizon: int) -> dict[str, Any]:
    """Give what a chart needs of one decision."""
    names = ("epoch", "slot", "share", "low", "high", "verdict", "reports", "threshold")
    found = {name: decision[name] for name in names}
    found["place"] = decision["epoch"] * horizon + decision["slot"]
    found["smoothed"] = decision.get("smoothed")
    return found | {name: displayed(found[name]) for name in ("share", "smoothed")}


def f_measures(rows: Sequence[Mapping[str, Any]], x: str, title: str) -> Any:
    """Draw mean F-measures against a setting, a line for each way."""
    import altair as alt

    return (
        alt.Chart({"values": list(rows)})
        .mark_line(point=True)
        .encode(
            alt.X(f"{x}:Q", title=title),
            alt.Y("f:Q", title="F-measure", scale=alt.Scale(domain=[0, 1])),
            alt.Color("way:N", title=None),
        )
    )
