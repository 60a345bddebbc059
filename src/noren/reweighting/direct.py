"""Would direct noisy answers be better? A comparison from public facts alone.

Maths
    A share of the private rows, answered directly as one of k queries of a price, has the noise
    sqrt(2) k / (n epsilon), or sqrt(k / (2 rho)) / n. Kriging's standard error for a query needs no
    release: V = gK - gKA' M^-1 A gK at g = 1 and the middle width, for a half of the public rows
    along each coordinate; its sampling part 1/(4n) is the same for both and is taken off. The
    number of queries at which the two are equal is where reweighting begins to pay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.reweighting.grid_basis import values
from noren.reweighting.kriging import Kernel, error_covariance, krige, median_distance
from noren.reweighting.public_basis import how_many_centres, settled_basis
from noren.reweighting.rows import Floats

SHOWN_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Direct:
    """The number of direct counting queries below which they would be better."""

    reweighted: float
    queries: float
    each: float
    by_rho: bool

    def error(self, queries: int) -> float:
        """Give the noise of each of some direct queries that share the price."""
        return self.each * (math.sqrt(queries) if self.by_rho else queries)

    def better(self, queries: int) -> bool:
        """Whether so few queries are better answered directly."""
        return self.error(queries) < self.reweighted

    @property
    def sentence(self) -> str:
        """Say where reweighting begins to pay."""
        few = max(0, math.floor(self.queries))
        if few < 1:
            return "even a single share would not be better answered directly"
        return (
            f"if you only need {few} or fewer shares, ask for them directly: "
            f"noise {self.error(1):.2g} for one, about {self.reweighted:.2g} by weights"
        )

    @property
    def figures(self) -> Mapping[str, float]:
        """Give the numbers."""
        return {
            "standard error of a share by weights, about": self.reweighted,
            "noise of one share asked directly": self.error(1),
            "direct queries are better up to": float(max(0, math.floor(self.queries))),
        }


def compared(rows: Floats, setting: Any, seed: int) -> Direct:
    """Compare for a public table, a price and a public number of private rows."""
    if len(rows) > SHOWN_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, SHOWN_ROWS).astype(np.int64)]
    error = expected_error(rows, setting, seed)
    if setting.epsilon is not None:
        each = math.sqrt(2) / (setting.size * float(setting.epsilon))
        return Direct(error, error / each, each, False)
    each = math.sqrt(1 / (2 * float(setting.rho))) / setting.size
    return Direct(error, (error / each) ** 2, each, True)


def expected_error(rows: Floats, setting: Any, seed: int) -> float:
    """Give kriging's standard error of a half, less what sampling has in it anyway."""
    basis = settled_basis(rows, how_many_centres(setting.strength), seed=seed)
    phi = values(basis, rows)
    law = setting.asked(basis).law
    noise = law.variance / (basis.unit * setting.size) ** 2 * np.eye(basis.size)
    covariance = error_covariance(noise, phi, setting.size)
    kernel = Kernel(rows, median_distance(rows))
    fit = krige(phi, phi.mean(axis=0), covariance, 1.0, kernel)
    halves = (rows[:, k] <= np.median(rows[:, k]) for k in range(rows.shape[1]))
    variances = [fit.query(half.astype(np.float64))[1] ** 2 for half in halves]
    return math.sqrt(max(0.0, float(np.mean(variances)) - 0.25 / setting.size))
