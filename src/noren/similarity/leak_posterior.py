"""What an attacker believes after exact scores of a few queries together, exactly.

Maths
    Columns in the same queries form a class c of w_c columns (columns in no query are left out). A
    record's answers depend on how many ones k_c it has in each class. All (k_c) are listed, each
    with weight prod_c f_c(k_c), f_c the law of the sum of its coins (C(w_c, k_c) when every record
    is equally likely), and grouped by the answers that they give. In a group
        Pr(a_ih = 1 | answers) = sum over k of Pr(k_c = k | answers) Pr(a_ih = 1 | k of c are one).
    prod_c (w_c + 1) states at most `MOST_STATES`; with more, only proofs are reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noren.similarity.attacks import MOST_STATES
from noren.similarity.confidence import Floats, beliefs_by_score, log_sum_law, log_weights
from noren.similarity.leak_beliefs import even_beliefs
from noren.similarity.leak_proofs import CELLS, units_of
from noren.similarity.scoring import score_batch
from noren.similarity.statistic import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """What one attacker believes after all answers together, over all cells of all queries."""

    prior: str
    states: int
    max_confidence: float
    min_confidence: float
    certain_ones: int
    certain_zeros: int

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """All counts of ones that the classes can have, sorted by the answers they give."""

    columns: list[Any]  # the columns of each class
    counts: Any  # [state, class]
    begins: Any  # the first state of each group
    codes: Any  # the answers of each group, as one number
    radix: Any  # of the answers to each query


def states_of(queries: Sequence[Sequence[int]], n_columns: int) -> States | None:
    """List the states, or None if they are too many."""
    units = units_of(queries, n_columns)
    widths = [int(width) for width in units.widths]
    total = math.prod(width + 1 for width in widths)
    sizes = [len(columns) + 1 for columns in queries]
    if total > MOST_STATES or math.prod(sizes) >= 1 << 62:
        return None
    counts = np.stack(
        [axis.reshape(-1) for axis in np.indices([w + 1 for w in widths], np.int16)], axis=1
    )
    radix = np.cumprod([1, *sizes[:-1]]).astype(np.int64)
    per_one = np.zeros(len(widths), np.int64)  # what one more in a class adds to the code
    for unit in range(len(widths)):
        own = units.unit_queries[units.unit_begins[unit] : units.unit_begins[unit + 1]]
        per_one[unit] = radix[own].sum()
    codes = counts @ per_one
    order = np.argsort(codes, kind="stable")
    found, begins = np.unique(codes[order], return_index=True)
    columns = [np.flatnonzero(units.of_column == unit) for unit in range(len(widths))]
    return States(columns, counts[order], begins, found, radix)


def posteriors(
    records: Records, queries: Sequence[Sequence[int]], priors: dict[str, Any]
) -> list[Posterior]:
    """Give every attacker's posterior; none if the states are too many."""
    states = states_of(queries, records.n_columns)
    if states is None:
        return []
    seen = groups_seen(records, queries, states)
    return [posterior_of(name, p, states, seen) for name, p in priors.items()]


def groups_seen(records: Records, queries: Sequence[Sequence[int]], states: States) -> Any:
    """Count the records in each group of states that give the same answers."""
    seen = np.zeros(len(states.codes), np.int64)
    step = max(1, CELLS // len(queries))
    for first in range(0, len(records), step):
        part = Records(records.words[first : first + step], records.n_columns)
        codes = score_batch(part, queries).T.astype(np.int64) @ states.radix
        seen += np.bincount(np.searchsorted(states.codes, codes), minlength=len(seen))
    return seen


def posterior_of(name: str, p: Any, states: States, seen: Any) -> Posterior:
    """Add up the beliefs of one attacker over the groups that occur."""
    weights = np.zeros(len(states.counts))
    for unit, columns in enumerate(states.columns):
        weights += class_weights(p, columns)[states.counts[:, unit]]
    group = np.repeat(np.arange(len(seen)), np.diff(np.append(states.begins, len(weights))))
    tops = np.maximum.reduceat(weights, states.begins)
    possible = tops > -np.inf
    mass = np.exp(weights - np.where(possible, tops, 0)[group])
    mass /= np.where(possible, np.add.reduceat(mass, states.begins), 1)[group]
    occurs = (seen > 0) & possible
    highest, lowest, certain = 0.0, 1.0, [0, 0]
    for unit, columns in enumerate(states.columns):
        open_ = np.ones(len(columns), bool) if p is None else (p[columns] > 0) & (p[columns] < 1)
        counts = states.counts[:, unit]
        belief = class_beliefs(p, columns, counts, mass, states.begins, occurs)
        highest, lowest = max(highest, float(belief.max())), min(lowest, float(belief.min()))
        base = 0 if p is None else int((p[columns] == 1).sum())
        alive = np.where(np.isfinite(weights), counts, -1)
        top = np.maximum.reduceat(alive, states.begins)
        alive = np.where(np.isfinite(weights), counts, np.iinfo(np.int16).max)
        bottom = np.minimum.reduceat(alive, states.begins)
        certain[0] += int(seen[occurs & (bottom == base + open_.sum())].sum() * open_.sum())
        certain[1] += int(seen[occurs & (top == base)].sum() * open_.sum())
    return Posterior(
        prior=name,
        states=len(states.counts),
        max_confidence=highest,
        min_confidence=lowest,
        certain_ones=certain[0],
        certain_zeros=certain[1],
    )


def class_weights(p: Any, columns: Any) -> Floats:
    """Give log f_c(k)."""
    return log_weights(len(columns), None) if p is None else log_sum_law(p[columns])


def class_beliefs(
    p: Any, columns: Any, counts: Any, mass: Floats, begins: Any, occurs: Any
) -> Floats:
    """Give Pr(bit = 1) in each group that occurs, a row each, for each column of a class."""
    sums = [np.add.reduceat(mass * (counts == k), begins) for k in range(len(columns) + 1)]
    chances = np.stack(sums, axis=1)[occurs]
    needed = (chances > 0).any(axis=0)
    even = p is None
    table = (even_beliefs(len(columns)) if even else beliefs_by_score(p[columns], needed))[0]
    found: Floats = np.clip(chances @ np.nan_to_num(table), 0.0, 1.0)
    return found
