"""Private search with one fault each, and rules that look private: every one must be caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from noren.audit.black_box import audit_callable
from noren.audit.exact import Law, log_ratio
from noren.audit.mutants import Mutant, caught
from noren.audit.row import FAILS, AuditRow, finding
from noren.audit.similarity_cases import WINDOW, Release, asking, worst_loss
from noren.audit.similarity_games import ChargesNothing, ForgetsRequests, game_loss, repeating
from noren.noise import Noise
from noren.similarity import (
    BestRecord,
    NoisyScores,
    RandomizedRecords,
    Records,
    ScoreHistogram,
    ScorePairs,
    SimilarCount,
)
from noren.similarity.asked import ONE_BIT, ONE_RECORD
from noren.similarity.scoring import scores

TWICE: dict[str, Any] = {"epsilon": 2, "adjacency": "bit"}
ONE: dict[str, Any] = {"epsilon": 1, "adjacency": "bit"}
RECORD: dict[str, Any] = {"epsilon": 1, "adjacency": "substitute"}


def rows() -> Iterator[AuditRow]:
    """Examine all."""
    yield one_shot_row()
    yield from caught(mutants())


def one_shot_row() -> AuditRow:
    """Add Gumbel noise once and take the best two: a counter-example, not an offer."""
    return finding(
        "similarity: Gumbel noise once, best two", ONE_BIT, claimed=1.0,
        measured=one_shot_loss(), method="exact", expected=FAILS,
        note="the loss approaches 2 epsilon as the gaps grow; one choice of a set costs epsilon",
    )  # fmt: skip


def one_shot_loss() -> float:
    """Give the worst log ratio over sets when the best of four scores rises from 12 to 13."""
    before, after = (gumbel_sets([best, 0, 0, 0], 1.0) for best in (12, 13))
    return max(log_ratio(before, after), log_ratio(after, before))


def gumbel_sets(found: list[int], epsilon: float) -> Law:
    """Give the law of the two first by score and Gumbel noise (Plackett and Luce), as a set."""
    weights = [Decimal(epsilon * score).exp() for score in found]
    total = sum(weights)
    return {
        pair: weights[i] / total * weights[j] / (total - weights[i])
        + weights[j] / total * weights[i] / (total - weights[j])
        for pair in combinations(range(len(found)), 2)
        for i, j in [pair]
    }


def mutants() -> Iterator[Mutant]:
    """List the faults."""
    for name, fault, adjacency, claimed, measure in (
        ("noisy-scores", "half the noise", ONE_BIT, 1.0,
         world(NoisyScores(query=("0",), **TWICE), 2, 1, WINDOW)),
        ("noisy-scores", "a record's step taken as 1", ONE_RECORD, 1.0,
         world(NoisyScores(query=("0", "1"), **ONE), 1, 2, WINDOW, ONE_RECORD)),
        ("best-record", "a record's step taken as 1", ONE_RECORD, 1.0,
         world(BestRecord(query=("0", "1"), **ONE), 2, 2, 0, ONE_RECORD)),
        ("noisy-scores", "ties broken towards the true score", ONE_BIT, 1.0, tied_by_truth),
        ("noisy-scores", "the walk stops inside a value", ONE_BIT, 1.0, stopped_inside),
        ("top-set", "noise of the best taken k times at epsilon", ONE_BIT, 1.0, peeled_whole),
        ("score-pairs", "charged to the query's columns only", ONE_BIT, 0.0, outside_of_query),
        ("randomized-records", "flips drawn a second time", ONE_BIT, 1.0, flipped_twice),
        ("similar-count", "a threshold chosen from the data", ONE_RECORD, 1.0, own_threshold),
        ("score-histogram", "the factor 2 dropped", ONE_RECORD, 1.0,
         world(ScoreHistogram(query=("0",), **TWICE), 2, 1, 24, ONE_RECORD)),
        ("session", "fresh noise on retry", ONE_BIT, 0.5,
         partial(game_loss, ForgetsRequests, repeating)),
        ("session", "charges not added up", ONE_BIT, 1.0, partial(game_loss, ChargesNothing)),
        ("noisy-scores", "a query by example", ONE_BIT, 1.0, by_example),
        ("noisy-scores", "half the noise, from outside", ONE_BIT, 1.0, sampled),
    ):  # fmt: skip
        yield Mutant(f"similarity: {name}", fault, adjacency, claimed, measure)


def world(
    question: Any, n: int, width: int, window: int, adjacency: object = ONE_BIT
) -> Callable[[], float]:
    """Look at a small world whole."""
    return partial(worst_loss, asking(question), n, width, adjacency, window=window)


def first_by(order: Callable[[Any, Any, Noise], Any]) -> Release:
    """Release the first record by noisy scores, ordered in some way."""

    def release(records: Records, noise: Noise) -> Any:
        true = scores(records, [1] * records.n_columns)
        noisy = true + noise.discrete_laplace(1, len(true))
        return int(order(noisy, true, noise))

    return release


def tied_by_truth() -> float:
    """Break ties towards the higher true score."""
    release = first_by(lambda noisy, true, noise: np.lexsort((-true, -noisy))[0])
    return worst_loss(release, 2, 2, ONE_BIT, window=WINDOW)


def stopped_inside() -> float:
    """Walk over clamped scores and stop inside a value: levels come from the highest down."""

    def order(noisy: Any, true: Any, noise: Noise) -> Any:
        clamped = np.clip(noisy, 0, 3)
        best = np.flatnonzero(clamped == clamped.max())
        level = best[true[best] == true[best].max()]
        return level[noise.permutation(len(level))[0]]

    full, less = (1,) * 9, (1,) * 8 + (0,)  # scores 3, 3, 3 and 3, 3, 2
    pairs = [(full, less), (less, full)]
    return worst_loss(first_by(order), 3, 3, ONE_BIT, window=10, pairs=pairs)


def peeled_whole() -> float:
    """Choose the best record twice, each time at the whole epsilon."""

    def release(records: Records, noise: Noise) -> Any:
        true = scores(records, [1] * records.n_columns)
        first = noise.permute_and_flip(true, 1, 1, monotone=True)
        left = np.delete(np.arange(len(true)), first)
        second = left[noise.permute_and_flip(true[left], 1, 1, monotone=True)]
        return sorted([int(first), int(second)])

    pairs = [(one, other) for one, other in sets_of_nine()]
    return worst_loss(release, 3, 3, ONE_BIT, pairs=pairs)


def sets_of_nine() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Give three records of three bits of given weights, and a bit flipped in the first."""
    for weights in ((2, 3, 0), (1, 3, 0), (0, 3, 1), (2, 3, 1)):
        one = tuple(int(bit < weight) for weight in weights for bit in range(3))
        more = (weights[0] + 1, *weights[1:])
        other = tuple(int(bit < weight) for weight in more for bit in range(3))
        yield one, other
        yield other, one


def outside_of_query() -> float:
    """Flip a bit that the query does not hold: the pair shows it all the same."""
    pairs = [((1, 0), (1, 1)), ((1, 1), (1, 0))]
    release = asking(ScorePairs(query=("0",), n_columns=2, **ONE))
    return worst_loss(release, 1, 2, ONE_BIT, window=WINDOW, pairs=pairs)


def flipped_twice() -> float:
    """Release two draws of the flips for one price."""
    question = RandomizedRecords(**ONE)

    def release(records: Records, noise: Noise) -> Any:
        return [question.answer(records, noise).words.tolist() for _ in range(2)]

    return worst_loss(release, 1, 1, ONE_BIT, window=1)


def own_threshold() -> float:
    """Count the records at the best score: the threshold is shown, and chosen by the data."""

    def release(records: Records, noise: Noise) -> Any:
        top = int(scores(records, [1] * records.n_columns).max())
        question = SimilarCount(query=("0", "1"), threshold=top, **RECORD)
        return [top, question.answer(records, noise).count]

    return worst_loss(release, 2, 2, ONE_RECORD, window=WINDOW)


def by_example() -> float:
    """Search with the bits of the first record as the query: one bit of it moves every score."""

    def release(records: Records, noise: Noise) -> Any:
        true = scores(records, records.bits()[0])
        return (true + noise.discrete_laplace(1, len(true))).tolist()

    pairs = [((1, 0, 1, 1), (1, 1, 1, 1)), ((1, 1, 1, 1), (1, 0, 1, 1))]
    return worst_loss(release, 2, 2, ONE_BIT, window=WINDOW, pairs=pairs)


def sampled() -> float:
    """Bound epsilon from below by samples, through the question itself."""
    noise, question = Noise(), NoisyScores(query=("0",), **TWICE)
    row = audit_callable(
        lambda records: question.answer(records, noise).scores(),
        Records.of(["1", "0"]), Records.of(["0", "0"]), epsilon=1, draws=6_000, alpha=0.01,
    )  # fmt: skip
    return row.measured
