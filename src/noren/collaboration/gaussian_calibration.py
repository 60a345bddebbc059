"""Objective perturbation for logistic loss with Gaussian b: delta at an epsilon, rigorous.

Maths (add-remove; b normal with variance sigma^2, total ridge; u standard normal)
    PL(u) = max(0, max over s in [0, 1] of (2 s sigma u + s^2) / (2 sigma^2)
                                            + log(1 + s (1 - s) / ridge))
    delta(epsilon) = E (1 - exp(epsilon - PL(u)))+
    bounds the loss of every row, in both directions, for every data set. Where
    ridge >= 1 / (epsilon + mu^2 / 2), mu = 1 / sigma, it equals the plain Gaussian curve
        Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu),
    and nothing smaller can be claimed. Below that ridge the expectation is bounded from above:
    PL grows with u, so a cell [u, u'] counts with PL(u'); over a cell of s the convex part is
    below its chord and the logarithm below its tangent, so PL is below the larger end.
    "closed" maximizes slope and curvature apart: the plain curve at
    epsilon - log(1 + 1 / (4 ridge)), simpler and larger.

Privacy (docs/proofs/collaboration/objective.md)
    A curve holds at the epsilons at which it was evaluated. It is claimed to be mu-Gaussian-DP only
    where ridge >= 2 sigma^2. Other neighbors go through groups: a substituted record is two steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from noren.collaboration.pure_calibration import CURVATURE, RIDGE, require_enough
from noren.errors import ParameterError
from noren.privacy.gaussian import gaussian_sigma, gaussian_target, gdp_delta
from noren.privacy.numbers import Number, exact, positive, read_epsilon

SLOPE_CELLS, NORMAL_CELLS = 1024, 8192
REACH = 9.0  # standard normals are cut here, and what lies beyond counts whole
ROUNDING = 1 + 1e-10  # float errors of sums and logarithms, generously

Floats = npt.NDArray[np.float64]


def gaussian_mu(epsilon: Number, delta: Number) -> float:
    """Give the mu at which a mu-Gaussian-DP mechanism is (epsilon, delta)-DP.

    Examples
    --------
    >>> round(gaussian_mu(1, "1e-5"), 10)
    0.2680511232
    """
    return 1 / gaussian_sigma(read_epsilon(epsilon), delta)


def tight_gaussian_delta(
    epsilon: Number, sigma: Number, ridge: Number, bound: str = "joint"
) -> float:
    """Give delta at an epsilon (add-remove) of Gaussian objective perturbation.

    Parameters
    ----------
    epsilon, sigma, ridge : number
        The epsilon, the standard deviation of each coordinate of b, the total ridge.
    bound : str
        "joint" (the smallest that is proved) or "closed" (a formula, larger).

    Examples
    --------
    >>> round(tight_gaussian_delta(1, 4, 1, bound="closed"), 14)
    9.525856913e-05
    """
    eps, spread = float(exact("epsilon", epsilon)), float(positive("sigma", sigma))
    total = float(positive("ridge", ridge, RIDGE))
    if bound == "closed":
        return plain_curve(eps - math.log1p(CURVATURE / total), 1 / spread)
    if bound != "joint":
        raise ParameterError("bound", bound, "'joint' or 'closed'", "'joint' is the smaller.")
    if total * (eps + 0.5 / spread**2) >= 1:
        return plain_curve(eps, 1 / spread)
    return joint_bound(eps, spread, total)


def plain_curve(epsilon: float, mu: float) -> float:
    """Give delta of the plain Gaussian curve; negative epsilons are those of the closed bound."""
    if epsilon >= 0:
        return gdp_delta(mu, epsilon)
    return float(1 - 2 * math.exp(epsilon) * ndtr(-mu / 2))


def joint_bound(epsilon: float, sigma: float, ridge: float) -> float:
    """Bound E (1 - exp(epsilon - PL(u)))+ from above, by cells."""
    slopes, starts = loss_lines(sigma, ridge)
    begin = first_loss_above(epsilon, slopes, starts)
    ends = np.linspace(begin, max(begin, 0.0) + REACH, NORMAL_CELLS + 1)
    weights = ndtr(-ends[:-1]) - ndtr(-ends[1:])
    low = ends < 0
    weights = np.where(low[1:], ndtr(ends[1:]) - ndtr(ends[:-1]), weights)
    losses = np.concatenate(
        [largest_loss(part, slopes, starts) for part in np.array_split(ends[1:], 16)]
    )
    excess = np.maximum(0.0, -np.expm1(epsilon - losses))
    before = max(0.0, -math.expm1(epsilon - float(largest_loss(ends[:1], slopes, starts)[0])))
    found = float(weights @ excess) + float(ndtr(-ends[-1])) + before * float(ndtr(begin))
    return min(1.0, found * ROUNDING)


def loss_lines(sigma: float, ridge: float) -> tuple[Floats, Floats]:
    """Give lines in u whose maximum is an upper bound of PL(u): two for each cell of s."""
    ends = np.linspace(0.0, 1.0, SLOPE_CELLS + 1)
    middles = (ends[:-1] + ends[1:]) / 2
    heights = np.log1p(middles * (1 - middles) / ridge)
    tangents = (1 - 2 * middles) / (ridge + middles * (1 - middles))
    slopes, starts = [np.zeros(1)], [np.zeros(1)]
    for s in (ends[:-1], ends[1:]):
        slopes.append(s / sigma)
        starts.append(s**2 / (2 * sigma**2) + heights + tangents * (s - middles))
    return np.concatenate(slopes), np.concatenate(starts)


def largest_loss(u: Floats, slopes: Floats, starts: Floats) -> Floats:
    """Take the largest line at each u."""
    found: Floats = (np.multiply.outer(u, slopes) + starts).max(axis=1)
    return found


def first_loss_above(epsilon: float, slopes: Floats, starts: Floats) -> float:
    """Give a u from -REACH on, left of which no loss is above epsilon, unless it is -REACH."""
    steep = slopes > 0
    crossing = float(((epsilon - starts[steep]) / slopes[steep]).min())
    return max(-REACH, crossing - 1e-9 * (1 + abs(crossing)))


def tight_gaussian_sigma(epsilon: Number, delta: Number, ridge: Number) -> float:
    """Give the smallest sigma that is proved (epsilon, delta)-DP with that ridge, rounded up."""
    eps, target = read_epsilon(epsilon), gaussian_target(delta)
    total = float(positive("ridge", ridge, RIDGE))
    plain = gaussian_sigma(eps, delta) * (1 + 1e-12)
    if total * float(eps) >= 1:
        return plain
    require_enough(ridge, float(eps), math.log1p(CURVATURE / total))

    def too_little(sigma: float) -> bool:
        return tight_gaussian_delta(float(eps), sigma, total) > target

    if not too_little(plain):
        return plain
    top = plain
    while too_little(top):
        top *= 2
        if top > 1e12:
            require_enough(ridge, float(eps), math.inf)
    return smallest(too_little, top / 2 if top > plain else plain, top)


def smallest(too_little: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect to 1e-6: `low` is too little, `high` is enough and is what is given back."""
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if too_little(middle) else (low, middle)
    return high
