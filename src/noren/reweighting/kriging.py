"""Weights by kriging: the smoothest weights that explain noisy moments, with their uncertainty.

Maths (A = Phi'/N on the public rows, ~h the noisy moments, S the covariance of their error)
    Model ~h = A w + e, e ~ N(0, S), with the prior w ~ N(1, g K_r) on the public rows, K_r a
    Gaussian kernel of width r. With M = g A K A' + S
        w = 1 + g K A' M^-1 (~h - A 1),   V = g K - g K A' M^-1 A K g.
    (g, r) maximize the marginal likelihood -r'M^-1 r / 2 - log det M / 2, r = ~h - A 1. A query
    (1/N) sum f(x_i) w_i = u'w has the standard error sqrt(u'Vu).
    Beyond 2000 rows K is replaced by Z Z', Z = K_r(E, C) L^-T, L L' = K_r(C, C) + 1e-6 I, with C
    the centres of the basis: cost and memory stay linear in the number of rows.

Privacy
    A function of a release and of public rows: free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from noren.reweighting.rows import Floats, squared_distances

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
WIDTHS = (0.5, 1.0, 2.0)
DENSE_ROWS = 2000
NUGGET = 1e-12
NYSTROM_RIDGE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """K_r on the public rows, whole or through landmarks."""

    rows: Floats
    width: float
    landmarks: Floats | None = None

    def between(self, x: Floats, y: Floats) -> Floats:
        """Give K_r(x, y)."""
        found: Floats = np.exp(squared_distances(x, y) / (-2 * self.width * self.width))
        return found

    def features(self, x: Floats) -> Floats:
        """Give z(x), so that K_r(x, y) is about z(x) z(y)'."""
        from scipy.linalg import cholesky, solve_triangular

        marks = self.rows if self.landmarks is None else self.landmarks
        ridge = NYSTROM_RIDGE * np.eye(len(marks))
        factor = cholesky(self.between(marks, marks) + ridge, lower=True)
        found: Floats = solve_triangular(factor, self.between(x, marks).T, lower=True).T
        return found

    def times(self, right: Floats) -> Floats:
        """Give K times a matrix of the public rows, never as N x N where there are landmarks."""
        if self.landmarks is None:
            return self.between(self.rows, self.rows) @ right
        z = self.features(self.rows)
        return z @ (z.T @ right)

    def at(self, x: Floats, right: Floats) -> Floats:
        """Give K_r(x, rows) times a matrix of the public rows."""
        if self.landmarks is None:
            return self.between(x, self.rows) @ right
        return self.features(x) @ (self.features(self.rows).T @ right)


@dataclass(frozen=True, slots=True, eq=False)
class Krige:
    """A fit: raw weights on the public rows, on other rows, and the variance of a query."""

    raw: Floats
    log_likelihood: float
    strength: float
    kernel: Kernel
    pull: Floats
    spread: Floats
    inner: Floats

    def predict(self, x: Floats) -> Floats:
        """Give the raw weight of other rows."""
        found: Floats = 1 + self.strength * self.kernel.at(x, self.pull)
        return found

    def query(self, values: Floats) -> tuple[float, float]:
        """Estimate mean(values * weight), raw, with its standard error."""
        from scipy.linalg import cho_solve

        u = values / len(values)
        reach = u @ self.spread
        inside = float(reach @ cho_solve((self.inner, True), reach))
        prior = self.strength * float(u @ self.kernel.times(u[:, None])[:, 0])
        return float(u @ self.raw), float(np.sqrt(max(0.0, prior - self.strength**2 * inside)))


def krige(phi: Floats, noisy: Floats, covariance: Floats, strength: float, kernel: Kernel) -> Krige:
    """Fit with one strength g and one kernel; `covariance` is S, whole."""
    return next(krige_all(phi, noisy, covariance, [strength], kernel))


def krige_all(
    phi: Floats, noisy: Floats, covariance: Floats, strengths: Sequence[float], kernel: Kernel
) -> Iterator[Krige]:
    """Fit with each strength, sharing what does not depend on it."""
    from scipy.linalg import cho_solve, cholesky

    a = phi / len(phi)  # A'
    spread = kernel.times(a)  # K A'
    inner, gap = a.T @ spread, noisy - phi.mean(axis=0)
    for g in strengths:
        factor = cholesky(g * (inner + inner.T) / 2 + covariance, lower=True)
        solved = cho_solve((factor, True), gap)
        likelihood = -float(gap @ solved) / 2 - float(np.log(np.diag(factor)).sum())
        yield Krige(1 + g * spread @ solved, likelihood, g, kernel, a @ solved, spread, factor)


def best_krige(
    phi: Floats,
    noisy: Floats,
    covariance: Floats,
    kernels: Sequence[Kernel],
    strengths: Sequence[float] = STRENGTHS,
) -> Krige:
    """Choose width and strength by the marginal likelihood; among equals the first."""
    best: Krige | None = None
    for kernel in kernels:
        for fit in krige_all(phi, noisy, covariance, strengths, kernel):
            if best is None or fit.log_likelihood > best.log_likelihood:
                best = fit
    assert best is not None
    return best


def median_distance(rows: Floats, at_most: int = DENSE_ROWS) -> float:
    """Give the median distance of pairs of public rows; where it is 0, of those that differ."""
    from scipy.spatial.distance import pdist

    if len(rows) > at_most:  # spread over the whole table, which may be sorted
        rows = rows[np.linspace(0, len(rows) - 1, at_most).astype(np.int64)]
    distances = pdist(rows)
    middle = float(np.median(distances)) if distances.size else 0.0
    apart = distances[distances > 0]
    return middle or (float(np.median(apart)) if apart.size else 1.0)


def kernels_for(rows: Floats, landmarks: Floats) -> list[Kernel]:
    """Give the kernels of the public grid of widths."""
    middle = median_distance(rows)
    marks = None if len(rows) <= DENSE_ROWS else landmarks
    return [Kernel(rows, factor * middle, marks) for factor in WIDTHS]


def error_covariance(
    noise: Floats, phi: Floats, records: float, public_share: float = 1.0
) -> Floats:
    """Give S: noise, sampling of the private table, sampling of the public one, a nugget."""
    spread = np.atleast_2d(np.cov(phi, rowvar=False))
    found: Floats = noise + spread * (1 / records + public_share / len(phi))
    return found + NUGGET * np.eye(len(noise))
