"""What breaks monitoring: known wrong ideas, and faults put into the client on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import inf, log
from typing import Any

from noren.audit.exact import log_ratio
from noren.audit.monitoring_cases import EPOCH, Case, in_one_window, ratio
from noren.audit.mutants import Mutant, caught
from noren.audit.row import FAILS, AuditRow, finding
from noren.monitoring import block_law
from noren.monitoring.client import CheckedPlan
from noren.privacy import LOCAL, USER, Adjacency

ANY_TWO = Adjacency(LOCAL, unit=USER, within="any 2 slots")
BLOCK: dict[str, Any] = {"strategy": "block", "epsilon": "2", "weights": (7, 1, 1), "horizon": 2,
                         "reports": 2, "slots": (1, 2)}  # fmt: skip
COINS: dict[str, Any] = {**BLOCK, "strategy": "independent", "weights": (5, 2)}


def counterexamples() -> Iterator[AuditRow]:
    """Give what does not protect, although it is often thought to."""
    for name, adjacency, claimed, measured, note in (
        ("one noisy bit remembered for each value", EPOCH, 1.0, remembered(),
         "an alternating transcript is impossible for constant states"),
        ("a state that knows a lie not used yet", EPOCH, 2.0, knows_a_lie(),
         "why the pattern is never shown, not even to the program that is measured"),
        ("block cycles under a rolling window", ANY_TWO, 2.0, straddling(),
         "a window over two cycles sees one slot of each"),
        ("two copies of a state file, two bits of one slot", EPOCH, 2.0, copied(),
         "the same lie twice tells whether the bits agree"),
    ):  # fmt: skip
        yield finding(
            f"monitoring: {name}", adjacency, claimed=claimed, measured=measured, method="exact",
            expected=FAILS, note=f"a counter-example: {note}",
        )  # fmt: skip


def remembered() -> float:
    """Draw one noisy bit for each value, and repeat it for ever (states 0 1 beside 0 0)."""
    weights = {0: 5, 1: 2}  # a truth, a lie
    said = {(of_zero, 1 ^ of_one): weights[of_zero] * weights[of_one]
            for of_zero, of_one in product((0, 1), repeat=2)}  # fmt: skip
    constant = {(y, y) for y in (0, 1)}
    return max(log(w) if y in constant else inf for y, w in said.items())


def knows_a_lie() -> float:
    """Let the second state be 1 exactly where the two lies differ."""
    law = block_law(2, 2)
    seen = set()
    for first, second in product((0, 1), repeat=2):
        state = first ^ second
        seen.add((first, state ^ second))
    return max(
        ratio(law.weights, {a + b}, {a + b}) if (a, b) in seen else inf
        for a, b in product((0, 1), repeat=2)
    )


def straddling() -> float:
    """Change the last slot of one cycle and the first of the next, lies drawn by the block law."""
    weights = block_law(2, 2).weights
    truth, lie = weights[0] + weights[1], weights[1] + weights[2]
    return 2 * log(Fraction(truth, lie))


def copied() -> float:
    """Answer one slot in two copies with the same lie, once for equal and once for unequal bits."""
    laws = []
    for bits in ((0, 0), (0, 1)):
        laws.append({tuple(bit ^ lie for bit in bits) for lie in (0, 1)})
    return inf if not laws[1] <= laws[0] else 0.0


class FreshOnRetry(CheckedPlan):
    """Draw a new lie whenever a report is sent again."""

    def answer(self, mine: Any, slot: int, bit: int, randbelow: Any) -> int:
        """Say it twice, with two lies."""
        first, second = (bit ^ (self.pattern(randbelow)[0] < 0) for _ in range(2))
        return int(2 * first + second)


class UsedTwice(CheckedPlan):
    """Answer a second epoch with the lies of the first."""

    kept: tuple[list[int], list[int]] | None = None

    def draw(self, slots: list[int], randbelow: Any) -> tuple[list[int], list[int]]:
        """Draw once for two epochs, and erase nothing."""
        if self.kept is not None:
            again, self.kept = self.kept, None
            return again
        slots, signs = super().draw(slots, randbelow)
        self.kept = slots, list(signs)
        return slots, signs


class SilentUnlessOne(CheckedPlan):
    """Report only where the state is 1: the program that is measured does the reporting."""

    def answer(self, mine: Any, slot: int, bit: int, randbelow: Any) -> int:
        """Say nothing (2) for a 0."""
        said = super().answer(mine, slot, bit, randbelow)
        return said if bit else 2


class NoLimitOfChanges(CheckedPlan):
    """Go on telling changes after the lies for them are used up."""

    def _answer_change(self, mine: Any, bit: int, randbelow: Any) -> int:
        """Use the last sign again."""
        change, mine["last"] = bit - mine["last"], bit
        if change == 0:
            return int(randbelow(2))
        sign = mine["signs"][min(mine["used"], self.reports - 1)]
        mine["used"] += 1
        return int(change * sign > 0)


class FirstPlaces(CheckedPlan):
    """Draw how many lies there are, and tell them first: the places are not drawn."""

    def pattern(self, randbelow: Any) -> list[int]:
        """Sort the signs."""
        return sorted(super().pattern(randbelow))


def faults() -> Iterator[AuditRow]:
    """Give every mutant of the client's code, and of the weights."""
    once = Case(name="", **{**COINS, "weights": (7, 1), "horizon": 1, "reports": 1, "slots": (1,)})
    twice = Case(name="", **BLOCK, cycles=2, claimed=4.0)
    tree = Case(name="tree", strategy="tree", epsilon="2", weights=(7, 1), horizon=4, reports=1)
    block = Case(name="block", **BLOCK)
    rolling = Case(name="rolling", strategy="rolling", epsilon="2", weights=(5, 2), horizon=2,
                   reports=2, slots=(1, 2), cycles=2, apart=in_one_window(2, (1, 2)),
                   adjacency=ANY_TWO)  # fmt: skip
    return caught(
        [
            mutant("independent", "fresh noise on retry", once, FreshOnRetry),
            mutant("block", "one epoch's lies used in two", twice, UsedTwice),
            mutant("block", "silent unless the state is 1", block, SilentUnlessOne),
            mutant("rolling", "one cycle's lies used in the next", rolling, UsedTwice),
            mutant("tree", "no limit of changes", tree, NoLimitOfChanges),
            mutant("block", "places of lies not drawn", block, FirstPlaces),
            Mutant("monitoring: independent", "every coin has the whole price", EPOCH, 2.0,
                   whole_price),
            Mutant("monitoring: block", "half the noise", EPOCH, 2.0, half_the_noise),
            Mutant("monitoring: block", "tails lost in floats", EPOCH, 200.0, lost_tails),
        ]
    )  # fmt: skip


def mutant(name: str, fault: str, case: Case, kind: Any) -> Mutant:
    """Run a broken client through all outcomes."""

    def measure() -> float:
        broken = kind(case_json(case))
        laws = {states: case.law(states, broken) for states in case.states()}
        return max(
            log_ratio(p, q) for a, p in laws.items() for b, q in laws.items() if case.apart(a, b)
        )

    claimed = float(case.epsilon) if case.claimed is None else case.claimed
    return Mutant(f"monitoring: {name}", fault, case.adjacency, claimed, measure)


def case_json(case: Case) -> dict[str, Any]:
    """Give the plan of a case as a client reads it."""
    return {"task": "audit", "strategy": case.strategy, "horizon": case.horizon,
            "reports": case.reports, "epsilon": case.epsilon, "weights": case.weights,
            "origin": 0, "slot_seconds": 1}  # fmt: skip


def whole_price() -> float:
    """Let each of two independent coins keep e**2, not e."""
    coins = Case(name="", **{**COINS, "epsilon": "4", "weights": (7, 1)})
    return coins.price()[0]


def half_the_noise() -> float:
    """Draw by the law for twice the epsilon."""
    weights = block_law(2, 4).weights
    return ratio(weights, {0, 1, 2}, {0, 1, 2})


def lost_tails() -> float:
    """Draw how many lies there are from chances added up in floats, as a sampler would."""
    chances = block_law(100, 200).lie_probabilities
    reached = [sum(chances[: j + 1]) for j in range(101)]
    steps = [b - a for a, b in zip([0.0, *reached], reached, strict=False)]
    return inf if min(steps) <= 0 else 0.0
