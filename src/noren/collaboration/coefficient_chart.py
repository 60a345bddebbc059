"""The picture of a trained model: a bar for each coefficient."""

from __future__ import annotations

from typing import Any

import numpy as np


def coefficient_chart(trained: Any) -> Any:
    """Draw coefficients, the largest first, by class where there are several."""
    import altair

    task, values = trained.question.task, np.atleast_2d(trained.coefficients)
    groups = task.classes if len(values) > 1 else (task.label.name,)
    rows = [
        {"feature": name, "coefficient": float(value), "predicts": group}
        for group, line in zip(groups, values, strict=True)
        for name, value in zip(task.names, line, strict=True)
    ]
    return (
        altair.Chart({"values": rows})
        .mark_bar()
        .encode(
            altair.X("coefficient:Q"),
            altair.Y("feature:N", sort="-x", title=None),
            altair.Color("predicts:N"),
            altair.YOffset("predicts:N"),
        )
    )
