"""The commands of `noren`, with every option mutated: run as a person would, in one process."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from click.testing import CliRunner
from fuzzing import SECRETS, Target

from noren import Guarantee, Ledger, Noise
from noren.association import count_tables, simulate
from noren.association.handover import write_tables
from noren.association.scoring import SAME_STATUS
from noren.cli import noren
from noren.collaboration import (
    LogisticTraining,
    TrainingRows,
    keygen,
    make_share,
    read_key,
    write_share,
)
from noren.collaboration.consortium import Consortium
from noren.errors import LedgerError
from noren.similarity import Records
from noren.similarity.handover import write_records

BETWEEN = "\x1f"
SECONDS = 60
SCHEMA = """missing = "own"
[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[columns]]
name = "town"
kind = "categorical"
categories = ["Uji", "Nara"]
other = "else"
"""
CONSORTIUM = """name = "hearts"
label = "ill"
max_overlap = 2
[members]
north = "KEY"
[[columns]]
name = "age"
kind = "integer"
lower = 20
upper = 90
missing = "own"
[[columns]]
name = "ill"
kind = "boolean"
missing = { fill = false }
"""
COMMANDS = {
    "associate scan": (
        "study --epsilon 2 --tau 3 --mode agreement",
        "study --epsilon 2 --tau 3 --delta 1e-6 --top 2",
        "study --epsilon 2 --counts",
        "study --epsilon 1 --bits --tau 3 --coding recessive --counted A2",
        "study --epsilon 1 --bits --tau 3 --strata strata.txt",
    ),
    "associate table": ("7 3 20 20 --tau 3 --epsilon 1",),
    "reweight plan": (
        "public.csv --schema schema.toml --epsilon 1 --adjacency add-remove --about 30",
    ),
    "reweight fit": (
        "private.csv public.csv --schema schema.toml --epsilon 1 --adjacency add-remove --about 30 "
        "--out w.csv",
    ),
    "similar search": (
        "bits.csv --query d0,d1 --top 1 --epsilon 1 --account bits",
        "bits.csv --query d0,d2 --threshold 1 --epsilon 0.5 --account bits",
        "bits.csv --query d0 --set 2 --epsilon 1 --account bits",
    ),
    "similar plan": ("--n-records 100 --n-columns 8 --epsilon 1 --queries 4 --size 3 --top 2",),
    "collaborate train": (
        "rows.csv --consortium hearts.toml --organization north --key north.key --out s.zip "
        "--epsilon 2 --adjacency add-remove --size 3",
    ),
    "monitor plan": (
        "--people 60 --horizon 4 --epsilon 2 --threshold 0.5 --reports 2 --task home",
    ),
    "collaborate verify": ("north.zip --consortium hearts.toml",),
    "collaborate inspect": ("north.zip --json",),
    "reweight schema": ("public.csv",),
    "similar leaks": ("bits.csv --query d0,d1",),
    "similar publish": ("bits.csv p.npz --epsilon 2 --account bits",),
    "statistic check": ("bits.parquet", "study.parquet --json"),
    "statistic write": ("similar bits.csv --out b.parquet",
                        "associate study --out a.parquet --coding carrier"),
    "ledger export": ("study --json",),
    "ledger create": ("other --epsilon 1 --adjacency add-remove", "x --rho 0.1 --adjacency bit"),
    "ledger show": ("study",),
    "ledger history": ("study",),
    "explain": ("cell-counts",),
    "config show": ("",),
}  # fmt: skip


def options(folder: Path) -> Iterator[Target]:
    """Give every command with valid arguments, beside a ledger."""
    place = folder / "commands"
    place.mkdir()
    furnish(place)
    feed = command_line(place)
    for command, lines in COMMANDS.items():
        seeds = [BETWEEN.join([*command.split(), *line.split()]).encode() for line in lines]
        words = tuple(f"{BETWEEN}{word}".encode() for line in lines for word in line.split())
        yield Target(f"noren {command}", seeds, feed, 0.05, words)


def furnish(place: Path) -> None:
    """Write the files that the commands name."""
    simulate(place / "study", cases=12, controls=12, variants=8, seed=5, hits=1, block=1)
    ages = np.random.default_rng(1).integers(20, 90, 30)
    table = ["age,town", *(f"{age}.10477,Uji" for age in ages), "73.10477,SECRETWORD"]
    (place / "private.csv").write_text("\n".join(table) + "\n")
    (place / "public.csv").write_text("\n".join(["age,town", *(f"{age},Nara" for age in ages)]))
    (place / "schema.toml").write_text(SCHEMA)
    (place / "bits.csv").write_text("id,d0,d1,d2\np1,1,0,1\np2,0,1,1\np3,1,1,1\n")
    (place / "rows.csv").write_text("age,ill\n7310477,yes\n30,no\n60,yes\n")
    people = (place / "study.fam").read_text().splitlines()
    centres = [" ".join([*row.split()[:2], "ab"[n % 2]]) for n, row in enumerate(people)]
    (place / "strata.txt").write_text("\n".join(["FID IID centre", *centres]) + "\n")
    write_tables(place / "study.parquet", count_tables(place / "study", workers=1), "carrier")
    write_records(place / "bits.parquet", Records.read(place / "bits.csv"))
    public = keygen(place / "north.key")
    (place / "hearts.toml").write_text(CONSORTIUM.replace("KEY", public))
    agreed = Consortium.read(place / "hearts.toml")
    rows = TrainingRows.of(agreed.task, {"age": [30, 60], "ill": ["no", "yes"]})
    asked = LogisticTraining(task=agreed.task, epsilon=1, adjacency="add-remove", size=2)
    share = make_share(asked.answer(rows, Noise()).model, "north", read_key(place / "north.key"))
    write_share(place / "north.zip", share)
    with Ledger.open(place / "l.sqlite") as ledger:
        ledger.create_account("study", Guarantee(SAME_STATUS, epsilon=10**6))
        ledger.create_account("plain", Guarantee("add-remove", epsilon=10**6))
        names = ("d0", "d1", "d2")
        ledger.create_account("bits", Guarantee("bit", epsilon=10**6), columns=names)


def command_line(place: Path) -> Callable[[bytes], object]:
    """Run one command line; whatever was refused must have charged nothing."""
    runner, furniture = CliRunner(), set(place.iterdir())

    def feed(data: bytes) -> object:
        arguments = arguments_of(data)
        before = charged(place)
        environment = {"NOREN_LEDGER": str(place / "l.sqlite"), "NOREN_ACCOUNT": account(arguments)}
        home = Path.cwd()
        os.chdir(place)
        try:
            with an_end():
                done = runner.invoke(noren, arguments, env=environment)
        finally:
            os.chdir(home)
            tidied(place, furniture)
        judged(done, before, charged(place))
        return done.exit_code

    return feed


def tidied(place: Path, furniture: set[Path]) -> None:
    """Take away what a command wrote, so that the next one may write it again."""
    for made in set(place.iterdir()) - furniture:
        if made.is_dir():
            shutil.rmtree(made)
        else:
            made.unlink()


def arguments_of(data: bytes) -> list[str]:
    """Give the arguments; none leaves the folder, is a person's home or holds what no shell can."""
    text = data.decode("utf-8", "replace").replace("\x00", "").replace("/", "_").replace("~", "_")
    return text.split(BETWEEN)


def account(arguments: list[str]) -> str:
    """Name the account that a command is meant for."""
    return "study" if arguments[0] == "associate" else "plain"


def charged(place: Path) -> str:
    """Say what the accounts have spent."""
    with Ledger.open(place / "l.sqlite") as ledger:
        return " ".join(str(ledger.balance(name).head) for name in ("study", "plain", "bits"))


class an_end:  # noqa: N801
    """Let nothing run for ever."""

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self.ring)
        signal.alarm(SECONDS)

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Stop."""
        raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)


def judged(done: Any, before: str, after: str) -> None:
    """Refuse a crash, a traceback, a private value, and a charge for what was refused."""
    if done.exit_code in (2, 3, 4):
        assert before == after, "refused, and charged"
        raise LedgerError(done.stderr)  # looked through for private values like any other refusal
    assert done.exit_code == 0, f"exit code {done.exit_code}: {done.stderr[-300:]}"
    assert "Traceback" not in done.output
    assert not any(secret in done.stderr for secret in SECRETS)
