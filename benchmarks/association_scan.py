"""A private top-20 scan beside PLINK's plain one, whole processes; and what such a scan finds.

    noren    `noren associate scan --top 20`, from the .bed to the answer, charged to a ledger
    plink    `plink1.9 --assoc` on the same files, which writes chi-squared for every variant
    read     the bytes of the .bed alone, by `cat`

All start in turns; what a process needs to begin (an interpreter, libraries, compiled code) is in
its time. PLINK comes from the system's packages (Debian: `apt-get install plink1.9`).

Then: how much of the true top 20 a scan of 5,000 people and 50,000 variants finds at epsilon 1,
without and with delta, for single variants and for loci.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rounds import in_turns, rate_ratios, show
from noren.association import (
    CaseControl,
    Loci,
    Tables,
    TopSnps,
    chi_squared,
    count_tables,
    simulate,
)  # fmt: skip
from noren.noise import Noise

NOREN = str(Path(sys.executable).with_name("noren"))
DELTA = "1e-6"
DRAWS = 40


def process(*command: str) -> Callable[[], None]:
    """Run a command, silently, and be sure that it went well; bytecode is kept, as usual."""
    usual = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        done = subprocess.run(command, capture_output=True, text=True, env=usual)
        if done.returncode:
            raise RuntimeError(done.stderr)

    return run


def beside_plink(folder: Path, variants: int) -> float | None:
    """Compare whole processes, on 1 GB of genotypes unless told; None without PLINK."""
    stem, ledger = str(folder / "cohort"), str(folder / "ledger.sqlite")
    simulate(stem, cases=10_000, controls=10_000, variants=variants, seed=1)
    process(NOREN, "ledger", "create", "study", "--ledger", ledger, "--adjacency", "substitute",
            "--within", "same status", "--epsilon", "1000", "--delta", "0.001")()  # fmt: skip
    scan = (NOREN, "associate", "scan", stem, "--top", "20", "--epsilon", "1", "--delta", DELTA)
    ways: dict[str, Callable[[], object]] = {
        "noren": process(*scan, "--ledger", ledger, "--account", "study"),
        "noren, no ledger": process(*scan, "--no-ledger"),
    }
    plink = shutil.which("plink1.9")
    if plink:
        plain = (plink, "--bfile", stem, "--assoc", "--allow-no-sex", "--out", stem)
        ways["plink"] = process(*plain)
        ways["plink, one thread"] = process(*plain, "--threads", "1")
    ways["read"] = process("sh", "-c", f"cat '{stem}.bed' > /dev/null")
    seconds = in_turns(ways)
    title = f"20,000 people, {variants:,} variants, {variants / 2e5:g} GB: whole processes"
    show(title, seconds, "noren", variants * 5_000, "bytes")
    print(*(f"    {name}: {statistics.median(took):.2f} s" for name, took in seconds.items()),
          sep="\n")  # fmt: skip
    if plink is None:
        print("    SKIPPED: no plink1.9 here, so nothing is compared with PLINK. On Debian or "
              "Ubuntu: apt-get install plink1.9")  # fmt: skip
        return None
    return statistics.median(rate_ratios(seconds, "noren", "plink"))


def found(folder: Path, cases: int, variants: int, block: int, seed: int) -> None:
    """Print the share of the true top 20, and of the planted loci, that a scan finds."""
    made = simulate(folder / "hits", cases=cases, controls=cases, variants=variants, block=block,
                    seed=seed)  # fmt: skip
    tables = count_tables(folder / "hits.bed")
    assert tables.sites is not None
    blocks = Loci.read(made.loci, tables.sites)
    names = {name: place for place, name in enumerate(tables.sites.names)}
    planted = {int(blocks.of[names[name]]) for name in made.hits}
    print(f"\n{2 * cases:,} people, {variants:,} variants in blocks of {block}, 20 planted hits, "
          f"{DRAWS} draws")  # fmt: skip
    print(
        f"{'unit':9}{'epsilon':>8}{'delta':>8}  {'way':10}{'r':>5}{'top 20':>8}{'planted loci':>14}"
    )
    for loci in (None, blocks) if block > 1 else (None,):
        for epsilon in (1, 3):
            for delta in ("0", DELTA):
                asked = TopSnps(design=CaseControl.of(tables), variants=tables.sites, top=20,
                                epsilon=epsilon, delta=delta, loci=loci)  # fmt: skip
                top, hit = recall(asked, tables, blocks, planted)
                print(f"{asked.unit:9}{epsilon:>8}{delta:>8}  {asked.method or '':10}"
                      f"{asked.r:>5.1f}{top:>8.2f}{hit:>14.2f}")  # fmt: skip


def recall(asked: Any, tables: Tables, blocks: Loci, planted: set[int]) -> tuple[float, float]:
    """Give the mean shares found over some answers."""
    strength = np.asarray(chi_squared(tables))
    if asked.loci is not None:
        largest = np.zeros(len(blocks))
        np.maximum.at(largest, blocks.of, strength)
        strength = largest
    true = set(np.argsort(-strength, kind="stable")[:20].tolist())
    shares = []
    for _ in range(DRAWS):
        chosen = asked.answer(tables, Noise()).chosen.tolist()
        own: Sequence[int] = chosen if asked.loci is not None else blocks.of[chosen].tolist()
        shares.append((len(true & set(chosen)) / 20, len(planted & set(own)) / len(planted)))
    top, hit = np.mean(shares, axis=0)
    return float(top), float(hit)


def main(variants: int = 200_000) -> int:
    """Run all, and print the bar; another number of variants may be given."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ratio = beside_plink(folder, variants)
        found(folder, 2_500, 50_000, 1, seed=4)
        found(folder, 2_500, 50_000, 50, seed=5)
    if ratio is not None:
        met = "met   " if ratio >= 1 else "MISSED"
        print(f"\nBars\n    {met} a private top-20 scan is not slower than PLINK's: {ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
