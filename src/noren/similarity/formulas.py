"""Set similarities from two counts, and how far one bit can move each.

Maths (in = a . q, out = a . (1 - q), |a| = in + out; the similarity of an empty pair is 0)
    common in          jaccard in / (|q| + out)          cosine in / sqrt(|a| |q|)
    dice 2 in / (|a| + |q|)      containment in / |q|    hamming |q| - in + out
    tversky in / (in + alpha (|q| - in) + beta out)

Privacy
    Formulas of released counts are free. Noise added to the ratio itself would need the
    sensitivities below (one bit, every record promised at least m ones); it is worse, because two
    counts of one bit each say more at the same price.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import whole

COMMON = "common"
NAMES = ("common", "jaccard", "cosine", "dice", "tversky", "containment", "hamming")


def read_similarity(name: str) -> str:
    """Take the name of a similarity."""
    if name not in NAMES:
        raise ParameterError("similarity", name, f"one of {', '.join(NAMES)}")
    return name


def check_weights(alpha: float = 1.0, beta: float = 1.0) -> None:
    """Refuse weights of Tversky's similarity that are negative or not finite."""
    for name, given in (("alpha", alpha), ("beta", beta)):
        if not 0 <= given < math.inf:
            raise ParameterError(name, given, "a finite number, at least 0")


def similarity(
    name: str, inside: Any, outside: Any, q: int, *, alpha: float = 1.0, beta: float = 1.0
) -> Any:
    """Give a similarity from common ones and other ones; higher is more alike, hamming apart.

    Examples
    --------
    >>> similarity("jaccard", [2, 0], [1, 3], 3).tolist()
    [0.5, 0.0]
    """
    a, b = np.asarray(inside, np.float64), np.asarray(outside, np.float64)
    check_weights(alpha, beta)
    if read_similarity(name) == COMMON:
        return np.asarray(inside)
    if name == "hamming":
        return q - np.asarray(inside) + np.asarray(outside)
    below = {
        "jaccard": q + b,
        "cosine": np.sqrt((a + b) * q),
        "dice": (a + b + q) / 2,
        "containment": np.full_like(a, q),
        "tversky": a + alpha * (q - a) + beta * b,
    }[name]
    return np.divide(a, below, out=np.zeros_like(a), where=below > 0)


def exact_similarity(records: Any, query: Any, name: str, **weights: float) -> Any:
    """Give a similarity of every record to a query, exactly (secret).

    Examples
    --------
    >>> from noren.similarity import Records
    >>> exact_similarity(Records.of(["110", "011"]), "110", "jaccard").round(4).tolist()
    [1.0, 0.3333]
    """
    from noren.similarity.queries import read_columns
    from noren.similarity.scoring import score_columns

    columns = read_columns(records, query)
    inside = score_columns(records, columns)
    return similarity(name, inside, records.weights() - inside, len(columns), **weights)


def bit_sensitivity(name: str, q: int, min_weight: int = 0) -> float:
    """Give how far one bit can move a ratio, every record having `min_weight` ones on both sides.

    Examples
    --------
    >>> [round(bit_sensitivity(name, 4, 5), 6) for name in ("cosine", "jaccard", "dice")]
    [0.204124, 0.166667, 0.2]
    """
    ones, least = whole("q", q, 1), whole("min_weight", min_weight, 0)
    if name == "cosine":
        return 1 / math.sqrt((least + 1) * ones)
    if name == "jaccard":
        return 1 / max(ones, least + 1)
    if name == "dice":
        return 2 / (least + 1 + ones)
    raise ParameterError("similarity", name, "cosine, jaccard or dice")
