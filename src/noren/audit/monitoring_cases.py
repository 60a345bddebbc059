"""What the audit of monitoring examines: the client's own code, run through all its randomness.

`transcript` lets the client's checked plan draw its lies and answer every slot; where its
randomness comes from is handed in, so that `noren.audit.enumerated` can take every outcome. The
weights here are small integers that keep the stated limits, so that all outcomes can be taken; the
weights of real plans are examined as the integers that they are (`adaptive_price`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import inf, log
from typing import Any

import numpy as np

from noren.audit.enumerated import law_of
from noren.audit.exact import Law, log_ratio
from noren.monitoring.client import CheckedPlan
from noren.monitoring.lies import LieLaw
from noren.privacy import LOCAL, USER, Adjacency

EPOCH = Adjacency(LOCAL, unit=USER, within="one epoch")
SLOT = Adjacency(LOCAL, unit=USER, within="one slot")
States = tuple[int, ...]
RandBelow = Callable[[int], int]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A way of reporting with small weights, on few slots.

    `apart(a, b)` says whether two trajectories are neighbors; `cycles` is how many times the
    horizon is run through (rolling).
    """

    name: str
    strategy: str
    epsilon: str
    weights: tuple[int, ...]
    horizon: int
    reports: int
    slots: tuple[int, ...] = ()
    slot_epsilon: str | None = None
    dummy: str = "0"
    level: int = 0
    cycles: int = 1
    adjacency: Adjacency = EPOCH
    claimed: float | None = None
    apart: Callable[[States, States], bool] = field(default=lambda a, b: a != b)

    def plan(self) -> CheckedPlan:
        """Give the plan as a client reads it; weights beyond the limits would be refused."""
        return CheckedPlan(
            {
                "task": "audit", "strategy": self.strategy, "horizon": self.horizon,
                "reports": self.reports, "epsilon": self.epsilon, "dummy": self.dummy,
                "weights": self.weights, "origin": 0, "slot_seconds": 1,
                **({} if self.slot_epsilon is None else {"slot_epsilon": self.slot_epsilon}),
            }
        )  # fmt: skip

    def states(self) -> Iterator[States]:
        """Give every trajectory."""
        return product((0, 1), repeat=self.horizon * self.cycles)

    def law(self, states: States, plan: CheckedPlan | None = None) -> Law:
        """Give the exact law of the transcript for a trajectory."""
        checked = self.plan() if plan is None else plan

        def ask(noise: Any) -> list[int]:
            return self.transcript(checked, states, noise.integers_below)

        return law_of(ask)[0]

    def transcript(self, plan: CheckedPlan, states: States, randbelow: RandBelow) -> list[int]:
        """Let a client report every slot of its epoch (or cycles)."""
        said: list[int] = []
        for cycle in range(self.cycles):
            slots, signs = plan.draw(list(self.slots), randbelow)
            mine = {"slots": slots, "signs": signs, "level": self.level, "used": 0, "last": 0}
            for slot in range(1, self.horizon + 1):
                if plan.reports_in(mine, slot):
                    bit = states[cycle * self.horizon + slot - 1]
                    said.append(plan.answer(mine, slot, bit, randbelow))
        return said

    def price(self) -> tuple[float, int]:
        """Give the worst log ratio over all neighbors, and how many pairs there are."""
        laws = {states: self.law(states) for states in self.states()}
        pairs = [(p, q) for p in laws for q in laws if self.apart(p, q)]
        return max(log_ratio(laws[p], laws[q]) for p, q in pairs), len(pairs)


def in_one_window(width: int, used: Sequence[int]) -> Callable[[States, States], bool]:
    """Say whether trajectories differ only inside one window, and only in slots that are used."""

    def apart(a: States, b: States) -> bool:
        differ = [t for t, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        return (
            bool(differ)
            and differ[-1] - differ[0] < width
            and all(t % width + 1 in used for t in differ)
        )

    return apart


def in_one_slot(a: States, b: States) -> bool:
    """Say whether trajectories differ in one slot."""
    return sum(map(int.__ne__, a, b)) == 1


def cases() -> Iterator[Case]:
    """Give every strategy."""
    block = {"strategy": "block", "epsilon": "2", "weights": (7, 1, 1, 1), "horizon": 3,
             "reports": 3, "slots": (1, 2, 3)}  # fmt: skip
    ramp = {**block, "strategy": "ramp", "weights": (14, 13, 5, 2), "slot_epsilon": "1"}
    coins: dict[str, Any] = {"epsilon": "2", "weights": (5, 2), "reports": 2}
    yield Case(name="block, 3 reports", **block)  # type: ignore[arg-type]
    yield Case(name="ramp, 3 reports", **ramp)  # type: ignore[arg-type]
    yield Case(name="ramp, 3 reports", adjacency=SLOT, claimed=1.0, apart=in_one_slot, **ramp)  # type: ignore[arg-type]
    yield Case(name="independent, 2 reports", strategy="independent", horizon=2, slots=(1, 2),
               **coins)  # fmt: skip
    for dummy in ("0", "1/2"):
        yield Case(name=f"published, 2 of 3 slots, r = {dummy}", strategy="published", horizon=3,
                   dummy=dummy, **coins)  # fmt: skip
    yield Case(name="published, 2 of 3 slots, r = 0", strategy="published", horizon=3,
               adjacency=SLOT, claimed=1.0, apart=in_one_slot, **coins)  # fmt: skip
    yield Case(name="rolling, 2 reports in every 3 slots, over two cycles", strategy="rolling",
               horizon=3, slots=(1, 3), cycles=2, apart=in_one_window(3, (1, 3)),
               adjacency=Adjacency(LOCAL, unit=USER, within="any 3 slots"), **coins)  # fmt: skip
    for changes, weights in ((1, (7, 1)), (2, (7, 1, 1))):
        for level in range(3):
            yield Case(name=f"tree, {changes} changes, level {level}", strategy="tree", horizon=4,
                       epsilon="2", weights=weights, reports=changes, level=level)  # fmt: skip


def adaptive_price(law: LieLaw) -> tuple[float, float, int]:
    """Give the exact prices of an epoch and of one slot over all adaptive rules, and how many.

    A rule gives a bit for every history of what was sent: 2**(2**k - 1) of them. For a transcript
    y, the pattern that makes it is y times the states that y itself brings about.
    """
    k, weights = law.reports, law.weights
    count = 2**k - 1  # histories, numbered as 1 followed by what was sent
    rules = np.arange(2**count, dtype=np.int64)
    lies = lies_by_transcript(rules, k)
    epoch = max(
        ratio(weights, set(lies[:, y].tolist()), set(lies[:, y].tolist())) for y in range(2**k)
    )
    slot = 0.0
    for depth in range(k):
        histories = sum(1 << (h - 1) for h in range(2**depth, 2 ** (depth + 1)))
        other = lies_by_transcript(rules ^ histories, k)
        pairs = set(zip(lies.ravel().tolist(), other.ravel().tolist(), strict=True))
        slot = max(slot, *(ratio(weights, {a}, {b}) for a, b in pairs))
    return epoch, slot, rules.size


def lies_by_transcript(rules: Any, k: int) -> Any:
    """Give, for each rule (row) and transcript (column), how many lies make it."""
    columns = []
    for said in product((0, 1), repeat=k):
        history, lies = 1, np.zeros(rules.size, np.int8)
        for y in said:
            lies += ((rules >> (history - 1)) & 1) != y
            history = 2 * history + y
        columns.append(lies)
    return np.stack(columns, axis=1)


def ratio(weights: Sequence[int], above: set[int], below: set[int]) -> float:
    """Give the largest log ratio of weights by numbers of lies."""
    least = min(weights[j] for j in below)
    if least <= 0:
        return inf
    return log(Fraction(max(weights[j] for j in above), least))
