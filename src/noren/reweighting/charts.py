"""Pictures of releases and of weights; they draw released and public values only."""

from __future__ import annotations

from typing import Any

import numpy as np


def moment_chart(release: Any) -> Any:
    """Draw each noisy moment with +- two standard deviations of its noise."""
    import altair

    spread = 2 * np.sqrt(np.diag(release.covariance))
    rows = [
        {"function": i + 1, "moment": float(m), "low": float(m - s), "high": float(m + s)}
        for i, (m, s) in enumerate(zip(release.moments, spread, strict=True))
    ]
    base = altair.Chart({"values": rows}).encode(altair.X("function:O", title="basis function"))
    bars = base.mark_bar(opacity=0.6).encode(altair.Y("moment:Q", title="noisy mean"))
    return bars + base.mark_rule().encode(altair.Y("low:Q"), altair.Y2("high:Q"))


def weight_chart(weights: Any) -> Any:
    """Draw how the weights of the public rows are spread."""
    import altair

    counts, edges = np.histogram(np.asarray(weights, float), bins=40)
    rows = [
        {"from": float(a), "to": float(b), "rows": int(n)}
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    return (
        altair.Chart({"values": rows})
        .mark_bar()
        .encode(
            altair.X("from:Q", title="weight", bin="binned"),
            altair.X2("to:Q"),
            altair.Y("rows:Q", title="public rows"),
        )
    )


def moments_met_chart(weights: Any) -> Any:
    """Draw each noisy moment, with two standard deviations, beside the weighted one."""
    import altair

    moments, spread = weights.release.moments, 2 * weights.errors
    even = weights.phi.mean(axis=0)
    weighted = weights.values @ weights.phi / len(weights)
    rows = [
        {
            "function": i + 1,
            "mean": float(value),
            "low": float(m - s),
            "high": float(m + s),
            "of": of,
        }
        for of, values in (("public rows", even), ("weighted rows", weighted))
        for i, (value, m, s) in enumerate(zip(values, moments, spread, strict=True))
    ]
    base = altair.Chart({"values": rows}).encode(altair.X("function:O", title="basis function"))
    span = base.mark_rule().encode(altair.Y("low:Q", title="mean"), altair.Y2("high:Q"))
    dots = base.mark_point(filled=True, size=45).encode(
        altair.Y("mean:Q"), altair.Color("of:N", title=None), altair.Shape("of:N", title=None)
    )
    return span + dots


def marginal_chart(name: str, shares: Any) -> Any:
    """Draw the shares of one column's levels: public rows as they are, and weighted."""
    import altair

    rows = [
        {"level": level, "share": share, "of": of, "place": place}
        for place, (level, even, weighted) in enumerate(shares)
        for of, share in (("as they are", even), ("weighted", weighted))
    ]
    return (
        altair.Chart({"values": rows})
        .mark_bar()
        .encode(
            altair.X("level:N", title=name, sort=altair.EncodingSortField("place")),
            altair.XOffset("of:N"),
            altair.Y("share:Q", title="share of rows"),
            altair.Color("of:N", title=None),
        )
    )
