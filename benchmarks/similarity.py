"""Scoring a million records beside summing the same bytes, and beside faiss's binary flat index.

    rows         common ones of one query and every record, from rows packed into 64-bit words
    batch        the same for 16 queries in one pass
    sum          the sum of the same words: how fast they can be read at all
    postings     the same scores from the lists of the query's columns
    numpy        the row scan without the compiler
    csr, blas    a sparse product (SciPy), a dense one of float32 (a tenth of the records)
    faiss        exact top 10 by Hamming distance, from its own environment

    top-10       the row scan and the 10 best; private: the same with noisy scores, drawn lazily

One thread, all ways of a table in turns in one process (faiss in a second one that waits in
between), so ratios hold under changing load. Density 1/16.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.rounds import Seconds, in_turns, rate_ratios, show
from noren import Noise
from noren.similarity import NoisyScores, Records
from noren.similarity.scoring import add_up, query_words, scan, scan_batch

RECORDS, TIMED = 1_000_000, 10
PEER = Path(__file__).parents[1] / ".peers" / "faiss" / "bin" / "python"
PEER_PROGRAM = """
import sys
import faiss
import numpy
faiss.omp_set_num_threads(1)
words = numpy.load(sys.argv[1], mmap_mode="r").view(numpy.uint8)
index = faiss.IndexBinaryFlat(words.shape[1] * 8)
index.add(numpy.ascontiguousarray(words))
query = numpy.load(sys.argv[2]).view(numpy.uint8).reshape(1, -1)
print("ready", flush=True)
for line in sys.stdin:
    found = index.search(query, 10)
    print("done", flush=True)
"""
Way = Callable[[], object]
Bars = list[tuple[str, bool, str]]


def made(columns: int) -> Records:
    """Make a million records in which one bit in 16 is a one."""
    public = np.random.default_rng(columns)
    words = public.integers(0, 2**64, (RECORDS, columns // 64), dtype=np.uint64)
    for _ in range(3):
        words &= public.integers(0, 2**64, words.shape, dtype=np.uint64)
    return Records(words, columns)


def some(columns: int, size: int) -> list[int]:
    """Choose a query."""
    chosen = np.random.default_rng(size).choice(columns, size, replace=False)
    return sorted(chosen.tolist())


def median_ratio(seconds: Seconds, ours: str, other: str) -> float:
    """Give the median over the rounds of how many times faster ours is."""
    return statistics.median(rate_ratios(seconds, ours, other))


def row_scan(records: Records, folder: Path) -> Bars:
    """Compare the row scan with summing, NumPy and faiss."""
    words, columns = records.words, records.n_columns
    queries = np.array([query_words(some(columns, 32 + i), words.shape[1]) for i in range(16)])
    ways: dict[str, Way] = {
        "rows": lambda: scan(words, queries[0]),
        "sum": words.sum,
        "numpy": lambda: numpy_scan(words, queries[0]),
        "batch of 16": lambda: scan_batch(words, queries),
    }
    peer = waiting_peer(words, queries[0], folder)
    if peer is not None:
        ways["faiss top-10"] = lambda: asked(peer)
    seconds = in_turns(ways)
    if peer is not None:
        peer.communicate("")
    seconds["batch of 16"] = [took / 16 for took in seconds["batch of 16"]]
    show(f"A million records of {columns} bits, by rows", seconds, "rows", RECORDS, "records")
    limit = median_ratio(seconds, "rows", "sum")
    bars: Bars = [
        (f"rows of {columns} bits at 0.8 of the rate of summing them", limit >= 0.8, f"{limit:.2f}")
    ]
    if peer is not None:
        over = median_ratio(seconds, "rows", "faiss top-10")
        bars.append((f"rows of {columns} bits faster than faiss", over > 1, f"{over:.2f} times"))
    return bars


def numpy_scan(words: np.ndarray, query: np.ndarray) -> None:
    """Score in blocks, without the compiler."""
    for first in range(0, len(words), 4096):
        np.bitwise_count(words[first : first + 4096] & query).sum(axis=1, dtype=np.int32)


def waiting_peer(
    words: np.ndarray, query: np.ndarray, folder: Path
) -> subprocess.Popen[str] | None:
    """Start faiss on the same records, if its environment is here."""
    if not PEER.exists():
        print("\nfaiss is not here: `make bench` makes its environment")
        return None
    np.save(folder / "words.npy", words)
    np.save(folder / "query.npy", query)
    peer = subprocess.Popen(
        [PEER, "-c", PEER_PROGRAM, folder / "words.npy", folder / "query.npy"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert peer.stdout is not None
    peer.stdout.readline()
    return peer


def asked(peer: subprocess.Popen[str]) -> None:
    """Let the peer work once."""
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.write("go\n")
    peer.stdin.flush()
    peer.stdout.readline()


def postings(records: Records) -> Bars:
    """Compare posting lists with the row scan, by size of the query."""
    lists = records.prepare().postings
    assert lists is not None
    bars: Bars = []
    for size in (4, 16, 54):
        columns = some(records.n_columns, size)
        query = query_words(columns, records.words.shape[1])
        seconds = in_turns(
            {
                "postings": lambda own=columns: add_up(lists, own, RECORDS),
                "rows": lambda own=query: scan(records.words, own),
            }
        )
        title = f"A million records of {records.n_columns} bits, a query of {size} columns"
        show(title, seconds, "postings", RECORDS, "records")
        over = median_ratio(seconds, "postings", "rows")
        if size == 16:
            bars.append(("postings 5 times faster than rows, 16 columns", over >= 5, f"{over:.1f}"))
    return bars


def products(records: Records) -> None:
    """Time the ways of general libraries, on fewer records."""
    few = Records(records.words[: RECORDS // 10], records.n_columns)
    bits = few.bits()
    dense, rows = bits.astype(np.float32), sparse.csr_matrix(bits.astype(np.int32))
    columns = some(few.n_columns, 32)
    query = np.zeros(few.n_columns, np.float32)
    query[columns] = 1
    words, whole = query_words(columns, few.words.shape[1]), query.astype(np.int32)
    seconds = in_turns(
        {
            "rows": lambda: scan(few.words, words),
            "csr": lambda: rows @ whole,
            "blas float32": lambda: dense @ query,
        }
    )
    title = f"A hundred thousand records of {few.n_columns} bits"
    show(title, seconds, "rows", len(few), "records")


def private(records: Records) -> Bars:
    """Compare plain and private top 10, both by row scan."""
    columns = some(records.n_columns, 64)
    query = query_words(columns, records.words.shape[1])
    bare, noise = Records(records.words, records.n_columns), Noise()  # without posting lists
    question = NoisyScores(query=tuple(map(str, columns)), epsilon=1, adjacency="bit", depth=10)

    def plain() -> object:
        found = scan(records.words, query)
        best = np.argpartition(found, len(found) - 10)[-10:]
        return best[np.argsort(-found[best])]

    seconds = in_turns(
        {
            "private top-10": lambda: question.answer(bare, noise).top(10),
            "plain top-10": plain,
            "rows": lambda: scan(records.words, query),
        },
        rounds=TIMED,
    )
    title = f"Top 10 of a million records of {records.n_columns} bits, epsilon 1"
    show(title, seconds, "private top-10", RECORDS, "records")
    more = 1 / median_ratio(seconds, "private top-10", "plain top-10") - 1
    return [("private top-10 adds less than 50 % to plain", more < 0.5, f"{100 * more:.0f} %")]


def main() -> int:
    """Run all, and print the bars."""
    bars: Bars = []
    for columns in (1024, 2048):
        records = made(columns)
        with tempfile.TemporaryDirectory() as folder:
            bars += row_scan(records, Path(folder))
        if columns == 1024:
            products(records)
            bars += postings(records)
        bars += private(records)
    print("\nBars")
    for bar, met, figure in bars:
        print(f"    {'met   ' if met else 'MISSED'} {bar}: {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
