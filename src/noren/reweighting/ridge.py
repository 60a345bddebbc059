"""Least squares on noisy moments, with a ridge chosen free of the noise's own score.

Maths (Phi normalized, H = Phi'Phi / N, ~h = h + e with covariance S)
    a = (H + lam I)^-1 ~h, w = Phi a. The coefficients are not clipped: clipping each after noise
    is biased upwards (half a noise scale for pure noise).
    The leave-one-out score over the public rows is quadratic in ~h, so its expected excess is
    known and subtracted: with c = (N - 1)/N, B = H + lam c I, G = Phi B^-1, s_i = G_i'phi_i,
        w_i = c (G_i'~h)(1 + s_i/(N - s_i)),   v_i = c**2 (G_i'S G_i)(1 + s_i/(N - s_i))**2
        q_i = c (~h'B^-1~h + (G_i'~h)**2/(N - s_i)),   t_i = c (tr(B^-1 S) + G_i'S G_i/(N - s_i))
        score(lam) = mean of w_i**2/2 - v_i/2 - q_i + t_i
    has as its expectation over e the noiseless score (S the true covariance of e).

Privacy
    A function of a release and of public rows: the choice of lam is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noren.reweighting.least_squares import ridge_solution
from noren.reweighting.rows import Floats

RIDGES = tuple(10 ** (k / 2) for k in range(-6, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """A fit: coefficients, the ridge, and the raw weights on the public rows."""

    coefficients: Floats
    ridge: float
    raw: Floats


def unbiased_score(phi: Floats, noisy: Floats, covariance: Floats, ridge: float) -> float:
    """Give the leave-one-out score of a ridge, less what the noise adds to it."""
    total = len(phi)
    c = (total - 1) / total
    inverse = np.linalg.inv(phi.T @ phi / total + ridge * c * np.eye(phi.shape[1]))
    g = phi @ inverse
    s, own, spread = (g * phi).sum(axis=1), g @ noisy, ((g @ covariance) * g).sum(axis=1)
    room = total - s
    lift = 1 + s / room
    fit, variance = c * own * lift, c * c * spread * lift**2
    cross = c * (noisy @ inverse @ noisy + own**2 / room)
    excess = c * (np.trace(inverse @ covariance) + spread / room)
    return float(np.mean(fit**2 / 2 - variance / 2 - cross + excess))


def fit_ridge(
    phi: Floats, noisy: Floats, covariance: Floats, ridges: Sequence[float] = RIDGES
) -> Ridge:
    """Fit with the ridge of the smallest score; among equals the first."""
    scores = [unbiased_score(phi, noisy, covariance, ridge) for ridge in ridges]
    ridge = ridges[int(np.argmin(scores))]
    a = ridge_solution(phi.T @ phi / len(phi), noisy, ridge)
    return Ridge(a, ridge, phi @ a)
