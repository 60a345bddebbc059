"""The data of the similarity paper: a stand-in, or a reader's own copy of the film ratings.

The ratings (943 people, 1682 films, 100,000 ones) may not be handed on. What a faithful run gives
is known for both: `known` picks the figures that belong to the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from noren.errors import FileProblem
from noren.noise.public import generator
from noren.similarity import Records, stand_in
from noren.similarity.leak_assessing import one_query
from noren.similarity.leak_beliefs import priors_of
from noren.similarity.leak_result import QueryLeak

STAND_IN, FILMS = "stand-in", "film ratings"
SIZES = (1, 2, 4, 8, 16, 32, 64)
ITEMS, PEOPLE = SIZES[-1], 20  # the least that the experiments ask of
STOOD_IN = "on the stand-in: the ratings may not be handed on"


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Records, and their name."""

    name: str
    records: Records

    @property
    def note(self) -> str:
        """What to say of figures that the paper gives for the ratings."""
        return STOOD_IN if self.name == STAND_IN else ""


def data_of(file: Path | None) -> list[Data]:
    """Give the stand-in, and the reader's own copy where there is one."""
    made = [Data(STAND_IN, stand_in())]
    if file is None:
        return made
    records = Records.read(file, "movielens")
    if records.n_columns < ITEMS or (records.weights() >= ITEMS).sum() < PEOPLE:
        raise FileProblem(
            f"{file} is too small for the paper's queries, but it must be a copy of its ratings "
            f"(u.data): {PEOPLE} people or more with {ITEMS} items each."
        )
    return [*made, Data(FILMS, records)]


@lru_cache(maxsize=64)
def random_columns(n_columns: int, size: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Draw random queries; of one column, take every column once, which needs no luck."""
    if size == 1:
        return tuple((column,) for column in range(n_columns))
    public = generator(1682 + size)
    return tuple(
        tuple(np.sort(public.choice(n_columns, size, replace=False)).tolist()) for _ in range(count)
    )


@lru_cache(maxsize=64)
def rank_leaks(data: Data, size: int, count: int) -> tuple[QueryLeak, ...]:
    """Say what ranks give away for each of some random queries, by the code of leak reports."""
    priors = priors_of(data.records, None)
    return tuple(
        one_query(data.records, columns, "ranks", None, priors)[0]
        for columns in random_columns(data.records.n_columns, size, count)
    )
