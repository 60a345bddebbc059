"""Asks per second beside a bare loop of the same two durable commits, and how that grows.

    ask     charge, committed; draw; store the answer, committed: the whole of `Ledger.ask`
    bare    the same rows in the same tables, written by sqlite3 alone in the same two commits
    fsync   two appends of a page to a file, each followed by fsync: what the disk can do at all

All three write to the same disk, in turns. The second table asks until the account has 100,000
entries (an ask makes two) and shows the time of one ask along the way, beside bare loops between.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from benchmarks.rounds import in_turns, rate_ratios, show
from noren import Guarantee
from noren.ledger import Ledger
from noren.mechanisms import CellCounts, Counts

ASKS = 200  # in one turn
MARKS = (2_000, 20_000, 40_000, 60_000, 80_000, 100_000)  # entries, two for each ask
COPIED = ("kind", "time", "amount", "delta", "body", "previous", "hash")


def asker(place: Path) -> Callable[[], None]:
    """Ask the same small question again and again, each time with a new id."""
    ledger = Ledger.open(place)
    ledger.create_account("cohort", Guarantee("add-remove", epsilon=1_000_000))
    counts = Counts.of([0, 0, 1, 2], cells=3)
    question = CellCounts(cells=("a", "b", "c"), epsilon="0.5", adjacency="add-remove")

    def ask() -> None:
        for _ in range(ASKS):
            ledger.ask("cohort", question, counts)

    return ask


def bare(place: Path, like: Path) -> Callable[[], None]:
    """Write the rows of one ask of `like`, in two durable commits each time, and nothing else."""
    Ledger.open(place).create_account("cohort", Guarantee("add-remove", epsilon=1_000_000))
    with closing(sqlite3.connect(like)) as ledger:
        one = f"SELECT {', '.join(COPIED)} FROM entries WHERE kind = ?"
        charged, answered = (ledger.execute(one, (k,)).fetchone() for k in ("charged", "answered"))
        array = ledger.execute("SELECT data FROM arrays").fetchone()[0]
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    account, seal = connection.execute("SELECT id, seal FROM accounts").fetchone()
    numbers = count(1)
    names = ("account", "sequence", "request", *COPIED)
    add = f"INSERT INTO entries ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    add_array = "INSERT INTO arrays VALUES (?, ?, 0, 0, ?)"
    move = "UPDATE accounts SET spent=?, spent_delta=?, length=?, head=?, seal=? WHERE id=?"

    def commit(row: tuple, request: str, data: bytes | None) -> None:
        number = next(numbers)
        connection.execute("BEGIN IMMEDIATE")
        if data is not None:
            connection.execute(add_array, (account, request, data))
        connection.execute(add, (account, number, request, *row))
        connection.execute(move, (number, 0, number, row[-1], seal, account))
        connection.execute("COMMIT")

    def write() -> None:
        for _ in range(ASKS):
            request = os.urandom(18).hex()
            commit(charged, request, None)
            commit(answered, request, array)

    return write


def fsync(place: Path) -> Callable[[], None]:
    """Append a page and make it durable, twice for each ask."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append() -> None:
        for _ in range(2 * ASKS):
            os.write(handle, bytes(4096))
            os.fsync(handle)

    return append


def growth(ask: Callable[[], None], write: Callable[[], None]) -> Iterator[tuple]:
    """Ask until there are many entries; give the time of an ask and of a bare one on the way."""
    entries, ours, theirs = 0, [], []
    for mark in MARKS:
        while entries < mark:
            for way, took in ((ask, ours), (write, theirs)):
                start = time.perf_counter()
                way()
                took.append((time.perf_counter() - start) / ASKS)
            entries += 2 * ASKS
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        yield entries, statistics.median(ours), statistics.median(theirs), ratio
        ours.clear(), theirs.clear()


def pair(folder: Path, name: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """Give an asker and a bare loop, each on a ledger of its own."""
    ask = asker(folder / f"{name}.sqlite")
    ask()
    return ask, bare(folder / f"{name}-bare.sqlite", like=folder / f"{name}.sqlite")


def main(folder: Path) -> None:
    """Print both tables."""
    ask, write = pair(folder, "turns")
    ways = {"ask": ask, "bare": write, "fsync": fsync(folder / "plain")}
    seconds = in_turns(ways, rounds=21)
    show("Ledger.ask on SQLite, FULL", seconds, "ask", ASKS, "asks")
    median = statistics.median(rate_ratios(seconds, "ask", "bare"))
    print(f"asked for: at least 0.50 of the bare loop; measured {median:.2f}")
    print(f"\n{'entries':>8}{'ms an ask':>12}{'ms bare':>12}{'ask / bare, rates':>20}")
    for entries, ours, theirs, ratio in growth(*pair(folder, "growing")):
        print(f"{entries:8}{1e3 * ours:12.3f}{1e3 * theirs:12.3f}{ratio:20.2f}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        main(Path(folder))
