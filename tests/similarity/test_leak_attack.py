"""Attacks on one's own records: everything from exact answers, nothing from private ones."""

from fractions import Fraction

import numpy as np
import pytest

from noren.errors import BudgetRefused, ParameterError
from noren.ledger import Ledger
from noren.similarity import Records, Session, attack, scores, stand_in
from noren.similarity.leak_attack import METHODS, strategy
from noren.testing import seeded_noise

SMALL = Records.of(np.random.default_rng(2).random((60, 20)) < 0.3)


@pytest.mark.parametrize(
    ("method", "queries"), [("detecting", 16), ("unit", 20), ("differencing", 21)]
)
def test_every_method_recovers_everything_from_exact_scores(method, queries):
    found = attack(SMALL, method, min_size=7 if method == "differencing" else 1)
    assert found.everything
    assert (found.queries, found.right, found.wrong) == (queries, 60 * 20, 0)
    assert "recovered all 60 x 20 bits" in str(found)


def test_the_stand_in_falls_to_512_queries():
    found = attack(stand_in())
    assert found.queries == 512
    assert found.everything
    assert found.ones_right == found.ones == 100_080


def test_a_least_size_of_queries_protects_nobody():
    plan = strategy("differencing", 20, min_size=7)
    assert plan.queries.sum(axis=1).min() == 7
    assert (plan.read(scores(SMALL, plan.queries)) == SMALL.bits()).all()


def test_ranks_give_away_all_columns_that_are_not_constant():
    bits = SMALL.bits().copy()
    bits[:, 3], bits[:, 8] = 1, 0
    found = attack(Records.of(bits), "unit", answers="ranks")
    assert (found.right, found.wrong) == (60 * 18, 0)
    assert not found.everything


@pytest.mark.parametrize("method", METHODS)
def test_private_answers_at_a_budget_are_worse_than_a_guess(method):
    records, small = stand_in(), 40
    sparse = records.select(np.arange(0, 1682, 1682 // small))
    found = attack(sparse, method, epsilon="1.4", noise=seeded_noise(5), min_size=3)
    shared = strategy(method, sparse.n_columns, 3).most_shared
    assert found.per_query == Fraction("1.4") / shared
    assert found.share < found.blind_share
    assert not found.everything
    assert "guessing each column's commoner value" in str(found)


def test_the_noise_is_what_defeats_it():
    loud = attack(SMALL, "unit", epsilon=1, noise=seeded_noise(1))
    silent = attack(SMALL, "unit", epsilon=60, noise=seeded_noise(1))
    assert silent.everything
    assert loud.share < 0.9


def test_blocks_of_records_are_attacked_one_after_the_other(monkeypatch):
    monkeypatch.setattr("noren.similarity.leak_attack.CELLS", 16 * 7)
    calls = []
    found = attack(SMALL, progress=lambda done, total: calls.append((done, total)))
    assert found.everything
    assert calls[:3] == [(0, 60), (7, 60), (14, 60)]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "guessing"}, "detecting, unit, differencing"),
        ({"answers": "ranks"}, "with the method 'unit'"),
        ({"answers": "ranks", "method": "unit", "epsilon": 1}, "private"),
        ({"method": "differencing", "min_size": 20}, "less than the 20 columns"),
        ({"epsilon": 0}, "positive"),
    ],
)
def test_attacks_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ParameterError, match=said):
        attack(SMALL, **settings)


def attack_session(records, cap):
    """Ask a session every detecting query at the highest price it can answer all of them at."""
    plan = strategy("detecting", records.n_columns)
    each = Fraction(cap) / plan.most_shared
    session = Session.open(records, Ledger.open("sqlite://"), "films", cap, "bit")
    answers = [
        session.ask(session.question(np.flatnonzero(query).tolist(), epsilon=each)).scores()
        for query in plan.queries
    ]
    bits = records.bits()
    counts = records.column_counts()
    blind = np.maximum(counts, len(records) - counts).sum() / bits.size
    return session, float((plan.read(np.array(answers)) == bits).mean()), float(blind), each


def test_the_attack_fails_against_a_session_at_its_budget():
    """Secure noise: about half of 1200 bits right, 14 standard deviations below a blind guess."""
    session, right, blind, each = attack_session(SMALL, 2)
    assert right < blind - 0.05
    spent = session.status().columns
    assert max(spent.values()) == 2  # the attacker used all of it, and no column is over
    worst = max(spent, key=lambda name: spent[name])
    with pytest.raises(BudgetRefused, match="Nothing was charged"):
        session.ask(session.question([worst], epsilon=each))
    assert session.status().columns == spent


def test_a_session_refuses_the_queries_that_would_make_the_attack_work():
    session = Session.open(SMALL, Ledger.open("sqlite://"), "films", 2, "bit")
    plan, answered = strategy("detecting", SMALL.n_columns), 0
    for query in plan.queries:
        try:
            session.ask(session.question(np.flatnonzero(query).tolist(), epsilon=1))
            answered += 1
        except BudgetRefused:
            continue
    assert answered <= 4 < len(plan.queries)
    assert max(session.status().columns.values()) <= 2


@pytest.mark.slow
def test_the_attack_fails_against_a_session_of_the_stand_in():
    session, right, blind, _ = attack_session(stand_in(), 4)
    assert right < 0.55 < 0.9 < blind
    assert max(session.status().columns.values()) == 4
