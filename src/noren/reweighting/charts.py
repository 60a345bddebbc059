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
