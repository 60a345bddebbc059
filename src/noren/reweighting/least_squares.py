"""Least-squares density ratios without privacy: the reference that private weights are held to.

Maths (phi_l Gaussian, N public rows, n private ones)
    H = mean over public rows of phi phi', h = mean over private rows of phi
    alpha = max(0, (H + ridge I)^-1 h), w(x) = phi(x)'alpha
    This minimizes the squared error of w as an estimate of the ratio of densities.

    Leave one out, exactly: with m = min(N, n), the first m rows of both tables are held out in
    pairs, and (1/m) sum of w_i(x_i)**2 / 2 - w_i(z_i) is found for all of them at once by the
    Sherman-Morrison formula. A grid costs one eigendecomposition of H for each width; each ridge
    then needs no factorization.

Privacy
    None. The fit prints nothing of a row, but its coefficients are a function of the private
    table, and so is the choice of a width by leave-one-out: replacing one row can change the
    winner. Results are for the data's keeper only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.privacy.numbers import Number, not_negative
from noren.reweighting.basis import gaussian_basis, read_width
from noren.reweighting.rows import Floats, public_matrix


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SecretRatio:
    """A density ratio fitted without privacy: it must stay with the data's keeper."""

    coefficients: Floats
    unclipped: Floats
    centres: Floats
    sigma: float
    ridge: float

    def weights(self, x: ArrayLike) -> Floats:
        """Give the ratio at some rows. Their mean over the public table need not be 1."""
        found: Floats = gaussian_basis(x, self.centres, self.sigma) @ self.coefficients
        return found

    def __repr__(self) -> str:
        return f"SecretRatio({len(self.centres)} centres, NOT PRIVATE)"


def ulsif(
    private: ArrayLike, public: ArrayLike, centres: ArrayLike, sigma: Number, ridge: Number
) -> SecretRatio:
    """Fit the ratio of the private density to the public one, without privacy.

    Parameters
    ----------
    private, public : array
        Rows of the numerator and of the denominator.
    centres : array
        Where the bumps stand.
    sigma, ridge : number
        Their width, and the strength of the penalty.

    Examples
    --------
    >>> fit = ulsif([1.9, 2.1], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0], 1, 0.1)
    >>> fit.weights([0.0, 2.0]).round(3).tolist()
    [0.274, 2.027]
    """
    width, strength = read_width("sigma", sigma), float(not_negative("ridge", ridge))
    places = public_matrix("centres", centres)
    phi = gaussian_basis(public_matrix("public", public), places, width)
    target = gaussian_basis(finite_rows(private), places, width).mean(axis=0)
    solved = ridge_solution(phi.T @ phi / len(phi), target, strength)
    return SecretRatio(np.maximum(solved, 0), solved, places, width, strength)


def finite_rows(private: ArrayLike) -> Floats:
    """Take the rows of a fit that is not private."""
    return public_matrix("private", private)


def ridge_solution(gram: Floats, target: Floats, ridge: float) -> Floats:
    """Solve (H + ridge I) a = h; refuse a matrix that has no inverse."""
    from scipy.linalg import cho_solve, cholesky

    try:
        factor = cholesky(gram + ridge * np.eye(len(gram)), lower=True)
        singular = np.diag(factor).min() ** 2 <= len(gram) * 2.0**-52 * np.trace(gram)
    except np.linalg.LinAlgError:
        singular = True
    if singular:
        raise ParameterError(
            "ridge",
            ridge,
            "large enough that H + ridge I has an inverse",
            "Choose a larger one, or fewer or narrower centres.",
        )
    found: Floats = cho_solve((factor, True), target)
    return found


def leave_one_out_score(
    private: ArrayLike, public: ArrayLike, centres: ArrayLike, sigma: Number, ridge: Number
) -> float:
    """Give the exact leave-one-out score of a width and a ridge; smaller is better. Not private.

    Examples
    --------
    >>> round(leave_one_out_score([1.9, 2.1], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0], 1, 0.1), 6)
    -1.067535
    """
    return float(leave_one_out_grid(private, public, centres, [sigma], [ridge])[0, 0])


def leave_one_out_grid(
    private: ArrayLike,
    public: ArrayLike,
    centres: ArrayLike,
    sigmas: Sequence[Number],
    ridges: Sequence[Number],
) -> Floats:
    """Give the leave-one-out score of every width (rows) and ridge (columns). Not private."""
    public_rows, private_rows = public_matrix("public", public), finite_rows(private)
    places = public_matrix("centres", centres)
    if min(len(public_rows), len(private_rows)) < 2:
        raise ParameterError("a table", "of one row", "of at least two rows", "One is held out.")
    strengths = [float(not_negative("ridge", ridge)) for ridge in ridges]
    return np.array(
        [
            scores_of_width(
                gaussian_basis(private_rows, places, sigma),
                gaussian_basis(public_rows, places, sigma),
                strengths,
            )
            for sigma in sigmas
        ]
    )


def scores_of_width(private: Floats, public: Floats, ridges: Sequence[float]) -> list[float]:
    """Score every ridge in the eigenbasis of H, where each inverse is a division."""
    total = len(public)
    values, vectors = np.linalg.eigh(public.T @ public / total)
    held = min(total, len(private))
    x, z = vectors.T @ public[:held].T, vectors.T @ private[:held].T
    target = vectors.T @ private.mean(axis=0)
    scores = []
    for ridge in ridges:
        inverse = 1 / (values + ridge * (total - 1) / total)
        left = held_out(x, z, target, inverse, total, len(private))
        alpha = np.maximum(vectors @ left, 0)
        own, other = (alpha * public[:held].T).sum(axis=0), (alpha * private[:held].T).sum(axis=0)
        scores.append(float(np.mean(own * own / 2 - other)))
    return scores


def held_out(
    x: Floats, z: Floats, target: Floats, inverse: Floats, total: int, n_private: int
) -> Floats:
    """Give the coefficients of every fit that leaves a pair out, before they are clipped."""
    scaled = inverse[:, None] * x
    room = total - (x * scaled).sum(axis=0)
    whole = (inverse * target)[:, None] + scaled * (target @ scaled / room)
    single = inverse[:, None] * z + scaled * ((z * scaled).sum(axis=0) / room)
    found: Floats = (total - 1) / (total * (n_private - 1)) * (n_private * whole - single)
    return found
