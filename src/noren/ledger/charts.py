"""A picture of what an account has spent, over time, below what it may spend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from noren.ledger.account import Balance
from noren.ledger.chain import ANSWERED
from noren.ledger.history import Entry
from noren.privacy.filters import PURE
from noren.privacy.guarantee import Guarantee


def spend_chart(balance: Balance, entries: Iterable[Entry]) -> Any:
    """Draw the running total of an account's charges as steps (an Altair chart).

    For an account with named columns it is the sum over all questions: each column's own total
    is at most that.
    """
    import altair as alt

    unit = "epsilon" if balance.filter == PURE else "rho"
    points, spent = [], 0.0
    for entry in entries:
        if entry.kind != ANSWERED:
            spent += amount(entry.charge, unit)
            points.append({"time": entry.time, "spent": spent, "question": entry.question})
    budget = amount(balance.total, unit)
    steps = (
        alt.Chart(inline(points))
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X("time:T", title="time"),
            y=alt.Y("spent:Q", title=f"{unit} spent"),
            tooltip=["time:T", "spent:Q", "question:N"],
        )
    )
    limit = (
        alt.Chart(inline([{"budget": budget, "says": f"budget {unit} {budget:.4g}"}]))
        .mark_rule(strokeDash=[6, 4])
        .encode(y="budget:Q", tooltip="says:N")
    )
    return (steps + limit).properties(title=f"Budget of '{balance.account}' over time")


def inline(rows: list[dict[str, Any]]) -> Any:
    """Put rows into the chart itself, so that it can be drawn anywhere."""
    import altair as alt

    return alt.InlineData(values=rows)


def amount(price: Guarantee | None, unit: str) -> float:
    """Give one amount of a price as a float, 0 where there is none."""
    value = getattr(price, unit) if price is not None else None
    return 0.0 if value is None else float(value)
