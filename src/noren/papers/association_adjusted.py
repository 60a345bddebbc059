"""What adjusting and hiding status cost: the tables that were measured with the method.

No paper prints them: "published" are the figures of the method's own derivation, measured before
this code was written.

S1, S2  Structured populations of 4,000 and 20,000 people: false positives and power of the plain,
        stratified and adjusted tests, without noise and by the price of one test. How strongly
        status depends on ancestry, sex, batch and age, and how strong the hits are, was not
        stated; ours are set so that inflation and power without noise come out close to the stated
        ones (`POPULATIONS`). What the noise then does is the finding. The populations are others,
        so figures are compared to 0.03 (confounded ones and Laplace to 0.05, drawn noisy counts to
        0.08: shares of 300 variants have a standard error of up to 0.03), not to the 0.01 that
        the same populations would allow.
S3      Hiding status: distances and wrong decisions relative to a plain scan. The 311 variants are
        the stand-in's; of the simulated ones only sizes, rates and thresholds were stated. Ours
        have the stated rate among controls and z, over both groups' standard error, uniform from 0
        to twice the root of tau among cases.

Chances of a decision are exact given the tables, except for noisy counts, whose noise is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from noren.papers.association_adjusted_price import status_rows
from noren.papers.association_adjusted_structure import POPULATIONS, structure_rows
from noren.papers.rows import PaperRow


def rows(quick: bool, progress: Callable[[int, int | None], None]) -> Iterator[PaperRow]:
    """Give the three tables; quick: fewer variants in S3, and no S2."""
    total = 2 if quick else 1 + len(POPULATIONS)
    yield from status_rows(quick)
    for done, name in enumerate(list(POPULATIONS)[: total - 1], 1):
        progress(done, total)
        yield from structure_rows(name)
    progress(total, total)


def charts(found: Iterable[PaperRow]) -> list[tuple[str, Any]]:
    """Draw power against false positives, a picture for each population."""
    points: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found:
        if row.quantity in ("false positives", "power"):
            test, _, price = row.setting.rpartition(", ")
            own = points.setdefault(row.experiment, {})
            own.setdefault(row.setting, {"test": test, "price": price})[row.quantity] = row.ours
    return [(name, scatter(list(own.values()))) for name, own in points.items()]


def scatter(points: list[dict[str, Any]]) -> Any:
    """Draw one point for each test and price."""
    import altair

    return (
        altair.Chart({"values": points})
        .mark_point(filled=True, size=60)
        .encode(
            altair.X("false positives:Q", title="false positives"),
            altair.Y("power:Q", title="power", scale=altair.Scale(zero=False)),
            altair.Color("test:N", title=None, sort=None),
            altair.Shape("price:N", title=None, sort=None),
        )
    )
