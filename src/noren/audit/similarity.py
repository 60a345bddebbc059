"""Evidence for private search: every question, the session, the paper's randomizers, faults.

Small worlds are looked at whole: all records of a few bits, all neighbors, all outcomes of the
question's own code. Samplers are held to their laws, and questions are audited from outside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noren.audit import similarity_faults
from noren.audit.black_box import audit_callable
from noren.audit.enumerated import law_of
from noren.audit.exact import Law, log_ratio
from noren.audit.law import FALSE_ALARM, p_value
from noren.audit.row import FAILS, AuditRow, finding
from noren.audit.similarity_cases import FLOOR, WINDOW, Release, asking, worst_loss
from noren.audit.similarity_games import game_loss
from noren.noise import Noise
from noren.similarity import (
    BestRecord,
    NoisyScores,
    RandomizedRecords,
    Records,
    RowWeights,
    ScoreHistogram,
    ScorePairs,
    SimilarCount,
    TopSet,
    clamped_geometric,
    published_loss,
    top_set_inclusion,
)
from noren.similarity.as_published import published_law, rank_log_ratio
from noren.similarity.asked import ONE_BIT, ONE_RECORD
from noren.similarity.laws import noisy_top_one
from noren.similarity.walk import full_draw, lazy_walk

ROUNDING = 1e-6  # of laws cut at a window
LN2 = math.log(2)
BIT: dict[str, Any] = {"epsilon": 1, "adjacency": "bit"}
RECORD: dict[str, Any] = {"epsilon": 1, "adjacency": "substitute"}
ONE, TWO = ("0",), ("0", "1")


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine every question."""
    yield from under_bits()
    yield from under_records()
    yield from for_a_whole_record()
    yield walk_row()
    yield game_row()
    yield from as_published()
    yield from laws(4_000 if quick else 20_000)
    yield from seen_from_outside(2_000 if quick else 20_000)
    yield from similarity_faults.rows()


def enumerated(
    name: str, release: Release, n: int, width: int, adjacency: object, *,
    claimed: float = 1.0, window: int = 0, note: str = "",
) -> AuditRow:  # fmt: skip
    """Look at a small world whole."""
    measured = worst_loss(release, n, width, adjacency, window=window)
    cut = f"; tails cut at {window}" if window > 10 else ""
    return finding(
        f"similarity: {name}",
        adjacency,
        claimed=claimed,
        measured=measured,
        method="exact",
        holds=measured <= claimed * (1 + ROUNDING),
        note=f"all {n} x {width} bits and all outcomes{cut}" + (f"; {note}" if note else ""),
    )


def under_bits() -> Iterator[AuditRow]:
    """Flip one bit."""
    for name, question, n, width, window in (
        ("noisy-scores", NoisyScores(query=ONE, **BIT), 2, 1, WINDOW),
        ("noisy-scores, to a depth", NoisyScores(query=ONE, depth=1, **BIT), 2, 1, WINDOW),
        ("best-record", BestRecord(query=TWO, **BIT), 2, 2, 0),
        ("best-record, of 3", BestRecord(query=ONE, **BIT), 3, 1, 0),
        ("top-set of 1", TopSet(query=TWO, k=1, **BIT), 3, 2, 0),
        ("top-set of 2", TopSet(query=TWO, k=2, **BIT), 3, 2, 0),
        ("randomized-records", RandomizedRecords(**BIT), 2, 2, 2),
        ("score-pairs", ScorePairs(query=ONE, n_columns=2, **BIT), 1, 2, WINDOW),
        ("row-weights", RowWeights(n_columns=2, **BIT), 1, 2, WINDOW),
        ("similar-count", SimilarCount(query=TWO, threshold=1, **BIT), 2, 2, WINDOW),
    ):
        yield enumerated(name, asking(question), n, width, ONE_BIT, window=window)
    other = worst_loss(
        asking(NoisyScores(query=ONE, **BIT)), 1, 2, ONE_BIT, window=WINDOW,
        pairs=[((1, 0), (1, 1)), ((0, 1), (0, 0))],
    )  # fmt: skip
    yield finding(
        "similarity: noisy-scores, a bit outside of the query", ONE_BIT, claimed=0, measured=other,
        method="exact", note="which is why only the columns of a query are charged",
    )  # fmt: skip


def under_records() -> Iterator[AuditRow]:
    """Replace one record."""
    for name, question, n, width, window in (
        ("noisy-scores", NoisyScores(query=TWO, **RECORD), 1, 2, 30),
        ("noisy-scores, in a window", NoisyScores(query=TWO, window=(1, 2), **RECORD), 1, 2, 30),
        ("best-record", BestRecord(query=TWO, **RECORD), 2, 2, 0),
        ("top-set of 2", TopSet(query=TWO, k=2, **RECORD), 3, 2, 0),
        ("score-pairs", ScorePairs(query=ONE, n_columns=2, **RECORD), 1, 2, 30),
        ("row-weights", RowWeights(n_columns=2, **RECORD), 1, 2, 30),
        ("similar-count", SimilarCount(query=TWO, threshold=1, **RECORD), 2, 2, WINDOW),
        ("score-histogram", ScoreHistogram(query=ONE, **RECORD), 2, 1, 24),
    ):
        yield enumerated(name, asking(question), n, width, ONE_RECORD, window=window)


def for_a_whole_record() -> Iterator[AuditRow]:
    """Replace a record where the price is a bit's: what a session prints must hold, too."""
    for name, question, width, window in (
        ("noisy-scores", NoisyScores(query=TWO, **BIT), 2, WINDOW),
        ("randomized-records", RandomizedRecords(**BIT), 2, 2),
        ("score-pairs", ScorePairs(query=ONE, n_columns=2, **BIT), 2, WINDOW),
        ("row-weights", RowWeights(n_columns=2, **BIT), 2, WINDOW),
    ):
        yield enumerated(
            f"{name}, a whole record at a bit's price", asking(question), 1, width, ONE_RECORD,
            claimed=2.0, window=window,
        )  # fmt: skip


def walk_row() -> AuditRow:
    """Enumerate the walk and full noise for the same scores: their laws are one."""
    scores = np.array([2, 1, 1])
    full = law_of(lambda noise: found(full_draw(scores, Fraction(1), 1, noise)), window=12)[0]
    lazy = law_of(lambda noise: until(scores, noise), window=12)[0]
    high = [{y: mass for y, mass in law.items() if reach_of(y) >= 0} for law in (full, lazy)]
    kept, floor = [y for y in high[0] if high[0][y] > FLOOR], FLOOR
    measured = max(log_ratio(high[0], high[1], floor), log_ratio(high[1], high[0], floor))
    return finding(
        "similarity: noisy-scores, lazy walk against full noise", ONE_BIT, claimed=1e-4,
        measured=measured, method="exact", holds=measured < 1e-4 and len(kept) > 20,
        note=f"the log ratio of the two laws over {len(kept)} outcomes; what the cut at 12 allows",
    )  # fmt: skip


class TooLow(Exception):
    """The walk went below what is compared: its tree has no end."""


class Watched:
    """Noise that ends a walk after some steps down."""

    def __init__(self, noise: Noise, steps: int) -> None:
        self.noise, self.steps = noise, steps

    def __getattr__(self, name: str) -> Any:
        """Draw as the noise does."""
        return getattr(self.noise, name)

    def binomial(self, n: int, p: Any) -> Any:
        """Draw, unless the walk has gone far enough."""
        if self.steps == 0:
            raise TooLow
        self.steps -= 1
        return self.noise.binomial(n, p)


def until(scores: Any, noise: Noise) -> Any:
    """Walk from the highest score down to 0 or below."""
    try:
        return found(lazy_walk(scores, 2, Fraction(1), 1, Watched(noise, 6), 2))  # type: ignore[arg-type]
    except TooLow:
        return [[], [], -math.inf]


def found(drawn: Any) -> list[Any]:
    """Give what a draw releases."""
    return [drawn.rows.tolist(), drawn.values.tolist(), drawn.reach]


def reach_of(outcome: Any) -> float:
    """Read how far down an outcome goes."""
    return float(json.loads(outcome)[2])


def game_row() -> AuditRow:
    """Play an adaptive game with a session over a ledger: no cell pays more than the cap."""
    measured = game_loss()
    return finding(
        "similarity: session, adaptive searches under a cap", ONE_BIT, claimed=1.0,
        measured=measured, method="exact", holds=0.5 < measured <= 1 + ROUNDING,
        note="prices and queries chosen by earlier answers, repeats and refusals among them; "
        "through the ledger",
    )  # fmt: skip


def as_published() -> Iterator[AuditRow]:
    """Hold the paper's two randomizers to what it claims of them."""
    for q in (1, 2, 4, 64):
        law = np.log(published_law(q + 1, LN2))
        measured = float(np.abs(np.diff(law, axis=0)).max())
        yield finding(
            f"similarity: published scores, {q} columns", ONE_BIT, claimed=2 * LN2,
            measured=measured, method="exact",
            holds=measured <= 2 * LN2 and abs(measured - published_loss(q, LN2)) < 1e-12,
            note="the claim is right and loose",
        )  # fmt: skip
    shared: dict[str, Any] = {"claimed": 2 * LN2, "method": "exact", "expected": FAILS}
    yield finding(
        "similarity: published ranks", ONE_BIT, **shared,
        measured=log_ratio(ranks_law((1, 2, 2, 2)), ranks_law((1, 1, 1, 1))),
        note="a range that the data choose: what one side gives with probability "
        f"{float(ranks_law((1, 2, 2, 2))[1, 2, 2, 2]):.6f} the other cannot give",
    )  # fmt: skip
    for n in (4, 943):
        ones, twos = [1] * n, [1] + [2] * (n - 1)
        yield finding(
            f"similarity: published ranks in a public range, {n} records", ONE_BIT,
            measured=rank_log_ratio(LN2, 5, ones, twos, ones), **shared,
            note="one bit moves all dense ranks but one",
        )  # fmt: skip


def ranks_law(ranks: tuple[int, ...]) -> Law:
    """Enumerate the published randomized ranks."""
    law = published_law(max(ranks), LN2)
    places = [range(1, max(ranks) + 1)] * len(ranks)
    return {
        out: Decimal(
            math.prod(law[rank - 1, seen - 1] for rank, seen in zip(ranks, out, strict=True))
        )
        for out in np.ndindex(*(len(place) for place in places))
        for out in [tuple(seen + 1 for seen in out)]
    }


def laws(draws: int) -> Iterator[AuditRow]:
    """Hold samplers to their laws."""
    noise = Noise()
    same = Records.of([[1, 0, 0, 0]] * draws)
    scores = NoisyScores(query=("0", "1", "2", "3"), **BIT).answer(same, noise).clamped
    yield law_row(
        "noisy-scores, clamped", np.bincount(scores, minlength=5), clamped_geometric(4, 1, 1)
    )
    few, order = draws // 4, np.array([3, 2, 0])
    ways: dict[str, Callable[[], Any]] = {
        "noisy-scores, first record, full noise": lambda: full_draw(order, Fraction(1), 1, noise),
        "noisy-scores, first record, lazy walk": lambda: lazy_walk(order, 3, Fraction(1), 1, noise),
    }
    for name, draw in ways.items():
        first = [int(draw().rows[0]) for _ in range(few)]
        yield law_row(name, np.bincount(first, minlength=3), noisy_top_one([3, 2, 0], 1))
    records = Records.of(["111", "110", "011", "000"])
    question = TopSet(query=("0", "1", "2"), k=2, **BIT)
    inside = sum(int(question.answer(records, noise).rows[0] == 0) for _ in range(few))
    chance = float(top_set_inclusion([3, 2, 2, 0], 2, 1)[0])
    yield law_row("top-set, holds the best", np.array([inside, few - inside]),
                  np.array([chance, 1 - chance]))  # fmt: skip
    blank = Records.of(np.zeros((draws // 8, 70), int))
    answer = RandomizedRecords(**BIT).answer(blank, noise)
    ones = int(answer.published().records.bits().sum())
    f = 1 / (1 + math.e)
    yield law_row("randomized-records", np.array([ones, blank.words.shape[0] * 70 - ones]),
                  np.array([f, 1 - f]))  # fmt: skip


def law_row(name: str, seen: Any, law: Any) -> AuditRow:
    """State how well counts fit."""
    p = p_value(seen, np.asarray(law))
    return finding(
        f"similarity: {name}", "none", claimed=FALSE_ALARM, measured=p, method="law",
        quantity="p-value", holds=p > FALSE_ALARM, note=f"{int(np.sum(seen))} draws",
    )  # fmt: skip


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Audit each question as a black box, on the neighbors that show most."""
    noise = Noise()
    zero, one, both = (Records.of([bits, "00"]) for bits in ("00", "10", "11"))
    for question, data, neighbor in (
        (NoisyScores(query=ONE, **BIT), one, zero),
        (NoisyScores(query=TWO, depth=1, **RECORD), both, zero),
        (BestRecord(query=TWO, **BIT), both, one),
        (TopSet(query=TWO, k=1, **BIT), both, one),
        (RandomizedRecords(**BIT), one, zero),
        (ScorePairs(query=ONE, n_columns=2, **BIT), one, zero),
        (RowWeights(n_columns=2, **BIT), one, zero),
        (SimilarCount(query=ONE, threshold=1, **RECORD), one, zero),
        (ScoreHistogram(query=ONE, **RECORD), one, zero),
    ):
        yield audit_callable(
            partial(shown, question, noise), data, neighbor, epsilon=1, draws=draws,
            alpha=FALSE_ALARM, name=f"similarity: {question.kind}",
            adjacency=question.guarantee.adjacency,
            note=f"{draws} draws of each; a right mechanism fails with probability {FALSE_ALARM:g}",
        )  # fmt: skip


def shown(question: Any, noise: Noise, records: Records) -> Any:
    """Give the released numbers of an answer, in the order of the records where there is one."""
    answer = question.answer(records, noise)
    if question.kind == NoisyScores.kind and question.depth is None:
        return answer.scores()
    if question.kind == NoisyScores.kind:
        return [*answer.top(1)[0], answer.reach]
    if question.kind == RandomizedRecords.kind:
        return answer.words.astype(np.int64)
    record = answer.record()
    return [record[key] for key in record if key in SHOWN]


SHOWN = ("row", "rows", "inside", "outside", "weights", "count", "counts")
