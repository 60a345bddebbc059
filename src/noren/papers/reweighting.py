"""Least-squares density ratios under privacy, the paper's one experiment and its errata.

The paper prints figures only, no numbers: what stands as published is what it shows. What a
faithful run gives was measured on three independent sets of 60 draws; medians of the normalized
error must lie within 25 % of what those gave, and the orderings must hold. Means are heavy-tailed
and are not tested.

`kriging` and `calibration` are what Noren does instead, on the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from noren.papers.reweighting_charts import charts as charts
from noren.papers.reweighting_errata import errata
from noren.papers.reweighting_setting import EPSILONS, Errors, measured
from noren.papers.rows import PaperRow

FIGURES = "figures 2 to 4"
WIDER = 0.25
DRAWS, QUICK_DRAWS = 60, 30
DRAWN = "curves in a figure; no number is printed"
FLAT = "flatter as epsilon falls"

KNOWN: dict[str, tuple[tuple[float, float], ...]] = {
    "uLSIF, private centres": ((0.14, 0.20),),
    "uLSIF, public centres": ((0.050, 0.076),),
    "A, total 2 epsilon": ((0.53, 0.82), (0.18, 0.28), (0.11, 0.20)),
    "B": ((0.59, 0.68), (0.27, 0.33), (0.18, 0.22)),
    "C": ((0.20, 0.26), (0.11, 0.18), (0.14, 0.20)),
    "kriging": ((0.053, 0.063), (0.046, 0.073), (0.056, 0.082)),
}
Table = dict[tuple[str, str], dict[str, float]]
WORDS = {
    "raw": "relative squared error, raw",
    "normalized": "relative squared error, normalized",
    "mean": "mean weight",
    "effective": "effective sample size",
    "query": "mean error of nine shares",
}


def rows(quick: bool, progress: Callable[[int, int | None], None]) -> Iterator[PaperRow]:
    """Give the experiment, its orderings, and the errata."""
    draws = QUICK_DRAWS if quick else DRAWS
    table = summary(draws, progress)
    yield from within(table, draws)
    yield from shown(table, draws)
    yield from orderings(table)
    if draws >= DRAWS:  # fewer do not settle it
        yield from ahead(table)
    yield from errata()


def summary(draws: int, progress: Callable[[int, int | None], None]) -> Table:
    """Give medians over draws (of the errors of shares the mean), of each method and epsilon."""
    found: dict[tuple[str, str], list[Errors]] = {}
    for done, part in measured(draws):
        progress(done + 1, draws)
        for key, errors in part.items():
            found.setdefault(key, []).append(errors)
    return {
        key: {
            name: float((np.mean if name == "query" else np.median)(
                [getattr(errors, name) for errors in every]))
            for name in WORDS
        }
        for key, every in found.items()
    }  # fmt: skip


def within(table: Table, draws: int) -> Iterator[PaperRow]:
    """Set the normalized errors beside what faithful runs gave."""
    for method, ranges in KNOWN.items():
        epsilons = EPSILONS if len(ranges) > 1 else ("",)
        for epsilon, (low, high) in zip(epsilons, ranges, strict=True):
            wider = WIDER if draws >= DRAWS else 3 * WIDER
            low, high = low * (1 - min(wider, 0.6)), high * (1 + wider)
            ours = table[method, epsilon]["normalized"]
            yield PaperRow(
                experiment=FIGURES,
                setting=setting(method, epsilon, draws),
                quantity=f"{WORDS['normalized']}, median",
                published=None,
                ours=ours,
                tolerance=(high - low) / 2,
                ok=low <= ours <= high,
                note=DRAWN,
            )


def shown(table: Table, draws: int) -> Iterator[PaperRow]:
    """Show the other figures of each method, which are not held to a range."""
    for (method, epsilon), found in table.items():
        for name in ("raw", "mean", "effective", "query"):
            yield PaperRow(
                experiment=FIGURES,
                setting=setting(method, epsilon, draws),
                quantity=f"{WORDS[name]}, {'mean' if name == 'query' else 'median'}",
                published=None,
                ours=found[name],
                tolerance=None,
                ok=True,
                note=DRAWN,
            )


def setting(method: str, epsilon: str, draws: int) -> str:
    """Name a row's setting."""
    return f"{method}{f', epsilon {epsilon}' if epsilon else ''}, {draws} draws (simulated)"


def orderings(table: Table) -> Iterator[PaperRow]:
    """State what the figures show as orderings, and whether it comes out."""

    def of(method: str, epsilon: str = "", name: str = "normalized") -> float:
        return table[method, epsilon][name]

    sampled = "A, total 2 epsilon"
    sizes = [of(sampled, epsilon, "effective") for epsilon in EPSILONS]
    yield ordering("A", FLAT, sizes[0] > sizes[1] > sizes[2])
    private, public = "uLSIF, private centres", "uLSIF, public centres"
    flat = of("B", "10", "effective") > of(private, name="effective")
    yield ordering("B beside private centres", "flatter", flat)
    yield ordering(
        "B at epsilon 10 beside uLSIF without noise", "less accurate on the raw scale",
        of("B", "10", "raw") > of(private, name="raw"),
    )  # fmt: skip
    yield ordering(
        "without noise, each tuned for its own centres", "public centres are more accurate",
        of(public) < of(private),
        "so B's error at epsilon 10 comes from tuning for other centres, not from privacy",
    )  # fmt: skip
    for epsilon in ("0.1", "1"):
        best = min(of(method, epsilon) for method in (sampled, "B", "C"))
        yield ordering(
            f"C, epsilon {epsilon}", "the most accurate of the three, normalized",
            of("C", epsilon) <= best * (1 + 0.05),
        )  # fmt: skip
    raw = [of(method, "0.1", "raw") for method in ("C", sampled, "B")]
    yield ordering(
        "C, epsilon 0.1, raw", "the most accurate of the three", raw[0] > max(raw[1:]),
        f"does not hold: the raw error of C is {raw[0]:.3g}, of A {raw[1]:.3g}, of B {raw[2]:.3g}",
    )  # fmt: skip


def ahead(table: Table) -> Iterator[PaperRow]:
    """Set kriging beside the paper's three methods."""
    for epsilon in EPSILONS:
        rivals = ("A, total 2 epsilon", "A, total epsilon", "B", "C")
        best = min(table[method, epsilon]["normalized"] for method in rivals)
        yield ordering(
            f"kriging, epsilon {epsilon}", "more accurate than A, B and C (not in the paper)",
            table["kriging", epsilon]["normalized"] < best,
        )  # fmt: skip


def ordering(subject: str, published: str, holds: bool, note: str = "") -> PaperRow:
    """State one ordering; `holds` says that what a faithful run gives came out."""
    said = "does not hold" if note.startswith("does not hold") else published
    return PaperRow(
        experiment=FIGURES,
        setting=subject,
        quantity="ordering",
        published=published,
        ours=said if holds else f"not: {said}",
        tolerance=None,
        ok=holds,
        note=note,
    )
