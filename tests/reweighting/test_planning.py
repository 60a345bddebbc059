"""The public rule that chooses a question, and what is said before anything is spent."""

import numpy as np
import pytest

from noren.errors import ParameterError
from noren.noise import Noise
from noren.reweighting import CodedColumn, fit_weights, plan_weights

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(0)


def table(d):
    return RNG.standard_normal((300, d)) / 3


def words(columns, levels=3):
    codes = RNG.integers(levels, size=(300, columns, 1))
    rows = ((codes == np.arange(levels)) / np.sqrt(2)).reshape(300, -1)
    coded = tuple(
        CodedColumn(f"c{i}", "categorical", levels * i, levels * (i + 1)) for i in range(columns)
    )
    return rows, coded


def planned(public, coded=None, **settings):
    given = {"adjacency": "substitute", "epsilon": 1, "records": 5000}
    return plan_weights(public, coded, **(given | settings))


def test_the_rule_follows_columns_and_size():
    assert planned(table(3)).method == "kriging"
    assert planned(table(5)).method == "adaptive"
    assert planned(table(5), epsilon="0.1").method == "calibration"
    assert planned(*words(5), epsilon=1).method == "calibration"
    assert planned(*words(5), epsilon="0.01").method == "rake"
    assert planned(*words(16)).method == "rake"  # more than 30 moments for an epsilon
    assert planned(*words(16), epsilon=None, rho=1).method == "calibration"
    wide, coded = words(3, 12)
    mixed = np.hstack([wide, table(4)])
    numbers = tuple(CodedColumn(f"n{i}", "numeric", 36 + i, 37 + i) for i in range(4))
    assert planned(mixed, (*coded, *numbers), epsilon="0.1").method == "kriging"


def test_the_highest_order_with_little_noise_is_chosen():
    public = table(4)
    orders = [
        planned(public, method="calibration", epsilon=epsilon).question.basis.whitening.order
        for epsilon in ("0.001", "0.03", "10")
    ]
    assert orders[0] == 1
    assert orders == sorted(orders)
    assert orders[-1] == 3
    noisy = planned(public, method="calibration", epsilon="0.001")
    assert any("pv above 0.1" in notice for notice in noisy.notices)


def test_the_basis_is_finer_where_there_is_more_to_see():
    assert planned(table(2), epsilon="0.1").question.basis.size == 20
    assert planned(table(2)).question.basis.size == 60
    few = planned([[0.0], [1.0], [1.0], [2.0]])
    assert few.question.basis.size == 3


def test_nothing_private_enters_and_the_same_public_facts_give_the_same_question():
    from noren.question import identity

    public = table(4)
    assert identity(planned(public).question) == identity(planned(public).question)
    other = planned(public, seed=1).question
    assert identity(planned(public).question) != identity(other)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": None, "rho": "0.1"}])
@pytest.mark.parametrize("adjacency", ["substitute", "add-remove"])
def test_whatever_was_planned_can_be_asked_and_fitted(d, price, adjacency):
    known = {"records": 3000} if adjacency == "substitute" else {"records": None, "about": 3000}
    public, private = table(d), RNG.standard_normal((3000, d)) / 3 + 0.2
    plan = planned(public, adjacency=adjacency, **price, **known)
    statistic = plan.statistic([private[:1000], private[1000:]])
    release = plan.question.answer(statistic, Noise())
    weights = fit_weights(release, public)
    before, after = public.mean(axis=0), weights.values @ public / 300
    assert (
        np.abs(after - private.mean(axis=0)).mean() < np.abs(before - private.mean(axis=0)).mean()
    )
    assert release.guarantee == plan.question.guarantee


def test_the_forecast_says_when_direct_answers_are_better():
    plan = planned(table(2))
    assert plan.direct.better(1)
    assert not plan.direct.better(10_000)
    assert "ask for them directly" in str(plan.forecast)
    assert plan.forecast.figures["noise of one share asked directly"] == pytest.approx(
        np.sqrt(2) / 5000
    )
    poor = planned(table(2), epsilon="0.0001")
    assert not poor.direct.better(1)
    assert "even a single share" in str(poor.forecast)
    squared = planned(table(2), epsilon=None, rho="0.5").direct
    assert squared.error(4) == pytest.approx(2 * squared.error(1))


def test_ridge_weights_come_from_the_same_release():
    public, private = table(2), RNG.standard_normal((5000, 2)) / 3 + 0.3
    plan = planned(public, method="ridge")
    release = plan.question.answer(plan.statistic([private]), Noise())
    assert fit_weights(release, public, estimator="ridge").method == "ridge"
    with pytest.raises(ParameterError, match="estimator"):
        fit_weights(release, public, estimator="adaptive")


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "best"}, {"records": None}, {"adjacency": "add-remove"}, {"rho": 1},
        {"adjacency": "add-remove", "records": None}, {"epsilon": None}, {"precision": "float16"},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        planned(table(2), **wrong)


def test_columns_must_share_out_all_coordinates():
    for coded in (
        (CodedColumn("a", "numeric", 0, 1),),
        (CodedColumn("a", "numeric", 0, 1), CodedColumn("a", "numeric", 1, 2)),
        (CodedColumn("a", "numeric", 1, 2), CodedColumn("b", "numeric", 0, 1)),
    ):
        with pytest.raises(ParameterError):
            planned(table(2), coded)
