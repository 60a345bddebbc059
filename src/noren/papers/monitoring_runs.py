"""The data of the monitoring paper's experiments, and F-measures of any strategy on it.

The share of slot t is t / T. Its order does not matter to methods that look at one slot at a time,
and 21 of 100 slots are truly up at a threshold of 0.8 (the share 0.8 itself among them).
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from numpy.typing import NDArray

from noren.monitoring.planning import plan
from noren.monitoring.plans import MonitoringPlan
from noren.monitoring.simulation import Simulated, simulate

FIRST = "1: 10,000 people, 100 slots, by m"
SECOND = "2: 100,000 people, by the horizon T"
THRESHOLD = 0.8
PUBLISHED = "published scheme"
INDEPENDENT = "known reporters"
RAMP = "ramp"
BLOCK = "block"
WAYS = {PUBLISHED: "published", INDEPENDENT: "independent", RAMP: "ramp", BLOCK: "block"}


def shares(horizon: int) -> NDArray[np.float64]:
    """Give the share of each slot."""
    return np.arange(1, horizon + 1) / horizon


@cache
def planned(
    way: str, people: int, horizon: int, epsilon: int, reports: int | None = None
) -> MonitoringPlan:
    """Plan one of the ways for the paper's data; its large epsilons are warned of in the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return plan(people, horizon, epsilon, THRESHOLD, strategy=WAYS[way], reports=reports)


def run(
    made: MonitoringPlan, runs: int, seed: tuple[int, ...] = (2023,), exact: bool = False
) -> Simulated:
    """Simulate a plan on the paper's data."""
    return simulate(made, shares(made.horizon), seed=seed, runs=runs, exact=exact)


@cache
def f_of(
    way: str, people: int, horizon: int, epsilon: int, runs: int, reports: int | None = None
) -> float:
    """Give the mean F-measure of a way on the paper's data."""
    made = planned(way, people, horizon, epsilon, reports)
    return float(run(made, runs, (2023, horizon, epsilon, made.chosen.reports)).f_measure().mean())
