"""Where a collector keeps counts: one SQLite file, written ahead and synced at every commit.

Kept for ever: counts by epoch, slot and class, and how many messages were not counted and why. Kept
while a slot is open, and for a while after, is who answered in it and how, so that a message that
comes twice is counted once; then it is deleted, and overwritten.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noren.errors import FileProblem

TABLES = """
CREATE TABLE IF NOT EXISTS facts(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS epochs(epoch INTEGER PRIMARY KEY, key BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS members(
    epoch INTEGER, client TEXT, key BLOB NOT NULL, kind INTEGER NOT NULL, rank INTEGER NOT NULL,
    PRIMARY KEY(epoch, client)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts(
    epoch INTEGER, slot INTEGER, kind INTEGER, reports INTEGER NOT NULL, ones INTEGER NOT NULL,
    PRIMARY KEY(epoch, slot, kind)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uncounted(
    epoch INTEGER, slot INTEGER, why TEXT, messages INTEGER NOT NULL,
    PRIMARY KEY(epoch, slot, why)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answered(
    epoch INTEGER, slot INTEGER, client TEXT, y INTEGER NOT NULL,
    PRIMARY KEY(epoch, slot, client)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sealed(
    epoch INTEGER, slot INTEGER, decision TEXT NOT NULL, announced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(epoch, slot)) WITHOUT ROWID;
"""
TABLE_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"
ADD_COUNT = """INSERT INTO counts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    reports = reports + excluded.reports, ones = ones + excluded.ones"""
ADD_UNCOUNTED = """INSERT INTO uncounted VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    messages = messages + excluded.messages"""


class CountsFile:
    """The tables of a collector."""

    def __init__(self, path: str | Path) -> None:
        try:
            self.connection = sqlite3.connect(path, isolation_level=None)
            refuse_others(self.connection, path)
            self.connection.execute("PRAGMA journal_mode=WAL")
            self.connection.execute("PRAGMA synchronous=FULL")
            self.connection.execute("PRAGMA secure_delete=ON")
            self.connection.executescript(TABLES)
        except sqlite3.Error as error:
            raise FileProblem(
                f"{path} cannot be opened as a file of counts ({type(error).__name__}). "
                "Name another file, or see who may write there."
            ) from None

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all that follows, or nothing of it."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read rows."""
        return self.connection.execute(statement, values).fetchall()

    def fact(self, name: str) -> Any:
        """Read a stored fact; None where there is none."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(found[0][0]) if found else None

    def store_fact(self, name: str, value: Any) -> None:
        """Store a fact."""
        self.connection.execute("REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    def counts(self, epoch: int, slot: int) -> dict[int, tuple[int, int]]:
        """Give (reports, ones) of a slot by class."""
        statement = "SELECT kind, reports, ones FROM counts WHERE epoch = ? AND slot = ?"
        return {kind: (reports, ones) for kind, reports, ones in self.rows(statement, epoch, slot)}

    def sealed_through(self) -> dict[int, int]:
        """Give the last sealed slot of each epoch."""
        return dict(self.rows("SELECT epoch, max(slot) FROM sealed GROUP BY epoch"))

    def decisions(self, announced: bool | None = None) -> Iterator[dict[str, Any]]:
        """Give stored decisions in order; with `announced`, only those that were (or were not)."""
        only = "" if announced is None else f"WHERE announced = {int(announced)}"
        for (text,) in self.rows(f"SELECT decision FROM sealed {only} ORDER BY epoch, slot"):
            yield json.loads(text)

    def answered(self) -> Iterable[tuple[int, int, str, int]]:
        """Give who answered in the slots that are remembered."""
        return self.rows("SELECT epoch, slot, client, y FROM answered")


def refuse_others(connection: sqlite3.Connection, path: str | Path) -> None:
    """Refuse a database of something else, such as a ledger, before anything is written there."""
    tables = {name for (name,) in connection.execute(TABLE_NAMES)}
    if tables and "facts" not in tables:
        connection.close()
        raise FileProblem(
            f"{path} is a database of something else. Give the counts a file of their own."
        )
