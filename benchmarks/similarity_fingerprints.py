"""Jaccard (Tanimoto) scores of fingerprints beside RDKit's.

    noren   common ones by row scan, then the similarity from stored weights, one thread
    rdkit   `BulkTanimotoSimilarity` over explicit bit vectors, from its own environment
    sum     the sum of the same words: how fast they can be read at all

A hundred thousand fingerprints of 1024 bits, one bit in 16 a one; ours count for every record.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rounds import in_turns, show
from benchmarks.similarity import some
from benchmarks.waiting import peer
from noren.similarity.scoring import query_words, scan

RECORDS, COLUMNS = 100_000, 1024
RDKIT = """
import sys
import numpy as np
from rdkit import DataStructs
words = np.load(sys.argv[1])
query = DataStructs.CreateFromFPSText(np.load(sys.argv[2]).tobytes().hex())
vectors = [DataStructs.CreateFromFPSText(row.tobytes().hex()) for row in words]
for line in sys.stdin:
    print(sum(DataStructs.BulkTanimotoSimilarity(query, vectors)), flush=True)
"""


def main() -> int:
    """Score in turns, and see that both found the same."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, (RECORDS, COLUMNS // 64), dtype=np.uint64)
    for _ in range(3):
        words &= rng.integers(0, 2**64, words.shape, dtype=np.uint64)
    columns = some(COLUMNS, 64)
    query, weights = query_words(columns, words.shape[1]), np.bitwise_count(words).sum(axis=1)

    def ours() -> float:
        common = scan(words, query)
        return float((common / (weights + len(columns) - common)).sum())

    ways: dict[str, Callable[[], object]] = {"noren": ours, "sum": words.sum}
    with tempfile.TemporaryDirectory() as name:
        np.save(Path(name) / "words.npy", words)
        np.save(Path(name) / "query.npy", query)
        with peer("rdkit", RDKIT, Path(name) / "words.npy", Path(name) / "query.npy") as ask:
            if ask is not None:
                assert abs(float(ask("go")) / ours() - 1) < 1e-9
                ways["rdkit"] = partial(ask, "go")
            seconds = in_turns(ways)
    title = f"{RECORDS:,} fingerprints of {COLUMNS} bits, one query of {len(columns)}"
    show(title, seconds, "noren", RECORDS, "records")
    return 0


if __name__ == "__main__":
    sys.exit(main())
