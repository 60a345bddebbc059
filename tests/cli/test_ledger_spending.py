"""Every spending command needs an account, or says that it charged none."""

from __future__ import annotations

import json

import click
import pytest

from noren import Guarantee, Ledger
from noren.cli import policy
from noren.cli.output import Output, with_output
from noren.cli.spending import Spending, spending_options
from noren.mechanisms import CellCounts, Counts

COUNTED = []


@click.command()
@click.option("--epsilon", default="0.25")
@spending_options
@with_output
def poll(output: Output, spending: Spending, epsilon: str) -> None:
    """Ask how many said yes."""

    def count():
        COUNTED.append(1)
        return Counts.of([0, 0, 1], cells=2)

    question = CellCounts(cells=("yes", "no"), adjacency="add-remove", epsilon=epsilon)
    answer = spending.ask(output, question, count)
    if answer is not None:
        output.show("poll", answer.to_dict(), guarantee=answer.guarantee, people=str(answer))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, lend):
    """Lend the command, and work in an empty folder with no settings from outside."""
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT", "NOREN_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(policy, "SYSTEM", tmp_path / "etc" / "policy.toml")
    monkeypatch.chdir(tmp_path)
    COUNTED.clear()
    lend(poll)
    return tmp_path


@pytest.fixture
def account(here):
    with Ledger.open("l.sqlite") as ledger:
        ledger.create_account("cohort", Guarantee("add-remove", epsilon=1))
    (here / "noren.toml").write_text('ledger = "l.sqlite"\naccount = "cohort"\n')


def spent():
    with Ledger.open("l.sqlite", create=False) as ledger:
        return ledger.balance("cohort").spent.epsilon


def test_without_an_account_the_command_that_makes_one_is_printed_and_works(run, here):
    refused = run("poll")
    assert refused.exit_code == 3
    assert not COUNTED
    line = next(part for part in refused.stderr.splitlines() if "noren ledger create" in part)
    made = run(*line.split()[1:])
    assert made.exit_code == 0, made.stderr
    told = ("--ledger", "ledger.sqlite", "--account", "NAME")
    assert run("poll", *told).exit_code == 0


def test_an_answer_is_charged_and_carries_its_receipt(account, run, result_of):
    found = result_of("poll")
    assert found["guarantee"]["epsilon"] == 0.25
    assert found["result"]["receipt"]["account"] == "cohort"
    assert spent() == Guarantee("add-remove", epsilon="0.25").epsilon
    people = run("poll")
    assert "Forecast" in people.stderr
    assert "head hash" in people.stderr


def test_the_same_request_id_costs_nothing_and_counts_nothing(account, result_of):
    first = result_of("poll", "--request-id", "monday")["result"]
    assert result_of("poll", "--request-id", "monday")["result"] == first
    assert spent() == Guarantee("add-remove", epsilon="0.25").epsilon
    assert len(COUNTED) == 1


def test_a_budget_that_refuses_ends_with_four_and_counts_nothing(account, run):
    refused = run("poll", "--epsilon", "2")
    assert refused.exit_code == 4
    assert "affords: epsilon 1" in refused.stderr
    assert not COUNTED


def test_a_dry_run_shows_price_and_forecast_and_needs_no_account(run, result_of):
    dry = run("poll", "--dry-run")
    assert dry.exit_code == 0
    assert "Price: epsilon 0.25" in dry.stdout
    assert "within +-" in dry.stdout
    found = result_of("poll", "--dry-run")
    assert found["kind"] == "forecast"
    assert found["guarantee"]["epsilon"] == 0.25
    assert not COUNTED


def test_no_ledger_spelled_out_is_the_only_way_around_and_says_so(run, result_of):
    assert "charged to no ledger" in run("poll", "--no-ledger").stdout
    assert "charged to no ledger" in result_of("poll", "--no-ledger")["result"]["marks"]


def test_no_ledger_and_an_account_do_not_go_together(run):
    assert run("poll", "--no-ledger", "--account", "cohort").exit_code == 2
    assert run("poll", "--no-ledger", "--request-id", "a").exit_code == 2


def test_a_seed_is_refused_by_a_ledger_and_marks_the_answer_without_one(account, run):
    refused = run("poll", "--insecure-seed", "1")
    assert refused.exit_code == 3
    assert spent() == 0
    found = json.loads(run("poll", "--insecure-seed", "1", "--no-ledger", "--json").stdout)
    assert found["guarantee"] is None
    assert "NOT PRIVATE (seeded)" in found["result"]["marks"]


def test_a_policy_forbids_no_ledger(here, run):
    (here / "noren-policy.toml").write_text("no-ledger = false\n")
    refused = run("poll", "--no-ledger")
    assert refused.exit_code == 3
    assert "every question must be charged" in refused.stderr


def test_a_policy_says_who_may_ask(account, here, run):
    (here / "noren-policy.toml").write_text('users = ["nobody-here"]\n')
    refused = run("poll")
    assert refused.exit_code == 3
    assert "not among its users" in refused.stderr
    (here / "noren-policy.toml").write_text(f'users = ["{policy.user_name()}"]\n')
    assert run("poll").exit_code == 0


def test_a_policy_refuses_an_account_that_may_spend_more(account, here, run):
    (here / "noren-policy.toml").write_text("epsilon = 0.5\n")
    refused = run("poll")
    assert refused.exit_code == 3
    assert spent() == 0
    (here / "noren-policy.toml").write_text('epsilon = 1\nadjacency = "add-remove"\n')
    assert run("poll").exit_code == 0


def test_a_policy_about_neighbors_lets_none_be_narrowed_unless_it_says_so(here, run):
    def create(name, within):
        account = ["ledger", "create", name, "--ledger", "ledger.sqlite", "--epsilon", 1]
        return run(*account, "--adjacency", "substitute", "--within", within)

    policy = here / "noren-policy.toml"
    policy.write_text('adjacency = "substitute"\n')
    assert create("plain", "").exit_code == 0
    refused = create("narrow", "same status")
    assert refused.exit_code == 3
    assert "rule 'within'" in refused.stderr
    policy.write_text('adjacency = "substitute"\nwithin = "same status"\n')
    assert create("narrow", "same status").exit_code == 0
    assert create("other", "one epoch").exit_code == 3


def test_words_of_another_policy_do_not_widen_what_the_keeper_allows(here, run, monkeypatch):
    (here / "noren-policy.toml").write_text('adjacency = "substitute"\n')
    (here / "mine.toml").write_text('within = "same status"\n')
    monkeypatch.setenv("NOREN_POLICY", str(here / "mine.toml"))
    place = ["--ledger", "ledger.sqlite", "--epsilon", 1]
    narrow = ["--adjacency", "substitute", "--within", "same status"]
    assert run("ledger", "create", "narrow", *place, *narrow).exit_code == 3
