"""Where a ledger may live, who may read it, and how an older one is brought forward."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from ledger_asker import Tally, pure, tally

from noren import Ledger
from noren.errors import FileProblem, LedgerError, ParameterError, RecordDamaged
from noren.ledger import opening, place, schema


def test_a_new_file_and_its_side_files_belong_to_their_owner_alone(tmp_path):
    old = os.umask(0)
    try:
        with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
            ledger.create_account("cohort", pure(1))
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert set(modes.values()) == {0o600}
    assert "ledger.sqlite" in modes


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "lustre"])
def test_network_file_systems_are_refused(tmp_path, monkeypatch, kind):
    table = tmp_path / "mounts"
    shared = tmp_path / "a share"
    shared.mkdir()
    escaped = str(shared).replace(" ", "\\040")
    table.write_text(f"disk / ext4 rw 0 0\nserver:/x {escaped} {kind} rw 0 0\n")
    monkeypatch.setattr(place, "MOUNTS", table)
    link = tmp_path / "link"
    link.symlink_to(shared)
    for folder in (shared, link):
        with pytest.raises(LedgerError, match="network file system"):
            Ledger.open(folder / "ledger.sqlite")
    assert not list(shared.iterdir())
    Ledger.open(tmp_path / "ledger.sqlite").close()  # beside the share, all is well


def test_a_sandbox_whose_own_root_is_9p_is_not_a_network():
    assert place.network_kind(Path("/home/x"), "none / 9p rw 0 0") is None
    assert place.network_kind(Path("/mnt/c/x"), "none / ext4 rw 0 0\nC: /mnt/c 9p rw 0 0") == "9p"


def test_a_local_disk_mounted_inside_a_share_is_local():
    table = "srv:/ /data nfs rw 0 0\ndisk /data/local ext4 rw 0 0"
    assert place.network_kind(Path("/data/local/x"), table) is None
    assert place.network_kind(Path("/data/localx"), table) == "nfs"


@pytest.mark.parametrize(
    "given", [5, None, "", ":memory:", "mysql://host/x", "sqlite:///x?mode=ro", "://"]
)
def test_other_places_are_refused_in_words(given):
    with pytest.raises(ParameterError, match="postgresql://"):
        Ledger.open(given)


def test_a_password_is_never_shown():
    url = place.read_place("postgresql://ann:hunter2@host/db")
    assert "hunter2" not in place.shown(url)
    with pytest.raises(LedgerError) as refusal:
        Ledger.open("postgresql://ann:hunter2@/db?host=/nowhere")
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("happening", ["deleted", "replaced by an older copy", "linked"])
def test_a_file_that_is_not_the_one_that_was_opened_is_never_charged(tmp_path, happening):
    """What is written to a deleted or replaced file is lost, and a second name has its own log."""
    file, copy = tmp_path / "ledger.sqlite", tmp_path / "copy.sqlite"
    with Ledger.open(file) as ledger:
        ledger.create_account("cohort", pure(1))
        ledger.ask("cohort", tally("0.25"), 3, request_id="before")
        if happening == "linked":
            copy.hardlink_to(file)
        else:
            shutil.copy(file, copy)
            file.unlink()
        if happening.startswith("replaced"):
            copy.rename(file)
        for act in (lambda: ledger.ask("cohort", tally("0.25"), 3), ledger.verify):
            with pytest.raises(LedgerError, match=r"moved or deleted|replaced|hard links"):
                act()
    if happening == "linked":
        with pytest.raises(LedgerError, match="hard links"):
            Ledger.open(copy)


def test_an_answer_is_held_back_when_the_file_goes_while_it_is_drawn(tmp_path):
    file, drawn = tmp_path / "ledger.sqlite", []

    class Removes(Tally):
        kind = "removes"

        def answer(self, statistic, noise):
            drawn.append(Tally.answer(self, statistic, noise))
            file.unlink()
            return drawn[0]

    with Ledger.open(file) as ledger:
        ledger.create_account("cohort", pure(1))
        with pytest.raises(LedgerError, match="moved or deleted"):
            ledger.ask("cohort", Removes(price=pure("0.25")), 3)
    assert len(drawn) == 1


def test_a_symbolic_link_leads_to_the_one_ledger(tmp_path):
    file, link = tmp_path / "ledger.sqlite", tmp_path / "link.sqlite"
    with Ledger.open(file) as ledger:
        ledger.create_account("cohort", pure(1))
        link.symlink_to(file)
        with Ledger.open(link) as same:
            same.ask("cohort", tally("0.25"), 3)
        assert ledger.balance("cohort").spent == pure("0.25")


def test_a_missing_ledger_is_made_only_where_that_is_asked_for(tmp_path):
    with pytest.raises(FileProblem, match="no ledger"):
        Ledger.open(tmp_path / "ledger.sqlite", create=False)
    (tmp_path / "empty").touch()
    with pytest.raises(FileProblem, match="holds no ledger"):
        Ledger.open(tmp_path / "empty", create=False)
    with pytest.raises(FileProblem, match="folder does not exist"):
        Ledger.open(tmp_path / "missing" / "ledger.sqlite")
    with pytest.raises(FileProblem, match="is a folder"):
        Ledger.open(tmp_path)


def test_a_database_of_something_else_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "notes.db")) as other:
        other.execute("CREATE TABLE notes (text)")
        other.commit()
    with pytest.raises(FileProblem, match="something else"):
        Ledger.open(tmp_path / "notes.db")


def test_every_commit_waits_for_the_disk(ledger):
    with ledger._database.read() as transaction:
        if ledger._database.is_sqlite:
            settings = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
            for name, value in settings.items():
                found = transaction._cursor.execute(f"PRAGMA {name}").fetchone()[0]
                assert found == value
        else:
            for name in ("synchronous_commit", "fsync"):
                assert transaction._cursor.execute(f"SHOW {name}").fetchone()[0] == "on"


def test_several_openers_of_a_new_ledger_find_one_ledger(place):
    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(Ledger.open, [place] * 8))
    ledgers[0].create_account("cohort", pure(1))
    assert all(ledger.accounts() == ["cohort"] for ledger in ledgers)
    for ledger in ledgers:
        ledger.close()


def test_an_older_ledger_is_brought_forward_once_and_keeps_what_it_holds(place, monkeypatch):
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        head = ledger.ask("cohort", tally("0.1"), 100, request_id="a").receipt.head
    steps = []

    def add_a_note(connection):
        steps.append("second")
        connection.execute(sqlalchemy.text("ALTER TABLE ledger ADD COLUMN note TEXT"))

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, add_a_note))
    for _ in range(2):
        with Ledger.open(place) as ledger:
            ledger.verify(head=head)
            assert ledger.ask("cohort", tally("0.1"), 100, request_id="a").receipt.head == head
    assert steps == ["second"]


def test_a_migration_that_fails_leaves_the_old_version_whole(place, monkeypatch):
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))

    def break_down(connection):
        connection.execute(sqlalchemy.text("ALTER TABLE ledger ADD COLUMN note TEXT"))
        raise LedgerError("stopped half-way")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, break_down))
        with pytest.raises(LedgerError, match="half-way"):
            Ledger.open(place)
    with Ledger.open(place) as ledger:
        ledger.verify()


def test_a_ledger_of_a_later_version_is_refused(place, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, lambda connection: None))
        Ledger.open(place).close()
    with pytest.raises(LedgerError, match="later Noren"):
        Ledger.open(place)


def test_a_changed_version_is_damage(tmp_path):
    Ledger.open(tmp_path / "ledger.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as behind:
        behind.execute("UPDATE ledger SET version = 0")
        behind.commit()
    with pytest.raises(RecordDamaged):
        Ledger.open(tmp_path / "ledger.sqlite")


def test_a_ledger_in_memory_cannot_be_copied_by_a_fork():
    code = (
        "import os\n"
        "from noren import Guarantee, Ledger\n"
        "ledger = Ledger.open('sqlite://')\n"
        "ledger.create_account('cohort', Guarantee('add-remove', epsilon=1))\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        ledger.balance('cohort')\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "ledger.balance('cohort')\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("LedgerError This ledger lives in the memory of another process")


def test_a_ledger_works_on_both_sides_of_a_fork(place):
    code = (
        "import os, sys\n"
        "from ledger_asker import pure, tally\n"
        "from noren import Ledger\n"
        "ledger = Ledger.open(sys.argv[1])\n"
        "ledger.create_account('cohort', pure(1))\n"
        "ledger.ask('cohort', tally('0.1'), 100)\n"
        "child = os.fork()\n"
        "for _ in range(4):\n"
        "    ledger.ask('cohort', tally('0.1'), 100)\n"
        "if child == 0:\n"
        "    os._exit(0)\n"
        "assert os.wait()[1] == 0\n"
        "ledger.verify()\n"
        "print(ledger.balance('cohort').spent.epsilon)\n"
    )
    folder = str(Path(__file__).parent)
    run = [sys.executable, "-c", code, place]
    said = subprocess.run(
        run, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder}, check=False
    )
    assert said.stdout == "9/10\n", said.stderr


def test_openers_know_the_lock_they_queue_at():
    assert 0 < opening.TURN < 2**63  # PostgreSQL's advisory locks are 64-bit numbers


def test_the_folder_of_a_person_unknown_here_is_refused_in_words():
    with pytest.raises(ParameterError, match="unknown here"):
        Ledger.open("~nobody-of-this-name/ledger.sqlite")
