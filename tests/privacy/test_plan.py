"""Plans: the smallest valid bound, one price, and everything a ledger asks of a question."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren import Noise, privacy, question
from noren.errors import AdjacencyMismatch, LedgerError, ParameterError
from noren.ledger import Ledger
from noren.mechanisms import CellCounts, Counts
from noren.privacy import (
    ADD_REMOVE,
    Adjacency,
    Guarantee,
    Plan,
    Profile,
    advanced_composition_epsilon,
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    discrete_gaussian_profile,
    discrete_laplace_profile,
    optimal_composition_epsilon,
    zcdp_epsilon,
)
from noren.privacy.amounts import RHO_UNIT, from_units, to_units_up
from noren.privacy.marks import NO_LEDGER, NOT_PRIVATE
from noren.testing import seeded_noise

HERE = Adjacency(ADD_REMOVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A question reduced to its price."""

    kind: ClassVar[str] = "priced"
    notes: ClassVar[tuple[str, ...]] = ("a note",)
    assumed_public: ClassVar[tuple[str, ...]] = ("a fact",)

    guarantee: Guarantee
    profile: Profile | None = None
    columns: tuple[str, ...] | None = None


def pure(epsilon, **more) -> Priced:
    return Priced(guarantee=Guarantee(HERE, epsilon=epsilon, **more))


def counts(epsilon="0.1", cells=("yes", "no")) -> CellCounts:
    return CellCounts(cells=cells, adjacency=HERE, epsilon=epsilon)


def gaussian(variance) -> Priced:
    price = Guarantee(HERE, rho=Fraction(1, 2) / variance)
    return Priced(guarantee=price, profile=discrete_gaussian_profile(HERE, variance))


def test_equal_prices_compose_optimally():
    plan = Plan(questions=[pure("0.1")] * 100, delta="1e-6")
    assert plan.bound == "optimal"
    assert float(plan.guarantee.epsilon) == pytest.approx(
        optimal_composition_epsilon("0.1", 100, "1e-6"), rel=1e-14
    )
    assert plan.guarantee.delta == Fraction("1e-6")


def test_the_winner_is_the_smallest_of_all_and_is_named():
    plan = Plan(questions=[pure("0.1")] * 50 + [pure("0.2")] * 25, delta="1e-6")
    every = {name: float(epsilon) for name, epsilon in plan.priced.epsilons}
    assert every["basic"] == 10
    assert every["advanced"] == pytest.approx(
        advanced_composition_epsilon(["0.1"] * 50 + ["0.2"] * 25, "1e-6"), rel=1e-12
    )
    assert set(every) == {"basic", "advanced", "zcdp", "accountant"}
    assert plan.bound == "accountant"
    assert float(plan.guarantee.epsilon) == min(every.values())


def test_few_large_questions_are_added_up():
    plan = Plan(questions=[pure(2), pure(3)], delta="1e-9")
    assert plan.bound in ("basic", "accountant")
    assert float(plan.guarantee.epsilon) == pytest.approx(5, abs=1e-6)
    only = Plan(questions=[pure(2)], delta=0)
    assert (only.bound, only.guarantee.epsilon, only.guarantee.delta) == ("basic", 2, 0)


def test_at_delta_zero_epsilons_and_rhos_add():
    plan = Plan(questions=[counts()] * 10, delta=0)
    assert (plan.guarantee.epsilon, plan.guarantee.delta, plan.bound) == (1, 0, "basic")
    assert plan.guarantee.rho == 10 * counts().guarantee.rho


def test_discrete_gaussians_are_composed_exactly():
    plan = Plan(questions=[gaussian(16)] * 10, delta="1e-6")
    assert plan.bound == "accountant"
    exact = discrete_gaussian_epsilon(16, "1e-6", count=10)
    assert exact <= float(plan.guarantee.epsilon) <= exact * (1 + 2e-9)
    assert exact < zcdp_epsilon("0.3125", "1e-6")
    assert plan.guarantee.rho == Fraction("0.3125")


def test_a_profile_mixes_with_prices_that_have_none():
    with_profile = Plan(questions=[gaussian(16)] * 5 + [pure("0.3")], delta="1e-6")
    without = Plan(
        questions=[Priced(guarantee=gaussian(16).guarantee)] * 5 + [pure("0.3")], delta="1e-6"
    )
    assert with_profile.bound == "accountant"
    assert without.bound == "zcdp"
    assert with_profile.guarantee.epsilon < without.guarantee.epsilon


def test_a_profile_for_other_neighbors_is_not_used():
    price = Guarantee(HERE, rho="0.03125")
    wrong = Priced(guarantee=price, profile=discrete_gaussian_profile(Adjacency.read("bit"), 16))
    assert Plan(questions=[wrong], delta="1e-6").bound == "zcdp"


def test_a_price_in_rho_alone_may_be_asked_for():
    parts = [pure("0.1", delta="1e-8"), Priced(guarantee=Guarantee(HERE, rho="0.01"))]
    plan = Plan(questions=parts, delta=None)
    total = parts[0].guarantee.as_zcdp() + parts[1].guarantee
    assert (plan.guarantee, plan.bound) == (total, "zcdp")
    assert Plan(questions=parts, delta="1e-6").guarantee.rho is None
    in_rho = Plan(questions=[Priced(guarantee=Guarantee(HERE, rho="0.01"))] * 2, delta=0)
    assert in_rho.guarantee == Guarantee(HERE, rho="0.02")


def test_deltas_of_the_parts_are_counted():
    plan = Plan(questions=[pure("0.1", delta="1e-8")] * 20, delta="1e-6")
    alone = Plan(questions=[pure("0.1")] * 20, delta="1e-6")
    assert plan.guarantee.epsilon > alone.guarantee.epsilon
    with pytest.raises(ParameterError, match="above 2e-07, the deltas of the parts together"):
        Plan(questions=[pure("0.1", delta="1e-8")] * 20, delta="1e-8")


@given(st.lists(st.integers(1, 20).map(lambda n: Fraction(n, 20)), min_size=1, max_size=6))
@settings(max_examples=25)
def test_no_bound_is_below_what_the_parts_really_cost(epsilons):
    """Randomized responses, enumerated: the plan's epsilon really has its delta."""
    plan = Plan(questions=[pure(epsilon) for epsilon in epsilons], delta="0.001")
    laws = [(math.exp(e) / (1 + math.exp(e)), 1 / (1 + math.exp(e))) for e in map(float, epsilons)]
    p, q = [1.0], [1.0]
    for top, low in laws:
        p = [x * f for x in p for f in (top, low)]
        q = [x * f for x in q for f in (low, top)]
    growth = math.exp(plan.guarantee.epsilon)
    true = sum(max(0.0, a - growth * b) for a, b in zip(p, q, strict=True))
    assert true <= float(plan.guarantee.delta) * (1 + 1e-9) + 1e-15
    assert plan.guarantee.epsilon <= sum(epsilons)


def test_mixed_neighbors_are_refused_with_both_names():
    other = Priced(guarantee=Guarantee("substitute", epsilon=1))
    with pytest.raises(AdjacencyMismatch, match=r"added or removed.*replaced by any other"):
        Plan(questions=[pure(1), other], delta=0)


@pytest.mark.parametrize("questions", [[], [object()], [dataclasses.replace(pure(1))][:0]])
def test_a_plan_needs_priced_questions(questions):
    with pytest.raises(ParameterError, match="questions is"):
        Plan(questions=questions, delta=0)


def test_a_plan_is_a_question():
    plan = Plan(questions=[counts(), counts("0.2")], delta="1e-6")
    assert isinstance(plan, question.Question)
    assert plan.kind == "plan"
    assert plan.assumed_public[0] == "the questions of the plan, fixed before the first answer"
    assert len(plan.mechanisms) == 2
    assert plan.columns is None
    parts = [Priced(guarantee=pure(1).guarantee, columns=c) for c in (("b",), ("a", "b"))]
    assert Plan(questions=parts, delta=0).columns == ("a", "b")
    assert Plan(questions=parts, delta=0).notes == ("a note",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.delta = Fraction(1, 2)


def test_its_name_is_stable_and_tells_lists_apart():
    def name(questions, delta="1e-6"):
        return question.identity(Plan(questions=questions, delta=delta))

    first = name([counts("0.1"), counts("0.2")])
    assert first == name((counts(0.1), counts(Fraction(1, 5))), delta=1e-6)
    others = [
        name([counts("0.2"), counts("0.1")]),
        name([counts("0.1"), counts("0.2"), counts("0.2")]),
        name([counts("0.1"), counts("0.2", cells=("yes", "maybe"))]),
        name([counts("0.1"), counts("0.2")], delta="1e-7"),
        question.identity(counts("0.1")),
    ]
    assert len({first, *others}) == 6


def answered(noise: Any) -> Any:
    plan = Plan(questions=[counts(), counts("0.2")], delta="1e-6")
    return plan.answer([Counts.of([0, 0, 1], cells=2)] * 2, noise)


def test_an_answer_carries_the_parts_under_one_price():
    answer = answered(Noise())
    assert [part.values.shape for part in answer] == [(2,), (2,)]
    assert answer.guarantee == answer.question.guarantee
    assert answer.marks == (NO_LEDGER,)
    written = answer.to_dict()
    assert (written["kind"], written["bound"], len(written["value"])) == ("plan", "accountant", 2)
    assert written["guarantee"]["epsilon"] < 0.3
    assert question.as_json(written) == written
    assert str(answer).count("largest of 2") == 2
    assert "by accountant" in str(answer)
    assert answer.chart().to_dict()["vconcat"]


def test_a_receipt_reaches_the_parts():
    receipt = question.Receipt("account", "id", "head")
    answer = dataclasses.replace(answered(Noise()), receipt=receipt)
    assert answer.marks == ()
    assert all(part.receipt == receipt and not part.marks for part in answer.parts)
    assert answer.to_dict()["receipt"] == {"account": "account", "request_id": "id", "head": "head"}


def test_a_stored_answer_is_restored():
    answer = answered(Noise())
    back = answer.question.restore(answer.record())
    assert [list(part.values) for part in back] == [list(part.values) for part in answer]


def test_seeded_noise_can_never_pass_for_private():
    answer = answered(seeded_noise(0))
    assert answer.guarantee is None
    assert NOT_PRIVATE in str(answer)
    assert answer.to_dict()["guarantee"] is None
    assert all(NOT_PRIVATE in part.marks for part in answer.parts)


def test_a_forecast_says_each_part():
    plan = Plan(questions=[counts(), counts(), counts("0.2")], delta="1e-6")
    assert plan.forecast().sentence.count("each count within") == 2
    assert len(plan.forecast().to_dict()["parts"]) == 3


def test_statistics_must_match_the_questions():
    with pytest.raises(ParameterError, match="one for each of the plan's 1 questions"):
        Plan(questions=[counts()], delta=0).answer([], Noise())


def test_the_marks_are_those_of_every_answer():
    assert (NOT_PRIVATE, NO_LEDGER) == (question.NOT_PRIVATE, question.NO_LEDGER)


def test_one_gaussian_answer_costs_what_its_own_curve_says():
    plan = Plan(questions=[gaussian(16)], delta="1e-6")
    assert discrete_gaussian_delta(16, plan.guarantee.epsilon) == pytest.approx(1e-6, rel=1e-7)
    assert plan.bound == "accountant"


def test_laplace_profiles_with_a_larger_step_cost_less_than_their_epsilon_alone():
    price = Guarantee(HERE, epsilon="0.5")
    fine = Priced(guarantee=price, profile=discrete_laplace_profile(HERE, "0.5", 40))
    with_profile = Plan(questions=[fine] * 30, delta="1e-6")
    without = Plan(questions=[pure("0.5")] * 30, delta="1e-6")
    assert with_profile.guarantee.epsilon < without.guarantee.epsilon
    assert privacy.bounds.MOST_KINDS >= 64


def test_a_ledger_charges_a_plan_once_and_gives_the_same_answer_back(tmp_path):
    plan = Plan(questions=[counts(), counts("0.2")], delta="1e-6")
    data = [Counts.of([0, 0, 1], cells=2)] * 2
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.create_account("cohort", Guarantee(HERE, rho=1))
        first = ledger.ask("cohort", plan, data, request_id="once")
        again = ledger.ask("cohort", plan, data, request_id="once")
        assert ledger.balance("cohort").spent == Guarantee(
            HERE, rho=from_units(to_units_up(plan.guarantee.rho, RHO_UNIT), RHO_UNIT)
        )
        with pytest.raises(LedgerError):
            ledger.ask("cohort", Plan(questions=[counts()], delta=0), data[:1], request_id="once")
    assert [list(part.values) for part in again] == [list(part.values) for part in first]
    assert again.receipt.request_id == "once"
    assert again.guarantee == plan.guarantee
    assert NO_LEDGER not in str(again)
