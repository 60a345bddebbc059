"""Case and control counts from a .bed: ours beside other readers, and PLINK 2 beside all.

    noren        `count_tables`, warm, on all cores: masks and population counts on the packed bytes
    pgenlib      PLINK 2's own reader: genotype by genotype into bytes, then NumPy counts (one core)
    bed-reader   blocks of float genotypes on all cores, then NumPy counts
    cat          the bytes alone, in another process

Then whole processes, cold: `noren associate scan` of every variant beside `plink2 --geno-counts`
(counts of all people, no test) and `plink2 --glm` (its test). PLINK 2 comes from the system's
packages (Debian: `apt-get install plink2`). 10,000 people.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.association_scan import NOREN, process
from benchmarks.rounds import in_turns, show
from benchmarks.waiting import peer
from noren.association import count_tables, simulate

CASES = CONTROLS = 5_000
VARIANTS = 20_000
COUNT = """
cases = np.zeros(people, bool)
cases[: people // 2] = True
for line in sys.stdin:
    total = 0
    for genotypes in blocks():
        carried = genotypes > 0
        a, b = carried[..., cases].sum(axis=-1), carried[..., ~cases].sum(axis=-1)
        total += int(a.sum() + b.sum())
    print(total, flush=True)
"""
PGENLIB = (
    """
import sys
import numpy as np
import pgenlib
people, variants = map(int, sys.argv[2:])
def blocks():
    reader = pgenlib.PgenReader(sys.argv[1].encode(), raw_sample_ct=people)
    block = np.empty((256, people), np.int8)
    for first in range(0, variants, 256):
        last = min(first + 256, variants)
        reader.read_range(first, last, block[: last - first])
        yield block[: last - first]
"""
    + COUNT
)
BED_READER = (
    """
import sys
import numpy as np
import bed_reader
people, variants = map(int, sys.argv[2:])
def blocks():
    with bed_reader.open_bed(sys.argv[1]) as bed:
        for first in range(0, variants, 256):
            last = min(first + 256, variants)
            yield bed.read(np.s_[:, first:last], dtype="int8", order="F").T
"""
    + COUNT
)


def counting(stem: Path) -> None:
    """Count all tables in turns."""
    bed, people = f"{stem}.bed", CASES + CONTROLS
    found = count_tables(bed)
    ours = int(found.a.sum() + found.b.sum())
    ways: dict[str, Callable[[], object]] = {"noren": lambda: count_tables(bed)}
    with ExitStack() as stack:
        for name, program in (("pgenlib", PGENLIB), ("bed-reader", BED_READER)):
            ask = stack.enter_context(peer("genotypes", program, bed, people, VARIANTS))
            if ask is not None:
                theirs = int(ask("go"))
                print(f"{name} counts {'the same' if theirs == ours else 'ANOTHER ALLELE'}")
                ways[name] = partial(ask, "go")
        ways["cat"] = process("sh", "-c", f"cat '{bed}' > /dev/null")
        seconds = in_turns(ways, rounds=5)
    size = VARIANTS * people // 4
    show(f"{people:,} people, {VARIANTS:,} variants, {size / 1e6:.0f} MB", seconds, "noren",
         VARIANTS, "variants")  # fmt: skip


def whole_processes(stem: Path) -> None:
    """Time commands from start to end."""
    plink = shutil.which("plink2")
    scan = (NOREN, "associate", "scan", str(stem), "--epsilon", "1", "--no-ledger")
    ways = {"noren scan": process(*scan, "--out", str(stem) + ".csv")}
    if plink is not None:
        own = (plink, "--bfile", str(stem), "--out", str(stem))
        ways["plink2 --geno-counts"] = process(*own, "--geno-counts")
        ways["plink2 --glm"] = process(*own, "--glm", "allow-no-covars")
    seconds = in_turns(ways, rounds=3)
    show("The same files, whole processes", seconds, "noren scan", VARIANTS, "variants")
    for name, took in seconds.items():
        print(f"    {name}: {statistics.median(took):.2f} s")
    if plink is None:
        print("    SKIPPED: no plink2 here. On Debian or Ubuntu: apt-get install plink2")


def main() -> int:
    """Run all."""
    with tempfile.TemporaryDirectory() as name:
        stem = Path(name) / "cohort"
        simulate(stem, cases=CASES, controls=CONTROLS, variants=VARIANTS, seed=1)
        counting(stem)
        whole_processes(stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
