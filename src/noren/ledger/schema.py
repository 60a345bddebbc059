"""The tables of a ledger, one form for SQLite and PostgreSQL, and how old ones are brought forward.

    accounts   one row an account: what was opened, and running totals, so that one ask is O(1)
    columns    one row a named column, for accounts that keep one budget for each
    entries    append-only: an account opened, a request charged, a request answered; each row
               carries the hash of the account's previous row
    arrays     the arrays of stored answers, in parts of at most 8 MB

Whatever `accounts` and `columns` say can be derived again from `entries`; `verify` does so. All
amounts are integers: epsilon and rho in units of 1e-12, delta in units of 1e-18.

`MIGRATIONS[v]` brings a ledger from version v to v + 1, inside one transaction. An empty
database is version 0, so a new ledger and an old one take the same road.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Connection

TABLES = MetaData()

LEDGER = Table(
    "ledger",
    TABLES,
    Column("version", Integer, nullable=False),
    Column("seal", Text, nullable=False),  # SHA-256 of the version, so that damage is noticed
)

ACCOUNTS = Table(
    "accounts",
    TABLES,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("opened", Text, nullable=False),  # JSON: filter, adjacency, budget, totals, columns
    Column("spent", BigInteger, nullable=False),
    Column("spent_delta", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),
    Column("head", Text, nullable=False),
    Column("seal", Text, nullable=False),  # SHA-256 of this row's other fields
)

COLUMNS = Table(
    "columns",
    TABLES,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("spent", BigInteger, nullable=False),
    PrimaryKeyConstraint("account", "name"),
)

ENTRIES = Table(
    "entries",
    TABLES,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("delta", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    PrimaryKeyConstraint("account", "sequence"),
    UniqueConstraint("account", "request", "kind"),
)

ARRAYS = Table(
    "arrays",
    TABLES,
    Column("account", Text, ForeignKey("accounts.id"), nullable=False),
    Column("request", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("account", "request", "number", "part"),
)


def create_first_tables(connection: Connection) -> None:
    """Bring an empty database to version 1."""
    TABLES.create_all(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (create_first_tables,)
