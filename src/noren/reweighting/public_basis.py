"""The public basis that the rules settle: centres by k-means, a width from their distances.

Maths
    Centres: k-means of the public rows, b = 20 where n epsilon < 1000, else 60, at most the number
    of different rows. Width: 0.7 times the root of the median, over centres, of the squared
    distance to the nearest other one. A price in rho counts as epsilon = sqrt(8 rho), at which
    Laplace and Gaussian noise of the moments are equally large.

Privacy
    A function of the public table, of a public seed and of public sizes.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np

from noren.errors import ParameterError
from noren.noise.public import generator
from noren.reweighting.grid_basis import NormalizedBasis
from noren.reweighting.rows import Floats

FEW, MANY, ENOUGH = 20, 60, 1000
WIDTH_FACTOR = 0.7
SAMPLED = 1 << 15  # public rows that k-means looks at


def price_as_epsilon(epsilon: Fraction | None, rho: Fraction | None) -> float:
    """Give the epsilon whose Laplace noise is as large as what the price buys."""
    if epsilon is not None:
        return float(epsilon)
    assert rho is not None
    return math.sqrt(8 * float(rho))


def how_many_centres(strength: float) -> int:
    """Give b from n epsilon."""
    return FEW if strength < ENOUGH else MANY


def settled_basis(
    public: Floats, count: int, *, precision: str = "float64", seed: int = 0
) -> NormalizedBasis:
    """Give the normalized basis of some public rows."""
    centres = k_means(public, count, seed)
    return NormalizedBasis(centres, width_of(centres), precision)


def k_means(public: Floats, count: int, seed: int) -> Floats:
    """Give the centres of k-means, started and run by a public seed."""
    from scipy.cluster.vq import kmeans2

    random = generator(seed)
    rows = public
    if len(rows) > SAMPLED:
        rows = rows[np.sort(random.choice(len(rows), SAMPLED, replace=False))]
    different = np.unique(rows, axis=0)
    if len(different) <= count:
        return different
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a cluster that ran empty keeps its centre
        centres, _ = kmeans2(rows, count, minit="++", iter=30, seed=random)
    found: Floats = np.unique(centres, axis=0)
    return found


def width_of(centres: Floats) -> float:
    """Give the width of the bumps from the distances of the centres."""
    from scipy.spatial import cKDTree

    places = np.unique(centres, axis=0)
    if len(places) < 2:
        raise ParameterError(
            "public", "a table whose rows are all alike", "at least two different rows"
        )
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    return WIDTH_FACTOR * math.sqrt(float(np.median(nearest**2)))
