"""Fit a public null model: who is a case, as far as public covariates tell.

Maths
    logistic  mu_i = 1 / (1 + exp(-c_i' beta)) of largest likelihood; r = y - mu, w = mu (1 - mu)
    linear    least squares; r = y - C beta, w_i = r'r / (N - p)
    cap       the nearest vector with |r_i| <= cap and C'r = 0 (Dykstra's alternating projections),
              with w_i = r_i^2: any r with C'r = 0 gives a valid test with these weights when
              people are independent given their covariates.
    The columns of C may be changed into any others that span the same space, so they are made
    orthonormal first: nothing that is tested depends on it.

Privacy
    Covariates and status are public, so is everything here: it costs nothing. How well a model
    fits decides what is tested, never how private an answer is.
"""

from __future__ import annotations

import numpy as np

from noren.association.statistic import Floats
from noren.errors import ParameterError

FAMILIES = ("logistic", "linear")
DEPENDENT = 1e-8  # of a column's length that is left beside the columns before it
STEPS = 60  # Newton's method needs about ten, unless there is no largest likelihood
SMALL_STEP = 1e-10
ROUNDING = 1e-12  # of a deviance: near the optimum it cannot tell whether a step is good
ROUNDS = 20_000  # of projections; some hundred suffice
LARGEST = 2.0**30  # of the inverse: beyond, weights are rounding alone
CLOSE = 1e-11  # far below the units of the model, 2^-30


def read_family(given: object) -> str:
    """Take a family by name."""
    if given not in FAMILIES:
        raise ParameterError("family", repr(given), f"one of {', '.join(FAMILIES)}")
    return str(given)


def basis_of(columns: Floats) -> tuple[Floats, list[int]]:
    """Give orthonormal columns (times sqrt N) of the same span, and which columns were kept.

    The first column of ones comes first; a column that those before it span is left out.
    """
    people = len(columns)
    ones = np.flatnonzero((columns == 1).all(axis=0))
    if not ones.size:
        raise ParameterError(
            "covariates", "without a column of ones", "a matrix with an intercept",
            "Put a column of ones first: the test is centered by it.",
        )  # fmt: skip
    order = [int(ones[0]), *(j for j in range(columns.shape[1]) if j != ones[0])]
    made: list[Floats] = []
    kept: list[int] = []
    for j in order:
        column = columns[:, j] / max(1.0, float(np.abs(columns[:, j]).max()))
        left = column - column.mean() if made else column
        length = float(np.linalg.norm(left))
        for _ in range(2):  # twice is enough
            for other in made:
                left = left - other * (other @ left / people)
        rest = float(np.linalg.norm(left))
        if rest > DEPENDENT * max(length, DEPENDENT * people**0.5):
            made.append(left * (people**0.5 / rest))
            kept.append(j)
    return np.column_stack(made), kept


def fitted(basis: Floats, status: Floats, family: str) -> tuple[Floats, Floats]:
    """Give residuals and weights of the family."""
    people, width = basis.shape
    if people <= width:
        raise ParameterError("covariates", f"{width} independent columns", "fewer than people")
    if family == "linear":
        residuals = status - basis @ (basis.T @ status / people)
        return residuals, np.full(people, residuals @ residuals / (people - width))
    fit = logistic_means(basis, status)
    return status - fit, fit * (1 - fit)


def logistic_means(basis: Floats, status: Floats) -> Floats:
    """Give the fitted means of largest likelihood, by Newton's method with halved steps."""
    beta = np.zeros(basis.shape[1])
    loss = deviance(basis @ beta, status)
    for _ in range(STEPS):
        means = logistic(basis @ beta)
        weights = means * (1 - means)
        curvature = basis.T @ (basis * weights[:, None])
        try:
            step = np.linalg.solve(curvature, basis.T @ (status - means))
        except np.linalg.LinAlgError:
            break
        if float(np.abs(step).max()) < SMALL_STEP:
            return logistic(basis @ (beta + step))
        size = 1.0
        most = loss * (1 + ROUNDING)
        while size > CLOSE and deviance(basis @ (beta + size * step), status) > most:
            size /= 2
        beta = beta + size * step
        loss = deviance(basis @ beta, status)
    raise separated()


def logistic(score: Floats) -> Floats:
    """Give 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(score))
    return np.asarray(np.where(score >= 0, 1, small) / (1 + small))


def deviance(score: Floats, status: Floats) -> float:
    """Give minus the log likelihood."""
    return float(np.logaddexp(0, np.where(status > 0, -score, score)).sum())


def capped(basis: Floats, residuals: Floats, cap: float) -> Floats:
    """Give the nearest vector within the cap that is orthogonal to every column."""
    people = len(basis)
    here, owed = residuals.copy(), np.zeros(people)
    for _ in range(ROUNDS):
        clipped = np.clip(here + owed, -cap, cap)
        owed = here + owed - clipped
        moved = clipped - basis @ (basis.T @ clipped / people)
        if float(np.abs(moved - here).max()) < CLOSE and float(np.abs(moved).max()) < cap + CLOSE:
            break
        here = moved
    return np.clip(here, -cap, cap)


def inverse_of(vectors: Floats, basis: Floats) -> Floats:
    """Give the symmetric inverse of C'WC, from the columns W C and C."""
    try:
        found = np.linalg.inv(basis.T @ vectors)
    except np.linalg.LinAlgError:
        found = np.full((1, 1), np.inf)
    if not np.isfinite(found).all() or np.abs(found).max() > LARGEST:
        raise separated()
    return np.asarray((found + found.T) / 2)


def separated() -> ParameterError:
    """Say that nothing is left to be tested."""
    return ParameterError(
        "covariates", "such that they tell cases and controls apart (separation)",
        "such that a fit leaves residuals",
        "Leave out or merge the category that holds cases or controls alone, or use the family "
        "'linear'.",
    )  # fmt: skip
