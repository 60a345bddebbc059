"""What one exact answer makes an attacker believe, over all records and columns of the query.

Two attackers always, a third if the caller has one in mind; bits are independent for each:

    uniform     every database was equally likely before (as published)
    marginals   knows the column frequencies; the headline. With many records the uniform attacker
                takes the largest group to have score q/2, whatever the data, and is misled.
    given       the caller's own probabilities

Maths (class c of the answer, column h; see `confidence` and `leak_answers`)
    Pr(a_ih = 1 | answer) = sum over v of Pr(score = v | answer) Pr(a_ih = 1 | score = v), and so
    for 0. A cell is certain only by necessity (all scores that are possible make it so), never
    because a number was rounded; a bit that the prior knew is no leak. Gain: the largest
    |log odds after - log odds before| of an open bit.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.similarity.confidence import NEVER, Floats, beliefs_by_score, log_odds, read_prior
from noren.similarity.leak_answers import Classes
from noren.similarity.statistic import Records

SMALLEST, BEST = -700.0, 3  # log of a chance that floats still hold; scores kept of each class
UNIFORM, MARGINALS, GIVEN = "uniform", "marginals", "given"
LABELS = {
    UNIFORM: "every database equally likely (as published)",
    MARGINALS: "attacker knows column frequencies",
    GIVEN: "attacker has the given prior",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefSummary:
    """What one attacker believes after one answer; secret.

    Attributes
    ----------
    prior
        Which attacker.
    max_confidence, min_confidence
        The largest and least Pr(bit = 1) over the cells of the query that were open before.
    top_confidence
        The mean of it over the query's columns, for the best class (the paper's g(1)).
    certain_ones, certain_zeros
        Cells that are certain now and were not before.
    largest_gain
        In log odds; infinite if a cell became certain.
    mean_error
        Mean over cells of |confidence - bit|.
    calibration_error
        Mean over records of |mean confidence - true share of ones|: is the attacker misled?
    """

    prior: str
    max_confidence: float
    min_confidence: float
    top_confidence: float
    certain_ones: int
    certain_zeros: int
    largest_gain: float
    mean_error: float
    calibration_error: float

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return asdict(self)


def priors_of(records: Records, given: Any) -> dict[str, Any]:
    """Give the attackers, the headline first; None stands for all databases alike."""
    known = records.column_counts() / len(records)
    if given is None:
        return {MARGINALS: known, UNIFORM: None}
    chances = read_prior(given)
    if len(chances) != records.n_columns:
        raise ParameterError(
            "prior", f"of {len(chances)} columns", f"one for each of {records.n_columns}"
        )
    return {GIVEN: chances, MARGINALS: known, UNIFORM: None}


def summarize(prior: str, p: Any, classes: Classes, ones: Any) -> BeliefSummary:
    """Say what an attacker believes.

    Parameters
    ----------
    prior, p
        Which attacker; its probability of a one in each column of the query, or None.
    classes
        The answer.
    ones
        ones[v, h]: how many of the records with score v have a one in column h.
    """
    q = classes.q
    log_chances = classes.log_chances(p)
    by_score = even_beliefs(q) if p is None else beliefs_by_score(p, likely(log_chances))
    chances = np.exp(log_chances)
    one, zero = (np.broadcast_to(chances @ np.nan_to_num(t), (len(chances), q)) for t in by_score)
    open_ = np.ones(q, bool) if p is None else (p > 0) & (p < 1)
    least = 0 if p is None else int((p == 1).sum())
    low, high = classes.within(least, least + int(open_.sum()))
    all_ones, all_zeros = low == least + open_.sum(), high == least
    sure = all_ones | all_zeros
    certain = [int(classes.sizes[kind].sum() * open_.sum()) for kind in (all_ones, all_zeros)]
    mean, shown = one.mean(axis=1), one[:, open_] if open_.any() else one
    share = np.abs(mean[:, None] - np.arange(q + 1) / q)
    return BeliefSummary(
        prior=prior,
        max_confidence=float(shown.max()),
        min_confidence=float(shown.min()),
        top_confidence=float(mean[0]),
        certain_ones=certain[0],
        certain_zeros=certain[1],
        largest_gain=largest_gain(p, one, zero, sure, log_chances, by_score, open_),
        mean_error=mean_error(classes, ones, one),
        calibration_error=float((classes.members * share).sum() / classes.sizes.sum()),
    )


def likely(log_chances: Floats) -> Any:
    """Say which scores matter: those with a chance that a float can hold, and each class's best."""
    best = np.sort(log_chances, axis=1)[:, -min(BEST, log_chances.shape[1])][:, None]
    chosen = (log_chances > SMALLEST) | (log_chances >= best)
    return (chosen & np.isfinite(log_chances)).any(axis=0)


def even_beliefs(q: int) -> tuple[Floats, Floats]:
    """Give Pr(1 | score v) = v / q, and Pr(0 | v), for any column; one column stands for all."""
    v = np.arange(q + 1.0)[:, None]
    return v / q, (q - v) / q


def mean_error(classes: Classes, ones: Any, belief: Any) -> float:
    """Give the mean over cells of |belief - bit|."""
    totals = classes.members.sum(axis=0)
    rates = np.divide(ones, totals[:, None], out=np.zeros(ones.shape), where=totals[:, None] > 0)
    held = classes.members @ rates  # ones of each class in each column
    wrong = held * (1 - belief) + (classes.sizes[:, None] - held) * belief
    return float(wrong.sum() / (classes.sizes.sum() * classes.q))


def largest_gain(
    p: Any, one: Any, zero: Any, sure: Any, log_chances: Floats, by_score: Any, open_: Any
) -> float:
    """Give the largest change of log odds of an open bit; of what vanished, by logarithms."""
    if not open_.any():
        return 0.0
    if sure.any():
        return math.inf
    with np.errstate(divide="ignore"):
        after = (np.log(one) - np.log(zero))[:, open_]
    before = np.zeros(1) if p is None else log_odds(p[open_])
    for c in np.flatnonzero(~np.isfinite(after).all(axis=1)):
        logs = [log_mix(log_chances[c], table) for table in by_score]
        after[c] = np.broadcast_to(logs[0] - logs[1], one.shape[1:])[open_]
    return float(np.abs(after - before).max())


def log_mix(log_chances: Floats, table: Floats) -> Floats:
    """Give log of the sum over v of chance(v) table[v, h]."""
    with np.errstate(divide="ignore"):
        logs = np.where(np.isnan(table), NEVER, np.log(table)) + log_chances[:, None]
    mixed: Floats = np.logaddexp.reduce(logs, axis=0)
    return mixed
