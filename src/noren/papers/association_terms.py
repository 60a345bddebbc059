"""What the rows and the charts of the association paper share: names, settings, errors."""

from __future__ import annotations

import numpy as np

from noren.association import Tables, error_probability
from noren.papers.association_tables import TAU

WORDS = {
    "fienberg": "F",
    "yu": "Y1",
    "yu-controls-public": "Y2 (controls' counts public)",
    "unit-circle": "unit circle",
    "unit-circle-tight": "unit circle, tight",
    "distance": "distance (ours)",
}
MEAN_ERROR = "mean error of "

E1 = "E1: two equal groups, epsilon 0.1"
E1_METHODS = ("fienberg", "yu", "unit-circle", "unit-circle-tight", "distance")
E2 = "E2: two cases, epsilon 1"
E3 = "E3: 311 variants of 400 people"
EPSILONS = ("0.1", "0.2", "0.3", "0.5", "0.7", "1.0")  # of E3


def mean_error(tables: Tables, method: str, epsilon: str) -> float:
    """Give the exact mean probability of a wrong decision."""
    return float(np.mean(error_probability(tables, TAU, epsilon, method)))
