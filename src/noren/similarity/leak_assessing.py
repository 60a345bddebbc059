"""Compute a leak report: one pass over the records for each query, then one for the proofs.

Memory beside the records is a few numbers a record; the largest table has a row for each score and
a column for each column of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from noren.similarity.attacks import determined_columns
from noren.similarity.leak_answers import SCORES, Classes, classes_of, read_kind
from noren.similarity.leak_beliefs import priors_of, summarize
from noren.similarity.leak_posterior import posteriors
from noren.similarity.leak_proofs import Proofs, prove_all
from noren.similarity.leak_result import LeakReport, QueryLeak, RecordLeak
from noren.similarity.leak_workload import read_workload
from noren.similarity.leak_worst import worst_cases
from noren.similarity.scoring import Scores, level_sizes, query_words, score_columns
from noren.similarity.statistic import Records

TOP_RECORDS = 10
EXACT_COLUMNS = 20  # of so many the integer programme answers in seconds
Progress = Callable[[int, int | None], None]


def leak_report(
    records: Records,
    workload: Any,
    *,
    answers: str = SCORES,
    k: int | None = None,
    prior: Any = None,
    seed: int = 1,
    progress: Progress = lambda done, total: None,
) -> LeakReport:
    """Say what exact answers to a workload would give away; the result is secret.

    Parameters
    ----------
    records : Records
    workload
        A list of queries, or `RandomQueries`.
    answers : str
        "scores", "ranks" or "top-k" (names with scores, ties for the last places at random).
    k : int, optional
        How many a top-k list names.
    prior : array, optional
        What a third attacker takes for Pr(bit = 1), by column.
    seed : int
        Public: decides the ties of top-k lists.
    progress
        Told how much is done, and how much there is.

    Examples
    --------
    >>> records = Records.of(["10001", "11100", "01100", "00011"])
    >>> report = leak_report(records, [["1", "2", "3"], ["1", "3"]])
    >>> print(report.headline)
    2 exact answers (scores) prove at least 30.0% of all bits and 0 of 4 records whole.
    5 queries of one column each recover everything.
    """
    wanted = read_kind(answers, k, len(records))
    queries = [columns for columns in read_workload(records, workload) if columns]
    priors = priors_of(records, prior)
    said, leaks = [], []
    parts = 2 * len(queries)
    for done, columns in enumerate(queries):
        progress(done, parts)
        leak, classes = one_query(records, columns, answers, wanted, priors)
        leaks.append(leak)
        said.append(classes)
    share = len(queries) / len(records)
    proofs = prove_all(
        records, queries, said, seed, lambda n: progress(len(queries) + int(n * share), parts)
    )
    exact_scores = all((classes.low == classes.high).all() for classes in said)
    together = posteriors(records, queries, priors) if exact_scores else []
    return LeakReport(
        answers=answers,
        k=wanted,
        records=len(records),
        columns=records.n_columns,
        queries=tuple(leaks),
        **shares(records, proofs),
        linear=names(records, np.flatnonzero(proofs.linear >= 0)),
        exact=exactly_determined(records, queries) if exact_scores else None,
        posteriors=tuple(together),
        worst=tuple(worst_cases(records, answers, wanted)),
    )


def one_query(
    records: Records,
    columns: Sequence[int],
    answers: str,
    k: int | None,
    priors: dict[str, Any],
) -> tuple[QueryLeak, Classes]:
    """Say what one answer gives away, and which classes it makes."""
    scores = score_columns(records, columns)
    q = len(columns)
    counts = level_sizes(scores, q)
    classes = classes_of(counts, answers, k)
    ones = ones_by_score(records, columns, scores)
    chosen = list(columns)
    beliefs = [
        summarize(name, None if p is None else p[chosen], classes, ones)
        for name, p in priors.items()
    ]
    levels = int((counts > 0).sum())
    leak = QueryLeak(
        columns=names(records, columns),
        levels=levels,
        max_share=int(np.flatnonzero(counts)[-1]) / q,
        published_bound=(levels - 1) / q,
        beliefs=tuple(beliefs),
    )
    return leak, classes


def ones_by_score(records: Records, columns: Sequence[int], scores: Scores) -> Any:
    """Count, for each score and column of the query, the records with that score and a one."""
    from noren.similarity.leak_kernel import tally

    place = np.zeros(64 * records.words.shape[1], np.int64)
    place[list(columns)] = np.arange(len(columns))
    out = np.zeros((len(columns) + 1, len(columns)), np.int64)
    tally(records.words, query_words(columns, records.words.shape[1]), place, scores, out)
    return out


def shares(records: Records, proofs: Proofs) -> dict[str, Any]:
    """Put proofs into shares of the whole, and name the records of which most is proven."""
    cells = len(records) * records.n_columns
    ones = max(1, int(records.column_counts().sum()))
    growth = [
        (t + 1, int(proven) / cells, int(found) / ones)
        for t, (proven, found) in enumerate(proofs.growth)
    ]
    some = np.argpartition(-proofs.proven, min(TOP_RECORDS, len(records)) - 1)[:TOP_RECORDS]
    order = some[np.lexsort((some, -proofs.proven[some]))]
    top = [
        RecordLeak(
            record=records.id_of(int(row)),
            proven=int(proofs.proven[row]),
            ones=int(proofs.proven_ones[row]),
            completed=int(proofs.completed[row]) + 1 if proofs.completed[row] >= 0 else None,
        )
        for row in order
    ]
    return {
        "proven": growth[-1][1],
        "proven_ones": growth[-1][2],
        "recovered": int((proofs.completed >= 0).sum()),
        "growth": tuple(growth),
        "top": tuple(top),
    }


def exactly_determined(
    records: Records, queries: Sequence[Sequence[int]]
) -> tuple[str, ...] | None:
    """Run the exact test where few columns are in any query."""
    kept = sorted({column for columns in queries for column in columns})
    if len(kept) > EXACT_COLUMNS:
        return None
    matrix = np.array([[column in columns for column in kept] for columns in queries], np.int64)
    return names(records, np.array(kept)[sorted(determined_columns(matrix))])


def names(records: Records, columns: Any) -> tuple[str, ...]:
    """Name columns."""
    return tuple(records.name_of(int(column)) for column in columns)
