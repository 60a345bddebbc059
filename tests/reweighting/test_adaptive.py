"""Adaptive selection: its worked example, its price, its draws, and what follows from them."""

from fractions import Fraction

import numpy as np
import pytest

from noren.errors import ParameterError
from noren.ledger import Ledger
from noren.noise import Noise
from noren.privacy import Adjacency, Guarantee
from noren.reweighting import (
    AdaptiveMoments,
    AdaptiveRelease,
    CodedColumn,
    EncodedRows,
    fit_weights,
    load_release,
    normalized_basis,
)
from noren.reweighting.adaptive_choice import STEPS, Scoring, choose_pair, moved_by
from noren.reweighting.adaptive_columns import Derivation, Offer, directions_from
from noren.reweighting.adaptive_plan import Shares, price_of, without_directions
from noren.reweighting.adaptive_update import krige_factors
from noren.reweighting.kriging import Kernel
from noren.reweighting.whitening import Whitening
from noren.testing import seeded_noise

pytestmark = pytest.mark.filterwarnings("ignore::noren.errors.NotPrivateWarning")
PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])
MOMENTS = [0.041840582285368404, 0.22826766941538776, 0.42802095480481483, 0.3018707934944291]
RNG = np.random.default_rng(0)
TABLE = RNG.standard_normal((400, 4)) / 4
SHIFTED = RNG.standard_normal((3000, 4)) / 4 + np.array([0.2, -0.15, 0, 0])


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(0)


def asked(**settings):
    given = {"public": TABLE, "adjacency": "substitute", "epsilon": 1, "records": 3000}
    return AdaptiveMoments(**(given | settings))


def test_the_worked_example_of_a_correction():
    phi = normalized_basis(PUBLIC, [0.0, 1, 2, 3], 0.8)
    noisy = np.array(MOMENTS) + 0.01 * np.array([1, -1, 1, -1])
    current = np.arange(1, 11) / 5.5
    centred = current[:, None] * (phi - phi.T @ current / 10)
    covariance = 2 / 36 * np.eye(4) + np.cov(phi, rowvar=False) / 12 + 1e-12 * np.eye(4)
    covariance += np.cov(centred, rowvar=False) / 10
    kernel = Kernel(PUBLIC[:, None], 0.8)
    fit = krige_factors(phi, noisy, covariance, current, [1.0], kernel)[0]
    wanted = [
        .16638286267844, .31528520776496, .46770023972488, .64603640184635, .86780042177839,
        1.1102687580388, 1.3960075636378, 1.6720996866858, 1.8423841905464, 1.9257346454671,
    ]  # fmt: skip
    assert fit.raw == pytest.approx(wanted, rel=1e-12)
    assert fit.likelihood == pytest.approx(4.423400752884475, rel=1e-12)
    assert current * fit.at(PUBLIC[:, None]) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("adjacency", ["substitute", "add-remove"])
@pytest.mark.parametrize("size", [100, 5000])
def test_the_shares_add_up_to_the_price(adjacency, size):
    known = {"records": size} if adjacency == "substitute" else {"records": None, "about": size}
    question = asked(adjacency=adjacency, **known)
    parts = [part for _, part in question.shares.items(question.total)]
    assert sum(parts) == 1
    assert question.guarantee.epsilon == 1
    assert question.guarantee.rho < 0.4621171573


def test_the_plan_follows_the_public_size():
    few, many = asked(records=900).shares, asked().shares
    assert (few.rounds, few.directions, few.last) == ((1,), 0, 0)
    assert (many.rounds, many.directions, many.last, many.order) == (
        (Fraction(3, 10),) * 2, Fraction(1, 5), Fraction(1, 5), 3,
    )  # fmt: skip
    wide = RNG.standard_normal((400, 10))
    assert asked(public=wide, epsilon=10).shares == without_directions(30000)
    assert asked(public=wide, epsilon=None, rho=1, records=30000).shares.order == 3
    assert asked(public=wide).shares.order == 1  # pv of order 3 is above 1 at this price
    words = tuple(CodedColumn(f"c{i}", "categorical", i, i + 1) for i in range(4))
    assert asked(coded=words).shares.directions == 0


def test_a_price_in_rho_is_spent_and_not_exceeded():
    question = asked(epsilon=None, rho="0.05")
    assert 0.9999 * 0.05 < question.guarantee.rho <= 0.05
    assert question.guarantee.epsilon is None


def test_the_selection_costs_its_bounded_range():
    shares = Shares(Fraction(0), Fraction(0), (Fraction(1),), Fraction(0))
    rho = price_of(shares, Fraction(5), Adjacency.read("substitute"), "epsilon").rho
    choice, release = 0.1233015615, 2 * (2 - 1 + np.exp(-2))  # two coordinates, half of 4 each
    assert float(rho) == pytest.approx(choice + release, rel=1e-6)


def offer_and_cells(weights=None):
    derivation = Derivation.of(TABLE, asked().coded)
    offer = Offer.of(asked().coded, derivation, TABLE)
    weights = np.ones(len(TABLE)) if weights is None else weights
    return Scoring(offer, offer.pairs, 3000.0, weights), derivation


def test_one_replaced_row_moves_no_score_by_more_than_two():
    scoring, derivation = offer_and_cells(RNG.random(len(TABLE)))
    before = scoring.scores(scoring.counted([SHIFTED], derivation))
    moved = []
    for place in range(0, 3000, 150):
        changed = SHIFTED.copy()
        changed[place] = [9, -9, np.nan, 9]
        after = scoring.scores(scoring.counted([changed], derivation))
        moved.append(np.abs(after - before).max())
        one_less = scoring.scores(scoring.counted([np.delete(SHIFTED, place, 0)], derivation))
        assert np.abs(one_less - before).max() <= STEPS
    assert max(moved) == 2 * STEPS
    assert moved_by(Adjacency.read("substitute")) == 2
    assert moved_by(Adjacency.read("add-remove")) == 1


def test_the_choice_finds_the_pair_that_differs():
    scoring, derivation = offer_and_cells()
    counts = scoring.counted([SHIFTED], derivation)
    noise = seeded_noise(3)
    chosen = [
        choose_pair(scoring, counts, Fraction(1), Adjacency.read("substitute"), noise)
        for _ in range(20)
    ]
    assert chosen.count((0, 1)) >= 18
    blind = {
        choose_pair(scoring, counts, Fraction(1, 10**6), Adjacency.read("substitute"), noise)
        for _ in range(40)
    }
    assert len(blind) > 2


def test_pairs_of_different_sizes_are_compared_after_their_sampling_error():
    columns = (
        CodedColumn("a", "numeric", 0, 1), CodedColumn("b", "numeric", 1, 2),
        CodedColumn("c", "categorical", 2, 4),
    )  # fmt: skip
    levels = RNG.integers(2, size=(500, 1)) == np.arange(2)
    public = np.hstack([RNG.standard_normal((500, 2)), levels / np.sqrt(2)])
    derivation = Derivation.of(public, columns)
    offer = Offer.of(columns, derivation, public)
    scoring = Scoring(offer, offer.pairs, 500.0, np.ones(500))
    assert {scoring.size(pair) for pair in offer.pairs} == {16, 12}
    scores = scoring.scores(scoring.counted([public], derivation))
    assert (scores < 0).all()  # the same table: below what sampling would give


def test_columns_that_say_the_same_make_no_pair():
    twice = np.column_stack([TABLE[:, 0], TABLE[:, 0] * 3 + 1e-4 * TABLE[:, 1], TABLE[:, 1]])
    columns = tuple(CodedColumn(name, "numeric", i, i + 1) for i, name in enumerate("abc"))
    offer = Offer.of(columns, Derivation.of(twice, columns), twice)
    assert offer.pairs == ((0, 2), (1, 2))


def test_directions_find_a_rotated_shift_and_a_rotated_spread():
    rng = np.random.default_rng(9)
    public = rng.standard_normal((4000, 4)) @ np.diag([1, 2, 0.5, 1])
    along = np.array([1, 1, 1, 1.0]) / 2
    private = rng.standard_normal((4000, 4)) @ np.diag([1, 2, 0.5, 1]) + 0.5 * along
    whitening = Whitening.of(public, 3)
    gap = whitening.values(private).mean(axis=0) - whitening.values(public).mean(axis=0)
    found = directions_from(whitening, gap, public, range(4), 4)
    assert found.shape == (4, 4)
    spread = np.cov(public, rowvar=False)
    best = np.linalg.solve(spread, 0.5 * along)
    cosine = found[:, 0] @ spread @ best / np.sqrt(best @ spread @ best)
    assert cosine > 0.95
    assert np.diag(found.T @ spread @ found) == pytest.approx(np.ones(4))
    wide = rng.standard_normal((4000, 4)) @ np.diag([1, 2, 0.5, 1])
    wide += rng.standard_normal((4000, 1)) * 2 * along  # more spread along one direction
    gap = whitening.values(wide).mean(axis=0) - whitening.values(public).mean(axis=0)
    turned = directions_from(whitening, gap, public, range(4), 4)[:, 1]
    best = np.linalg.solve(spread, along)
    assert abs(turned @ spread @ best) / np.sqrt(best @ spread @ best) > 0.9


def test_derived_columns_are_functions_of_the_row_alone():
    derivation = Derivation.of(TABLE, asked().coded).along(RNG.standard_normal((4, 3)))
    rows = RNG.standard_normal((64, 4))
    whole = derivation.rows(rows)
    for size in (1, 3, 7, 63):
        assert (derivation.rows(rows[:size]) == whole[:size]).all()
        assert (derivation.rows(rows[-size:]) == whole[-size:]).all()
    assert np.abs(whole[:, 8:]).max() <= 4


def test_weights_come_close_to_the_ratio_and_reach_other_rows():
    release = asked().answer(EncodedRows.of(SHIFTED), seeded_noise(5))
    weights = fit_weights(release, TABLE)
    shift = np.array([0.2, -0.15, 0, 0]) * 4
    truth = np.exp(TABLE * 4 @ shift - shift @ shift / 2)
    error = ((weights.values - truth) ** 2).sum() / (truth**2).sum()
    without = ((1 - truth) ** 2).sum() / (truth**2).sum()
    assert error < 0.3 * without
    assert weights.values.mean() == pytest.approx(1)
    assert weights.values.min() >= 0
    assert weights.predict(TABLE) == pytest.approx(weights.values, abs=1e-6)
    assert any("x1" in pair or "direction 1" in pair for pair in release.differing)
    assert len(release.stages) == 3
    with pytest.raises(ParameterError, match="without an interval"):
        weights.query(TABLE[:, 0])
    assert release.guarantee is None
    assert "NOT PRIVATE" in str(release)


def test_parts_side_by_side_give_the_same_release():
    question = asked()
    parts = EncodedRows.of(SHIFTED[:1000]) + EncodedRows.of(SHIFTED[1000:])
    one = question.answer(EncodedRows.of(SHIFTED), seeded_noise(7))
    two = question.answer(parts, seeded_noise(7))
    for a, b in zip(one.stages, two.stages, strict=True):
        assert a.names == b.names
        assert (a.release.steps == b.release.steps).all()
    shuffled = question.answer(EncodedRows.of(SHIFTED[::-1]), seeded_noise(7))
    assert (shuffled.stages[-1].release.steps == one.stages[-1].release.steps).all()


def test_a_saved_release_gives_the_same_weights_and_is_restored_by_its_question(tmp_path):
    question = asked(adjacency="add-remove", records=None, about=3000)
    release = question.answer(EncodedRows.of(SHIFTED), Noise())
    release.save(tmp_path / "release.json", about={"schema": "x"})
    again = load_release(tmp_path / "release.json")
    assert isinstance(again, AdaptiveRelease)
    assert again.guarantee == release.guarantee
    wanted = fit_weights(release, TABLE).values
    assert (fit_weights(again, TABLE).values == wanted).all()
    assert (fit_weights(question.restore(release.record()), TABLE).values == wanted).all()


def test_a_ledger_charges_the_total_once_and_gives_the_stored_answer_back(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.create_account("table", Guarantee(Adjacency.read("substitute"), epsilon=2))
    question, rows = asked(), EncodedRows.of(SHIFTED)
    release = ledger.ask("table", question, rows, request_id="once")
    again = ledger.ask("table", question, rows, request_id="once")
    assert ledger.balance("table").spent.epsilon == 1
    assert again.differing == release.differing
    assert (fit_weights(again, TABLE).values == fit_weights(release, TABLE).values).all()


def test_an_empty_table_is_answered_where_its_size_is_secret():
    question = asked(adjacency="add-remove", records=None, about=3000)
    release = question.answer(EncodedRows.counted([], 4), Noise())
    assert len(release.stages) == 3
    assert fit_weights(release, TABLE).values.mean() == pytest.approx(1)


def test_mixed_columns_with_flags_and_levels_are_served():
    rng = np.random.default_rng(11)
    columns = (
        CodedColumn("age", "numeric", 0, 2), CodedColumn("town", "categorical", 2, 5),
        CodedColumn("income", "ordered", 5, 6), CodedColumn("sex", "categorical", 6, 8),
    )  # fmt: skip

    def table(n, tilt):
        age = np.clip(rng.standard_normal((n, 1)) / 3 + tilt, -1, 1)
        missing = rng.random((n, 1)) < 0.1
        town = rng.choice(3, size=(n, 1), p=[0.5 - tilt / 2, 0.25, 0.25 + tilt / 2])
        sex = rng.integers(2, size=(n, 1))
        parts = [np.where(missing, 0, age), missing, (town == np.arange(3)) / np.sqrt(2)]
        parts += [rng.integers(5, size=(n, 1)) / 2 - 1, (sex == np.arange(2)) / np.sqrt(2)]
        return np.hstack(parts)

    public, private = table(600, 0.0), table(4000, 0.4)
    question = asked(public=public, coded=columns, records=4000)
    weights = fit_weights(question.answer(EncodedRows.of(private), seeded_noise(2)), public)
    target = private[:, [0, 2, 4]].mean(axis=0)
    gap = np.abs(weights.values @ public[:, [0, 2, 4]] / 600 - target)
    assert gap.max() < 0.5 * np.abs(public[:, [0, 2, 4]].mean(axis=0) - target).max()


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0}, {"epsilon": -1}, {"epsilon": float("nan")}, {"epsilon": float("inf")},
        {"rho": 1}, {"records": None}, {"adjacency": "add-remove"}, {"about": 5},
        {"public": TABLE[:1]}, {"public": TABLE[:, :1]},
        {"adjacency": "add-remove", "records": None}, {"adjacency": "local"},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        asked(**wrong)


def test_rows_that_do_not_fit_are_refused_before_anything_is_drawn():
    for rows in (SHIFTED[:, :3], SHIFTED[:10]):
        with pytest.raises(ParameterError):
            asked().check(EncodedRows.of(rows))
