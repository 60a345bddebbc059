"""How useful each way of searching would be, tried on one's own records with public randomness.

Maths (u true scores, k wanted)
    P@k     the share of the k named records with u not below the k-th largest u (ties count)
    NDCG@k  sum of u / log2(1 + place) over the k named, over the same for the best k

    geometric     u + Z, ties at random          published      the paper's law at half of epsilon
    recalibrated  the paper's law at its true loss
    peeled        k choices of one record, each at epsilon / k, as general libraries do it
    top-set       one choice of a set             random-order   no look at the data
    randomized    scores from randomized records, unbiased; `shrunk` the same, with their prior

Nothing here is a release: the figures show how the private records behave. They are marked secret,
cost nothing, and must stay with the records' keeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import Number, read_epsilon, whole
from noren.similarity.as_published import drawn, published_epsilon, published_law
from noren.similarity.formulas import bit_sensitivity, similarity
from noren.similarity.laws import Floats, flip_probability, read_k
from noren.similarity.published import Published
from noren.similarity.published_prior import BLOCK
from noren.similarity.scoring import Scores, score_columns
from noren.similarity.statistic import Records
from noren.similarity.top_set import TopSet, draw_set

Rule: TypeAlias = "Callable[[Scores, int, float, int, Any], Any]"


@dataclass(frozen=True, slots=True)
class Tried:
    """A query, and the record that it was taken from, if any: that one is not ranked."""

    columns: tuple[int, ...]
    left_out: int | None = None


@dataclass(frozen=True, slots=True)
class SecretUse:
    """Mean P@k and NDCG@k of a way of searching, with the standard error of the first."""

    precision: float
    ndcg: float
    error: float
    queries: int


def random_queries(records: Records, size: int, count: int, seed: int) -> list[Tried]:
    """Choose columns uniformly."""
    public, most = generator(seed), records.n_columns
    if whole("size", size, 1) > most:
        raise ParameterError("size", size, f"at most {most}, the number of columns")
    return [
        Tried(tuple(sorted(public.choice(most, size, replace=False).tolist())))
        for _ in range(count)
    ]


def queries_of_records(records: Records, size: int, count: int, seed: int) -> list[Tried]:
    """Take `size` ones of a record that has so many: an experiment, never a private search."""
    public = generator(seed)
    enough = np.flatnonzero(records.weights() >= whole("size", size, 1))
    if not enough.size:
        raise ParameterError("size", size, "the weight of some record")
    found = []
    for row in public.choice(enough, count).tolist():
        ones = np.flatnonzero(row_bits(records, row))
        chosen = public.choice(ones, size, replace=False)
        found.append(Tried(tuple(sorted(chosen.tolist())), row))
    return found


def row_bits(records: Records, row: int) -> Any:
    """Unpack one record."""
    from noren.data.bits import unpack

    return unpack(records.words[row : row + 1], records.n_columns)[0]


def by_value(values: Any, k: int, public: Any) -> Any:
    """Give the k largest, ties at random."""
    mixed = public.permutation(len(values))
    return mixed[np.argsort(-values[mixed], kind="stable")[:k]]


def two_sided(scale: float, count: int, public: Any) -> Any:
    """Draw two-sided geometric noise, simulated."""
    share = -np.expm1(-1 / scale)
    return public.geometric(share, count) - public.geometric(share, count)


def geometric(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Order by noisy scores."""
    return by_value(u + two_sided(1 / epsilon, len(u), public), k, public)


def published(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Order by the paper's scores, which claim twice their parameter."""
    return by_value(drawn(published_law(q + 1, epsilon / 2), u, public), k, public)


def recalibrated(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Order by the paper's scores at the parameter whose true loss is epsilon."""
    law = published_law(q + 1, published_epsilon(q, epsilon))
    return by_value(drawn(law, u, public), k, public)


def peeled(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Choose k times, each at epsilon / k, by permute-and-flip."""
    left, chosen = np.arange(len(u)), []
    for _ in range(k):
        place = int(np.argmax(u[left] + public.exponential(k / epsilon, len(left))))
        chosen.append(left[place])
        left = np.delete(left, place)
    return np.array(chosen)


def top_set(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Choose a set, ordered at random."""
    base = TopSet(query=("any",), k=k, epsilon=read_epsilon(epsilon), adjacency="bit").base  # type: ignore[arg-type]
    return public.permutation(draw_set(u, k, base, PublicDraws(public)))  # type: ignore[arg-type]


def random_order(u: Scores, q: int, epsilon: float, k: int, public: Any) -> Any:
    """Look at nothing."""
    return public.permutation(len(u))[:k]


RULES: dict[str, Rule] = {
    "geometric": geometric,
    "published": published,
    "recalibrated": recalibrated,
    "peeled": peeled,
    "top-set": top_set,
    "random-order": random_order,
}


class PublicDraws:
    """The two draws that a set needs, from public randomness."""

    def __init__(self, public: Any) -> None:
        self.public = public

    def choose(self, weights: Sequence[int]) -> int:
        """Choose an index by whole weights of any length."""
        total = sum(weights)
        return int(self.public.choice(len(weights), p=[weight / total for weight in weights]))

    def subset(self, n: int, k: int) -> Any:
        """Choose k of n."""
        return self.public.choice(n, k, replace=False)


def quality(u: Scores, chosen: Any, k: int) -> tuple[float, float]:
    """Give P@k and NDCG@k of the chosen records."""
    best = np.sort(u)[::-1][:k]
    discount = 1 / np.log2(2 + np.arange(k))
    ideal = float(best @ discount)
    gained = float(u[chosen] @ discount[: len(chosen)])
    return float((u[chosen] >= best[-1]).mean()), gained / ideal if ideal else 1.0


def try_rules(
    records: Records,
    queries: Sequence[Tried],
    epsilon: Number,
    *,
    rules: Iterable[str] = tuple(RULES),
    k: int = 10,
    seed: int,
) -> dict[str, SecretUse]:
    """Try ways of answering one query at a price, on many queries (simulated, secret).

    Examples
    --------
    >>> from noren.similarity import stand_in
    >>> queries = random_queries(stand_in(), 64, 20, seed=1)
    >>> found = try_rules(stand_in(), queries, 4, rules=["geometric"], seed=1)
    >>> found["geometric"].precision > 0.9
    True
    """
    size, price, public = read_k(k, len(records) - 1), float(read_epsilon(epsilon)), generator(seed)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in rules}
    for asked in queries:
        u = truth(records, asked)
        for name, marks in found.items():
            marks.append(quality(u, RULES[name](u, len(asked.columns), price, size, public), size))
    return {name: summed(marks) for name, marks in found.items()}


def try_randomized(
    records: Records, queries: Sequence[Tried], epsilon: Number, *, k: int = 10, seed: int
) -> dict[str, SecretUse]:
    """Randomize the records once and try every query on them (simulated, secret)."""
    public = generator(seed)
    noisy = Published(flipped(records, flip_probability(epsilon), public), read_epsilon(epsilon))
    size = read_k(k, len(records) - 1)
    marks: dict[str, list[tuple[float, float]]] = {"randomized": [], "shrunk": []}
    for asked in queries:
        u = truth(records, asked)
        for name, own in marks.items():
            values = noisy.scores(list(asked.columns), shrunk=name == "shrunk")
            if asked.left_out is not None:
                values = np.delete(values, asked.left_out)
            own.append(quality(u, by_value(values, size, public), size))
    return {name: summed(own) for name, own in marks.items()}


def truth(records: Records, asked: Tried) -> Scores:
    """Score the records, without the one that the query was taken from."""
    u = score_columns(records, asked.columns)
    return u if asked.left_out is None else np.delete(u, asked.left_out)


def flipped(records: Records, flip: float, public: Any) -> Records:
    """Randomize every bit, simulated."""
    from noren.data.bits import packed

    words = np.empty_like(records.words)
    for first in range(0, len(words), BLOCK):
        part = records.words[first : first + BLOCK]
        coins = public.random((len(part), records.n_columns)) < flip
        words[first : first + BLOCK] = part ^ packed(coins)
    return Records(words, records.n_columns)


def summed(marks: Sequence[tuple[float, float]]) -> SecretUse:
    """Give means and the standard error."""
    found: Floats = np.array(marks)
    error = float(found[:, 0].std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
    precision, ndcg = found.mean(axis=0).tolist()
    return SecretUse(precision, ndcg, error, len(found))


def try_similarity(
    records: Records,
    queries: Sequence[Tried],
    epsilon: Number,
    name: str,
    *,
    min_weight: int = 0,
    k: int = 10,
    seed: int,
) -> dict[str, SecretUse]:
    """Try Laplace noise on a ratio against two noisy counts, at one price (simulated, secret)."""
    public, price = generator(seed), float(read_epsilon(epsilon))
    marks: dict[str, list[tuple[float, float]]] = {"ratio": [], "pair": []}
    weights = records.weights()
    for asked in queries:
        q, kept = len(asked.columns), np.ones(len(records), bool)
        kept[[asked.left_out] if asked.left_out is not None else []] = False
        inside = score_columns(records, asked.columns)[kept].astype(np.int64)
        outside = weights[kept] - inside
        exact = similarity(name, inside, outside, q)
        step = bit_sensitivity(name, q, min_weight) / price
        pair = [count + two_sided(1 / price, len(count), public) for count in (inside, outside)]
        seen = np.clip(pair[0], 0, q), np.clip(pair[1], 0, records.n_columns - q)
        for way, values in (
            ("ratio", exact + public.laplace(0, step, len(exact))),
            ("pair", similarity(name, *seen, q)),
        ):
            marks[way].append(quality(exact, by_value(values, k, public), k))
    return {way: summed(own) for way, own in marks.items()}


def try_naming(
    records: Records, queries: Sequence[Tried], epsilon: Number, *, k: int = 10, seed: int
) -> tuple[float, float]:
    """Try to name every record with a score of the k-th best, a whole record being protected.

    Each record says whether it matches, with a lie of probability 1 / (1 + e^epsilon): the best
    that a rule for each record alone can do. Gives precision and recall over all queries
    (simulated, secret).
    """
    public, lie = generator(seed), flip_probability(epsilon)
    right = named = wanted = 0
    for asked in queries:
        u = truth(records, asked)
        match = u >= np.sort(u)[-k]
        said = match ^ (public.random(len(u)) < lie)
        right, named = right + int((match & said).sum()), named + int(said.sum())
        wanted += int(match.sum())
    return right / max(named, 1), right / wanted
