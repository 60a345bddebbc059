"""What an exact answer tells apart, and what it leaves possible.

An answer to one query puts records into classes; the records of a class look the same in it.

    scores   a class for each score that occurs; the score is known
    ranks    the same classes in the same order, b of them; the score v_j of rank j is not known,
             but scores differ from class to class, so b - j <= v_j <= q - j + 1
    top-k    the k best records with their scores, ties for the last places at random; all others
             are one class, of which is known that no score passes the k-th, t

Maths (top-k; w the attacker's law of a score, r of the listed records have score t, N are left out)
    The list shows r of the r + m records at t, all choices alike, so m of the N have score t with
    Pr(m) proportional to C(N, m) w(t)^m w(< t)^(N - m) / C(r + m, r). A record that is left out
    then has score t with probability E[m] / N, else one below t by w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import whole
from noren.similarity.confidence import NEVER, Floats, log_score_chances, log_weights

SCORES, RANKS, TOP = "scores", "ranks", "top-k"
KINDS = (SCORES, RANKS, TOP)


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of one answer, best first.

    Attributes
    ----------
    q
        The number of columns of the query.
    members
        members[c, v]: how many records of class c have score v (secret).
    low, high
        The scores that class c can have, whatever the data.
    listed_last
        Top-k: how many of the records with the k-th score are listed; None elsewhere.
    """

    kind: str
    q: int
    members: Any
    low: Any
    high: Any
    listed_last: int | None = None

    @property
    def sizes(self) -> Any:
        """How many records each class has."""
        return self.members.sum(axis=1)

    @property
    def leaves_out(self) -> bool:
        """Whether the last class holds the records that no list names."""
        return self.kind == TOP and self.low[-1] < self.high[-1]

    def within(self, least: int, most: int) -> tuple[Any, Any]:
        """Give the possible scores for an attacker who knows that all lie in least..most."""
        place = np.arange(1, len(self.low) + 1)
        if self.kind == RANKS:
            return least + len(place) - place, most - place + 1
        return np.maximum(self.low, least), np.minimum(self.high, most)

    def log_chances(self, prior: Any) -> Floats:
        """Give log Pr(score = v | answer) for each class, under independent bits."""
        if self.kind == RANKS:
            return log_score_chances(self.sizes.tolist(), self.q, prior)
        found = np.full(self.members.shape, NEVER)
        exact = self.low == self.high
        found[exact, self.high[exact]] = 0.0
        if self.leaves_out:
            found[-1] = self._left_out(log_weights(self.q, prior))
        return found

    def _left_out(self, weights: Floats) -> Floats:
        """Give the law of the score of a record that a top-k list does not name."""
        last, out = int(self.high[-1]), np.full(self.q + 1, NEVER)
        at_last = share_at_last(weights, last, int(self.sizes[-1]), self.listed_last or 0)
        below = np.logaddexp.reduce(weights[:last]) if last else NEVER
        with np.errstate(divide="ignore"):
            if below > NEVER:
                out[:last] = np.log1p(-at_last) + weights[:last] - below
            out[last] = np.log(at_last)
        return out


def share_at_last(weights: Floats, last: int, left: int, listed: int) -> float:
    """Give E[m] / N, the chance that a record left out of a top-k list has the k-th score.

    Examples
    --------
    >>> import numpy as np
    >>> share_at_last(np.log([0.5, 0.5]), 1, left=1, listed=1)  # listed first by chance: 1/2 : 1/4
    0.3333333333333333
    """
    from scipy.special import gammaln

    below = np.logaddexp.reduce(weights[:last]) if last else NEVER
    if below == NEVER:
        return 1.0
    m = np.arange(left + 1)
    choose = gammaln(left + 1) - gammaln(m + 1) - gammaln(left - m + 1)
    listings = gammaln(listed + m + 1) - gammaln(m + 1) - gammaln(listed + 1)
    with np.errstate(invalid="ignore"):
        log_mass = choose - listings + (left - m) * below
        log_mass[1:] += m[1:] * weights[last]
    mass = np.exp(log_mass - log_mass.max())
    return float((mass * m).sum() / mass.sum() / left)


def classes_of(counts: Any, kind: str, k: int | None) -> Classes:
    """Sort the records into the classes of an answer, given how many have each score 0..q."""
    q = len(counts) - 1
    occurring = np.flatnonzero(counts)[::-1]
    b = len(occurring)
    members = np.zeros((b, q + 1), np.int64)
    members[np.arange(b), occurring] = counts[occurring]
    place = np.arange(1, b + 1)
    if kind == RANKS:
        return Classes(kind, q, members, b - place, q - place + 1)
    if kind == SCORES or k is None or k >= counts.sum():
        return Classes(kind, q, members, occurring, occurring)
    return top_classes(members, occurring, k)


def top_classes(members: Any, occurring: Any, k: int) -> Classes:
    """Sort the records into those that a top-k list names, and the rest."""
    reached = int(np.searchsorted(members.sum(axis=1).cumsum(), k))  # the class of the k-th record
    t, named = int(occurring[reached]), k - int(members[:reached].sum())
    listed = members[: reached + 1].copy()
    listed[reached, t] = named
    rest = members[reached:].sum(axis=0)
    rest[t] -= named
    low = np.append(occurring[: reached + 1], -1)
    high = np.append(occurring[: reached + 1], t)
    low[-1] = 0
    return Classes(TOP, members.shape[1] - 1, np.vstack([listed, rest]), low, high, named)


def read_kind(answers: str, k: int | None, records: int) -> int | None:
    """Take the form of the answers; give k where there is one."""
    if answers not in KINDS:
        raise ParameterError("answers", answers, f"one of {', '.join(KINDS)}")
    if (answers == TOP) != (k is not None):
        raise ParameterError("k", k, "given with answers 'top-k', and only then")
    if k is None:
        return None
    if whole("k", k, 1) > records:
        raise ParameterError("k", k, "at most the number of records")
    return k
