"""What the tests of this room share: a chi-squared fit, and noise read from a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from noren.noise import Noise
from noren.noise.sources import TapeSource

LEAST_EXPECTED = 10


def fit_to_law(draws: npt.ArrayLike, first: int, masses: npt.ArrayLike) -> float:
    """Give the chi-squared p-value of integer draws, masses[i] being P(first + i).

    Values are joined until each bin expects enough; what lies outside falls into the end bins.
    """
    places = np.clip(np.asarray(draws) - first, 0, len(masses) - 1)
    observed = np.bincount(places, minlength=len(masses))
    expected = np.asarray(masses, float) * places.size
    outside = places.size - expected.sum()
    assert abs(outside) < 1e-3 * places.size, "the masses do not cover the law"
    bins = np.floor(np.cumsum(expected) / LEAST_EXPECTED).astype(int)
    joined = np.unique(bins, return_inverse=True)[1]
    joined = np.minimum(joined, joined.max() - 1)  # the last may expect too little
    e = np.bincount(joined, expected)
    o = np.bincount(joined, observed)
    return float(stats.chisquare(o, e * o.sum() / e.sum()).pvalue)


@pytest.fixture(scope="session")
def fit() -> Callable[..., float]:
    return fit_to_law


@pytest.fixture(scope="session")
def tape() -> Callable[[Iterable[int]], Noise]:
    return lambda words: Noise(TapeSource(words))
