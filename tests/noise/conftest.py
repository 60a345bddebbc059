"""What the tests of this room share: a chi-squared fit, and noise read from a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from noren.noise import Noise
from noren.noise.sources import TapeSource

MOST_BINS = 200  # more would blunt the test
LEAST_EXPECTED = 10


def fit_to_law(draws: npt.ArrayLike, first: int, masses: npt.ArrayLike) -> float:
    """Give the chi-squared p-value of integer draws, masses[i] being P(first + i).

    Neighboring values are joined until each bin expects enough; what lies outside falls into the
    end bins.
    """
    places = np.clip(np.asarray(draws) - first, 0, len(masses) - 1)
    expected = np.asarray(masses, float) * places.size
    assert abs(expected.sum() - places.size) < 1e-3 * places.size, "the masses leave out too much"
    bin_size = max(LEAST_EXPECTED, places.size / MOST_BINS)
    bins = np.unique(np.floor(np.cumsum(expected) / bin_size), return_inverse=True)[1]
    e = np.bincount(bins, expected)
    o = np.bincount(bins, np.bincount(places, minlength=expected.size))
    if e[-1] < LEAST_EXPECTED:
        e, o = (np.append(x[:-2], x[-2] + x[-1]) for x in (e, o))
    return float(stats.chisquare(o, e * o.sum() / e.sum()).pvalue)


@pytest.fixture(scope="session")
def fit() -> Callable[..., float]:
    return fit_to_law


@pytest.fixture(scope="session")
def tape() -> Callable[[Iterable[int]], Noise]:
    return lambda words: Noise(TapeSource(words))
