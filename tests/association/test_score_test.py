"""The covariate-adjusted score test: oracles, contract, and agreement with plain definitions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.association import GenotypeRows, NullModel, ScoreTest, null_variance, score_distance
from noren.association import score_rows as score_rows_module
from noren.association.null_model import UNIT, is_semidefinite
from noren.association.score_exact import Rule, exact_sums
from noren.association.score_sphere import score_norm, score_sensitivity
from noren.errors import NotPrivate, ParameterError

STATUS = np.array([int(bit) for bit in "11101110101010101000"])
SECOND = np.array([int(bit) for bit in "11111111010010010010"])
COVARIATES = np.column_stack([np.ones(20), (np.arange(20) % 5) / 4, SECOND])
ROWS = [  # family, genotypes, U, V, norm, Delta, score at v0 = 1e-6 and at v0 = 1
    ("logistic", "11101110101010101000", 4.53904428, 1.03760525, 2.19365421, 0.39452082, 4, 3),
    ("logistic", "11111111110000000000", 1.37400000, 0.71101862, 0.89819479, 0.39452082, 0, -1),
    ("logistic", "10001000100010001000", 2.25257238, 0.85369030, 1.18826084, 0.39452082, 1, 0),
    ("logistic", "11111110101010101000", 4.06965466, 1.02418219, 1.97408624, 0.39452082, 3, 2),
    ("logistic", "00000000000000000000", 0, 0, 1, 0.39452082, 0, -3),
    ("linear", "11101110101010101000", 4.54148936, 1.21324268, 2.02800703, 0.38374581, 4, 3),
    ("linear", "10001000100010001000", 2.25000000, 1.00179912, 1.11220223, 0.38374581, 1, 0),
]  # fmt: skip


def bits(text: str) -> np.ndarray:
    return np.array([int(bit) for bit in text])


def random_model(random, people, *, family="logistic", cap=None, columns=2) -> NullModel:
    while True:
        covariates = np.column_stack(
            [np.ones(people), random.integers(0, 3, (people, columns)) / 2]
        )
        status = random.integers(0, 2, people)
        try:
            return NullModel.fit(covariates, status, family, cap=cap)
        except ParameterError:  # separated, or one status only
            continue


@pytest.mark.parametrize(("family", "genotypes", "u", "v", "norm", "delta", "tiny", "one"), ROWS)
def test_scores_match_the_oracle_table(family, genotypes, u, v, norm, delta, tiny, one):
    model, g = NullModel.fit(COVARIATES, STATUS, family), bits(genotypes)
    rule = Rule(model, Fraction("3.84"), Fraction(1))
    sums = exact_sums(g, rule)
    assert sums.u / UNIT == pytest.approx(u, abs=1e-8)
    assert sums.variance / 2**rule.unit_bits == pytest.approx(v, abs=1e-8)
    assert score_norm(model, g, "3.84") == pytest.approx(norm, abs=1e-8)
    assert score_sensitivity(model, "3.84") == pytest.approx(delta, abs=1e-8)
    assert score_distance(model, g, "3.84", floor="1e-6") == tiny
    assert score_distance(model, g, "3.84") == one


def test_constants_of_the_null_models_match_the_specification():
    logistic = NullModel.fit(COVARIATES, STATUS, "logistic")
    linear = NullModel.fit(COVARIATES, STATUS, "linear")
    first = logistic.residuals[:4] / UNIT
    assert first == pytest.approx([0.2449719, 0.32969989, 0.4271536, -0.46938962], abs=1e-8)
    for model, residual, omega, theta2 in (
        (logistic, 0.7550281028, 4.5410329484, 0.0471281621),
        (linear, 0.7627659574, 5.3429286608, 0.0679234016),
    ):
        assert np.abs(model.residuals).max() / UNIT == pytest.approx(residual, rel=1e-8)
        assert model.omega / UNIT == pytest.approx(omega, rel=1e-8)
        assert model.theta2 / 2 ** (60 + model.shift) == pytest.approx(theta2, rel=1e-8)


def by_definition(model, g, tau, floor, additive):
    """Score one vector in floats, from the formulas as they are written."""
    r, w, u = model.residuals / UNIT, model.weights / UNIT, model.vectors / UNIT
    kc = np.ldexp(model.matrix.astype(float), -model.shift)
    z = g @ u
    s = u @ kc @ z
    theta2 = np.einsum("ij,jk,ik->i", u, kc, u).max()
    cap = w.sum() / (1 if additive else 4) * (1 + 2**-10)
    statistic, v = g @ r, min(cap, max(0.0, (g * g) @ w - z @ kc @ z))
    if additive:
        q = np.max([abs(w - 2 * s), abs(3 * w - 2 * s), abs(4 * w - 4 * s)]) + 4 * theta2
        theta2 = 4 * theta2
    else:
        q = np.abs(w - 2 * s).max() + theta2
    whole = 2 if additive else 1
    up = np.sort(np.where(r > 0, whole - g, g) * abs(r))[::-1].cumsum()
    down = np.sort(np.where(r < 0, whole - g, g) * abs(r))[::-1].cumsum()
    significant = statistic**2 > tau * (v + floor)
    for t in range(1, len(g)):
        moved = t * q + theta2 * t * (t - 1)
        if significant:
            left = abs(statistic) - (down if statistic > 0 else up)[t - 1]
            if left <= 0 or left**2 <= tau * (min(cap, v + moved) + floor):
                return t
        else:
            most = max(statistic + up[t - 1], -statistic + down[t - 1])
            if most > 0 and most**2 >= tau * (max(0, v - moved) + floor):
                return 1 - t
    return len(g) if significant else 1 - len(g)


@pytest.mark.parametrize("coding", ["carrier", "recessive", "heterozygous", "additive"])
@pytest.mark.parametrize(("family", "cap"), [("logistic", None), ("linear", None), ("linear", 0.4)])
def test_scores_follow_the_formulas_as_they_are_written(coding, family, cap):
    random = np.random.default_rng(5)
    model = random_model(random, 40, family=family, cap=cap)
    copies = random.binomial(2, random.uniform(0, 1, (30, 1)), (30, 40))
    doses = {
        "carrier": copies > 0, "recessive": copies > 1, "heterozygous": copies == 1,
        "additive": copies,
    }[coding].astype(int)  # fmt: skip
    for tau in (1.1, 3.84, 10.3):
        found = score_distance(model, copies, tau, floor=0.3, coding=coding)
        expected = [by_definition(model, g, tau, 0.3, coding == "additive") for g in doses]
        assert found.tolist() == expected


@pytest.mark.parametrize("coding", ["carrier", "heterozygous", "additive"])
@pytest.mark.parametrize("cap", [None, 0.5])
def test_the_compiled_search_gives_the_exact_scores(coding, cap, monkeypatch):
    random = np.random.default_rng(11)
    model = random_model(random, 301, cap=cap, columns=4)
    rates = random.uniform(0, 0.6, (60, 1)) * (1 + random.uniform(-0.5, 0.5, (60, 1)) * (
        model.residuals > 0
    ))  # fmt: skip
    copies = random.binomial(2, np.clip(rates, 0, 1), (60, 301))
    copies[0], copies[1] = 0, 2
    rows = GenotypeRows.held(model, copies, coding)
    for tau in ("0.5", "3.84", "29.7"):
        exact = rows.scores(Fraction(tau), Fraction(1))
        with monkeypatch.context() as patch:
            patch.setattr(score_rows_module, "FEW", 0)
            assert rows.scores(Fraction(tau), Fraction(1)).tolist() == exact.tolist()


def test_true_ties_are_decided_by_the_rule_in_both_searches(monkeypatch):
    model = NullModel.fit(np.ones((64, 1)), [1] * 32 + [0] * 32)  # r = +-1/2, w = 1/4
    none = np.zeros((1, 64), int)
    assert score_distance(model, none, 4).tolist() == [-3]  # (4/2)^2 = 4 v0: a tie holds
    monkeypatch.setattr(score_rows_module, "FEW", 0)
    assert score_distance(model, none, 4).tolist() == [-3]


def distances(decisions: np.ndarray, people: int, moves) -> np.ndarray:
    """Walk breadth first from every table to the opposite decision."""
    found = np.full(len(decisions), -1)
    here = [
        x for x in range(len(decisions))
        if any(decisions[y] != decisions[x] for y in moves(x, people))
    ]  # fmt: skip
    step = 1
    while here:
        for x in here:
            found[x] = step
        here = list(
            {
                y
                for x in here
                for y in moves(x, people)
                if found[y] < 0 and decisions[y] == decisions[x]
            }
        )
        step += 1
    return found


@pytest.mark.parametrize(("family", "floor"), [("logistic", "0.3"), ("linear", "1e-6")])
def test_one_person_moves_the_score_by_at_most_one_and_never_above_the_true_distance(family, floor):
    random = np.random.default_rng(3)
    model = random_model(random, 9, family=family)
    tables = np.array(list(itertools.product((0, 1), repeat=9)))
    scores = score_distance(model, tables, "1.3", floor=floor)
    cube = scores.reshape((2,) * 9)
    assert max(np.abs(np.diff(cube, axis=axis)).max() for axis in range(9)) == 1
    rule = Rule(model, Fraction("1.3"), Fraction(floor))
    sums = [exact_sums(g, rule) for g in tables]
    decisions = np.array([rule.compare(one.u, one.variance) > 0 for one in sums])
    assert ((scores >= 1) == decisions).all()
    assert 0 < decisions.sum() < len(decisions)
    true = distances(decisions, 9, lambda x, n: [x ^ (1 << i) for i in range(n)])
    claimed = np.where(scores >= 1, scores, 1 - scores)
    assert (claimed <= true).all()


@pytest.mark.parametrize("coding", ["carrier", "additive"])
@pytest.mark.parametrize("tau", ["0.7", "3.84", "15"])
def test_one_person_among_many_moves_the_compiled_score_by_at_most_one(coding, tau, monkeypatch):
    monkeypatch.setattr(score_rows_module, "FEW", 0)
    random = np.random.default_rng(17)
    moved = set()
    for _ in range(4):
        model = random_model(random, 150, cap=0.5 if random.random() < 0.5 else None)
        here = random.binomial(2, random.uniform(0, 0.7), 150)
        here = np.where(random.random(150) < 0.2, 2 * (model.residuals > 0), here)
        there = np.repeat(here[None], 300, axis=0)
        there[np.arange(300), np.arange(300) // 2] += 1 + np.arange(300) % 2
        found = score_distance(model, np.vstack([here, there % 3]), tau, coding=coding)
        moved |= set((found[1:] - found[0]).tolist())
    assert moved <= {-1, 0, 1}
    assert len(moved) > 1


def test_strata_as_covariates_give_the_stratified_statistic():
    random = np.random.default_rng(8)
    stratum = np.repeat(np.arange(4), (30, 40, 25, 60))
    status = random.integers(0, 2, stratum.size)
    g = random.integers(0, 2, stratum.size)
    model = NullModel.fit(np.column_stack([np.ones(stratum.size), stratum[:, None] == [1, 2, 3]]),
                          status)  # fmt: skip
    rule = Rule(model, Fraction(3), Fraction(1))
    sums = exact_sums(g, rule)
    u = v = 0.0
    for k in range(4):
        cases, controls = (stratum == k) & (status == 1), (stratum == k) & (status == 0)
        m1, m2, a, b = cases.sum(), controls.sum(), g[cases].sum(), g[controls].sum()
        people, carriers = m1 + m2, a + b
        u += (a * m2 - b * m1) / people
        v_k = m1 * m2 / (people**2 * (people - 1)) * carriers * (people - carriers)
        v += (people - 1) / people * v_k
    assert sums.u / UNIT == pytest.approx(u, abs=1e-6)
    assert sums.variance / 2**rule.unit_bits == pytest.approx(v, abs=1e-6)


@pytest.mark.parametrize("tau", ["0.2", "3.84", "29.7"])
def test_what_nobody_or_everybody_carries_is_never_significant(tau):
    random = np.random.default_rng(4)
    for family in ("logistic", "linear"):
        model = random_model(random, 60, family=family)
        same = np.array([[0] * 60, [1] * 60, [2] * 60])
        assert (score_distance(model, same, tau, coding="additive") <= 0).all()
        assert (score_distance(model, same, tau, floor="1e-3") <= 0).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_permuting_people_leaves_scores_unchanged(seed):
    random = np.random.default_rng(seed)
    status = random.permutation([0, 1] * 15)
    covariates = np.column_stack([np.ones(30), random.integers(0, 3, 30)])
    g, order = random.integers(0, 2, (3, 30)), random.permutation(30)
    here = NullModel.fit(covariates, status, "linear")
    there = NullModel.fit(covariates[order], status[order], "linear")
    found = score_distance(here, g, "2.7", floor=1)
    assert score_distance(there, g[:, order], "2.7", floor=1).tolist() == found.tolist()


def test_other_columns_of_the_same_span_give_the_same_test():
    other = COVARIATES @ np.array([[1, 3, 0], [0, 500, 1], [0, 2, 1]])
    one, two = NullModel.fit(COVARIATES, STATUS), NullModel.fit(other, STATUS)
    assert np.abs(one.residuals - two.residuals).max() <= 1
    assert one.theta2 / 2**one.shift == pytest.approx(two.theta2 / 2**two.shift, rel=1e-8)


def test_dependent_columns_are_left_out():
    twice = np.column_stack([COVARIATES, COVARIATES[:, 1] * 2 - 3, COVARIATES[:, 2]])
    model = NullModel.fit(twice, STATUS, names=["one", "age", "sex", "months", "sex again"])
    assert model.names == ("one", "age", "sex")
    assert (model.residuals == NullModel.fit(COVARIATES, STATUS).residuals).all()


def test_capped_residuals_stay_within_the_cap_and_orthogonal():
    random = np.random.default_rng(1)
    covariates = np.column_stack([np.ones(500), random.normal(size=(500, 3))])
    status = random.random(500) < 1 / (1 + np.exp(-2 * covariates[:, 1]))
    plain, model = NullModel.fit(covariates, status), NullModel.fit(covariates, status, cap="0.5")
    r = model.residuals / UNIT
    assert np.abs(plain.residuals).max() / UNIT > 0.8
    assert np.abs(r).max() == pytest.approx(0.5, abs=1e-8)
    assert np.abs(covariates.T @ r).max() < 1e-5
    assert model.weights / UNIT == pytest.approx(r * r, abs=1e-8)
    wide = plain.residuals / UNIT  # no vector that is orthogonal and within the cap is nearer
    for _ in range(20):
        step = random.normal(size=500)
        step -= covariates @ np.linalg.lstsq(covariates, step, rcond=None)[0]
        near = r + 1e-3 * step / np.abs(step).max()
        if np.abs(near).max() <= 0.5:
            assert np.linalg.norm(near - wide) >= np.linalg.norm(r - wide)
    inside = 0.999 * r + 0.001 * np.clip(wide, -0.3, 0.3).mean()
    assert np.linalg.norm(inside - wide) > np.linalg.norm(r - wide) - 1e-9


def test_the_matrix_is_positive_semidefinite_exactly():
    random = np.random.default_rng(2)
    for columns in (1, 3, 6):
        model = random_model(random, 80, columns=columns)
        assert is_semidefinite(model.matrix.tolist())


@pytest.mark.parametrize(
    ("covariates", "status", "says"),
    [
        (COVARIATES[:, 1:], STATUS, "intercept"),
        (np.column_stack([np.ones(20), STATUS]), STATUS, "separation"),
        (np.where(COVARIATES == 0.5, np.nan, COVARIATES), STATUS, "missing"),
        (COVARIATES, np.ones(20), "status"),
        (COVARIATES, STATUS[:19], "status"),
        (COVARIATES, STATUS * 2, "status"),
        ([["x"]], [1], "covariates"),
        (np.eye(3) + np.eye(3)[0][:, None] * 0 + [[1, 0, 0]] * 3, [0, 1, 1], "covariates"),
    ],
)
def test_senseless_models_are_refused(covariates, status, says):
    with pytest.raises(ParameterError, match=says):
        NullModel.fit(covariates, status)


@pytest.mark.parametrize(("people", "ages"), [(60, 5), (60, 17), (100, 5)])
def test_rounding_near_the_optimum_is_not_taken_for_separation(people, ages):
    order = np.arange(people)
    status = (order**2 % 11 < 5).astype(int)
    columns = [np.ones(people), order % ages, order % 3 == 0, order % 3 == 1]
    model = NullModel.fit(np.column_stack(columns), status)
    assert (model.people, model.columns) == (people, 4)


def test_separation_may_be_fitted_linearly():
    model = NullModel.fit(np.column_stack([np.ones(20), STATUS * 3 + SECOND]), STATUS, "linear")
    assert model.columns == 2


@pytest.mark.parametrize(
    "name",
    [
        "PC1",
        "pc_10",
        "EV2",
        "C3",
        "Kinship",
        "grm_1",
        "principal comp 1",
        "PC1_band",
        "geno_PC2",
        "pc1sq",
        "dim1",
        "F_MISS",
        "call_rate",
        "inbreeding",
    ],
)
def test_names_of_components_and_kinship_are_refused_unless_declared(name):
    names = ["one", "age", name]
    with pytest.raises(NotPrivate, match="declare it public"):
        NullModel.fit(COVARIATES, STATUS, names=names)
    why = "published with the cohort profile"
    model = NullModel.fit(COVARIATES, STATUS, names=names, declared={name: why})
    said = " ".join(ScoreTest(model=model).assumed_public)
    assert name in said
    assert why in said
    assert model.public_form()["declared_public"] == {name: why}


def test_declarations_need_a_reason_and_a_column():
    names = ["one", "age", "PC1"]
    with pytest.raises(ParameterError, match="PC1"):
        NullModel.fit(COVARIATES, STATUS, names=names, declared={"PC1": " "})
    with pytest.raises(ParameterError, match="PC2"):
        NullModel.fit(COVARIATES, STATUS, names=names, declared={"PC2": "published"})


def test_a_floor_of_zero_is_refused():
    model = NullModel.fit(COVARIATES, STATUS)
    for floor in (0, -1, None):
        with pytest.raises(ParameterError, match="floor"):
            score_distance(model, STATUS, 3, floor=floor)


@pytest.mark.parametrize(("coding", "cap"), [("carrier", None), ("additive", 0.5)])
def test_asymptotic_p_values_keep_their_level_where_numbers_are_large(coding, cap):
    random = np.random.default_rng(7)
    covariates = np.column_stack([np.ones(300), random.normal(size=300)])
    status = random.random(300) < 1 / (1 + np.exp(-covariates[:, 1]))
    design = ScoreTest(model=NullModel.fit(covariates, status, cap=cap), coding=coding)
    noise = random.geometric(0.3, 500) - random.geometric(0.3, 500)
    for rate in (0.15, 0.4):
        copies = random.binomial(2 if coding == "additive" else 1, rate, (500, 300))
        true = score_distance(design.model, copies, 2, coding=coding)
        p = design.asymptotic_p(true + noise, Fraction(2), Fraction(-np.log(0.7)))
        assert 0.002 < (p <= 0.05).mean() < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 500)
    falling = design.asymptotic_p(np.arange(-30, 60), Fraction(2), Fraction(1))
    assert (np.diff(falling) <= 0).all()
    assert falling[0] > 0.99
    assert falling[-1] < 1e-9


def test_the_null_variance_is_one_for_a_fit_and_near_it_for_a_cap():
    random = np.random.default_rng(7)
    covariates = np.column_stack([np.ones(300), random.normal(size=300)])
    status = random.random(300) < 1 / (1 + np.exp(-2 * covariates[:, 1]))
    rates = 1 / (1 + np.exp(1 - 0.5 * covariates[:, 1]))
    error = 4 * np.sqrt(2 / 2000)
    for coding in ("carrier", "additive"):
        flat = null_variance(NullModel.fit(covariates, status), 0.3, seed=3, coding=coding)
        assert abs(flat - 1) < error
    capped = null_variance(NullModel.fit(covariates, status, cap=0.5), rates, seed=3)
    assert 0.9 < capped < 1.3
    with pytest.raises(ParameterError, match="rates"):
        null_variance(NullModel.fit(covariates, status), 2, seed=3)


def test_numbers_without_an_intercept_are_refused():
    model = NullModel.fit(COVARIATES, STATUS)
    broken = replace(model, vectors=model.vectors[:, 1:], matrix=model.matrix[1:, 1:])
    with pytest.raises(ParameterError, match="intercept"):
        score_distance(broken, STATUS, 3)


def test_numbers_that_no_proof_covers_are_refused():
    model = NullModel.fit(COVARIATES, STATUS)
    tilted = model.matrix.copy()
    tilted[0, 1] += 1
    negative = replace(
        model,
        weights=-model.weights,
        vectors=np.column_stack([-model.weights, model.vectors[:, 1:]]),
    )
    for broken in (replace(model, matrix=-model.matrix), replace(model, matrix=tilted), negative):
        with pytest.raises(NotPrivate, match="does not cover"):
            score_distance(broken, STATUS, 3)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32))
def test_a_matrix_is_semidefinite_if_no_eigenvalue_is_negative(size, rank, seed):
    random = np.random.default_rng(seed)
    root = random.integers(-3, 4, (size, rank))
    signs = random.choice([1, 1, 1, -1], rank)
    matrix = (root * signs) @ root.T
    lowest = np.linalg.eigvalsh(matrix).min()
    assert is_semidefinite(matrix.tolist()) == bool(lowest > -1e-9)


def test_errors_about_genotypes_quote_none():
    model = NullModel.fit(COVARIATES, STATUS)
    for wrong in (np.full(20, 7), np.full(19, 1), ["x"] * 20, [[[1] * 20]]):
        with pytest.raises(ParameterError) as caught:
            score_distance(model, wrong, 3)
        assert "7" not in str(caught.value)
