"""Small worlds of bit records: every data set, every neighbor, and the exact law of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from noren.audit.enumerated import law_of
from noren.audit.exact import Law, log_ratio
from noren.noise import Noise
from noren.similarity import Records
from noren.similarity.asked import ONE_BIT, ONE_RECORD

Bits: TypeAlias = "tuple[int, ...]"
Release: TypeAlias = Callable[[Records, Noise], Any]
FLOOR = Decimal("1e-4")  # rarer outcomes may be touched by the cut of the tails
WINDOW = 18


def databases(n: int, width: int) -> list[Bits]:
    """List all records of n rows and `width` columns, row after row."""
    return list(product((0, 1), repeat=n * width))


def records_of(bits: Bits, width: int) -> Records:
    """Make records of one of them."""
    return Records.of(np.array(bits).reshape(-1, width))


def apart(one: Bits, other: Bits, width: int, adjacency: object) -> bool:
    """Tell whether two data sets are neighbors: by one bit, or by one row."""
    places = [
        place for place, pair in enumerate(zip(one, other, strict=True)) if len(set(pair)) > 1
    ]
    if adjacency == ONE_BIT:
        return len(places) == 1
    assert adjacency == ONE_RECORD
    return len({place // width for place in places}) == 1


def neighbors(n: int, width: int, adjacency: object) -> Iterator[tuple[Bits, Bits]]:
    """Give every ordered pair of neighbors."""
    every = databases(n, width)
    for one, other in product(every, repeat=2):
        if apart(one, other, width, adjacency):
            yield one, other


def law_under(release: Release, bits: Bits, width: int, window: int) -> Law:
    """Give the exact law of a release on one data set."""
    return law_of(partial(release, records_of(bits, width)), window=window)[0]


def worst_loss(
    release: Release,
    n: int,
    width: int,
    adjacency: object,
    *,
    window: int = 0,
    pairs: Sequence[tuple[Bits, Bits]] | None = None,
) -> float:
    """Find the largest log ratio over all neighbors of a small world, or over some pairs."""
    some = list(neighbors(n, width, adjacency)) if pairs is None else pairs
    laws: dict[Bits, Law] = {}
    for bits in dict.fromkeys(bits for pair in some for bits in pair):
        laws[bits] = law_under(release, bits, width, window)
    floor = FLOOR if window else Decimal(0)
    return max(log_ratio(laws[one], laws[other], floor) for one, other in some)


def asking(question: Any) -> Release:
    """Release the answer of a question."""
    return lambda records, noise: question.answer(records, noise)
