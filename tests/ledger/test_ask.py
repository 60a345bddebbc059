"""One ask, from charge to stored answer, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from ledger_asker import Tally, pure, tally

from noren import Guarantee, Ledger
from noren.errors import (
    AdjacencyMismatch,
    BudgetRefused,
    GuaranteeMismatch,
    LedgerError,
    NotPrivate,
    ParameterError,
    ReleaseLost,
)
from noren.privacy import Plan
from noren.testing import seeded_noise


class Broken(Exception):
    """What a question may raise while it draws."""


class Breaks(Tally):
    kind = "breaks"

    def answer(self, statistic, noise):
        raise Broken


class Choosy(Tally):
    kind = "choosy"

    def check(self, statistic):
        if statistic < 0:
            raise ParameterError("statistic", "too small", "at least 0")


def test_an_answer_carries_its_price_and_a_receipt_that_the_chain_holds(ledger):
    ledger.create_account("cohort", pure(1))
    answer = ledger.ask("cohort", tally("0.25"), 100, request_id="first")
    assert answer.guarantee == pure("0.25")
    assert (answer.receipt.account, answer.receipt.request_id) == ("cohort", "first")
    assert answer.receipt.head == ledger.balance("cohort").head
    assert ledger.verify(head=answer.receipt.head).heads == {"cohort": answer.receipt.head}
    assert ledger.balance("cohort").spent.epsilon == pure("0.25").epsilon


def test_the_same_request_gives_the_stored_answer_for_nothing(ledger):
    ledger.create_account("cohort", pure(1))
    first = ledger.ask("cohort", tally("0.5"), 100, request_id="same")
    again = ledger.ask("cohort", tally("0.5"), 10**6, request_id="same")
    assert again.to_dict() == first.to_dict()
    assert np.array_equal(again.cells, first.cells)
    assert (again.scale, again.odds) == (first.scale, first.odds)
    assert ledger.balance("cohort").spent.epsilon == pure("0.5").epsilon


def test_the_stored_answer_comes_back_when_nothing_is_left(ledger):
    ledger.create_account("cohort", pure(1))
    first = ledger.ask("cohort", tally(1), 100, request_id="all")
    assert ledger.ask("cohort", tally(1), 100, request_id="all").count == first.count


def test_an_id_stands_for_one_question(ledger):
    ledger.create_account("cohort", pure(1))
    ledger.ask("cohort", tally("0.1"), 100, request_id="same")
    with pytest.raises(LedgerError, match="another question"):
        ledger.ask("cohort", tally("0.2"), 100, request_id="same")
    with pytest.raises(LedgerError, match="another question"):
        ledger.ask("cohort", tally("0.1", label="other"), 100, request_id="same")
    assert ledger.balance("cohort").spent == pure("0.1")


def test_an_id_belongs_to_one_account(ledger):
    for name in ("first", "second"):
        ledger.create_account(name, pure(1))
        ledger.ask(name, tally("0.1"), 100, request_id="same")
    assert ledger.balance("second").spent == pure("0.1")


def test_requests_without_an_id_are_all_different(ledger):
    ledger.create_account("cohort", pure(1))
    receipts = {ledger.ask("cohort", tally("0.1"), 1).receipt for _ in range(3)}
    assert len(receipts) == 3
    assert ledger.balance("cohort").spent == pure("0.3")


def test_what_fails_after_the_charge_stays_charged_and_is_never_drawn_again(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(Broken):
        ledger.ask("cohort", Breaks(price=pure("0.4")), 100, request_id="lost")
    for _ in range(2):
        with pytest.raises(ReleaseLost, match="new id pays again"):
            ledger.ask("cohort", Breaks(price=pure("0.4")), 100, request_id="lost")
    assert ledger.balance("cohort").spent == pure("0.4")


def test_whoever_asks_while_the_answer_is_drawn_waits_for_the_same_one(place):
    drawing, drawn = threading.Event(), threading.Event()

    class Slow(Tally):
        def answer(self, statistic, noise):
            drawing.set()
            assert drawn.wait(30)
            return Tally.answer(self, statistic, noise)

    question, heads = Slow(price=pure("0.5")), []

    def ask():
        heads.append(ledger.ask("cohort", question, 100, request_id="one").to_dict())

    with Ledger.open(place, patience=30) as ledger:
        ledger.create_account("cohort", pure(1))
        first, second = threading.Thread(target=ask), threading.Thread(target=ask)
        first.start()
        assert drawing.wait(30)
        second.start()
        drawn.set()
        first.join()
        second.join()
        assert heads[0] == heads[1]
        assert ledger.balance("cohort").spent == pure("0.5")


def test_counting_comes_before_the_charge_and_only_where_it_is_needed(ledger):
    ledger.create_account("cohort", pure(1))
    counted = []

    def count():
        counted.append(ledger.balance("cohort").spent.epsilon)
        return 100

    ledger.ask("cohort", tally("0.9"), count, request_id="a")
    ledger.ask("cohort", tally("0.9"), count, request_id="a")
    with pytest.raises(BudgetRefused):
        ledger.ask("cohort", tally("0.9"), count, request_id="b")
    assert counted == [0]


def test_counting_that_fails_costs_nothing(ledger):
    ledger.create_account("cohort", pure(1))

    def count():
        raise Broken

    with pytest.raises(Broken):
        ledger.ask("cohort", tally("0.5"), count, request_id="a")
    assert ledger.balance("cohort").spent == pure(0)
    assert ledger.ask("cohort", tally("0.5"), 100, request_id="a").receipt


def choosy(price="0.5"):
    return Choosy(price=pure(price))


@pytest.mark.parametrize("counted", [lambda: -1, -1])
def test_a_statistic_that_does_not_fit_costs_nothing(ledger, counted):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(ParameterError, match="at least 0"):
        ledger.ask("cohort", choosy(), counted, request_id="same")
    plan = Plan(questions=[choosy(), choosy()], delta=0)
    with pytest.raises(ParameterError, match="at least 0"):
        ledger.ask("cohort", plan, [3, -1])
    assert ledger.balance("cohort").entries == 1
    assert ledger.ask("cohort", choosy(), 3, request_id="same").receipt


def test_a_stored_answer_needs_no_statistic(ledger):
    ledger.create_account("cohort", pure(1))
    first = ledger.ask("cohort", choosy(), 3, request_id="same")
    assert ledger.ask("cohort", choosy(), -1, request_id="same").count == first.count


def test_what_cannot_be_paid_is_refused_before_the_statistic_is_looked_at(ledger):
    ledger.create_account("cohort", pure("0.1"))
    with pytest.raises(BudgetRefused):
        ledger.ask("cohort", choosy(), -1)


def test_ten_tenths_fit_exactly_and_an_eleventh_does_not(ledger):
    ledger.create_account("cohort", pure(1))
    for _ in range(10):
        ledger.ask("cohort", tally(0.1), 100)
    assert ledger.balance("cohort").spent == pure(1)
    assert ledger.balance("cohort").remaining == pure(0)
    with pytest.raises(BudgetRefused):
        ledger.ask("cohort", tally(1e-12), 100)


def test_a_refusal_says_requested_remaining_missing_and_affordable(ledger):
    ledger.create_account("cohort", pure(1))
    ledger.ask("cohort", tally("0.7"), 100)
    with pytest.raises(BudgetRefused) as refusal:
        ledger.ask("cohort", tally("0.5"), 10**6)
    for amount in ("asks for epsilon 0.5", "epsilon 0.3 left", "epsilon 0.2 is missing"):
        assert amount in str(refusal.value)
    assert "affords: epsilon 0.3" in str(refusal.value)
    assert refusal.value.exit_code == 4
    assert ledger.balance("cohort").spent == pure("0.7")
    assert ledger.ask("cohort", tally("0.3"), 100).receipt  # what it names is affordable


def test_a_refusal_never_depends_on_the_data(ledger):
    ledger.create_account("cohort", pure(1))
    said = set()
    for statistic in (0, 10**9, None, "not even a number"):
        with pytest.raises(BudgetRefused) as refusal:
            ledger.ask("cohort", tally(2), statistic)
        said.add(str(refusal.value))
    assert len(said) == 1


def test_a_zcdp_account_names_an_epsilon_that_it_then_affords(ledger):
    total = Guarantee("add-remove", epsilon=1, delta="1e-6")
    opened = ledger.create_account("cohort", total)
    forms = [price.form for price in opened.largest]
    assert forms == ["pure", "approximate", "zCDP"]
    for price in opened.largest:
        ledger.create_account(price.form, total)
        ledger.ask(price.form, Tally(price=price), 100)
    with pytest.raises(BudgetRefused, match=r"largest such question it affords: epsilon 0\.2145"):
        ledger.ask("cohort", tally(1), 100)


def test_a_question_about_other_neighbors_is_refused_with_the_conversion_named(ledger):
    ledger.create_account("cohort", Guarantee("substitute", epsilon=1))
    with pytest.raises(AdjacencyMismatch, match="twice epsilon"):
        ledger.ask("cohort", tally("0.1"), 100)
    ledger.create_account("other", pure(1))
    with pytest.raises(AdjacencyMismatch, match="no conversion to add-remove"):
        ledger.ask("other", Tally(price=Guarantee("substitute", epsilon="0.1")), 100)
    assert ledger.balance("cohort").spent.epsilon == 0


def test_a_pure_account_refuses_a_question_that_states_rho_only(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(GuaranteeMismatch, match="zcdp"):
        ledger.ask("cohort", Tally(price=Guarantee("add-remove", rho="0.1")), 100)


def test_a_question_without_a_guarantee_has_no_path_to_a_ledger(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(NotPrivate, match="no guarantee"):
        ledger.ask("cohort", Tally(price=None), 100)


@pytest.mark.parametrize("thing", ["how many?", None, 3])
def test_what_is_no_question_is_refused_in_words(ledger, thing):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(NotPrivate, match="no price"):
        ledger.ask("cohort", thing, 3)


def test_what_is_no_noise_is_refused_before_anything_is_charged(memory):
    memory.create_account("cohort", pure(1))
    with pytest.raises(ParameterError, match="Noise"):
        memory.ask("cohort", tally("0.5"), 3, noise=np.random.default_rng(1))
    assert memory.balance("cohort").entries == 1


def test_seeded_noise_is_refused_by_a_real_ledger_before_anything_is_charged(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(NotPrivate, match="can be predicted"):
        ledger.ask("cohort", tally("0.5"), 100, noise=seeded_noise(1))
    assert ledger.balance("cohort").spent == pure(0)


def test_a_ledger_for_testing_takes_seeded_noise_and_says_so_in_the_answer(memory, tmp_path):
    memory.create_account("cohort", pure(1))
    answer = memory.ask("cohort", tally("0.5"), 100, request_id="a", noise=seeded_noise(1))
    again = memory.ask("cohort", tally("0.5"), 100, request_id="a", noise=seeded_noise(2))
    for one in (answer, again):
        assert "NOT PRIVATE" in str(one)
        assert one.guarantee is None
    with pytest.raises(NotPrivate, match="in memory"):
        Ledger.open(tmp_path / "real.sqlite", testing=True)


@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_answers_are_stored_whole_in_rows_of_bounded_size(ledger, size, monkeypatch):
    monkeypatch.setattr("noren.ledger.stored.PART", 1_000_000)
    ledger.create_account("cohort", pure(1))
    question = tally("0.5", size=size)
    first = ledger.ask("cohort", question, 100, request_id="a")
    again = ledger.ask("cohort", question, 100, request_id="a")
    assert np.array_equal(first.cells, again.cells)
    assert first.cells.dtype == again.cells.dtype
    ledger.verify()


@pytest.mark.parametrize("name", ["", " a", "a\n", "a" * 201, None, 7])
def test_names_and_ids_are_plain(ledger, name):
    with pytest.raises(ParameterError, match=r"printable|spaces"):
        ledger.create_account(name, pure(1))
    ledger.create_account("cohort", pure(1))
    if name is not None:
        with pytest.raises(ParameterError, match="request_id"):
            ledger.ask("cohort", tally("0.1"), 100, request_id=name)


def test_an_unknown_account_is_refused_with_the_known_ones_named(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(LedgerError, match=r"no account 'cohrt'.*'cohort'"):
        ledger.ask("cohrt", tally("0.1"), 100)
    with pytest.raises(LedgerError, match="no account"):
        ledger.balance("cohrt")


def test_a_name_is_opened_once(ledger):
    ledger.create_account("cohort", pure(1))
    with pytest.raises(LedgerError, match="already"):
        ledger.create_account("cohort", pure(100))
    assert ledger.balance("cohort").total == pure(1)


def test_history_tells_what_was_charged_and_answered(ledger):
    ledger.create_account("cohort", Guarantee("add-remove", epsilon=1, delta="1e-6"))
    ledger.ask("cohort", tally("0.1"), 100, request_id="a")
    opened, charged, answered = ledger.history("cohort")
    assert (opened.kind, charged.kind, answered.kind) == ("opened", "charged", "answered")
    assert (charged.question, charged.price, charged.request_id) == ("tally", pure("0.1"), "a")
    assert float(charged.charge.rho) == pytest.approx(0.0049958375, rel=1e-6)  # 0.1 tanh(0.05)
    assert answered.hash == ledger.balance("cohort").head
    assert [entry.to_dict()["sequence"] for entry in (opened, charged, answered)] == [0, 1, 2]


def test_two_threads_share_a_ledger_in_memory(memory):
    memory.create_account("cohort", pure(1))
    granted = []

    def ask():
        for _ in range(10):
            try:
                memory.ask("cohort", tally("0.1"), 100)
                granted.append(1)
            except BudgetRefused:
                pass

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 10
    memory.verify()
