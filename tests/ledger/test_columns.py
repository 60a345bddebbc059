"""A budget for each named column, charged to a set of columns at once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ledger_asker import Tally

from noren import Guarantee
from noren.errors import BudgetRefused, ParameterError

EACH = Guarantee("bit", epsilon=1)


def asked(epsilon, *columns, every=False):
    chosen = None if every else tuple(columns)
    return Tally(price=Guarantee("bit", epsilon=epsilon), columns=chosen)


@pytest.fixture
def cells(ledger):
    ledger.create_account("cells", EACH, columns=["age", "sex", "bmi"])
    return ledger


def spent(ledger):
    return {name: float(used) for name, used in ledger.balance("cells").columns.items()}


def test_a_question_is_charged_to_its_columns_alone(cells):
    cells.ask("cells", asked("0.5", "age", "sex"), 1)
    cells.ask("cells", asked("0.25", "age"), 1)
    assert spent(cells) == {"age": 0.75, "sex": 0.5, "bmi": 0}
    assert cells.balance("cells").spent == Guarantee("bit", epsilon="0.75")
    cells.verify()


def test_a_question_of_all_columns_is_charged_to_all(cells):
    cells.ask("cells", asked("0.5", every=True), 1)
    cells.ask("cells", asked("0.25", "bmi"), 1)
    assert spent(cells) == {"age": 0.5, "sex": 0.5, "bmi": 0.75}
    cells.verify()


def test_one_column_that_cannot_pay_refuses_the_whole_set(cells):
    cells.ask("cells", asked("0.75", "age"), 1)
    with pytest.raises(BudgetRefused, match=r"cannot pay: 'age'\. Nothing was") as refusal:
        cells.ask("cells", asked("0.5", "age", "sex"), 1)
    assert "epsilon 0.25 left" in str(refusal.value)
    with pytest.raises(BudgetRefused, match="'age'"):
        cells.ask("cells", asked("0.5", every=True), 1)
    assert spent(cells) == {"age": 0.75, "sex": 0, "bmi": 0}
    cells.ask("cells", asked("1", "sex", "bmi"), 1)
    cells.verify()


def test_order_and_repeats_of_columns_change_nothing(cells):
    cells.ask("cells", asked("0.5", "sex", "age", "sex"), 1)
    assert spent(cells) == {"age": 0.5, "sex": 0.5, "bmi": 0}


def test_what_reads_no_column_costs_none(cells):
    cells.ask("cells", asked("0.5"), 1)
    assert spent(cells) == {"age": 0, "sex": 0, "bmi": 0}
    with pytest.raises(BudgetRefused):
        cells.ask("cells", asked("2"), 1)


def test_the_same_request_is_charged_once(cells):
    for _ in range(3):
        cells.ask("cells", asked("0.5", "age"), 1, request_id="a")
    assert spent(cells)["age"] == 0.5


def test_an_unknown_column_is_refused_and_nothing_is_charged(cells):
    with pytest.raises(ParameterError, match="'height'"):
        cells.ask("cells", asked("0.5", "age", "height"), 1)
    assert spent(cells)["age"] == 0


@pytest.mark.parametrize(
    "budget",
    [Guarantee("bit", epsilon=1, delta="1e-6"), Guarantee("bit", rho=1)],
)
def test_column_budgets_are_pure(ledger, budget):
    with pytest.raises((ParameterError, ValueError), match=r"epsilon"):
        ledger.create_account("cells", budget, columns=["age"])


@pytest.mark.parametrize("columns", [[], ["a", "a"], [""], "ab", [3], ["a\0"], ["\ud800"]])
def test_columns_are_names_that_differ(ledger, columns):
    with pytest.raises(ParameterError, match="columns"):
        ledger.create_account("cells", EACH, columns=columns)


def test_many_columns_are_charged_in_chunks(ledger):
    names = [f"c{number:04}" for number in range(950)]
    ledger.create_account("cells", EACH, columns=names)
    ledger.ask("cells", asked("0.5", *names[:401]), 1)
    ledger.ask("cells", asked("0.25", every=True), 1)
    balance = ledger.balance("cells").columns
    assert [balance[name] for name in names] == [Fraction(3, 4)] * 401 + [Fraction(1, 4)] * 549
    with pytest.raises(BudgetRefused, match=r"and 391 more"):
        ledger.ask("cells", asked("0.5", *names), 1)
    ledger.verify()


def test_an_account_without_columns_charges_the_whole(ledger):
    ledger.create_account("plain", EACH)
    ledger.ask("plain", asked("0.5", "age"), 1)
    assert ledger.balance("plain").spent == Guarantee("bit", epsilon="0.5")
    assert ledger.balance("plain").columns is None
