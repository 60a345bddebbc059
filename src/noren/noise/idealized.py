"""Float laws from secure bits. IDEALIZED: only for the linear term inside a minimisation.

The guarantee of objective perturbation is proved for a term with an exact density. A float draw
only comes near it (within 2**-50 or so, relative), and which doubles can occur betrays how they
were made. So nothing drawn here may ever be released, added to a released number, or rounded and
released: it may stand inside a minimisation whose minimiser is itself released through exact
integer noise. Every such answer carries the mark `IDEALIZED`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from noren.noise.noise import Noise
from noren.noise.sources import Words
from noren.privacy.numbers import Number, positive, whole

IDEALIZED = "law of the linear term idealized"

Floats = npt.NDArray[np.float64]


def open_uniforms(words: Words) -> Floats:
    """Give odd multiples of 2**-53: inside (0, 1), symmetric about one half."""
    halves: Floats = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return halves


def standard_normals(count: int, noise: Noise) -> Floats:
    """Draw nearly standard normal floats: the sign from one bit, the size from 52 others."""
    words = noise.source.words(whole("count", count, 0))
    sizes: Floats = -ndtri(0.5 * open_uniforms(words))
    return np.where(words & np.uint64(1), sizes, -sizes)


def normal_vector(dimension: int, variance: Number, noise: Noise) -> Floats:
    """Draw a vector of nearly normal coordinates of that variance, mean 0."""
    spread = math.sqrt(positive("variance", variance))
    return spread * standard_normals(whole("dimension", dimension, 1), noise)


def gamma_sphere(dimension: int, rate: Number, noise: Noise) -> Floats:
    """Draw a vector b whose density is nearly proportional to exp(-rate * norm(b)).

    Its direction is uniform, its length Gamma(dimension, rate): a sum of as many exponentials.
    """
    d = whole("dimension", dimension, 1)
    direction = standard_normals(d, noise)
    length = -np.sum(np.log(open_uniforms(noise.source.words(d)))) / float(positive("rate", rate))
    drawn: Floats = direction * (length / np.linalg.norm(direction))
    return drawn
