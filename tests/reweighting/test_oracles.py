"""Numbers worked out apart from this code: ten public rows, twelve private ones, four centres."""

import numpy as np
import pytest

from noren.reweighting import (
    amplified_centre_epsilon,
    effective_sample_size,
    gaussian_basis,
    leave_one_out_grid,
    leave_one_out_score,
    normalized_basis,
    ulsif,
)
from noren.reweighting.calibration import calibrate
from noren.reweighting.kriging import Kernel, best_krige, krige
from noren.reweighting.ridge import unbiased_score

PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])
PRIVATE = np.array([1.1, 1.4, 1.6, 1.8, 1.9, 2, 2.1, 2.3, 2.4, 2.6, 2.8, 3.1])
CENTRES = np.array([0.0, 1, 2, 3])
WIDTH, RIDGE = 0.8, 0.1
MOMENTS = [0.041840582285368404, 0.22826766941538776, 0.42802095480481483, 0.3018707934944291]
NOISY = np.array(MOMENTS) + 0.01 * np.array([1, -1, 1, -1])
SIGMA = 2 / 36 * np.eye(4)
COVARIANCE = SIGMA + 1e-6 * np.eye(4)
PHI = normalized_basis(PUBLIC, CENTRES, WIDTH)
KRIGED = [
    .5221797437947469, .42244996030877313, .49868042856750205, .6607787896842287,
    .8792652985773015, 1.0515171605361961, 1.2528606697187274, 1.4111254360436585,
    1.439753369922979, 1.3310587269496366,
]  # fmt: skip


def kernel(width):
    return Kernel(PUBLIC[:, None], width)


def test_the_moments_of_both_bases():
    h = gaussian_basis(PRIVATE, CENTRES, WIDTH).mean(axis=0)
    wanted = [0.08250884820340526, 0.4453065975199193, 0.8072191158969924, 0.5328380120838915]
    assert h == pytest.approx(wanted, rel=1e-13)
    assert normalized_basis(PRIVATE, CENTRES, WIDTH).mean(axis=0) == pytest.approx(
        MOMENTS, rel=1e-13
    )
    public = gaussian_basis(PUBLIC, CENTRES, WIDTH)
    assert np.trace(public.T @ public / 10) == pytest.approx(1.1645398536407174, rel=1e-13)


def test_the_least_squares_fit():
    fit = ulsif(PRIVATE, PUBLIC, CENTRES, WIDTH, RIDGE)
    before = [-0.21234307929553345, 0.11763630902603639, 1.731408103071965, 0.7799672421249755]
    assert fit.unclipped == pytest.approx(before, rel=1e-11)
    assert fit.coefficients == pytest.approx(np.maximum(before, 0), rel=1e-11)
    wanted = [
        .006701749398312106, .04476813675100841, .1667391531099317, .4012059653261113,
        .8143504405125634, 1.2262229298769767, 1.7854385784955533, 2.1778801977112363,
        1.9200294404826974, 1.1912717387189902,
    ]  # fmt: skip
    assert fit.weights(PUBLIC) == pytest.approx(wanted, rel=1e-11)


def test_the_leave_one_out_score_and_the_winner_that_one_row_flips():
    score = leave_one_out_score(PRIVATE, PUBLIC, CENTRES, WIDTH, RIDGE)
    assert score == pytest.approx(-0.8076485485193223, rel=1e-12)
    widths, ridges = [0.5, 0.8, 1.2], [0.01, 0.1, 1]
    changed = np.concatenate([[4.0], PRIVATE[1:]])
    for table, winner, value in [
        (PRIVATE, (1, 1), -0.8076485485193223),
        (changed, (0, 1), -0.7753807328757282),
    ]:
        scores = leave_one_out_grid(table, PUBLIC, CENTRES, widths, ridges)
        assert np.unravel_index(scores.argmin(), scores.shape) == winner
        assert scores.min() == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("private", [PRIVATE, PRIVATE[:6]], ids=["N < n", "N > n"])
def test_the_leave_one_out_score_is_what_refitting_finds(private):
    m = min(len(PUBLIC), len(private))
    errors = []
    for i in range(m):
        fit = ulsif(np.delete(private, i), np.delete(PUBLIC, i), CENTRES, WIDTH, RIDGE)
        errors.append(
            fit.weights(PUBLIC[i : i + 1])[0] ** 2 / 2 - fit.weights(private[i : i + 1])[0]
        )
    found = leave_one_out_score(private, PUBLIC, CENTRES, WIDTH, RIDGE)
    assert found == pytest.approx(np.mean(errors), abs=1e-14)


def test_kriging_weights_likelihood_and_query():
    fit = krige(PHI, NOISY, COVARIANCE, 1.0, kernel(0.8))
    assert fit.raw == pytest.approx(KRIGED, rel=1e-10)
    assert fit.log_likelihood == pytest.approx(4.140671815524085, rel=1e-11)
    estimate, error = fit.query((PUBLIC <= 1.05).astype(float))
    assert estimate == pytest.approx(0.29833542209325525, rel=1e-10)
    assert error == pytest.approx(0.24655106334910934, rel=1e-9)
    assert fit.predict(PUBLIC[:, None]) == pytest.approx(KRIGED, rel=1e-10)


def test_the_likelihood_chooses_width_and_strength():
    best = best_krige(
        PHI, NOISY, COVARIANCE, [kernel(r) for r in (0.5, 1, 2)], (0.1, 0.3, 1.0, 3.0)
    )
    assert (best.kernel.width, best.strength) == (0.5, 0.1)
    assert best.log_likelihood == pytest.approx(4.4860413846126965, rel=1e-11)


def test_landmarks_at_every_row_change_next_to_nothing():
    through = Kernel(PUBLIC[:, None], 0.8, PUBLIC[:, None])
    fit = krige(PHI, NOISY, COVARIANCE, 1.0, through)
    assert fit.raw == pytest.approx(KRIGED, rel=1e-4)
    assert fit.predict(PUBLIC[:, None]) == pytest.approx(fit.raw, rel=1e-9)


def test_the_unbiased_score_of_a_ridge():
    assert unbiased_score(PHI, NOISY, SIGMA, RIDGE) == pytest.approx(0.18773179645606214, rel=1e-11)


def test_the_unbiased_score_averages_to_the_noiseless_one():
    factor = np.linalg.cholesky(SIGMA) * 2  # sqrt(b), b = 4
    points = [NOISY + sign * factor[:, k] for k in range(4) for sign in (1, -1)]
    noiseless = unbiased_score(PHI, NOISY, 0 * SIGMA, RIDGE)
    average = np.mean([unbiased_score(PHI, point, SIGMA, RIDGE) for point in points])
    assert average == pytest.approx(noiseless, abs=1e-13)
    assert (
        abs(np.mean([unbiased_score(PHI, p, 0 * SIGMA, RIDGE) for p in points]) - noiseless) > 0.01
    )


def test_the_noiseless_score_is_what_refitting_finds():
    errors = []
    for i in range(10):
        left = np.delete(PHI, i, axis=0)
        a = np.linalg.solve(left.T @ left / 9 + RIDGE * np.eye(4), NOISY)
        errors.append((PHI[i] @ a) ** 2 / 2 - NOISY @ a)
    assert unbiased_score(PHI, NOISY, 0 * SIGMA, RIDGE) == pytest.approx(np.mean(errors), abs=1e-13)


def test_calibrated_weights():
    fit = calibrate(PHI, NOISY, COVARIANCE, 1.0)
    wanted = [
        .22754099896615, .26224818125387, .33422270960930, .45897964562850, .70794025163924,
        1.02320250577895, 1.59638112356065, 2.11600549103025, 1.87545932641745, 1.39801976611564,
    ]  # fmt: skip
    assert fit.raw == pytest.approx(wanted, rel=1e-7)
    assert fit.raw.mean() == pytest.approx(1, abs=1e-12)
    assert fit.predict(PHI) == pytest.approx(fit.raw, rel=1e-12)
    assert effective_sample_size(fit.raw) == pytest.approx(6.9019029368, rel=1e-7)


@pytest.mark.parametrize(
    ("epsilon", "wanted"),
    [(1, 3.5657406303027943), (0.1, 1.1325042012292863), (10, 12.995689142690594)],
)
def test_the_price_that_sampled_rows_may_be_spent_at(epsilon, wanted):
    assert amplified_centre_epsilon(epsilon, 0.05) == pytest.approx(wanted, rel=1e-13)


def test_no_row_is_too_far_away_for_the_normalized_basis():
    found = normalized_basis([1e6, -1e300, 0], CENTRES, WIDTH)
    assert np.isfinite(found).all()
    assert found.sum(axis=1) == pytest.approx(1)
