"""Ledgers to test on: SQLite in a file, and PostgreSQL on a throw-away server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import ledger_asker

from noren.ledger import Ledger

UNPRIVILEGED = ("postgres", "nobody")


def server_program(name: str) -> str:
    """Find one of PostgreSQL's server programs (the root conftest skips where there is none)."""
    found = shutil.which(name) or max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found)


def unprivileged() -> dict[str, object]:
    """Say as whom to run the server, which refuses to run as root."""
    if os.getuid() != 0:
        return {}
    import pwd

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = next(known[name] for name in UNPRIVILEGED if name in known)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server on a Unix socket, and give its address."""
    who = unprivileged()
    home = Path(tempfile.mkdtemp(prefix="noren-pg-", dir="/tmp"))
    if who:
        os.chown(home, who["user"], who["group"])
    data = home / "data"
    quiet = {"stdout": subprocess.DEVNULL, "cwd": home, **who}
    make = [server_program("initdb"), "-D", data, "-U", "noren", "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run([*make, "--no-locale"], check=True, **quiet)
    settings = ["-k", str(home), "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [server_program("postgres"), "-D", data, *settings, "-c", "max_connections=100"],
            **{**quiet, "stdout": log, "stderr": log},
        )
    try:
        wait_for(home / ".s.PGSQL.5432", server)
        yield f"postgresql://noren@/postgres?host={home}"
    finally:
        server.send_signal(signal.SIGINT)  # shut down at once, without waiting for clients
        server.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def wait_for(socket: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    import psycopg

    for _ in range(600):
        assert server.poll() is None, (socket.parent / "log").read_text()
        try:
            psycopg.connect(host=str(socket.parent), user="noren", dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("PostgreSQL did not start")


@pytest.fixture
def postgres_place(postgres_server: str) -> Iterator[str]:
    """Give the address of an empty schema: far quicker to make than a database."""
    import psycopg

    name = f"s{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"{postgres_server}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a place for a new ledger, on each kind of database."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_place"))
    return str(tmp_path / "ledger.sqlite")


@pytest.fixture
def ledger(place: str) -> Iterator[Ledger]:
    """Open a new ledger, on each kind of database."""
    with Ledger.open(place, patience=0.2) as opened:
        yield opened


@pytest.fixture
def memory() -> Iterator[Ledger]:
    """Open a ledger in memory, which may be tested with seeded noise."""
    with Ledger.open("sqlite://", testing=True, patience=0) as opened:
        yield opened
