"""`noren ledger` from opening to verifying, as people and as programs read it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from noren import Guarantee, Ledger
from noren.mechanisms import CellCounts, Counts

COUNTS = Counts.of([0, 0, 1], cells=2)


def question(epsilon, adjacency="add-remove"):
    return CellCounts(cells=("yes", "no"), adjacency=adjacency, epsilon=epsilon)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty folder, with no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT", "NOREN_POLICY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def asked(here):
    """Give a ledger file with one account and two answers."""
    with Ledger.open("ledger.sqlite") as ledger:
        ledger.create_account("cohort", Guarantee("add-remove", epsilon=1))
        ledger.ask("cohort", question("0.25"), COUNTS, request_id="first")
        answer = ledger.ask("cohort", question("0.5"), COUNTS, request_id="second")
    (here / "noren.toml").write_text('ledger = "ledger.sqlite"\naccount = "cohort"\n')
    return answer


def test_create_opens_an_account_and_says_what_it_affords(run, result_of):
    made = result_of(
        *("ledger", "create", "cohort", "--ledger", "l.sqlite", "--adjacency", "add-remove"),
        *("--epsilon", "1", "--delta", "1e-6"),
    )["result"]
    assert (made["account"], made["filter"]) == ("cohort", "zcdp")
    assert made["adjacency"] == "one record is added or removed"
    forms = [(p["epsilon"], p["delta"], p["rho"]) for p in made["largest_single_question"]]
    assert forms[0][0] == pytest.approx(0.2145945207)
    assert forms[2][2] == pytest.approx(0.02293744765)
    again = run(
        *("ledger", "create", "cohort", "--ledger", "l.sqlite"),
        *("--adjacency", "bit", "--epsilon", "1"),
    )
    assert again.exit_code == 3
    assert "already" in again.stderr


def test_create_protects_persons_and_narrower_neighbors(result_of):
    made = result_of(
        *("ledger", "create", "cohort", "--ledger", "l.sqlite", "--adjacency", "substitute"),
        *("--max-records", "3", "--within", "same status", "--rho", "0.5"),
    )["result"]
    assert made["adjacency"] == (
        "the up to 3 rows of one person are replaced by any others (within: same status)"
    )


def test_create_gives_each_named_column_a_budget(here, result_of):
    (here / "columns.txt").write_text("age\nsex\n\n")
    made = result_of(
        *("ledger", "create", "cells", "--ledger", "l.sqlite", "--adjacency", "bit"),
        *("--epsilon", "1", "--columns", "columns.txt"),
    )["result"]
    assert made["columns"] == {"age": 0.0, "sex": 0.0}


def test_there_is_no_default_adjacency_and_no_default_price(run):
    no_adjacency = run("ledger", "create", "a", "--ledger", "l.sqlite", "--epsilon", "1")
    assert no_adjacency.exit_code == 2
    no_price = run("ledger", "create", "a", "--ledger", "l.sqlite", "--adjacency", "bit")
    assert no_price.exit_code == 3
    assert "no default" in no_price.stderr


def test_only_create_makes_a_file(run, here):
    for command in (["show"], ["history", "a"], ["verify"], ["export"]):
        done = run("ledger", *command, "--ledger", "l.sqlite")
        assert done.exit_code == 3
        assert "no ledger at" in done.stderr
    assert not (here / "l.sqlite").exists()


def test_a_command_without_any_ledger_says_how_to_name_one(run):
    done = run("ledger", "show")
    assert done.exit_code == 3
    for way in ("--ledger", "NOREN_LEDGER", "noren.toml"):
        assert way in done.stderr


def test_show_tells_spent_and_remaining(asked, run, result_of):
    account = result_of("ledger", "show")["result"]["accounts"][0]
    assert account["spent"]["epsilon"] == 0.75
    assert account["remaining"]["epsilon"] == 0.25
    assert account["head"] == asked.receipt.head
    people = run("ledger", "show", "cohort").stdout
    assert "epsilon 0.75" in people
    assert asked.receipt.head in people


def test_history_lists_every_entry(asked, run, result_of):
    entries = result_of("ledger", "history")["result"]["entries"]
    assert [entry["kind"] for entry in entries] == ["opened", *["charged", "answered"] * 2]
    assert [e["price"]["epsilon"] for e in entries if e["kind"] == "charged"] == [0.25, 0.5]
    assert "cell-counts" in run("ledger", "history", "cohort").stdout


@pytest.mark.parametrize("ending", ["html", "svg", "png"])
def test_history_draws_the_spending(asked, run, here, ending):
    done = run("ledger", "history", "--chart", f"spent.{ending}")
    assert done.exit_code == 0, done.stderr
    drawn = (here / f"spent.{ending}").read_bytes()
    assert {"html": b"<!doctype", "svg": b"<svg", "png": b"\x89PNG"}[ending] in drawn[:40]
    assert ending == "png" or b"epsilon spent" in drawn


def test_history_refuses_a_picture_of_another_kind(asked, run):
    assert run("ledger", "history", "--chart", "spent.gif").exit_code == 3


def test_verify_accepts_a_whole_ledger_and_its_kept_head(asked, result_of):
    kept = asked.receipt.head
    checked = result_of("ledger", "verify", "--head", kept)["result"]
    assert (checked["ok"], checked["findings"]) == (True, [])
    assert (checked["accounts"], checked["entries"]) == (1, 5)
    assert checked["heads"] == {"cohort": kept}


def test_verify_ends_with_five_and_names_what_was_changed(asked, run, result_of):
    with closing(sqlite3.connect("ledger.sqlite")) as behind:
        behind.execute("UPDATE entries SET amount = 1 WHERE sequence = 3")
        behind.commit()
    checked = result_of("ledger", "verify", code=5)["result"]
    assert not checked["ok"]
    assert any("entry 3 (charged, request 'second')" in said for said in checked["findings"])
    people = run("ledger", "verify")
    assert people.exit_code == 5
    assert "its spent: is 750000000000" in people.stdout


def test_verify_ends_with_five_when_a_kept_head_is_gone(asked, result_of):
    checked = result_of("ledger", "verify", "--head", "f" * 64, code=5)["result"]
    assert "older copy was put back" in checked["findings"][0]


def test_a_damaged_file_ends_every_command_with_five(here, run):
    (here / "l.sqlite").write_bytes(b"not a database" * 1000)
    for command in (["show"], ["verify"], ["export"]):
        done = run("ledger", *command, "--ledger", "l.sqlite")
        assert done.exit_code == 5
        assert "l.sqlite is damaged" in done.stderr + done.stdout


def test_an_accountant_outside_derives_the_total_from_the_export(asked, run):
    exported = json.loads(run("ledger", "export", "--json").stdout)["result"]
    account = exported["accounts"][0]
    total = Fraction(0)
    for charge in account["charges"]:
        (mechanism,) = charge["mechanisms"]
        assert mechanism["law"] == "discrete Laplace"
        # disjoint cells: the L1 sensitivity is that of the whole vector of counts
        total += Fraction(mechanism["sensitivity"]) / Fraction(mechanism["scale"])
    unit = Fraction(exported["units"]["epsilon"])
    assert total == account["spent_units"]["epsilon"] * unit == Fraction(3, 4)
