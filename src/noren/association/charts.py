"""Pictures of a scan: along the genome, observed against expected p-values, rates of two groups.

A scan may have a million results and a page cannot: what would lie on one spot is one mark. The
plane is cut into cells, each with a mark for what lies in it, and the highest results are always
drawn themselves. So a picture has a few thousand marks however long the scan is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.association.statistic import Counts, Floats
from noren.data.sites import Sites

COLUMNS, ROWS = 200, 30  # cells of the thinned part
ALWAYS = 300  # highest results that are drawn whatever else is
WIDEST = 8000  # results up to which nothing is thinned
SMALLEST_P = 1e-300


def manhattan(answer: Any, columns: dict[str, Any] | None = None) -> Any:
    """Draw every test along the genome: p-values, scores or bits, by what was asked.

    `columns` is the result table where it was read in another way than the usual one.
    """
    columns = answer.columns() if columns is None else columns
    height, title = heights(columns)
    called = next((columns[key] for key in ("associated", "significant") if key in columns), None)
    called = np.zeros(len(height), bool) if called is None else np.asarray(called)
    x, ticks = along(answer.question.variants)
    kept = thinned(x, height, called)
    rows = [
        {"x": float(x[i]), "y": float(height[i]), "snp": columns["snp"][i], "kind": kind}
        for i, kind in zip(kept, kinds(x[kept], ticks, called[kept]), strict=True)
    ]
    return points(rows, x_axis(ticks), title)


def qq(answer: Any, null: str = "permutation", rate_range: Any = None) -> Any:
    """Draw observed against expected p-values; guaranteed ones lie on or below the line."""
    import altair

    p = np.sort(np.maximum(np.asarray(answer.p_values(null, rate_range)), SMALLEST_P))
    kept = spaced_ranks(p.size)
    expected = -np.log10((kept + 0.5) / p.size)
    observed = -np.log10(p[kept])
    rows = [{"x": float(x), "y": float(y)} for x, y in zip(expected, observed, strict=True)]
    reach = float(max(expected.max(), 1.0))
    line = [{"x": 0.0, "y": 0.0}, {"x": reach, "y": reach}]
    dots = altair.Chart({"values": rows}).mark_circle(size=25, opacity=0.7)
    diagonal = (
        altair.Chart({"values": line})
        .mark_rule(strokeDash=[4, 4])
        .mark_line(strokeDash=[4, 4], opacity=0.6)
    )
    x = altair.X("x:Q", title="expected -log10 p")
    y = altair.Y("y:Q", title="observed -log10 p (guaranteed)")
    return diagonal.encode(x, y) + dots.encode(x, y)


def chosen_places(answer: Any) -> Any:
    """Draw where the chosen lie along the genome, as high as their scores if these are known."""
    asked = answer.question
    x, ticks = along(asked.variants)
    if asked.loci is not None:
        middle = np.bincount(asked.loci.of, weights=x) / asked.loci.sizes
        x = middle
    height = np.ones(asked.top) if answer.scores is None else answer.scores
    rows = [
        {"x": float(x[place]), "y": float(h), "snp": name, "kind": "chosen"}
        for place, h, name in zip(answer.chosen, height, answer.names, strict=True)
    ]
    title = None if answer.scores is None else f"noisy score at tau {float(asked.tau):g}"
    return points(rows, x_axis(ticks, float(x.max())), title, labels=True)


def rates(answer: Any) -> Any:
    """Draw the noisy share of carriers among cases against that among controls."""
    import altair

    ours, theirs = answer.rates
    names = answer.columns()["snp"]
    far = np.abs(ours - theirs)
    kept = thinned(theirs, ours, far >= np.sort(far)[-min(far.size, ALWAYS)])
    rows = [{"x": float(theirs[i]), "y": float(ours[i]), "snp": names[i]} for i in kept]
    x = altair.X("x:Q", title="share of carriers among controls")
    y = altair.Y("y:Q", title="among cases")
    line = altair.Chart({"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}).mark_line(
        strokeDash=[4, 4], opacity=0.6
    )
    dots = altair.Chart({"values": rows}).mark_circle(size=25, opacity=0.7)
    return line.encode(x, y) + dots.encode(x, y, tooltip=["snp:N"])


def heights(columns: dict[str, Any]) -> tuple[Floats, str]:
    """Choose what is drawn upwards."""
    if "p" in columns:
        return -np.log10(np.maximum(np.asarray(columns["p"]), SMALLEST_P)), "-log10 p (guaranteed)"
    if "score" in columns:
        return np.asarray(columns["score"], dtype=np.float64), "noisy score"
    return np.asarray(columns["significant"], dtype=np.float64), "significant"


def along(variants: Any) -> tuple[Floats, list[tuple[str, float, float]]]:
    """Lay the chromosomes one after the other; give each name with its begin and end.

    Examples
    --------
    >>> along(Sites(("a", "b"), chromosomes=("1", "2"), positions=(5, 3)))
    (array([5., 8.]), [('1', 0.0, 5.0), ('2', 5.0, 8.0)])
    """
    if not (isinstance(variants, Sites) and variants.chromosomes and variants.positions):
        count = len(variants) if isinstance(variants, Sites) else variants
        return np.arange(1.0, count + 1), []
    place = np.array(variants.positions, dtype=np.float64)
    chromosome = np.array(variants.chromosomes)
    ticks, begin = [], 0.0
    for name in dict.fromkeys(variants.chromosomes):
        own = chromosome == name
        end = begin + float(place[own].max())
        place[own] += begin
        ticks.append((name, begin, end))
        begin = end
    return place, ticks


def thinned(x: Floats, y: Floats, always: Any) -> Counts:
    """Keep the places of what is drawn: all that is called, the highest, and one of each cell."""
    if x.size <= WIDEST:
        return np.arange(x.size)
    cells = cell_of(x, COLUMNS) * ROWS + cell_of(y, ROWS)
    _, first = np.unique(cells, return_index=True)
    highest = np.argpartition(y, -ALWAYS)[-ALWAYS:]
    called = np.flatnonzero(always)
    if called.size > WIDEST:
        called = called[np.argpartition(y[called], -WIDEST)[-WIDEST:]]
    return np.union1d(np.union1d(first, highest), called)


def cell_of(values: Floats, many: int) -> Counts:
    """Give each value its cell, numbered from the smallest to the largest value."""
    low, high = float(values.min()), float(values.max())
    width = (high - low) / many or 1.0
    return np.minimum(((values - low) / width).astype(np.int64), many - 1)


def kinds(x: Floats, ticks: list[tuple[str, float, float]], called: Any) -> list[str]:
    """Say of each mark what decides its color: called or not, chromosomes alternating."""
    ends = [end for _, _, end in ticks]
    odd = np.searchsorted(ends, x, side="left") % 2 if ends else np.zeros(len(x), int)
    words = np.where(odd == 1, "even chromosome", "odd chromosome") if ends else "not called"
    found = np.where(called, "called", np.broadcast_to(words, len(x)))
    return found.tolist()  # type: ignore[no-any-return]


def spaced_ranks(count: int) -> Counts:
    """Keep the smallest p-values and then ranks evenly spaced on the logarithmic axis."""
    if count <= WIDEST:
        return np.arange(count)
    rest = np.geomspace(ALWAYS, count, 2000).astype(np.int64) - 1
    return np.union1d(np.arange(ALWAYS), rest)


def x_axis(ticks: list[tuple[str, float, float]], end: float | None = None) -> Any:
    """Make the horizontal axis: chromosome names at their middles, or numbers."""
    import altair

    if not ticks:
        reach = altair.Undefined if end is None else [0, end + 1]
        return altair.X("x:Q", title="variant", scale=altair.Scale(domain=reach))
    middles = [(begin + stop) / 2 for _, begin, stop in ticks]
    names = {middle: name for middle, (name, _, _) in zip(middles, ticks, strict=True)}
    words = " : ".join(f"datum.value == {middle} ? '{safe(names[middle])}'" for middle in middles)
    axis = altair.Axis(values=middles, labelExpr=f"{words} : ''", grid=False, labelOverlap=True)
    scale = altair.Scale(domain=[0, ticks[-1][2]], nice=False)
    return altair.X("x:Q", title="chromosome", axis=axis, scale=scale)


def safe(name: str) -> str:
    """Keep letters and digits of a name that goes into an expression."""
    return "".join(letter for letter in name if letter.isalnum() or letter in "._-")


def points(rows: list[dict[str, Any]], x: Any, title: str | None, *, labels: bool = False) -> Any:
    """Draw marks, called ones larger."""
    import altair

    order = ["odd chromosome", "called", "even chromosome", "not called", "chosen"]
    seen = [kind for kind in order if any(row["kind"] == kind for row in rows)]
    base = altair.Chart({"values": rows}).encode(x, tooltip=["snp:N", "y:Q"])
    up = altair.Y("y:Q", title=title, axis=altair.Axis() if title else None)
    dots = base.mark_circle(opacity=0.75).encode(
        up,
        altair.Color("kind:N", title=None, sort=seen),
        size=altair.condition("datum.kind == 'called'", altair.value(60), altair.value(18)),
    )
    if not labels:
        return dots
    stems = base.mark_rule().encode(up, altair.Y2(datum=0))
    return stems + base.mark_circle(size=60).encode(up, altair.Color("kind:N", title=None))
