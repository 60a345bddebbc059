"""Damage and tampering are found by `verify`, by name."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from ledger_asker import pure, tally

from noren import Ledger
from noren.errors import ParameterError, RecordDamaged
from noren.ledger.chain import GENESIS, hash_of, sealed
from noren.ledger.schema import ENTRIES


def edit(ledger, *statements):
    """Change tables behind the ledger's back."""
    with ledger._database.write() as transaction:
        for statement in statements:
            transaction._cursor.execute(statement)


def rows(ledger, query):
    with ledger._database.read() as transaction:
        transaction._cursor.execute(query)
        return transaction._cursor.fetchall()


def findings(ledger, **settings):
    with pytest.raises(RecordDamaged) as damage:
        ledger.verify(**settings)
    assert damage.value.exit_code == 5
    return "\n".join(damage.value.findings)


@pytest.fixture
def asked(ledger):
    """Give a ledger with two accounts and a few answers: entries 1, 3, 5, 7 are charges."""
    for name in ("cohort", "other"):
        ledger.create_account(name, pure(1))
        for number in range(4):
            ledger.ask(name, tally("0.1"), 100, request_id=f"r{number}")
    ledger.verify()
    return ledger


def account_id(ledger, name="cohort"):
    return next(a["id"] for a in ledger.export()["accounts"] if a["account"] == name)


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, 'epsilon', 'Epsilon')",
        "amount = amount - 1",
        "delta = 1",
        "request = 'r9'",
        "time = '2020-01-01'",
        "kind = 'noted'",
        "previous = hash",
    ],
)
def test_a_changed_entry_is_found_by_name(asked, change):
    account = account_id(asked)
    edit(asked, f"UPDATE entries SET {change} WHERE account = '{account}' AND sequence = 3")
    found = findings(asked)
    assert "account 'cohort', entry 3" in found
    assert "does not have its hash" in found
    assert "'other'" not in found


def test_a_changed_hash_is_found_twice(asked):
    account, zeros = account_id(asked), "0" * 64
    edit(asked, f"UPDATE entries SET hash='{zeros}' WHERE account='{account}' AND sequence=3")
    found = findings(asked)
    assert "entry 3 (charged, request 'r1'): its content does not have its hash" in found
    assert "entry 4 (answered, request 'r1'): does not follow" in found


@pytest.mark.parametrize(("gone", "said"), [(3, "entry 3"), (5, "entry 5"), (0, "entry 0")])
def test_a_deleted_row_is_found_by_number(asked, gone, said):
    account = account_id(asked)
    edit(asked, f"DELETE FROM entries WHERE account = '{account}' AND sequence = {gone}")
    assert f"{said} before it: missing" in findings(asked)


def test_a_deleted_last_row_is_found_because_the_totals_know_of_it(asked):
    edit(asked, f"DELETE FROM entries WHERE account = '{account_id(asked)}' AND sequence = 8")
    assert "its length: is 9, but its entries give 8" in findings(asked)


def test_reordered_rows_are_found(asked):
    account = account_id(asked)
    where = f"WHERE account = '{account}' AND sequence ="
    edit(
        asked,
        f"UPDATE entries SET sequence = 99 {where} 3",
        f"UPDATE entries SET sequence = 3 {where} 5",
        f"UPDATE entries SET sequence = 5 {where} 99",
    )
    found = findings(asked)
    assert "entry 3 (charged, request 'r2'): does not follow" in found
    assert "entry 5 (charged, request 'r1'): does not follow" in found


def test_an_inserted_row_is_found(asked):
    account = account_id(asked)
    edit(
        asked,
        "INSERT INTO entries SELECT account, 9, kind, 'r9', time, amount, delta, body, previous, "
        f"hash FROM entries WHERE account = '{account}' AND sequence = 8",
    )
    found = findings(asked)
    assert "entry 9" in found
    assert "answered without a charge" in found


@pytest.mark.parametrize("field", ["spent", "spent_delta", "length", "head", "opened", "name"])
def test_a_changed_total_is_found_by_verify_and_by_the_next_ask(asked, field):
    value = {"head": f"'{GENESIS}'", "opened": "replace(opened, '000000', '900000')"}
    value["name"] = "'cohort2'"
    edit(asked, f"UPDATE accounts SET {field} = {value.get(field, '1')} WHERE name = 'cohort'")
    found = findings(asked)
    assert f"its {field}" in found or "terms are not those" in found
    with pytest.raises(RecordDamaged, match="changed outside"):
        asked.ask("cohort2" if field == "name" else "cohort", tally("0.1"), 100)


def test_a_forged_total_with_a_fresh_seal_is_found(asked):
    """Whoever knows the seal can forge the row, but not what the entries add up to."""
    names = ("id", "name", "opened", "spent", "spent_delta", "length", "head")
    query = f"SELECT {', '.join(names)} FROM accounts WHERE name = 'cohort'"
    row = dict(zip(names, rows(asked, query)[0], strict=True)) | {"spent": 0}
    seal = sealed(row)
    edit(asked, f"UPDATE accounts SET spent = 0, seal = '{seal}' WHERE name = 'cohort'")
    assert "its spent: is 0, but its entries give 400000000000" in findings(asked)


def test_a_chain_computed_anew_is_found_by_a_head_kept_elsewhere(asked):
    """The strongest forger rewrites everything consistently; only a kept head tells."""
    kept = asked.ask("cohort", tally("0.1"), 100).receipt.head
    account, previous, spent = account_id(asked), GENESIS, 0
    names = [column.name for column in ENTRIES.columns]
    query = f"SELECT * FROM entries WHERE account = '{account}' ORDER BY sequence"
    for row in rows(asked, query):
        entry = dict(zip(names, row, strict=True)) | {"previous": previous}
        entry["amount"] //= 2
        previous, spent = hash_of(entry), spent + entry["amount"]
        edit(
            asked,
            f"UPDATE entries SET amount = {entry['amount']}, previous = '{entry['previous']}', "
            f"hash = '{previous}' WHERE account = '{account}' AND sequence = {entry['sequence']}",
        )
    fields = ("id", "name", "opened", "spent", "spent_delta", "length", "head")
    state = rows(asked, f"SELECT {', '.join(fields)} FROM accounts WHERE id = '{account}'")[0]
    forged = dict(zip(fields, state, strict=True)) | {"spent": spent, "head": previous}
    edit(
        asked,
        f"UPDATE accounts SET spent = {spent}, head = '{previous}', seal = '{sealed(forged)}' "
        f"WHERE id = '{account}'",
    )
    asked.verify()
    assert f"head {kept}: no account holds it" in findings(asked, head=kept)


def test_a_damaged_or_missing_array_is_found_and_not_given_back(asked):
    account = account_id(asked)
    flipped = bytes(24).hex()
    hexed = f"X'{flipped}'" if asked._database.is_sqlite else f"'\\x{flipped}'"
    edit(
        asked,
        f"UPDATE arrays SET data = {hexed} WHERE account = '{account}' AND request = 'r1'",
        f"DELETE FROM arrays WHERE account = '{account}' AND request = 'r2'",
        f"UPDATE arrays SET request = 'r8' WHERE account = '{account}' AND request = 'r3'",
    )
    found = findings(asked)
    for number in (1, 2, 3):
        assert f"(answered, request 'r{number}'): its stored arrays" in found
        with pytest.raises(RecordDamaged, match="not given"):
            asked.ask("cohort", tally("0.1"), 100, request_id=f"r{number}")
    assert "arrays of request 'r8': no answer has them" in found


def test_a_changed_answer_is_not_given_back(asked):
    account = account_id(asked)
    edit(
        asked,
        "UPDATE entries SET body = replace(body, 'count', 'Count') "
        f"WHERE account = '{account}' AND sequence = 4",
    )
    with pytest.raises(RecordDamaged, match="request 'r1'"):
        asked.ask("cohort", tally("0.1"), 100, request_id="r1")


def test_history_and_export_refuse_a_changed_entry(asked):
    account = account_id(asked)
    edit(asked, f"UPDATE entries SET body = '' WHERE account = '{account}' AND sequence = 3")
    for read in (asked.history, asked.export):
        with pytest.raises(RecordDamaged, match="Entry 3 of account 'cohort'"):
            read("cohort")


def test_entries_of_an_unknown_account_are_found(tmp_path):
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.create_account("cohort", pure(1))
        with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as behind:
            behind.execute("UPDATE entries SET account = 'nobody'")
            behind.commit()
        assert "entries of account id nobody" in findings(ledger)


@pytest.mark.parametrize("part", ["", "abc", None, 5, "g" * 64])
def test_a_part_of_a_head_is_refused_and_never_taken_for_a_lost_tail(asked, part):
    kept = asked.balance("cohort").head
    for given in (kept[:12], part) if part is not None else (kept[:63],):
        with pytest.raises(ParameterError, match="64 hexadecimal digits"):
            asked.verify(head=given)
    assert asked.verify(head=f" {kept.upper()}\n").heads["cohort"] == kept


def test_an_older_copy_is_found_by_a_head_kept_elsewhere(tmp_path):
    place, copy = tmp_path / "ledger.sqlite", tmp_path / "copy.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        before = ledger.ask("cohort", tally("0.1"), 100).receipt.head
    shutil.copy(place, copy)
    with Ledger.open(place) as ledger:
        after = ledger.ask("cohort", tally("0.1"), 100).receipt.head
    shutil.copy(copy, place)  # an older copy gives budget back
    with Ledger.open(place) as ledger:
        ledger.verify()
        ledger.verify(head=before)
        assert f"head {after}: no account holds it" in findings(ledger, head=after)


def test_a_cut_tail_with_matching_totals_is_found_by_a_head_kept_elsewhere(tmp_path):
    place = tmp_path / "ledger.sqlite"
    fields = ("id", "name", "opened", "spent", "spent_delta", "length", "head")
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        ledger.ask("cohort", tally("0.1"), 100, request_id="a")
        row = dict(
            zip(fields, rows(ledger, f"SELECT {', '.join(fields)} FROM accounts")[0], strict=True)
        )
        head = ledger.ask("cohort", tally("0.1"), 100, request_id="b").receipt.head
        edit(
            ledger,
            "DELETE FROM arrays WHERE request = 'b'",
            "DELETE FROM entries WHERE sequence >= 3",
            f"UPDATE accounts SET spent = {row['spent']}, length = 3, head = '{row['head']}', "
            f"seal = '{sealed(row)}'",
        )
        ledger.verify()
        assert f"head {head}: no account holds it" in findings(ledger, head=head)


def contents(place):
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("ledger", "accounts", "entries", "arrays")
        ]


def test_one_flipped_byte_anywhere_in_the_file_is_found_or_changes_nothing(tmp_path):
    """Bytes of unused space may flip unnoticed: every row is then as it was."""
    place, broken = tmp_path / "ledger.sqlite", tmp_path / "broken.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        for number in range(6):
            ledger.ask("cohort", tally("0.1", size=40), 100, request_id=f"r{number}")
    whole, before = place.read_bytes(), contents(place)
    random, found = np.random.default_rng(5), []
    used = [at for at in range(len(whole)) if whole[at]]
    for at in random.choice(used, 150, replace=False):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(random.integers(8))
        broken.write_bytes(flipped)
        try:
            with Ledger.open(broken, create=False) as ledger:
                ledger.verify()
        except RecordDamaged as damage:
            found.append(str(damage))
        else:
            assert contents(broken) == before, at
    assert len(found) > 75
    assert all("'cohort'" in said or "broken.sqlite" in said for said in found)
    assert all(said.encode("utf-8") for said in found)  # it can be printed, whatever was hit


def test_a_file_that_is_no_database_is_named(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
    place.write_bytes(b"x" * 100 + place.read_bytes()[100:])
    with pytest.raises(RecordDamaged, match=r"ledger\.sqlite is damaged"):
        Ledger.open(place)


def test_a_page_of_zeros_is_found(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        for number in range(20):
            ledger.ask("cohort", tally("0.01"), 100, request_id=f"r{number}")
    whole = place.read_bytes()
    middle = len(whole) // 4096 // 2 * 4096
    place.write_bytes(whole[:middle] + bytes(4096) + whole[middle + 4096 :])
    with pytest.raises(RecordDamaged, match=r"ledger\.sqlite"), Ledger.open(place) as ledger:
        ledger.verify()
