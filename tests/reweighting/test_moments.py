"""Moments of a public basis: bounds of one row, merging, and what follows from a saved release."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noren.errors import FileProblem, ParameterError
from noren.ledger import Ledger
from noren.noise import Noise
from noren.privacy import Adjacency, Guarantee
from noren.reweighting import (
    BasisSums,
    LevelBasis,
    MomentRelease,
    Moments,
    NormalizedBasis,
    TableBasis,
    calibration_weights,
    fit_weights,
    kriging_weights,
    normalized_basis,
    ridge_weights,
)
from noren.reweighting.as_published import PublishedRatio
from noren.reweighting.grid_basis import UNIT
from noren.testing import seeded_noise

pytestmark = pytest.mark.filterwarnings("ignore::noren.errors.NotPrivateWarning")
RNG = np.random.default_rng(0)
CENTRES = RNG.standard_normal((12, 3)) / 2
PUBLIC = RNG.standard_normal((300, 3)) / 3
PRIVATE = RNG.standard_normal((2000, 3)) / 3 + np.array([0.3, 0, 0])
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)
BASES = {name: NormalizedBasis(CENTRES, 0.3, name) for name in ("float64", "float32")}


@pytest.fixture(autouse=True)
def same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(0)


def asked(basis, adjacency="substitute", records=2000, epsilon=1):
    known = records if adjacency == "substitute" else None
    return Moments(basis=basis, adjacency=adjacency, epsilon=epsilon, records=known)


@given(arrays(np.float64, (5, 3), elements=st.floats(-1e300, 1e300)))
def test_basis_rows_are_divisions_of_one(rows):
    found = normalized_basis(rows, CENTRES, 0.3)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("name", list(BASES))
@given(
    rows=arrays(np.float64, (3, 3), elements=NUMBERS), other=arrays(np.float64, 3, elements=NUMBERS)
)
def test_one_row_moves_the_sums_by_at_most_two_units(name, rows, other):
    basis = BASES[name]
    steps = basis.steps(rows)
    assert (steps >= 0).all()
    assert (steps.sum(axis=1) <= UNIT).all()
    changed = rows.copy()
    changed[1] = other
    before, after = basis.total(rows), basis.total(changed)
    assert np.abs(before - after).sum() <= 2 * UNIT
    assert np.abs(before - basis.total(np.delete(rows, 1, axis=0))).sum() <= UNIT


@pytest.mark.parametrize("name", list(BASES))
def test_merging_reproduces_the_sums_bit_for_bit_in_any_blocks_and_order(name):
    basis = BASES[name]
    whole = BasisSums.of(PRIVATE, basis)
    order = np.random.default_rng(1).permutation(len(PRIVATE))
    for cuts in ([1], [7, 900], [1, 2, 3, 1000, 1999], list(range(0, 2000, 37))[1:]):
        for rows in (PRIVATE, PRIVATE[order]):
            parts = [BasisSums.of(part, basis) for part in np.split(rows, cuts)]
            merged = sum(parts[1:], parts[0])
            assert (merged.steps == whole.steps).all()
            assert merged.records == whole.records
            counted = BasisSums.counted(np.split(rows, cuts), basis)
            assert (counted.steps == whole.steps).all()


def test_single_precision_says_nearly_the_same():
    close = np.round(PRIVATE * 256) / 256
    one, two = (basis.total(close) / UNIT / 2000 for basis in (
        NormalizedBasis(np.round(CENTRES * 256) / 256, 0.3, name) for name in BASES
    ))  # fmt: skip
    assert np.abs(one - two).max() < 1e-5


def test_rounding_moves_a_moment_by_less_than_a_step_and_a_place():
    basis = BASES["float64"]
    exact = normalized_basis(basis.rounded(PRIVATE), basis.centres, 0.3)
    gap = exact - basis.steps(PRIVATE) / UNIT
    assert gap.min() > -1e-9
    assert gap.max() < 1.01 / UNIT


class Sentinel:
    """A private table that raises when it is opened."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("the private table was opened")

    __iter__ = __len__ = __getitem__ = __array__


def test_refitting_opens_no_private_table_and_the_ledger_has_one_charge(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.db")
    total = Guarantee(Adjacency.read("substitute"), epsilon=2)
    ledger.create_account("table", total)
    basis = BASES["float64"]
    release = ledger.ask("table", asked(basis), BasisSums.of(PRIVATE, basis), request_id="once")
    release.save(tmp_path / "release.json")
    again = MomentRelease.load(tmp_path / "release.json")
    PrivateIsGone = Sentinel()  # noqa: N806
    for fit in (kriging_weights, ridge_weights, calibration_weights, fit_weights):
        assert fit(again, PUBLIC).values == pytest.approx(fit(release, PUBLIC).values, rel=1e-12)
    stored = ledger.ask("table", asked(basis), PrivateIsGone, request_id="once")
    assert (stored.steps == release.steps).all()
    assert ledger.balance("table").spent.epsilon == 1
    assert again.receipt == release.receipt


def test_a_file_that_holds_no_release_is_refused(tmp_path):
    path = tmp_path / "not.json"
    for text in ("{}", "[]", "no json", '{"form": "noren moments 1"}'):
        path.write_text(text)
        with pytest.raises(FileProblem, match="saved moments"):
            MomentRelease.load(path)


@pytest.mark.parametrize("adjacency", ["substitute", "add-remove"])
def test_all_weights_have_mean_one_and_are_not_negative(adjacency):
    basis = BASES["float64"]
    release = asked(basis, adjacency).answer(BasisSums.of(PRIVATE, basis), seeded_noise(1))
    for fit in (kriging_weights, ridge_weights, calibration_weights):
        weights = fit(release, PUBLIC)
        assert weights.values.mean() == pytest.approx(1)
        assert weights.values.min() >= 0
        assert weights.trim(1.5).values.max() <= 1.5 * (1 + 1e-9)
        assert weights.trim(1.5).values.mean() == pytest.approx(1)
        assert (
            weights.values[PUBLIC[:, 0] > 0.3].mean() > weights.values[PUBLIC[:, 0] < -0.3].mean()
        )


def test_permuted_private_rows_change_nothing():
    basis = BASES["float64"]
    one, two = (
        asked(basis).answer(BasisSums.of(rows, basis), seeded_noise(2)).steps
        for rows in (PRIVATE, PRIVATE[::-1])
    )
    assert (one == two).all()


def test_an_empty_table_is_refused_only_where_its_size_is_public():
    basis = BASES["float64"]
    empty = BasisSums.counted([], basis)
    with pytest.raises(ParameterError, match="number of private rows"):
        asked(basis).answer(empty, Noise())
    for statistic in (empty, BasisSums.of(PRIVATE[:1], basis)):
        release = asked(basis, "add-remove").answer(statistic, seeded_noise(4))
        assert release.records >= 1
        assert not release.has_intervals
        assert any("too few rows" in notice for notice in release.notices)
        weights = kriging_weights(release, PUBLIC)
        assert weights.values.mean() == pytest.approx(1)
        with pytest.raises(ParameterError, match="without an interval"):
            weights.query(PUBLIC[:, 0])


def test_an_interval_says_what_it_is_and_covers_the_mean():
    basis = BASES["float64"]
    release = asked(basis, epsilon=5).answer(BasisSums.of(PRIVATE, basis), seeded_noise(5))
    found = kriging_weights(release, PUBLIC).query(PUBLIC[:, 0])
    assert "approximate 95%, model-based" in str(found)
    assert found.interval[0] < 0.3 < found.interval[1]


def test_an_answer_says_its_error_for_moments_although_their_number_is_secret():
    basis = BASES["float64"]
    release = asked(basis, "add-remove").answer(BasisSums.of(PRIVATE, basis), seeded_noise(1))
    said = release.uncertainty
    assert "moments" in said.sentence
    wanted = np.sqrt(release.question.law.variance) / UNIT / 2000
    assert np.sqrt(said.variance) == pytest.approx(wanted, rel=0.02)


def test_the_noise_has_the_worked_scales():
    """Ten rows, twelve private ones, four centres: 2/(n epsilon) = 1/6, b/(n epsilon) = 1/3."""
    basis = NormalizedBasis([0.0, 1, 2, 3], 0.8)
    assert asked(basis, records=12).law.parameter / UNIT / 12 == Fraction(1, 6)
    paper = PublishedRatio(centres=[0.0, 1, 2, 3], sigma=0.8, ridge=0.1, adjacency="substitute",
                           epsilon=1, records=12)  # fmt: skip
    assert paper.law.parameter / UNIT / 12 == Fraction(1, 3)


def test_private_mass_where_public_rows_are_absent_is_reported():
    basis = NormalizedBasis([[-0.5, 0, 0], [0.5, 0, 0], [5.0, 5.0, 5.0]], 0.3)
    far = np.vstack([PRIVATE, np.full((500, 3), 5.0)])
    release = asked(basis, records=2500).answer(BasisSums.of(far, basis), seeded_noise(6))
    weights = kriging_weights(release, PUBLIC)
    assert weights.unsupported == (2,)
    assert any("absent" in notice for notice in weights.notices)
    assert weights.diagnostics()["effective sample size"] <= 300


def test_one_way_tables_are_raked():
    basis = TableBasis.of(PUBLIC)
    release = asked(basis, epsilon=4).answer(BasisSums.of(PRIVATE, basis), seeded_noise(7))
    weights = fit_weights(release, PUBLIC)
    assert weights.method == "raking"
    shares = weights.values @ weights.phi / len(PUBLIC)
    assert np.abs(shares - basis.total(PRIVATE) / 2000).max() < 0.05


def test_levels_count_codes_outside_as_the_last():
    basis = LevelBasis((3, 2))
    assert basis.steps([[9, -1]]).tolist() == [[0, 0, 1, 0, 1]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: asked(BASES["float64"], epsilon=0), lambda: asked(BASES["float64"], epsilon=-1),
        lambda: asked(BASES["float64"], epsilon=float("nan")),
        lambda: asked(BASES["float64"], epsilon=float("inf")),
        lambda: NormalizedBasis([[0.0]], 1), lambda: NormalizedBasis([[0.0], [0.0]], 1),
        lambda: NormalizedBasis([[0.0], [1.0]], 0), lambda: NormalizedBasis([[0.0], [1.0]], -1),
        lambda: NormalizedBasis([[0.0], [1e9]], 1, "float32"),
        lambda: NormalizedBasis([[0.0], [1.0]], 1, "float16"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()


def test_equal_centres_share_what_falls_to_them():
    basis = NormalizedBasis([[0.0], [1.0], [1.0]], 0.5)
    steps = basis.steps([[1.0]])[0]
    assert steps[1] == steps[2] > steps[0]
