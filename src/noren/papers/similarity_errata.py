"""What the paper claims, theorem by theorem, each with the figure that decides it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from noren.papers.rows import RIGHT, PaperRow, claim
from noren.papers.similarity_data import Data, rank_leaks
from noren.similarity.as_published import (
    published_law,
    published_loss,
    rank_log_ratio,
    rank_sensitivity,
)
from noren.similarity.attacks import reconstruct
from noren.similarity.confidence import rank_confidence, score_confidence
from noren.similarity.leak_attack import attack
from noren.similarity.scoring import dense_ranks, scores

THEOREMS = "theorems"
ATTACKS = "many exact answers"
LN2 = math.log(2)
CLAIMED = 2 * LN2
COMPOSITIONS = [sizes for b in range(1, 4) for sizes in product(range(1, 5), repeat=b)]


def errata(data: Data, count: int) -> Iterator[PaperRow]:
    """Give every row."""
    yield from theorems(data, count)
    yield from prices()
    yield from rank_mechanism()
    yield from attacks_rows(data)


def theorems(data: Data, count: int) -> Iterator[PaperRow]:
    """Say of each theorem whether it is right."""
    yield fact("theorem 1: min(1, ones / q) bounds the confidence, columns of the query",
               "right", "right" if scores_bounded() else "wrong",
               "confidence is u/q, and u is at most the record's ones; the bound is itself secret",
               RIGHT)  # fmt: skip
    yield claim("theorem 1 as stated, a record without ones, q = 2", "bound outside the query", 0.0,
                outside_confidence(), 0.5, 1e-12,
                "WRONG for columns outside the query: confidence stays 1/2", THEOREMS)  # fmt: skip
    unit = [float(score_confidence(u, [0.5])[0]) for u in (0, 1)]
    yield fact("theorem 2: some query reveals a bit fully (scores)", "right",
               "right" if unit == [0.0, 1.0] else "wrong",
               "the query of one column: confidence 0 or 1", RIGHT)  # fmt: skip
    yield fact("theorem 3: g <= (q - rank + 1) / q", "right",
               "right" if ranks_bounded() else "wrong",
               f"all {len(COMPOSITIONS)} group sizes of 3 levels, q to 6", RIGHT)  # fmt: skip
    full = rank_confidence([1, 1, 1, 1, 1], 4)
    yield claim("full leak of a one: b = q + 1 and rank 1", "confidence", 1.0, float(full[0]), 1.0,
                1e-12, "right", RIGHT)  # fmt: skip
    yield claim("the same answer, last rank", "confidence", None, float(full[-1]), 0.0, 1e-12,
                "zeros leak fully too, and ranks then equal scores", THEOREMS)  # fmt: skip
    yield claim("theorem 4: a constant column, query of that column", "confidence", 1.0,
                float(rank_confidence([4], 1)[0]), 0.5, 1e-12,
                "WRONG for constant columns", THEOREMS)  # fmt: skip
    yield fact("theorem 4, all rank queries together, a constant column", "revealed",
               "never revealed" if constant_hidden() else "revealed",
               "all 3-column databases of 2 records: ones or zeros give the same ranks",
               THEOREMS, expected="never revealed")  # fmt: skip
    yield claim("a prior that is not uniform, p = (.99, .01), u = 1", "confidence", 0.5,
                float(score_confidence(1, [0.99, 0.01])[0]), 0.999897980004, 1e-11,
                "the uniform prior is not what an attacker knows", THEOREMS)  # fmt: skip
    yield from ranks_leak_no_less(data, count)


def ranks_leak_no_less(data: Data, count: int) -> Iterator[PaperRow]:
    """Compare the paper's own confidence under ranks with that under scores."""
    for q in (2, 16, 64):
        leaks = rank_leaks(data, q, count)
        even = float(np.mean([leak.beliefs[1].top_confidence for leak in leaks]))
        score = float(np.mean([leak.max_share for leak in leaks]))
        bound = float(np.mean([leak.published_bound for leak in leaks]))
        yield PaperRow(
            experiment=THEOREMS,
            setting=f"{data.name}, q = {q}: ranks leak less than scores",
            quantity="confidence of the best record, ranks, the paper's prior",
            published=f"less than {score:.3f} (scores)",
            ours=even,
            tolerance=None,
            ok=even > score >= bound - 1e-12,
            note=f"NOT supported: (b - 1)/q = {bound:.3f} of figure 1 is a lower bound of it",
        )


def scores_bounded() -> bool:
    """Check that u / q is the posterior and at most ones / q, over all records of 4 bits."""
    for bits in product((0, 1), repeat=4):
        u = sum(bits[:3])
        if not np.allclose(score_confidence(u, [0.5] * 3), u / 3) or u > sum(bits):
            return False
    return True


def outside_confidence() -> float:
    """Give the confidence in a bit outside a query of 2, score 0, over all records of 3 bits."""
    fits = [bits for bits in product((0, 1), repeat=3) if bits[0] + bits[1] == 0]
    return sum(bits[2] for bits in fits) / len(fits)


def ranks_bounded() -> bool:
    """Check the bound of theorem 3 and its counterpart from below."""
    for sizes in COMPOSITIONS:
        b = len(sizes)
        for q in range(max(1, b - 1), 7):
            g, j = rank_confidence(list(sizes), q), np.arange(1, b + 1)
            if not ((g <= (q - j + 1) / q + 1e-12) & (g >= (b - j) / q - 1e-12)).all():
                return False
    return True


def constant_hidden() -> bool:
    """Check that a column of ones and one of zeros give the same ranks to every query."""
    queries = list(product((0, 1), repeat=3))
    for rest in product((0, 1), repeat=4):
        others = np.array(rest).reshape(2, 2)
        pair = [np.column_stack([np.full(2, value), others]) for value in (0, 1)]
        for query in queries:
            one, other = (dense_ranks(rows @ np.array(query)) for rows in pair)
            if (one != other).any():
                return False
    return True


def prices() -> Iterator[PaperRow]:
    """Give the true price of the paper's scores, and show that they are not the best of it."""
    for q, expected in ((1, 0.693147180560), (2, 0.826678573184), (4, 0.896746135801),
                        (64, 0.916290731874)):  # fmt: skip
        yield claim(f"scores, epsilon ln 2, q = {q}", "privacy loss (one bit)", CLAIMED,
                    published_loss(q, LN2), expected, 1e-11,
                    "2 epsilon is right and loose", THEOREMS)  # fmt: skip
    law, a = published_law(3, LN2), math.exp(-published_loss(2, LN2))
    left = (1 + a * a) * law[1, 0]
    right = a * (law[0, 0] + law[2, 0])
    yield claim("scores, q = 2, at their true price 0.8267", "derivable from geometric noise", None,
                float(left), 0.297852, 1e-6,
                f"must be at least {right:.6f}, so the noise is worse than geometric at its own "
                "price", THEOREMS)  # fmt: skip


def rank_mechanism() -> Iterator[PaperRow]:
    """Show why the paper's ranks have no guarantee at all."""
    three = published_law(2, LN2)
    first = float(three[0, 0] * three[1, 1] ** 3)
    yield claim("ranks E1: scores (1,0,0,0) or (0,0,0,0), one bit apart, epsilon ln 2",
                "probability of ranks (1,2,2,2)", "within a factor 4 of each other", first,
                (2 / 3) ** 4, 1e-12,
                "0 from the second, whose range is {1}: the loss is infinite, NOT private at any "
                "epsilon", THEOREMS)  # fmt: skip
    for n in range(2, 7):
        moved = rank_sensitivity(n, 2 if n < 6 else 1)
        yield claim(f"ranks E2: {n} records", "L1 sensitivity of dense ranks", 1, moved, n - 1,
                    0, "one bit can move n - 1 ranks", THEOREMS)  # fmt: skip
    for n, expected in ((3, 1.793492), (4, 2.690238), (943, 844.734860)):
        loss = rank_log_ratio(LN2, 5, [1] * n, [1] + [2] * (n - 1), [1] * n)
        yield claim(f"ranks E2: public range 1..5, {n} records, all ones shown", "privacy loss",
                    CLAIMED, loss, expected, 1e-6,
                    "even a public range does not repair it", THEOREMS)  # fmt: skip
    loss = rank_log_ratio(LN2, 2, [1, 2, 2, 2], [1, 1, 1, 1], [1, 2, 2, 2])
    yield claim("ranks E2: q = 1, 4 records, (1,2,2,2) shown", "privacy loss", CLAIMED,
                loss, 3 * LN2, 1e-12, "(n - 1) ln 2", THEOREMS)  # fmt: skip
    yield claim("ranks E2: 3 or 2 levels, an answer that both can give", "privacy loss", CLAIMED,
                common_output_loss(), 2.829576, 1e-6,
                "ranks (1,2,3,3) or (1,1,2,2), shown (1,1,2,2)", THEOREMS)  # fmt: skip


def common_output_loss() -> float:
    """Give |ln| of the probabilities of (1,1,2,2) from (1,2,3,3) and from (1,1,2,2)."""
    shown = np.array([0, 0, 1, 1])
    one = published_law(3, LN2)[np.array([0, 1, 2, 2]), shown]
    other = published_law(2, LN2)[np.array([0, 0, 1, 1]), shown]
    return abs(float(np.log(one).sum() - np.log(other).sum()))


def attacks_rows(data: Data) -> Iterator[PaperRow]:
    """Recover all records from exact answers."""
    records = data.records
    bits, asked = reconstruct(lambda matrix: scores(records, matrix), records.n_columns)
    right = bool((bits == records.bits()).all())
    yield fact(f"{data.name}: coin weighing, {asked} score queries", None,
               "all bits" if right else "not all bits",
               f"{records.n_columns / asked:.1f} times fewer queries than columns", ATTACKS,
               expected="all bits")  # fmt: skip
    ranks = attack(records, "unit", answers="ranks")
    counts = records.column_counts()
    moving = int(((counts > 0) & (counts < len(records))).sum())
    yield claim(f"{data.name}: {ranks.queries} rank queries of one column", "bits recovered", None,
                ranks.right, moving * len(records), 0,
                f"all {moving} columns that are not constant", ATTACKS)  # fmt: skip


def fact(
    setting: str, published: str | None, ours: str, note: str, experiment: str,
    expected: str = "right",
) -> PaperRow:  # fmt: skip
    """Set a claim in words beside what is found."""
    return PaperRow(
        experiment=experiment,
        setting=setting,
        quantity="status",
        published=published,
        ours=ours,
        tolerance=None,
        ok=ours == expected,
        note=note,
    )
