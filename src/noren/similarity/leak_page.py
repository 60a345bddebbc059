"""How a leak report is shown: tables, charts, and one HTML page that says SECRET first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noren.similarity.charts import lines
from noren.similarity.leak_beliefs import LABELS

if TYPE_CHECKING:
    from noren.page import Page, Part
    from noren.similarity.leak_result import LeakReport, QueryLeak

SIZE_COLUMNS = (
    "columns in the query", "queries", "attacker", "largest confidence", "least confidence",
    "mean at the top", "certain cells", "largest gain", "mean error", "calibration error",
)  # fmt: skip
POINTS = 400  # a curve has at most so many
SHOWN = 200  # queries in the page's table


def means_by_size(queries: Sequence[QueryLeak]) -> list[dict[str, Any]]:
    """Give means over the queries of each size, for each attacker."""
    rows = []
    for size in sorted({query.size for query in queries}):
        own = [query for query in queries if query.size == size]
        for place, belief in enumerate(own[0].beliefs):
            all_ = [query.beliefs[place] for query in own]
            row: dict[str, Any] = {"size": size, "queries": len(own), "prior": belief.prior}
            for name in ("max_confidence", "min_confidence", "top_confidence", "mean_error",
                         "calibration_error"):  # fmt: skip
                row[name] = float(np.mean([getattr(one, name) for one in all_]))
            row["largest_gain"] = max(one.largest_gain for one in all_)
            row["certain"] = int(sum(one.certain_ones + one.certain_zeros for one in all_))
            row["max_share"] = float(np.mean([query.max_share for query in own]))
            row["published_bound"] = float(np.mean([query.published_bound for query in own]))
            rows.append(row)
    return rows


def size_rows(report: LeakReport) -> list[list[Any]]:
    """Give the rows of the table by size."""
    return [
        [
            row["size"], row["queries"], LABELS[row["prior"]], row["max_confidence"],
            row["min_confidence"], row["top_confidence"], row["certain"], row["largest_gain"],
            row["mean_error"], row["calibration_error"],
        ]
        for row in report.by_size()
    ]  # fmt: skip


def facts(report: LeakReport) -> list[tuple[str, Any]]:
    """Give the figures over the whole workload."""
    exact = "not run: it needs exact scores and queries of few columns"
    if report.exact is not None:
        exact = f"{len(report.exact)} of {report.columns}"
    return [
        ("records, columns", f"{report.records} x {report.columns}"),
        ("exact answers", f"{len(report.queries)} ({described(report)})"),
        ("bits proven, at least", f"{report.proven:.4%}"),
        ("ones proven, at least", f"{report.proven_ones:.4%}"),
        ("records proven whole, at least", str(report.recovered)),
        ("columns revealed by linear algebra", f"{len(report.linear)} of {report.columns}"),
        ("columns determined (exact test)", exact),
    ]


def described(report: LeakReport) -> str:
    """Say what is answered."""
    return f"top-{report.k} lists" if report.k else report.answers


def charts(report: LeakReport) -> list[tuple[str, Any]]:
    """Draw confidence by size of the query (or query by query), and proofs by their number."""
    sizes = {query.size for query in report.queries}
    along, sure = ("columns in the query", by_size) if len(sizes) > 1 else ("query", by_query)
    kept = np.unique(np.linspace(0, len(report.growth) - 1, POINTS).astype(int))
    growth = [
        {"queries": report.growth[t][0], "share": report.growth[t][i], "of": word}
        for t in kept.tolist()
        for i, word in ((1, "all bits"), (2, "all ones"))
    ]
    return [
        ("How sure one answer makes an attacker", shares(sure(report), along)),
        ("What all answers up to a query prove, at least", shares(growth, "queries")),
    ]


def by_size(report: LeakReport) -> list[dict[str, Any]]:
    """Give the points of the chart by size."""
    wanted = {"max_confidence": "largest confidence", "mean_error": "mean error"}
    return [
        {"columns in the query": row["size"], "share": row[key], "of": f"{word}, {row['prior']}"}
        for row in report.by_size()
        for key, word in wanted.items()
    ]


def by_query(report: LeakReport) -> list[dict[str, Any]]:
    """Give the points of the chart query by query, the most telling first."""
    ranked = sorted(report.queries, key=lambda query: -query.headline.max_confidence)[:POINTS]
    return [
        {"query": place, "share": value, "of": f"{word}, {belief.prior}"}
        for place, query in enumerate(ranked, start=1)
        for belief in query.beliefs
        for word, value in (
            ("largest confidence", belief.max_confidence),
            ("mean error", belief.mean_error),
        )
    ]


def shares(rows: list[dict[str, Any]], x: str) -> Any:
    """Draw shares on a whole scale from 0 to 1."""
    import altair

    return lines(rows, x, "share", "of").encode(
        altair.Y("share:Q", title=None, scale=altair.Scale(domain=[0, 1]))
    )


def query_rows(report: LeakReport) -> list[list[Any]]:
    """Give a row for each query, as its headline attacker sees it."""
    return [
        [number, query.size, query.levels, query.headline.max_confidence,
         query.headline.min_confidence, query.headline.certain_ones, query.headline.certain_zeros,
         query.headline.largest_gain, query.headline.mean_error]
        for number, query in enumerate(report.queries[:SHOWN], start=1)
    ]  # fmt: skip


def page(report: LeakReport) -> Page:
    """Put everything on one page."""
    from noren.page import Chart, Page, Section, Table, Text

    parts: list[Part] = [Text(report.headline), *(Text(note) for note in report.notes)]
    parts += [Table(("over the whole workload", ""), facts(report))]
    worst = [(one.attack, one.queries, one.share, one.statement) for one in report.worst]
    parts += [
        Section("What a determined attacker needs"),
        Table(("attack", "queries", "share of bits", "in words"), worst),
        Section("One answer at a time"),
        Table(
            SIZE_COLUMNS,
            size_rows(report),
            caption="Means over the queries of one size; the largest gain of all",
        ),
        *(Chart(chart, caption) for caption, chart in charts(report)),
    ]
    heads: tuple[str, ...]
    heads = ("query", "columns", "levels", "largest confidence", "least confidence",
             "certain ones", "certain zeros", "largest gain", "mean error")  # fmt: skip
    caption = f"The first {min(SHOWN, len(report.queries))} of {len(report.queries)} queries"
    parts.append(Table(heads, query_rows(report), caption=caption))
    if report.posteriors:
        rows = [(LABELS[one.prior], one.max_confidence, one.min_confidence, one.certain_ones,
                 one.certain_zeros) for one in report.posteriors]  # fmt: skip
        heads = ("attacker", "largest confidence", "least confidence", "certain ones",
                 "certain zeros")  # fmt: skip
        parts += [Section("All answers together, exactly"), Table(heads, rows)]
    top = [(one.record, one.proven, one.ones, one.completed) for one in report.top]
    parts += [
        Section("Records of which most is proven"),
        Table(("record", "bits proven", "ones among them", "whole with query"), top),
    ]
    lead = f"What exact answers ({described(report)}) give away about single bits."
    return Page(title="Leak report", lead=lead, parts=parts, banner=report.mark)
