"""Counting genotypes beside summing and reading the same bytes; distances; p-values.

    count   the tables of every variant, from the packed file, in blocks that a core keeps near
    sum     the sum of the same bytes as 8-byte words, in the same blocks: the physical limit
    read    the blocks alone

All run on one thread, in turns in one process. Distances and p-values are shown in seconds of
processor time, compilation apart.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.rounds import in_turns, rate_ratios, show
from noren.association import Tables, signed_distance, simulate
from noren.association.counting import Counter, count_compiled, ranges, shifted_masks
from noren.association.pvalue import tail_table
from noren.association.score_law import Design
from noren.data.bed import SPARE, Packed, open_bed
from noren.data.people import Groups, groups

CODINGS = ("carrier", "heterozygous", "allelic")


def counting(folder: Path) -> float:
    """Compare counting with summing and reading; give the ratio for carriers."""
    simulate(folder / "cohort", cases=10_000, controls=10_000, variants=60_000, seed=1)
    bed = open_bed(folder / "cohort")
    everything = np.ones(len(bed.sites), bool)
    pieces, people = ranges(bed, everything), groups(bed.people)

    def over(work: Callable[[object], object]) -> Callable[[], None]:
        def run() -> None:
            for piece in pieces:
                for block in piece.read():
                    work(block)

        return run

    def count(coding: str) -> Callable[[], None]:
        counter = Counter.of(coding, people, everything)
        return lambda: [counter(piece.read()) for piece in pieces] and None

    ways = {f"count {coding}": count(coding) for coding in CODINGS}
    ways |= {"sum": over(lambda block: block.words.sum()), "read": over(lambda block: None)}
    seconds = in_turns(ways)
    size = len(bed.sites) * bed.row_bytes
    show("20,000 people, 60,000 variants, 300 MB", seconds, "count carrier", size, "bytes")
    return statistics.median(rate_ratios(seconds, "count carrier", "sum"))


def kernel() -> float:
    """Compare the counting loop with summing, without reading: 250 MB that lie in memory."""
    people, rows = 20_000, 50_000
    rng = np.random.default_rng(2)
    words = rng.integers(0, 2**64, rows * people // 32 + SPARE, dtype=np.uint64)
    is_case = np.arange(people) % 2 == 0
    block = Packed(words, 0, rows)
    masks, out = shifted_masks(is_case, ~is_case), np.zeros((2, rows), np.int64)

    def count(coding: str) -> Callable[[], None]:
        counter = Counter.of(coding, Groups(is_case, ~is_case), np.ones(rows, bool))
        return lambda: count_compiled(counter, block, people // 4, masks, out)

    ways = {f"count {coding}": count(coding) for coding in CODINGS} | {"sum": words.sum}
    seconds = in_turns(ways)
    show("The loop alone, 250 MB in memory", seconds, "count carrier", rows * people // 4, "bytes")
    return statistics.median(rate_ratios(seconds, "count carrier", "sum"))


def distances() -> float:
    """Time a million distances, and give the worst of some shapes."""
    print("\nA million distances (seconds of processor time)")
    rng, worst = np.random.default_rng(1), 0.0
    for m1, m2, tau in ((250_000, 250_000, 29.7), (25_000, 475_000, 29.7), (2**24, 2**24, 3.84)):
        rate = rng.uniform(0.01, 0.99, 10**6)
        shift = 2 * rng.normal(size=10**6) * np.sqrt(rate * (1 - rate) * (m1 + m2) / m1 / m2)
        a = np.clip(np.rint(m1 * (rate + shift * m2 / (m1 + m2))), 0, m1)
        b = np.clip(np.rint(m2 * (rate - shift * m1 / (m1 + m2))), 0, m2)
        tables = Tables(a, b, m1, m2)
        signed_distance(tables.select(slice(20_000)), tau)  # compile
        begun = time.process_time()
        signed_distance(tables, tau)
        took = time.process_time() - begun
        print(f"{m1:>12,} cases {m2:>12,} controls {took:8.2f}")
        worst = max(worst, took)
    return worst


def p_values() -> float:
    """Time all p-values of a design, and give those of 50,000 people."""
    print("\nAll p-values of a design, permutation and common rate (seconds of processor time)")
    tail_table(Design.read(600, 600, 3.84), Fraction(1, 7), "common_rate")  # compile
    balanced = 0.0
    for m1, m2 in ((2_500, 2_500), (500, 4_500), (25_000, 25_000), (5_000, 45_000)):
        took = []
        for null in ("permutation", "common_rate"):
            begun = time.process_time()
            tail_table(Design.read(m1, m2, 3.84), Fraction(1, 10), null)
            took.append(time.process_time() - begun)
        print(f"{m1:>12,} cases {m2:>12,} controls {took[0]:8.2f} {took[1]:8.2f}")
        balanced = took[0] if m1 == 25_000 else balanced
    return balanced


def main() -> int:
    """Run all, and print the bars."""
    with tempfile.TemporaryDirectory() as folder:
        ratio = counting(Path(folder))
    alone, slowest, all_scores = kernel(), distances(), p_values()
    bars = {
        "counting a file is at least 0.5 of the rate of summing it": (ratio >= 0.5, f"{ratio:.2f}"),
        "so is the loop alone, in memory": (alone >= 0.5, f"{alone:.2f}"),
        "a million distances take less than 10 s": (slowest < 10, f"{slowest:.2f} s"),
        "all p-values of 50,000 people take less than 2 s": (all_scores < 2, f"{all_scores:.2f} s"),
    }
    print("\nBars")
    for bar, (met, figure) in bars.items():
        print(f"    {'met   ' if met else 'MISSED'} {bar}: {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
