"""The covariate-adjusted score test beside reading the genotypes, each on one core.

    noren, adjusted        sums of every variant and its score at one threshold: two passes
    noren, further tau     the score at another threshold, the sums being known
    noren, plain counts    `count_tables`: the same files without covariates
    noren, reading         the packed bytes through our reader, and nothing else
    bed-reader, pgenlib    the same genotypes read into bytes, one a person, and nothing else

50,000 people, six covariates. The bar is to stay within three times of reading the genotypes; what
reading costs depends on into what, so all are shown.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rounds import in_turns, show
from benchmarks.waiting import peer
from noren.association import count_tables, open_adjusted, simulate
from noren.association.counting import ranges
from noren.data.bed import open_bed

CASES = CONTROLS = 25_000
VARIANTS = 4_000
READ = """
import sys
import numpy as np
people, variants = map(int, sys.argv[2:])
{open}
for line in sys.stdin:
    total = 0
    for first in range(0, variants, 256):
        last = min(first + 256, variants)
        {read}
        total += int(block[0, 0])
    print(total, flush=True)
"""
READERS = {
    "pgenlib": (
        "import pgenlib\n"
        "reader = pgenlib.PgenReader(sys.argv[1].encode(), raw_sample_ct=people)\n"
        "room = np.empty((256, people), np.int8)",
        "block = room[: last - first]; reader.read_range(first, last, block)",
    ),
    "bed-reader": (
        "import bed_reader\nbed = bed_reader.open_bed(sys.argv[1], num_threads=1)",
        "block = bed.read(np.s_[:, first:last], dtype='int8', order='F', num_threads=1)",
    ),
}


def write_covariates(stem: Path) -> Path:
    """Write five covariates: two categories, three sizes."""
    random = np.random.default_rng(1)
    path = stem.with_suffix(".cov")
    with path.open("w") as file:
        file.write("FID IID sex batch age income distance\n")
        for line in stem.with_suffix(".fam").read_text().splitlines():
            family, person = line.split()[:2]
            sizes = " ".join(f"{size:.3f}" for size in random.normal(size=3))
            file.write(f"{family} {person} {random.integers(2)} {random.integers(2)} {sizes}\n")
    return path


def read_through(bed_path: Path) -> None:
    """Read every block, and touch it."""
    bed = open_bed(bed_path)
    for piece in ranges(bed, np.ones(len(bed.sites), bool)):
        for block in piece.read():
            int(block.words[0])


def main() -> int:
    """Run all."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        stem = Path(name) / "cohort"
        simulate(stem, cases=CASES, controls=CONTROLS, variants=VARIANTS, seed=1)
        study = open_adjusted(stem, write_covariates(stem), workers=1)
        counted = study.count(None)
        tau = Fraction("29.716785")

        def adjusted() -> None:
            fresh = type(counted)(
                counted.layout, counted.pieces, counted.first_allele, counted.wanted, workers=1
            )
            study.design.scores(fresh.counted(None), tau)

        ways: dict[str, Callable[[], object]] = {
            "noren, adjusted": adjusted,
            "noren, further tau": lambda: study.design.scores(counted, tau),
            "noren, further tau 3.84": lambda: study.design.scores(counted, Fraction("3.84")),
            "noren, plain counts": lambda: count_tables(stem, workers=1),
            "noren, reading": lambda: read_through(stem),
        }
        for reader, (opened, read) in READERS.items():
            program = READ.format(open=opened, read=read)
            ask = stack.enter_context(
                peer("genotypes", program, f"{stem}.bed", CASES + CONTROLS, VARIANTS)
            )
            if ask is not None:
                ways[f"{reader}, reading"] = partial(ask, "go")
        seconds = in_turns(ways, rounds=5)
        size = VARIANTS * (CASES + CONTROLS) // 4
        columns = counted.layout.model.columns
        title = f"{CASES + CONTROLS:,} people, {columns} columns, {size / 1e6:.0f} MB, one core"
        show(title, seconds, "noren, adjusted", VARIANTS, "variants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
