"""Randomness that need not be secret: generated data, folds, error studies.

The one file that imports `numpy.random`. A question accepts a `Noise` only, so nothing drawn here
can reach a release; results made with it say "simulated".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.random


def generator(seed: int | Sequence[int]) -> np.random.Generator:
    """Give a NumPy generator; the seed has no default, so that a simulation can be repeated.

    Examples
    --------
    >>> generator(7).integers(10) == generator(7).integers(10)
    np.True_
    """
    if seed is None or isinstance(seed, bool):
        raise TypeError("A public generator needs a seed, so that its results can be repeated.")
    return numpy.random.default_rng(seed)
