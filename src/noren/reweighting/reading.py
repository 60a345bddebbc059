"""What a release says: noisy means, how sure they are, and how many rows they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.reweighting.rows import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Noisy means with the covariance of their noise.

    `noise_share` is the noise of the number of rows beside it (0 where it is public), `empty` says
    that the noisy number lies below one.
    """

    records: float
    moments: Floats
    covariance: Floats
    noise_share: float
    empty: bool = False


def read_sums(basis: Any, steps: Integers, records: int | None, law: Any) -> Reading:
    """Read sums whose total is the number of rows times `basis.row_total`.

    Maths: ADD_REMOVE, ~h = S / ~n to first order has the covariance Q Q' times that of S, with
    Q = I - ~h 1' / t, t the total of one row.
    """
    each, total = np.eye(basis.size), float(basis.unit * basis.row_total)
    rows = float(records) if records is not None else max(float(steps.sum()) / total, 1.0)
    moments = steps / (basis.unit * rows)
    share = 0.0
    if records is None:
        each = each - np.outer(moments, np.ones(basis.size)) / basis.row_total
        share = math.sqrt(basis.size * law.variance) / (total * rows)
    variance = law.variance / (basis.unit * rows) ** 2
    empty = records is None and float(steps.sum()) < total
    return Reading(rows, moments, variance * each @ each.T, share, empty)
