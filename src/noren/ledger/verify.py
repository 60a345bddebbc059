"""Recompute every chain and every total, and name whatever does not agree.

For each account the entries are read in order: numbers without a gap, each carrying the hash of
the one before and its own; no answer without its charge, none twice, stored arrays as they were;
no total above the budget at any moment. Then the running totals are compared with what the
entries add up to. On SQLite the file's own structure is checked too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from noren.errors import ParameterError, RecordDamaged
from noren.ledger.account import Opened, columns_digest, read_opened
from noren.ledger.asking import arrays_of
from noren.ledger.chain import ANSWERED, CHARGED, GENESIS, OPENED, hash_of, sealed
from noren.ledger.database import Database, Row, Transaction
from noren.ledger.history import rows_of
from noren.ledger.statements import (
    ARRAY_OWNERS,
    ARRAY_ROWS,
    ENTRY_COUNT,
    EVERY_ACCOUNT,
    EVERY_COLUMN,
    INTEGRITY,
    STRAY_ENTRIES,
)
from noren.privacy.amounts import Amounts
from noren.question import identity_of_form

HEAD = re.compile("[0-9a-f]{64}")
NOTHING = Amounts(0)
FIRST = -(2**62)  # below every sequence number
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, SyntaxError)  # damaged content


@dataclass(frozen=True, slots=True)
class Verification:
    """A ledger that agrees with itself: how much was checked, and the heads to keep elsewhere."""

    ledger: str
    accounts: int
    entries: int
    heads: dict[str, str]

    def __str__(self) -> str:
        return f"{self.ledger} agrees with itself: accounts {self.accounts}, entries {self.entries}"


def verified(database: Database, head: str | None) -> Verification:
    """Check everything; raise `RecordDamaged` with all findings, if there are any."""
    findings, walks = examined(database, None if head is None else read_head(head))
    if findings:
        listed = "\n  ".join(findings)
        raise RecordDamaged(
            f"{database.shown} does not agree with itself:\n  {listed}\nAsk nothing more of it. "
            "Restore the newest backup that holds the last head hash you kept.",
            tuple(findings),
        )
    return Verification(
        database.shown,
        len(walks),
        sum(walk.next for walk in walks),
        {walk.row["name"]: walk.row["head"] for walk in walks},
    )


def read_head(given: object) -> str:
    """Take a whole head hash: a part of one would look like a ledger that lost its tail."""
    text = given.strip().lower() if isinstance(given, str) else ""
    if not HEAD.fullmatch(text):
        raise ParameterError(
            "head",
            repr(given)[:80],
            "64 hexadecimal digits",
            "Copy the whole head hash of an answer's receipt; history shows its beginning only.",
        )
    return text


def examined(database: Database, head: str | None) -> tuple[list[str], list[Walk]]:
    """Give everything that is wrong, and the walks that found it."""
    walks: list[Walk] = []
    findings: list[str] = []
    try:
        with database.read() as transaction:
            if database.is_sqlite:
                findings += structure_of(transaction, database)
            walks += [Walk(row) for row in transaction.all(EVERY_ACCOUNT)]
            for walk in walks:
                walk.run_through(transaction)
            findings += strays(transaction, walks)
    except RecordDamaged as damage:
        findings += damage.findings
    findings += [finding for walk in walks for finding in walk.findings]
    if head is not None and not any(head in walk.heads for walk in walks):
        findings.append(
            f"head {head}: no account holds it; the tail was cut off, an older copy was put back, "
            "or it belongs to another ledger"
        )
    return [readable(finding) for finding in findings], walks


def readable(finding: str) -> str:
    """Write damaged bytes, which may be no text, as their numbers."""
    return finding.encode("utf-8", "backslashreplace").decode()


def structure_of(transaction: Transaction, database: Database) -> Iterator[str]:
    """Ask SQLite whether the file's structure is whole."""
    for row in transaction.all(INTEGRITY):
        said = next(iter(row.values()))
        if said != "ok":
            yield f"file {database.shown}: {said}"


def strays(transaction: Transaction, walks: list[Walk]) -> Iterator[str]:
    """Find entries without an account, and arrays without an answer."""
    for row in transaction.all(STRAY_ENTRIES):
        yield f"entries of account id {row['account']}: there is no such account"
    owners = {(walk.row["id"], request) for walk in walks for request in walk.with_arrays}
    for row in transaction.all(ARRAY_OWNERS):
        if (row["account"], row["request"]) not in owners:
            yield f"arrays of request '{row['request']}': no answer has them"


@dataclass
class Walk:
    """One account's chain, read from its first entry to its last."""

    row: Row
    next: int = 0
    previous: str = GENESIS
    spent: Amounts = NOTHING
    of_all_columns: int = 0
    of_column: Counter[str] = field(default_factory=Counter)
    charged: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    with_arrays: set[str] = field(default_factory=set)
    heads: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)

    def run_through(self, transaction: Transaction) -> None:
        """Read all, and note where damage makes reading itself impossible."""
        try:
            self.run(transaction)
        except UNREADABLE:
            self.find("its rows", "cannot be read")

    def run(self, transaction: Transaction) -> None:
        """Read every entry, then compare with the account's running totals."""
        try:
            opened = read_opened(self.row["opened"])
        except UNREADABLE:
            self.find("its terms", "cannot be read")
            return
        seen = 0
        for entry in rows_of(transaction, self.row["id"], FIRST):
            seen += 1
            self.link(entry)
            try:
                self.add(transaction, entry, opened)
            except UNREADABLE:
                self.find(named(entry), "its content cannot be read")
        counted = transaction.one(ENTRY_COUNT, account=self.row["id"])
        if counted is None or counted["entries"] != seen:
            self.find("its entries", "some cannot be reached in order")
        self.compare(opened)
        if opened.has_columns:
            self.compare_columns(transaction, json.loads(self.row["opened"])["columns"])

    def find(self, where: str, what: str) -> None:
        """Note something that does not agree."""
        self.findings.append(f"account '{self.row['name']}', {where}: {what}")

    def link(self, entry: Row) -> None:
        """Check an entry's number, its link to the one before, and its own hash."""
        where, number = named(entry), entry["sequence"]
        if number != self.next:
            gap = f"entry {self.next}" if number == self.next + 1 else f"entries from {self.next}"
            self.find(where, f"{gap} before it: missing" if number > self.next else "out of order")
        elif entry["previous"] != self.previous:
            self.find(where, "does not follow the entry before it (changed, moved or inserted)")
        if hash_of(entry) != entry["hash"]:
            self.find(where, "its content does not have its hash (changed)")
        self.next, self.previous = number + 1, entry["hash"]
        self.heads.add(entry["hash"])

    def add(self, transaction: Transaction, entry: Row, opened: Opened) -> None:
        """Follow what an entry does."""
        kind = entry["kind"]
        if (kind == OPENED) != (entry["sequence"] == 0):
            self.find(named(entry), "an account is opened once, by its first entry")
        if kind == OPENED and entry["body"] != self.row["opened"]:
            self.find(named(entry), "the account's terms are not those it was opened with")
        if kind == CHARGED:
            self.add_charge(entry, opened)
        elif kind == ANSWERED:
            self.add_answer(transaction, entry)
        elif kind != OPENED:
            self.find(named(entry), f"unknown kind '{kind}'")

    def add_charge(self, entry: Row, opened: Opened) -> None:
        """Add a charge up, and check that the budget still held it."""
        body = json.loads(entry["body"])
        if identity_of_form(body["question"]) != body["digest"]:
            self.find(named(entry), "its question does not have its digest")
        if entry["request"] in self.charged:
            self.find(named(entry), "charged twice")
        self.charged.add(entry["request"])
        self.spent += Amounts(entry["amount"], entry["delta"])
        if opened.has_columns:
            self.add_columns(body["columns"], entry["amount"])
        if not self.spent.within(opened.filter.total):
            self.find(named(entry), "passes the account's budget")

    def add_columns(self, columns: list[str] | None, amount: int) -> None:
        """Add a charge to columns; what the account has spent is the most of any column."""
        if columns is None:
            self.of_all_columns += amount
        else:
            self.of_column.update(dict.fromkeys(columns, amount))
        highest = max(self.of_column.values(), default=0)
        self.spent = Amounts(self.of_all_columns + highest)

    def add_answer(self, transaction: Transaction, entry: Row) -> None:
        """Check that an answer was charged first and is whole."""
        request = entry["request"]
        if request not in self.charged:
            self.find(named(entry), "answered without a charge before it")
        if request in self.answered:
            self.find(named(entry), "answered twice")
        self.answered.add(request)
        described = json.loads(entry["body"])["arrays"]
        if not described:
            return
        self.with_arrays.add(request)
        rows = transaction.all(ARRAY_ROWS, account=entry["account"], request=request)
        whole = all(0 <= row["number"] < len(described) for row in rows)
        if not whole or arrays_of(described, rows) is None:
            self.find(named(entry), "its stored arrays are not those that were answered")

    def compare(self, opened: Opened) -> None:
        """Compare the account's row with what its entries add up to."""
        row = self.row
        expected: dict[str, Any] = {
            "length": self.next,
            "head": self.previous,
            "spent": self.spent.main,
            "spent_delta": self.spent.delta,
            "name": json.loads(row["opened"])["name"],
        }
        for name, value in expected.items():
            if row[name] != value:
                self.find(f"its {name}", f"is {row[name]}, but its entries give {value}")
        if sealed(row) != row["seal"]:
            self.find("its row", "does not have its seal (changed)")

    def compare_columns(self, transaction: Transaction, described: Row) -> None:
        """Compare each column's running total with what the entries add up to."""
        rows = transaction.all(EVERY_COLUMN, account=self.row["id"])
        if columns_digest(row["name"] for row in rows) != described:
            self.find("its columns", "are not those it was opened with")
        for row in rows:
            expected = self.of_all_columns + self.of_column[row["name"]]
            if row["spent"] != expected:
                told = f"is charged {row['spent']}, but its entries give {expected}"
                self.find(f"column '{row['name']}'", told)


def named(entry: Row) -> str:
    """Name an entry for people."""
    request = f", request '{entry['request']}'" if entry["request"] else ""
    return f"entry {entry['sequence']} ({entry['kind']}{request})"
