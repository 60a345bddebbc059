"""How the adjusted statistic varies when a variant has nothing to do with the disease: simulated.

Capped residuals are no longer those of the fit, so z = U / sqrt(V) need not have variance 1 where
carrier rates follow the covariates. The variance is simulated from public numbers alone: the model
and carrier rates that are public, such as those of a reference panel by ancestry. (The variance
over the study's own variants would be a release that nobody paid for.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.association.null_model import UNIT, NullModel
from noren.association.score_layout import read_dose_coding
from noren.association.score_rows import GenotypeRows
from noren.association.statistic import Floats
from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import whole


def null_variance(
    model: NullModel, rates: Any, *, seed: int, coding: str = "carrier", draws: int = 2_000
) -> float:
    """Simulate the variance of z under the null hypothesis.

    Parameters
    ----------
    model
        The public null model.
    rates
        The public rate of the counted allele for each person; or one rate for everybody.
    seed
        Decides what is drawn; there is no default.
    coding
        As the test has it.
    draws
        How many variants are drawn.

    Examples
    --------
    >>> model = NullModel.fit([[1]] * 200, [1] * 100 + [0] * 100, cap="0.5")
    >>> bool(0.8 < null_variance(model, 0.3, seed=1) < 1.2)
    True
    """
    named, many = read_dose_coding(coding), whole("draws", draws, 2)
    rows = GenotypeRows.held(model, drawn(model, rates, many, seed), named)
    z = z_of(rows)
    return float(np.square(z).mean())


def drawn(model: NullModel, rates: Any, draws: int, seed: int) -> Any:
    """Draw two alleles for everybody, independent given the rates."""
    given = np.asarray(rates, dtype=np.float64)
    if given.shape not in ((), (model.people,)) or not ((given >= 0) & (given <= 1)).all():
        raise ParameterError(
            "rates", "of another shape or range", f"one rate from 0 to 1, or {model.people}"
        )
    return generator(seed).binomial(2, given, (draws, model.people))


def z_of(rows: GenotypeRows) -> Floats:
    """Give U / sqrt(V) of every variant; 0 where V is 0."""
    u, v = rows.added.sums[:, 0] / UNIT, rows.added.measured[:, 0]
    return np.asarray(np.where(v > 0, u / np.sqrt(np.maximum(v, 2.0**-40)), 0))
