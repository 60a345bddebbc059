"""Open a database as a ledger: make its tables, or bring an older version forward.

Processes that open a new ledger at the same moment take turns, and each finds what the first
one made. A ledger of a later version is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import inspect
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from noren.errors import FileProblem, LedgerError
from noren.ledger import schema
from noren.ledger.chain import digest_of
from noren.ledger.database import Database
from noren.ledger.statements import ADD_LEDGER, SET_VERSION, VERSION

TURN = 0x6E6F72656E  # the advisory lock that openers of a PostgreSQL ledger queue at


def bring_up_to_date(database: Database, *, create: bool) -> None:
    """Make a ledger of an empty database, or migrate an older one."""
    newest = len(schema.MIGRATIONS)
    with turn(database, write=False) as connection:
        found = version_of(connection, database)
    if found == newest:
        return
    if found > newest:
        raise LedgerError(
            f"{database.shown} was written by a later Noren (version {found} of the tables; this "
            f"one knows {newest}). Upgrade Noren to use it."
        )
    if not found and not create:
        raise FileProblem(f"{database.shown} holds no ledger. Check the name, or make one.")
    with turn(database, write=True) as connection:
        for step in range(version_of(connection, database), newest):
            schema.MIGRATIONS[step](connection)
            record_version(connection, step + 1)


@contextmanager
def turn(database: Database, *, write: bool) -> Iterator[Connection]:
    """Hold a transaction in which tables may be made, one process at a time."""
    try:
        with database.engine.connect() as connection:
            if write and database.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif write:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({TURN})")
            yield connection
            connection.commit()
    except DBAPIError as error:
        raise database.explain(error.orig or error) from error
    except database.errors as error:
        raise database.explain(error) from error


def version_of(connection: Connection, database: Database) -> int:
    """Give the version of the tables; 0 where there are none."""
    tables = set(inspect(connection).get_table_names())
    if "ledger" in tables:
        row = connection.execute(VERSION).mappings().first()
        if row is None or digest_of(dict(row), ("version",)) != row["seal"]:
            raise database.explain(ValueError("malformed version"))
        return int(row["version"])
    if tables if database.is_sqlite else tables & set(schema.TABLES.tables):
        raise FileProblem(
            f"{database.shown} is a database of something else. Give the ledger one of its own."
        )
    return 0


def record_version(connection: Connection, version: int) -> None:
    """Write which version the tables now have."""
    seal = digest_of({"version": version}, ("version",))
    if version == 1:
        connection.execute(ADD_LEDGER, {"version": 1, "seal": seal})
    else:
        connection.execute(SET_VERSION, {"new_version": version, "new_seal": seal})
