"""Corrections of weights by kriging a factor: smooth where the chosen columns are, free.

Maths (w0 the current weights, A = Phi'/N on the public rows)
    w = w0 (1 + f), f ~ N(0, g K_r) on the chosen columns:
        K = diag(w0) K_r diag(w0), r = ~h - A w0, M = g A K A' + S, w = w0 + g K A' M^-1 r
        S = Sig + C_E / n + C_w / N + 1e-12 I, C_w the covariance of the rows w0_i (phi_i - A w0)
    (g, r) by the marginal likelihood, g in {.01, .03, .1, .3, 1, 3, 10}; then clipped at zero and
    divided by the mean. At another row x the factor is 1 + g K_r(x, E) diag(w0) A' M^-1 r.

Privacy
    A function of releases and of public rows: free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.reweighting.grid_basis import values
from noren.reweighting.kriging import NUGGET, Kernel, kernels_for
from noren.reweighting.rows import Floats
from noren.reweighting.weight_quality import mean_one

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One correction: raw weights after it, and how it reaches other rows."""

    raw: Floats
    strength: float
    kernel: Kernel
    pull: Floats
    likelihood: float

    def at(self, rows: Floats) -> Floats:
        """Give 1 + f at other rows, in the same columns."""
        found: Floats = 1 + self.strength * self.kernel.at(rows, self.pull)
        return found


def krige_factors(
    phi: Floats,
    noisy: Floats,
    covariance: Floats,
    current: Floats,
    strengths: Sequence[float],
    kernel: Kernel,
) -> list[Factor]:
    """Fit with each strength; `covariance` is S, whole."""
    from scipy.linalg import cho_solve, cholesky

    a = current[:, None] * phi / len(phi)  # diag(w0) A'
    spread = current[:, None] * kernel.times(a)  # K A'
    inner = phi.T @ spread / len(phi)
    gap = noisy - phi.T @ current / len(phi)
    found = []
    for g in strengths:
        factor = cholesky(g * (inner + inner.T) / 2 + covariance, lower=True)
        solved = cho_solve((factor, True), gap)
        likelihood = -float(gap @ solved) / 2 - float(np.log(np.diag(factor)).sum())
        found.append(Factor(current + g * spread @ solved, g, kernel, a @ solved, likelihood))
    return found


def correction(release: Any, rows: Floats, current: Floats) -> Factor:
    """Fit the likeliest correction to one release; `rows` are public, in its columns."""
    phi = values(release.basis, rows)
    reading = release.reading
    centred = current[:, None] * (phi - phi.T @ current / len(phi))
    covariance = reading.covariance + np.atleast_2d(np.cov(phi, rowvar=False)) / reading.records
    covariance = covariance + np.atleast_2d(np.cov(centred, rowvar=False)) / len(phi)
    covariance = covariance + NUGGET * np.eye(len(covariance))
    best: Factor | None = None
    for kernel in kernels_for(rows, release.basis.centres):
        for fit in krige_factors(phi, reading.moments, covariance, current, STRENGTHS, kernel):
            if best is None or fit.likelihood > best.likelihood:
                best = fit
    assert best is not None
    return best


def corrected(release: Any, rows: Floats, current: Floats) -> Floats:
    """Give the weights after a release, of mean one."""
    return mean_one(correction(release, rows, current).raw)
