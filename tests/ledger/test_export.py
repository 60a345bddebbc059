"""An accountant outside can derive an account's total again from what is exported."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from ledger_asker import pure, tally

from noren import Guarantee
from noren.mechanisms import CellCounts, Counts
from noren.privacy import Plan
from noren.question import identity

CELLS = ("yes", "no")
COUNTS = Counts.of([0, 1, 1], cells=2)


def question(**price):
    return CellCounts(cells=CELLS, adjacency="add-remove", **price)


def test_epsilons_follow_from_sensitivities_and_scales(ledger):
    ledger.create_account("cohort", pure(1))
    for epsilon in ("0.5", "0.25", "1/7"):
        ledger.ask("cohort", question(epsilon=Fraction(epsilon)), COUNTS)
    account = json.loads(json.dumps(ledger.export("cohort")))["accounts"][0]
    derived = 0
    for charge in account["charges"]:
        (mechanism,) = charge["mechanisms"]
        epsilon = Fraction(mechanism["sensitivity"]) / Fraction(mechanism["scale"])
        units = -(-epsilon // Fraction(1, 10**12))  # each charge is rounded up to whole units
        assert charge["charged_units"] == {"epsilon": units, "delta": 0}
        derived += units
    assert derived == account["spent_units"]["epsilon"]
    assert account["total_units"]["epsilon"] == 10**12


def test_rhos_follow_from_squared_sensitivities_and_variances(ledger):
    ledger.create_account("cohort", Guarantee("add-remove", rho=1))
    for rho in ("0.5", "0.125"):
        ledger.ask("cohort", question(rho=rho), COUNTS)
    account = ledger.export("cohort")["accounts"][0]
    derived = Fraction(0)
    for charge in account["charges"]:
        (mechanism,) = charge["mechanisms"]
        derived += Fraction(mechanism["sensitivity"]) / (2 * Fraction(mechanism["variance"]))
    assert derived == Fraction(account["spent_units"]["rho"], 10**12) == Fraction(5, 8)


def test_each_charge_names_its_question_and_what_was_taken_to_be_public(ledger):
    ledger.create_account("cohort", pure(1))
    asked = question(epsilon="0.5")
    ledger.ask("cohort", asked, COUNTS, request_id="a")
    charge = ledger.export()["accounts"][0]["charges"][0]
    assert charge["question"]["kind"] == "cell-counts"
    assert charge["question"]["cells"] == ["yes", "no"]
    assert charge["request_id"] == "a"
    assert charge["assumed_public"] == list(asked.assumed_public)
    assert charge["bits"] == "chacha20"
    assert charge["noren"]


def test_the_stored_digest_is_the_questions_own_name(ledger):
    ledger.create_account("cohort", pure(1))
    asked = question(epsilon="0.5")
    ledger.ask("cohort", asked, COUNTS)
    with ledger._database.read() as transaction:
        transaction._cursor.execute("SELECT body FROM entries WHERE kind = 'charged'")
        body = json.loads(transaction._cursor.fetchone()[0])
    assert body["digest"] == identity(asked)


def test_one_account_or_all(ledger):
    for name in ("a", "b"):
        ledger.create_account(name, pure(1))
    assert [account["account"] for account in ledger.export()["accounts"]] == ["a", "b"]
    assert [account["account"] for account in ledger.export("b")["accounts"]] == ["b"]


@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_a_plan_is_charged_once_as_one_entry(ledger, kind):
    budget = Guarantee("add-remove", epsilon=10, delta="1e-5")
    ledger.create_account("cohort", budget, filter=kind)
    plan = Plan(questions=[question(epsilon="0.1")] * 40, delta="1e-6")
    answer = ledger.ask("cohort", plan, [COUNTS] * 40, request_id="plan")
    again = ledger.ask("cohort", plan, [COUNTS] * 40, request_id="plan")
    assert [entry.kind for entry in ledger.history("cohort")] == ["opened", "charged", "answered"]
    assert again.to_dict() == answer.to_dict()
    charge = ledger.export()["accounts"][0]["charges"][0]
    assert charge["question"]["kind"] == "plan"
    assert len(charge["mechanisms"]) == 40
    if kind == "pure":
        assert ledger.balance("cohort").spent.epsilon < 4  # less than its parts one by one


def test_an_answer_of_a_generic_question_is_exported_without_any_count(ledger):
    """What leaves for an accountant is public: no answer and no statistic is in it."""
    ledger.create_account("cohort", pure(1))
    ledger.ask("cohort", tally("0.5", label="x"), 987_654_321)
    assert "98765" not in json.dumps(ledger.export())
