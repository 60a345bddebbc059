"""Transactions on SQLite and PostgreSQL, one code path for both.

Statements are written in SQLAlchemy Core, compiled once for the database at hand, and run on a
pooled driver connection: executing them through Core's own connection costs more than the two
durable commits of an ask (measured by benchmarks/ledger.py). The differences that remain:

    begin      SQLite says BEGIN IMMEDIATE, so that writers queue; PostgreSQL's writers queue at
               the account's row (SELECT ... FOR UPDATE, which SQLite leaves out)
    durable    SQLite: WAL with synchronous=FULL; PostgreSQL: synchronous_commit, and a server
               that runs without fsync is refused, because a power loss there gives budget back

A connection never crosses a fork; a ledger in memory cannot, and says so.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Engine
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql import ClauseElement

from noren.errors import LedgerError, MissingExtra, RecordDamaged
from noren.ledger.place import OpenFile, prepare_file, shown

BUSY_SECONDS = 60.0
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
DAMAGE = ("malformed", "not a database", "disk image", "file is encrypted", "unreadable",
          "no such column", "no such table", "has no column")  # fmt: skip

Row = dict[str, Any]


class Transaction:
    """One transaction: runs compiled statements and gives rows as dictionaries."""

    def __init__(self, database: Database, cursor: Any) -> None:
        self._database, self._cursor = database, cursor

    def run(self, statement: ClauseElement, **values: Any) -> int:
        """Run one statement; say how many rows it touched."""
        self._execute(statement, values)
        return int(self._cursor.rowcount)

    def run_many(self, statement: ClauseElement, rows: Sequence[Row]) -> None:
        """Run one statement for each row."""
        self._cursor.executemany(self._database.compiled(statement)[0], rows)

    def one(self, statement: ClauseElement, **values: Any) -> Row | None:
        """Give the first row, if there is one."""
        self._execute(statement, values)
        return self._named(self._cursor.fetchone())

    def all(self, statement: ClauseElement, **values: Any) -> list[Row]:
        """Give every row."""
        self._execute(statement, values)
        names = [column[0] for column in self._cursor.description]
        return [dict(zip(names, row, strict=True)) for row in self._cursor.fetchall()]

    def _execute(self, statement: ClauseElement, values: Row) -> None:
        text, constants = self._database.compiled(statement)
        self._cursor.execute(text, {**constants, **values} if constants else values)

    def _named(self, row: Sequence[Any] | None) -> Row | None:
        if row is None:
            return None
        names = (column[0] for column in self._cursor.description)
        return dict(zip(names, row, strict=True))


class Database:
    """An open database and its transactions."""

    def __init__(self, url: URL, *, create: bool = True) -> None:
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.in_memory = self.is_sqlite and url.database is None
        self.shown = shown(url)
        self._file: OpenFile | None = None
        if self.is_sqlite and url.database is not None:
            prepare_file(Path(url.database), create=create)
            self._file = OpenFile.of(Path(url.database))
            self._file.require_same()
        self.engine = sqlite_engine(url) if self.is_sqlite else postgresql_engine(url)
        self._driver: Any = self.engine.dialect.loaded_dbapi
        # a damaged file may put bytes into SQLite's own messages that are no text
        self.errors: tuple[type[Exception], ...] = (self._driver.Error, UnicodeDecodeError)
        self._statements: dict[ClauseElement, tuple[str, Row]] = {}
        self._process = os.getpid()
        self._idle: list[Any] = []
        self._turn = threading.Lock()  # a ledger in memory has one connection for all threads
        self._inherited: list[Any] = []
        weakref.finalize(self, dispose, self.engine, self._idle, self._process)

    def compiled(self, statement: ClauseElement) -> tuple[str, Row]:
        """Give a statement as text for this database, and its constants; compile it once."""
        found = self._statements.get(statement)
        if found is None:
            made = statement.compile(dialect=self.engine.dialect)
            constants = {name: is_ for name, is_ in made.params.items() if is_ is not None}
            found = self._statements[statement] = (str(made), constants)
        return found

    def write(self) -> AbstractContextManager[Transaction]:
        """Run a transaction that writes; it is durable when this block ends."""
        return self._transaction("BEGIN IMMEDIATE" if self.is_sqlite else None)

    def read(self) -> AbstractContextManager[Transaction]:
        """Run a transaction that sees one moment of the whole ledger."""
        return self._transaction("BEGIN" if self.is_sqlite else SNAPSHOT)

    @contextmanager
    def _transaction(self, begin: str | None) -> Iterator[Transaction]:
        self._notice_fork()
        connection = None
        try:
            connection = self._take()
            cursor = connection.cursor()
            if begin:
                cursor.execute(begin)
            if self._file is not None:
                self._file.require_same()
            yield Transaction(self, cursor)
            connection.commit()
        except BaseException as error:
            if connection is not None:
                with contextlib.suppress(self._driver.Error):
                    connection.rollback()
            if isinstance(error, self.errors) and not self.is_integrity_error(error):
                raise self.explain(error) from error
            raise
        finally:
            if connection is not None:
                self._give_back(connection)

    def _take(self) -> Any:
        """Take a connection: on SQLite the last one used, since a file needs no ping."""
        if self.in_memory:
            self._turn.acquire()
        try:
            return self._idle.pop() if self._idle else self.engine.raw_connection()
        except IndexError:  # another thread was faster
            return self.engine.raw_connection()
        except BaseException:
            if self.in_memory:
                self._turn.release()
            raise

    def _give_back(self, connection: Any) -> None:
        """Keep a connection for the next transaction, or give it back to the pool."""
        if self.is_sqlite:
            self._idle.append(connection)
        else:
            connection.close()
        if self.in_memory:
            self._turn.release()

    def _notice_fork(self) -> None:
        """Open new connections after a fork; the parent's are kept aside, never closed here."""
        if os.getpid() == self._process:
            return
        if self.in_memory:
            raise LedgerError(
                "This ledger lives in the memory of another process, and a copy of it would have "
                "a budget of its own. Use a file or PostgreSQL when several processes ask."
            )
        self._inherited += [self.engine.pool, *self._idle]
        self._idle.clear()
        self.engine.dispose(close=False)
        self._process = os.getpid()

    def explain(self, error: Exception) -> Exception:
        """Say what a database's error means for a ledger."""
        text = "unreadable" if isinstance(error, UnicodeDecodeError) else str(error).strip()
        if any(word in text for word in DAMAGE):
            return RecordDamaged(
                f"{self.shown} is damaged or not a ledger ({text}). Nothing can be asked of it. "
                "Restore it from a backup, then check the backup: noren ledger verify --head HASH."
            )
        if "locked" in text or "lock timeout" in text:
            return LedgerError(
                f"{self.shown} stayed busy for {BUSY_SECONDS:.0f} seconds. Try again with the "
                "same request id: what was charged is not charged twice."
            )
        return LedgerError(
            f"{self.shown} could not be used ({text}). Whether a charge was written is known when "
            "you ask again with the same request id: it is never charged twice."
        )

    def is_integrity_error(self, error: BaseException) -> bool:
        """Say whether a rule of uniqueness was broken."""
        return isinstance(error, self._driver.IntegrityError)

    def close(self) -> None:
        """Close every connection that this process opened."""
        dispose(self.engine, self._idle, self._process)


def dispose(engine: Engine, idle: list[Any], process: int) -> None:
    """Close an engine's connections, but none that a fork brought here."""
    if os.getpid() != process:
        return
    while idle:
        idle.pop().close()
    engine.dispose()


def sqlite_engine(url: URL) -> Engine:
    """Open SQLite: explicit transactions, WAL, every commit on disk before it returns."""
    engine = create_engine(
        url,
        paramstyle="named",
        poolclass=QueuePool,
        pool_size=1 if url.database is None else 8,
        max_overflow=0 if url.database is None else -1,
        pool_timeout=BUSY_SECONDS,
        pool_reset_on_return=None,  # every transaction here ends itself
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        connection.text_factory = readable
        mode = write_ahead(connection)
        if mode != ("memory" if url.database is None else "wal"):
            raise LedgerError(
                f"{shown(url)} cannot be written ahead (journal mode {mode}), so several processes "
                "could not share it safely. Put the ledger on a local disk."
            )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")  # macOS: through the disk's own cache, too
        connection.execute("PRAGMA foreign_keys=ON")

    return engine


def readable(text: bytes) -> str:
    """Read stored text; bytes that were damaged stay visible to the hash, and raise nothing."""
    return text.decode("utf-8", "surrogateescape")


def write_ahead(connection: Any) -> str:
    """Switch to the write-ahead log; two processes that open a new file may collide here."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def postgresql_engine(url: URL) -> Engine:
    """Open PostgreSQL: read committed, row locks, every commit on disk before it returns."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("A ledger on PostgreSQL", "postgres") from None
    engine = create_engine(
        url,
        module=psycopg,
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=-1,
        pool_pre_ping=True,
        pool_reset_on_return=None,
        isolation_level="READ COMMITTED",
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("SHOW fsync")
        if cursor.fetchone()[0] != "on":
            raise LedgerError(
                f"{shown(url)} runs with fsync off: a power loss would give spent budget back. "
                "Turn fsync on in the server's configuration."
            )
        cursor.execute("SHOW synchronous_commit")
        if cursor.fetchone()[0] == "off":
            cursor.execute("SET SESSION synchronous_commit TO on")
        cursor.execute(f"SET SESSION lock_timeout TO {int(BUSY_SECONDS * 1000)}")
        connection.commit()

    return engine
