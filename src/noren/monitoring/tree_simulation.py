"""Simulate the tree, which follows people: it needs everyone's whole trajectory of bits.

Public randomness, no private data: results are simulated and say nothing about anybody.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.monitoring.plans import MonitoringPlan
from noren.monitoring.simulation import Ints, Simulated, lie_patterns
from noren.monitoring.tree import levels, tree_share
from noren.noise.public import generator
from noren.privacy.numbers import whole

Bits = NDArray[np.bool_]


def simulate_tree(
    plan: MonitoringPlan, trajectories: Any, *, seed: int, runs: int = 1
) -> Simulated:
    """Simulate a plan of the tree, person by person.

    Parameters
    ----------
    plan : MonitoringPlan
        A plan whose strategy is the tree.
    trajectories : array
        A row of bits for each person, a column for each slot.
    seed : int
        Public: the same seed gives the same result.
    runs : int
        How many times.
    """
    bits = read_trajectories(plan, trajectories)
    draw, times = generator(seed), whole("runs", runs, 1)
    drawn = [one_run(plan, bits, draw) for _ in range(times)]
    reports, ones, estimates = (np.array([it[i] for it in drawn]) for i in range(3))
    return Simulated(plan, bits.mean(axis=0), reports, ones, estimates)


def read_trajectories(plan: MonitoringPlan, trajectories: Any) -> Bits:
    """Read made-up people."""
    if plan.chosen.name != "tree":
        raise ParameterError("plan", plan.chosen.name, "a tree", "See simulate.")
    found = np.asarray(trajectories)
    shape = (plan.n_people, plan.horizon)
    if found.shape != shape or not ((found == 0) | (found == 1)).all():
        raise ParameterError("trajectories", f"shape {found.shape}", f"bits of shape {shape}")
    return found.astype(bool)


def one_run(plan: MonitoringPlan, bits: Bits, draw: Any) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """Give counts by slot (over all levels) and the estimated shares of one run."""
    horizon, depth = plan.horizon, levels(plan.horizon) + 1
    reports, ones = np.zeros((2, depth, horizon + 1), np.int64)
    level = draw.permutation(np.arange(plan.n_people) % depth)
    for h in range(depth):
        ends = np.arange(1 << h, horizon + 1, 1 << h)
        said = level_answers(plan, bits[level == h][:, ends - 1], draw)
        reports[h, ends], ones[h, ends] = said.shape[0], said.sum(axis=0)
    contrast = plan.chosen.law.contrast
    shares = [
        tree_share(t, lambda h, end: (int(ones[h, end]), int(reports[h, end])), contrast)
        for t in range(1, horizon + 1)
    ]
    told = np.array([np.nan if share is None else share for share in shares])
    return reports.sum(axis=0)[1:], ones.sum(axis=0)[1:], told


def level_answers(plan: MonitoringPlan, ends: Bits, draw: Any) -> Bits:
    """Give what people of one level say (True: +1) at the ends of its intervals."""
    people, changes = ends.shape[0], plan.chosen.reports
    steps = np.diff(ends.astype(np.int8), axis=1, prepend=0)
    said: Bits = draw.random(ends.shape) < 0.5
    order = np.cumsum(steps != 0, axis=1) - 1
    told = (steps != 0) & (order < changes)
    lies = lie_patterns(plan.chosen.law, people, changes, draw)
    person, interval = np.nonzero(told)
    up = steps[person, interval] > 0
    said[person, interval] = up ^ lies[person, order[person, interval]]
    return said
