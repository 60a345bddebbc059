"""Simulate monitoring on made-up shares: by sufficient statistics, or person by person.

Public randomness, no private data: results are simulated and say nothing about anybody.

Maths
    A slot's count of ones is Bin(H, (1 + c) / 2) + Bin(K - H, (1 - c) / 2) with H hypergeometric:
    how many of the K people drawn hold a 1. The law of each slot is exact. Slots are drawn apart,
    which loses the small dependence between the slots of one person; `exact=True` keeps it by
    simulating every person's own pattern of lies and slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.monitoring.lies import LieLaw
from noren.monitoring.plans import MonitoringPlan
from noren.noise.public import generator
from noren.privacy.numbers import whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
AT_ONCE = 1 << 17  # people whose bytes stay near the core
EDGE = 1e-12  # a true share this close to the threshold has reached it


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """What simulated runs gave: a row a run, a column a slot.

    Attributes
    ----------
    shares : array
        The true share of each slot.
    reports, ones : array
        Counts.
    estimates : array
        Estimated shares.
    """

    plan: MonitoringPlan
    shares: Floats
    reports: Ints
    ones: Ints
    estimates: Floats

    def up(self) -> NDArray[np.bool_]:
        """Say which slots the plain rule calls up."""
        return self.estimates >= self.plan.threshold

    def f_measure(self) -> Floats:
        """Give each run's F-measure for the slots that are truly up."""
        return f_measures(self.up(), self.shares >= self.plan.threshold - EDGE)

    def rmse(self) -> float:
        """Give the root of the mean squared error over all runs and slots."""
        return float(np.sqrt(((self.estimates - self.shares) ** 2).mean()))


def f_measures(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> Floats:
    """Give 2 TP / (detected + heavy) of each row; 0 where nothing is detected."""
    hits = (said & true).sum(axis=-1)
    both = said.sum(axis=-1) + true.sum()
    found: Floats = np.where(hits > 0, 2 * hits / np.maximum(both, 1), 0.0)
    return found


def simulate(
    plan: MonitoringPlan,
    shares: Sequence[float] | Floats,
    *,
    seed: int | Sequence[int],
    runs: int = 1,
    exact: bool = False,
) -> Simulated:
    """Simulate a plan on slots of known shares.

    Parameters
    ----------
    plan : MonitoringPlan
        What is done. The tree depends on whole trajectories, so it is not simulated from shares.
    shares : sequence of float
        The true share of each slot of the epoch.
    seed : int or sequence of int
        Public: the same seed gives the same result.
    runs : int
        How many times.
    exact : bool
        Simulate each person's own slots and lies instead of counts.

    Examples
    --------
    >>> from noren.monitoring import plan
    >>> found = simulate(plan(10_000, 4, 2, 0.5), [0.2, 0.4, 0.6, 0.8], seed=1)
    >>> found.up().tolist()
    [[False, False, True, True]]
    """
    truth = read_shares(shares, plan.horizon)
    if plan.chosen.name == "tree":
        raise ParameterError(
            "plan", "a tree", "one that reports states", "The tree follows people: simulate_tree."
        )
    draw, times = generator(seed), whole("runs", runs, 1)
    holders = np.rint(plan.n_people * truth).astype(np.int64)
    if exact:
        drawn = [person_by_person(plan, holders, draw) for _ in range(times)]
        reports, ones = (np.array([it[i] for it in drawn]) for i in (0, 1))
    else:
        reports, ones = slot_by_slot(plan, holders, times, draw)
    channel = plan.chosen.channel
    with np.errstate(invalid="ignore"):
        estimates = (ones / reports - channel.low) / channel.contrast
    return Simulated(plan, holders / plan.n_people, reports, ones, estimates)


def wave(plan: MonitoringPlan) -> list[float]:
    """Make up shares that swing through the plan's threshold, twice an epoch."""
    height = min(plan.threshold, 1 - plan.threshold, 0.2)
    turns = np.arange(plan.horizon) / plan.horizon * 4 * np.pi
    return [float(share) for share in plan.threshold + height * np.sin(turns)]


def read_shares(shares: Sequence[float] | Floats, horizon: int) -> Floats:
    """Read true shares, one a slot."""
    found = np.asarray(shares, float)
    if found.shape != (horizon,) or not ((found >= 0) & (found <= 1)).all():
        raise ParameterError(
            "shares", f"{found.size} numbers", f"{horizon} numbers in [0, 1], one for each slot"
        )
    return found


def slot_by_slot(plan: MonitoringPlan, holders: Ints, runs: int, draw: Any) -> tuple[Ints, Ints]:
    """Draw each slot's count of ones from its exact law, for every run at once."""
    held = np.array([reporters(plan, draw) for _ in range(runs)])
    return held, slot_ones(plan, held, holders, draw)


def reporters(plan: MonitoringPlan, draw: Any) -> Ints:
    """Give how many people report in each slot of a stratified schedule."""
    people, slots = plan.n_people, plan.horizon
    if plan.chosen.name == "published":
        return np.full(slots, people)
    low, more = divmod(people * plan.chosen.reports, slots)
    held = np.full(slots, low)
    held[draw.permutation(slots)[:more]] += 1
    return held


def slot_ones(plan: MonitoringPlan, held: Ints, holders: Ints, draw: Any) -> Ints:
    """Draw how many of the reports of each slot say 1."""
    people, channel, true = plan.n_people, plan.chosen.channel, np.broadcast_to(holders, held.shape)
    if (held < people).any():
        true = draw.hypergeometric(true, people - true, held)
    high = channel.low + channel.contrast
    found: Ints = draw.binomial(true, high) + draw.binomial(held - true, channel.low)
    return found


def person_by_person(plan: MonitoringPlan, holders: Ints, draw: Any) -> tuple[Ints, Ints]:
    """Give every person slots and lies of their own; the same people hold the 1s while they can."""
    people, slots, k = plan.n_people, plan.horizon, plan.chosen.reports
    mine = own_slots(plan, draw)
    lies = lie_patterns(plan.chosen.law, people, k, draw)
    reports, ones = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    order = draw.permutation(people)
    for slot in range(slots):
        bits = order < holders[slot]
        who, which = np.nonzero(mine == slot)
        said = int((bits[who] ^ lies[who, which]).sum())
        if plan.chosen.name == "published":
            said += int(draw.binomial(people - who.size, float(plan.chosen.dummy)))
        reports[slot] = people if plan.chosen.name == "published" else who.size
        ones[slot] = said
    return reports, ones


def own_slots(plan: MonitoringPlan, draw: Any) -> Ints:
    """Give each person k different slots: stratified, or (published) each on their own."""
    people, slots, k = plan.n_people, plan.horizon, plan.chosen.reports
    if plan.chosen.name == "published":
        order = np.argsort(draw.random((people, slots)), axis=1)
        return order[:, :k]
    order = draw.permutation(slots)
    first = draw.permutation(people)[:, None] * k
    found: Ints = order[(first + np.arange(k)) % slots]
    return found


def lie_patterns(law: LieLaw, people: int, k: int, draw: Any) -> NDArray[np.bool_]:
    """Draw everyone's lies: how many, then where."""
    if law.reports == 1:
        coins: NDArray[np.bool_] = draw.random((people, k)) < law.lie_probabilities[1]
        return coins
    numbers = draw.choice(k + 1, people, p=normalized(law.lie_probabilities))
    places = np.argsort(np.argsort(draw.random((people, k)), axis=1), axis=1)
    found: NDArray[np.bool_] = places < numbers[:, None]
    return found


def normalized(chances: Sequence[float]) -> Floats:
    """Make chances add up to 1 in floats too."""
    found = np.array(chances)
    scaled: Floats = found / found.sum()
    return scaled


def one_slot_of_people(bits: NDArray[np.uint8], lie: float, draw: Any) -> int:
    """Simulate one report of each of many people, and count the ones; the law is exact to 2**-53.

    Eight random bits decide almost everyone. Who falls on the very edge lies with the chance that
    is left; how many of them do is drawn at once, for those with a 1 and for those with a 0.
    """
    whole_bytes, rest = divmod(lie * 256, 1.0)
    edge, ones = np.uint8(whole_bytes), 0
    for start in range(0, bits.size, AT_ONCE):
        true = bits[start : start + AT_ONCE].view(bool)
        words = draw.integers(0, 2**64, -(-true.size // 8), dtype=np.uint64)
        drawn = words.view(np.uint8)[: true.size]
        ones += int(np.count_nonzero(true ^ (drawn < edge)))
        on_edge = drawn == edge
        holders = int(np.count_nonzero(on_edge & true))
        others = int(np.count_nonzero(on_edge)) - holders
        ones += int(draw.binomial(others, rest)) - int(draw.binomial(holders, rest))
    return ones
