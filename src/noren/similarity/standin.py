"""Generated records with the sizes and margins of a well-known table of watched films.

That table (943 people, 1682 films, 100,000 ones) may not be passed on. This one has its size and,
nearly, its distribution of row and column sums; it is made from public randomness with a fixed
seed, so everybody has the same bits.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np

from noren.noise.public import generator
from noren.similarity.statistic import Records

PEOPLE, FILMS = 943, 1682
SCALE = 0.02260220230219679  # makes the expected number of ones 100,000
SHA256 = "cab5a106b6814e4a597a50191a1ce07c68576f20e85568833191f93ed11a9c71"


def chances() -> Any:
    """Give the probability of a one in each cell."""
    from scipy.special import i0
    from scipy.stats import norm

    i, h = np.arange(PEOPLE), np.arange(FILMS)
    eager = np.minimum(12 + np.exp(np.log(41) + 1.35 * norm.ppf((i + 0.5) / PEOPLE)), 2000)
    known = 0.62 * np.exp(-6.5 * ((h + 0.5) / FILMS) ** 0.6)
    taste, kind = (0.6180339887498949 * i) % 1, (0.41421356237309503 * h) % 1
    match = np.exp(np.cos(2 * np.pi * (taste[:, None] - kind))) / i0(1)
    return 1 - np.exp(-SCALE * eager[:, None] * known * match)


@lru_cache(maxsize=1)
def stand_in() -> Records:
    """Give the public stand-in data: 943 records of 1682 bits, 100,080 ones.

    Examples
    --------
    >>> stand_in()
    Records(943 records, 1682 columns)
    """
    return Records.of(generator(943).random((PEOPLE, FILMS)) < chances())


def digest(records: Records) -> str:
    """Name the bits of records: SHA-256 of the rows, packed with the first column highest."""
    return hashlib.sha256(np.packbits(records.bits(), axis=1).tobytes()).hexdigest()
