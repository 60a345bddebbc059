"""Basis functions: what is averaged over the private table, fixed in public.

Maths
    Gaussian       K_l(x) = exp(-|x - c_l|**2 / (2 s**2)), each at most 1
    normalized     phi_l(x) = K_l(x) / sum over m of K_m(x): parts of 1, whatever x is

    Of the normalized basis only the logits (x'c_l - |c_l|**2 / 2) / s**2 matter, since |x|**2
    cancels, and the largest is subtracted before exp: nothing overflows, however far x lies.

Privacy
    phi >= 0 and |phi(x)|_1 = 1 for every x, so a record moves the sum of phi over a table by at
    most 1 (added or removed) or 2 (replaced) in L1, whatever the number of basis functions, the
    width and the domain. The centres and the width must be public.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.privacy.numbers import Number, positive
from noren.reweighting.rows import Floats, matrix, public_matrix, squared_distances


def read_width(name: str, given: Number) -> float:
    """Take a positive, finite width."""
    return float(positive(name, given, "It is public: choose it from the public table."))


def gaussian_basis(x: ArrayLike, centres: ArrayLike, sigma: Number) -> Floats:
    """Evaluate Gaussian bumps of one width, one column for each centre.

    Parameters
    ----------
    x : array
        Rows; a plain list is one column.
    centres : array
        Public centres, one a row.
    sigma : number
        The width of every bump.

    Examples
    --------
    >>> gaussian_basis([0.0, 1.0], [0.0, 1.0], 1).round(4).tolist()
    [[1.0, 0.6065], [0.6065, 1.0]]
    """
    places = public_matrix("centres", centres)
    rows = matrix("x", x, places.shape[1])
    width = read_width("sigma", sigma)
    found: Floats = np.exp(squared_distances(rows, places) / (-2 * width * width))
    return found


def normalized_basis(x: ArrayLike, centres: ArrayLike, width: Number) -> Floats:
    """Evaluate Gaussian bumps divided by their sum: each row is a division of 1.

    Parameters
    ----------
    x : array
        Rows; a plain list is one column.
    centres : array
        Public centres, one a row. Equal centres share what falls to them.
    width : number
        The width of every bump.

    Examples
    --------
    >>> normalized_basis([0.0, 1e6], [0.0, 1.0], 1).round(4).tolist()
    [[0.6225, 0.3775], [0.0, 1.0]]
    """
    places = public_matrix("centres", centres)
    rows = matrix("x", x, places.shape[1])
    s = read_width("width", width)
    return softmax((rows @ places.T - (places * places).sum(axis=1) / 2) / (s * s))


def softmax(logits: Floats) -> Floats:
    """Turn each row of logits into a division of 1, in place."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def nonzero_centres(centres: Floats) -> None:
    """Refuse centres that do not tell places apart."""
    if len(np.unique(centres, axis=0)) < 2:
        raise ParameterError(
            "centres",
            "fewer than two different points",
            "at least two",
            "A public table whose rows are all alike cannot speak for another.",
        )
