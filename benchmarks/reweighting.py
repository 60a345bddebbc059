"""Sums of a public basis beside bare matrix products; leave-one-out beside densratio's search.

    h         sums of the normalized basis, on the grid, as a release takes them
    h and H   the same and the mean of phi phi', block by block
    bare      the two matrix products of the same shape: rows @ centres', phi' phi
    memory    the peak while streaming 10^5 and 10^6 rows that are made block by block

All run on one thread, in turns in one process. densratio runs its default search in an environment
of its own (`make bench` makes it) and is timed there; without it, that line says so.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.rounds import in_turns, rate_ratios, show
from noren.reweighting import BasisSums, NormalizedBasis, leave_one_out_grid

ROWS, COLUMNS, CENTRES, BLOCK = 1_000_000, 10, 100, 1310
PEER = Path(__file__).parents[1] / ".peers/densratio/bin/python"
SEARCH = """
import json, sys, time
import numpy as np
from densratio import densratio
x, y = (np.array(rows) for rows in json.load(sys.stdin))
begun = time.perf_counter()
densratio(x, y, verbose=False)
print(json.dumps(time.perf_counter() - begun))
"""


def sums() -> float:
    """Compare h and H with the bare products; give how many times longer they take."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((ROWS, COLUMNS)) / 3
    basis = NormalizedBasis(rng.standard_normal((CENTRES, COLUMNS)) / 3, 0.5)
    single = NormalizedBasis(basis.centres, 0.5, "float32")
    turned, phi = np.ascontiguousarray(basis.centres.T), rng.random((BLOCK, CENTRES))

    def both() -> object:
        h, gram = np.zeros(CENTRES), np.zeros((CENTRES, CENTRES))
        for part in basis.blocks(rows):
            h += part.sum(axis=0)
            gram += part.T @ part
        return h, gram

    def bare() -> object:
        gram = np.zeros((CENTRES, CENTRES))
        for start in range(0, ROWS, BLOCK):
            _ = rows[start : start + BLOCK] @ turned
            gram += phi.T @ phi
        return gram

    ways = {
        "h and H": both, "bare": bare, "h": lambda: BasisSums.of(rows, basis),
        "h, float32": lambda: BasisSums.of(rows, single),
    }  # fmt: skip
    seconds = in_turns(ways, rounds=5)
    show("10^6 rows of 10 columns, 100 centres", seconds, "h and H", ROWS, "rows")
    return 1 / statistics.median(rate_ratios(seconds, "h and H", "bare"))


def memory() -> float:
    """Give the peak memory of streaming 10^6 rows, in units of that of 10^5."""
    rng = np.random.default_rng(2)
    basis = NormalizedBasis(rng.standard_normal((CENTRES, COLUMNS)), 0.5)

    def blocks(count: int) -> Iterator[np.ndarray]:
        for _ in range(count // 10_000):
            yield rng.standard_normal((10_000, COLUMNS))

    peaks = []
    for count in (100_000, 1_000_000):
        tracemalloc.start()
        BasisSums.counted(blocks(count), basis)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        print(f"    {count:>10,} rows: peak {peaks[-1] / 1e6:.1f} MB")
    return peaks[1] / peaks[0]


def leave_one_out() -> float | None:
    """Compare the exact grid of 9 by 9 with densratio's default search; give the ratio."""
    rng = np.random.default_rng(3)
    private, public = rng.standard_normal((2, 2000, 5))
    private = private * 0.8 + 0.3
    centres, grid = private[:CENTRES], [10 ** (k / 2) for k in range(-6, 3)]
    ours = []
    for _ in range(3):
        begun = time.perf_counter()
        leave_one_out_grid(private, public, centres, grid, grid)
        ours.append(time.perf_counter() - begun)
    print(
        f"\nLeave one out, n = N = 2000, 5 columns, 100 centres\n    9 x 9 grid: {min(ours):.2f} s"
    )
    if not PEER.exists():
        print("    densratio: no environment; `make bench` makes one")
        return None
    given = json.dumps([private.tolist(), public.tolist()])
    done = subprocess.run(
        [PEER, "-c", SEARCH], input=given, text=True, capture_output=True, check=True
    )
    theirs = float(json.loads(done.stdout.splitlines()[-1]))
    print(f"    densratio's default search: {theirs:.2f} s")
    return theirs / statistics.median(ours)


def main() -> int:
    """Run all, and print the bars."""
    longer, peak, faster = sums(), memory(), leave_one_out()
    bars = {
        "h and H take at most 2.5 times as long as bare products": (
            longer <= 2.5, f"{longer:.2f}"),
        "the peak memory does not grow with the rows": (peak < 1.1, f"{peak:.2f}"),
    }  # fmt: skip
    if faster is not None:
        bars["the exact grid is at least 5 times faster than densratio's search"] = (
            faster >= 5, f"{faster:.1f}")  # fmt: skip
    print("\nBars")
    for bar, (met, figure) in bars.items():
        print(f"    {'met   ' if met else 'MISSED'} {bar}: {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
