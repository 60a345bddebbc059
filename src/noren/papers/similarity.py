"""Privacy breach and differential privacy of similarity search, on vectors of private bits.

Figure 1    how sure one exact answer makes an attacker, by the size of the query
Figure 2    where the paper's noise moves scores
Table 1     how many of the best records survive the noise: not reproducible from the text

The theorems follow as rows with the figure that decides each, then what many exact answers give
away, and how useful the paper's mechanisms are beside better ones. Everything stands on public
stand-in data; with `--movielens FILE` also on a reader's own copy of the ratings (`u.data`), on
which the paper's experiments were made. The paper describes them as 1000 x 1700; they are 943 x
1682 with 100,000 ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from noren.papers.rows import PaperRow
from noren.papers.similarity_charts import charts as charts
from noren.papers.similarity_counts import table_one
from noren.papers.similarity_data import FILMS, STAND_IN, Data, data_of
from noren.papers.similarity_errata import errata
from noren.papers.similarity_figures import figure_one, figure_two
from noren.papers.similarity_useful import many_rows, one_query_rows, other_rows, repaired_rows
from noren.similarity.standin import SHA256, digest

SHAPE, ONES = (943, 1682), 100_000
STAND_IN_ONES = 100_080


def rows(
    quick: bool, progress: Callable[[int, int | None], None], movielens: Path | None = None
) -> Iterator[PaperRow]:
    """Give figures, table, theorems, attacks and usefulness, for each of the data."""
    queries = 300 if quick else 4000
    tried = 200 if quick else 400
    parts: list[Callable[[], Iterator[PaperRow]]] = []
    for data in data_of(movielens):
        parts += [
            partial(identity, data),
            partial(figure_one, data, queries),
            partial(figure_two, data, queries),
            partial(table_one, data, 400),
            partial(errata, data, queries),
            partial(one_query_rows, data, tried),
            partial(repaired_rows, data, tried),
            partial(many_rows, data),
            partial(other_rows, data, tried // 4),
        ]
    for done, part in enumerate(parts):
        progress(done, len(parts))
        yield from part()


def identity(data: Data) -> Iterator[PaperRow]:
    """Say which data these are."""
    records = data.records
    shape, ones = (len(records), records.n_columns), int(records.column_counts().sum())
    own = data.name == STAND_IN
    known = digest(records) == SHA256 if own else (shape, ones) == (SHAPE, ONES)
    yield PaperRow(
        experiment="data",
        setting=data.name,
        quantity="records x columns, ones",
        published="1000 x 1700",
        ours=f"{shape[0]} x {shape[1]}, {ones}",
        tolerance=None,
        ok=known and shape == SHAPE and ones == (STAND_IN_ONES if own else ONES),
        note="the ratings have 943 x 1682 and 100,000 ones" if own else f"{FILMS} of a reader",
    )
