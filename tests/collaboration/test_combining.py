"""Weights, baselines and the default way: the specification's numbers, then properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from noren.collaboration import baselines
from noren.collaboration.auto import auto_fit, candidate_names, local_auto_fit
from noren.collaboration.combining import METHODS, Way, combine
from noren.collaboration.learners import losses_of, scores_of
from noren.collaboration.weights import BLOCK_CELLS, ewa_weights, mirror_weights
from noren.errors import ParameterError


def toy(n: int = 12, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)[None]
    rows = np.sin(0.7 * i * j + 0.3 * j)
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1))[:, None]
    return rows, np.where(np.cos(1.1 * i[:, 0]) > 0, 1.0, -1.0)


def minimum(rows, labels, ridge, linear) -> np.ndarray:
    """Another solver altogether."""
    v = rows * labels[:, None]
    found = minimize(
        lambda t: np.logaddexp(0, -v @ t).sum() + ridge / 2 * t @ t + linear @ t,
        np.zeros(v.shape[1]),
        jac=lambda t: -expit(-v @ t) @ v + ridge * t + linear,
        method="BFGS",
        options={"gtol": 1e-12},
    )
    return found.x


X, Y = toy()
B = np.array([0.5, -1.25, 0.75])
T0, T1 = minimum(X, Y, 0.8, np.zeros(3)), minimum(X, Y, 0.8, B)
LEARNERS = np.stack([T0, T1, -3 * T1, B, 20 * np.array([0.75, 0.5, -1.25])])


def near(found, expected, within=1e-9):
    assert found == pytest.approx(np.array(expected), rel=within)


def test_local_fit_matches_oracle_1():
    near(baselines.local_fit(X, Y, 0.8), [-0.189070590249, 0.538048177865, 0.0224463557199], 1e-8)


def test_published_mirror_averaging_matches_oracle_4():
    expected = [0.35432390985, 0.42947571664, 0.0380312630048, 0.157046811806, 0.0211222986995]
    near(mirror_weights(losses_of(X, Y, LEARNERS), 3), expected)


def test_published_exponential_weights_match_oracle_5():
    expected = [0.405956056353, 0.407567654493, 0.0114243451905, 0.175051943964, 3.36334291938e-13]
    near(ewa_weights(losses_of(X, Y, LEARNERS), 3), expected)


def test_unit_mirror_averaging_from_the_start_matches_oracle_6():
    expected = [0.274027256222, 0.267331191154, 0.13504759613, 0.139272110626, 0.184321845868]
    near(mirror_weights(losses_of(X, Y, LEARNERS, "unit"), math.e, True), expected)


def test_stacking_matches_oracle_7():
    near(baselines.stack(X, Y, LEARNERS, 1), [-0.32732281129, 0.745469023679, -0.158477718982])


def test_geometric_median_matches_oracle_8():
    expected = [0.0414364775955, 0.260531878928, -0.103795018654]
    near(baselines.geometric_median(LEARNERS), expected, 1e-6)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ((1, 3), [-0.392389547768, 0.938631407582, -0.0833162162938]),
        ((0, 3), [-0.422878792419, 0.909040128537, -0.134295363695]),
        ((10, 0), [-0.365340865694, 0.942925282463, 0.00439581436183]),
    ],
)
def test_fits_with_a_moment_prior_match_oracle_9(prior, expected):
    near(baselines.moment_prior_fit(X, Y, LEARNERS, *prior), expected, 1e-8)


def test_auto_with_three_folds_matches_oracle_10():
    expected = [-0.278247500509, 0.972829987033, -0.118198951164]
    near(auto_fit(X, Y, LEARNERS, folds=3).coefficients, expected, 1e-6)


def test_weights_match_oracle_20_before_and_after_a_row_is_added():
    losses = np.array([[0.4, 0.9], [1.2, 0.5], [0.7, 0.7]])
    more = np.column_stack([losses, [0.3133, 1.3133, 1.3133]])
    before, after = ewa_weights(losses, 3), ewa_weights(more, 3)
    assert before == pytest.approx([0.35181668, 0.30790057, 0.34028275], abs=1e-8)
    assert after == pytest.approx([0.43101039, 0.27028191, 0.29870771], abs=1e-8)
    assert np.abs(np.log(after / before)).max() == pytest.approx(0.203022, abs=1e-6)


@given(
    losses=st.lists(st.lists(st.floats(0, 50), min_size=3, max_size=3), min_size=1, max_size=5),
    beta=st.floats(0.1, 10),
    start=st.booleans(),
)
def test_mirror_weights_are_the_mean_of_the_weights_of_all_beginnings(losses, beta, start):
    table = np.array(losses)
    beginnings = [ewa_weights(table[:, :t], beta) for t in range(0 if start else 1, 4)]
    assert mirror_weights(table, beta, start) == pytest.approx(np.mean(beginnings, axis=0))


def test_mirror_weights_do_not_depend_on_the_blocks_they_are_added_up_in(monkeypatch):
    table = np.random.default_rng(1).uniform(0, 3, (4, 101))
    whole = mirror_weights(table, 3)
    assert table.size < BLOCK_CELLS
    monkeypatch.setattr("noren.collaboration.weights.BLOCK_CELLS", 40)
    assert mirror_weights(table, 3) == pytest.approx(whole, rel=1e-13)


def test_a_learner_that_is_hopeless_gets_no_weight_and_breaks_nothing():
    assert ewa_weights([[1e300, 0.0], [0.0, 0.0]], 3).tolist() == [0.0, 1.0]


def test_a_score_of_zero_is_decided_as_one():
    assert scores_of(np.zeros((1, 2)), np.eye(2), "sign").tolist() == [[1.0, 1.0]]
    assert combine([[0.0]], method="mean").predict([[1.0]]).tolist() == [1.0]


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), k0=st.sampled_from([0.0, 1, 10]), k1=st.sampled_from([0.3, 30]))
def test_the_fit_is_the_minimum_of_its_objective(seed, k0, k1):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(15, 4)), rng.choice([-1.0, 1.0], 15)
    learners = rng.normal(size=(2, 4))
    found = baselines.moment_prior_fit(rows, labels, learners, k0, k1)
    units = learners / np.linalg.norm(learners, axis=1, keepdims=True)
    prior = k0 * np.eye(4) + k1 * units.T @ units
    gradient = rows.T @ (labels * expit(-labels * (rows @ found)))  # t = prior @ gradient there
    assert found == pytest.approx(prior @ gradient, abs=1e-6)


def test_a_learner_with_its_sign_turned_is_as_good_as_the_right_one():
    turned = LEARNERS * np.array([1, -1, 1, -1, 1])[:, None]
    there = baselines.moment_prior_fit(X, Y, turned, 1, 3)
    assert there == pytest.approx(baselines.moment_prior_fit(X, Y, LEARNERS, 1, 3), rel=1e-8)


def test_one_huge_file_rules_the_mean_but_not_the_robust_ways():
    good = np.tile([1.0, 2.0], (9, 1))
    bad = np.vstack([good, [[-1e5, 1e5]]])
    assert np.linalg.norm(baselines.mean(bad) - [1, 2]) > 1e3
    for way in (baselines.clipped_mean, baselines.coordinate_median, baselines.geometric_median):
        assert np.linalg.norm(way(bad) - [1, 2]) < 0.5


def test_declared_sizes_weigh_the_mean():
    assert baselines.mean([[0.0], [4.0]], [3, 1]).tolist() == [1.0]


def test_best_single_is_the_first_with_the_fewest_errors():
    assert baselines.best_single([[-1.0], [1.0], [2.0]], [[1.0], [-1.0]], [1, -1]) == 1


def test_auto_names_as_many_candidates_as_it_weighs():
    found = auto_fit(X, Y, LEARNERS)
    assert len(candidate_names()) == found.weights.size == 26
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("rows", [1, 2, 7, 9, 10, 12])
def test_auto_works_for_few_rows_and_for_one_class(rows):
    ones = np.ones(rows)
    found = combine(LEARNERS, X[:rows], ones)
    assert np.isfinite(found.coefficients).all()
    assert (found.joining is None) == (rows == 1)
    assert np.isfinite(local_auto_fit(X[:rows], ones).coefficients).all()


def test_way_with_rows_is_refused_without_rows_and_names_the_ways_out():
    for given_rows in ({}, {"X": np.zeros((0, 3)), "y": np.zeros(0)}):
        with pytest.raises(ParameterError, match="geometric-median"):
            combine(LEARNERS, **given_rows)


@pytest.mark.parametrize("method", METHODS)
def test_every_way_combines_and_is_secret_exactly_where_rows_were_used(method):
    if method == "precision":
        with pytest.raises(ParameterError, match="state their noise"):
            combine(LEARNERS, X, Y, method)
        return
    found = combine(LEARNERS, X, Y, method)
    assert ("Secret" in type(found).__name__) is not Way(method=method).is_public
    decided = found.predict(X)
    assert set(np.unique(decided)) <= {-1.0, 1.0}
    assert ("stays with the receiver" in repr(found)) is not Way(method=method).is_public


@pytest.mark.parametrize("method", ["mean", "clipped-mean", "geometric-median", "uniform-vote"])
def test_a_public_way_does_not_look_at_the_rows(method):
    assert (combine(LEARNERS, X, Y, method).predict(X) == combine(
        LEARNERS, X[::-1], -Y, method).predict(X)).all()  # fmt: skip


def test_unbounded_scores_are_marked_as_beyond_the_published_bound():
    published = {"form": "score", "beta": 3, "include_start": False}
    assert "risk bound" in combine(LEARNERS, X, Y, "mirror", **published).notes[0]
    assert combine(LEARNERS, X, Y, "mirror").notes == ()
    assert combine(LEARNERS, X, Y, "mirror", beta=2).notes


@pytest.mark.parametrize(
    ("rows", "labels"),
    [(X[:, :2], Y), (X, Y[:3]), (np.full_like(X, np.nan), Y), (X, Y * 2), (X, np.zeros(12))],
)
def test_rows_that_do_not_fit_are_refused_without_quoting_them(rows, labels):
    with pytest.raises(ParameterError) as caught:
        combine(LEARNERS, rows, labels)
    assert "12" not in str(caught.value)
    assert "nan" not in str(caught.value)


@pytest.mark.parametrize("learners", [[], [[1.0, 2.0], [1.0]], [[np.inf, 0.0, 1.0]], [[[1.0]]]])
def test_learners_that_do_not_fit_are_refused(learners):
    with pytest.raises(ParameterError):
        combine(learners, X, Y)


@pytest.mark.parametrize(
    "options", [{"method": "best"}, {"form": "raw"}, {"beta": 0}, {"ridge": -1}, {"beta": math.nan}]
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ParameterError):
        combine(LEARNERS, X, Y, **options)


def test_raw_stacking_lets_long_learners_count_more():
    raw = combine(LEARNERS, X, Y, "stack", form="score").coefficients
    near(raw, baselines.stack(X, Y, LEARNERS, 1, unit=False))
    assert np.linalg.norm(raw - combine(LEARNERS, X, Y, "stack").coefficients) > 0.1


def test_rows_that_no_task_encodes_are_not_combined():
    for spoiled in (3.5, 1 + 1e-9):
        rows = np.zeros((5, 3))
        rows[2, 1] = spoiled
        with pytest.raises(ParameterError, match="of length at most 1"):
            combine(np.eye(3), rows, [1, -1, 1, 1, -1])
