"""Evidence for monitoring: the laws of lies, every strategy's code, devices, shuffling, faults.

Each strategy is the client's own code run through all outcomes of its randomness. Real plans are
examined by the integers that they are drawn from, for every rule by which states may depend on what
was sent before (k up to 4: 32,768 rules). What papers and programs get wrong stands beside it.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from inspect import signature
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from noren.audit.black_box import audit_callable
from noren.audit.law import p_value
from noren.audit.monitoring_cases import EPOCH, SLOT, adaptive_price, cases
from noren.audit.monitoring_faults import counterexamples, faults
from noren.audit.row import FAILS, AuditRow, finding
from noren.monitoring import Client, block_law, ramp_law, shuffle_floor, shuffled_epsilon
from noren.monitoring.client import CheckedPlan
from noren.monitoring.lies import LieLaw
from noren.monitoring.planning import plan
from noren.monitoring.plans import Timetable
from noren.privacy import LOCAL, USER, Adjacency

FALSE_ALARM = 1e-6
MEMORY = Path("/dev/shm")  # where durable writes cost nothing, if there is such a folder
WINDOW = Adjacency(LOCAL, unit=USER, within="any 2 slots")
SHUFFLED = Adjacency(LOCAL, unit=USER, within="one slot, seen as a number of ones")


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine all of monitoring."""
    yield from strategies()
    yield from laws(4 if not quick else 3)
    yield from samplers(20_000 if quick else 200_000)
    yield from devices(600 if quick else 6_000)
    yield from shuffled()
    yield from counterexamples()
    yield from faults()


def strategies() -> Iterator[AuditRow]:
    """Run every strategy's code through every outcome."""
    for case in cases():
        found, pairs = case.price()
        yield finding(
            f"monitoring: {case.name}",
            case.adjacency,
            claimed=float(case.epsilon) if case.claimed is None else case.claimed,
            measured=found,
            method="exact",
            note=f"the client's code, all outcomes, {pairs} pairs of trajectories; small weights",
        )


def laws(most: int) -> Iterator[AuditRow]:
    """Examine the integers of real plans, for every adaptive rule."""
    for law in (block_law(2, 2), block_law(3, 1), ramp_law(3, 2, 1), block_law(4, 4),
                ramp_law(4, 3, 1), ramp_law(4, 10, "5/3")):  # fmt: skip
        if law.reports <= most:
            epoch, slot, rules = adaptive_price(law)
            note = f"{rules} rules, whose states depend on what was sent; exact integers"
            yield law_row(law, EPOCH, float(law.epsilon), epoch, note)
            yield law_row(law, SLOT, float(law.slot_epsilon), slot, note)


def law_row(law: LieLaw, adjacency: Adjacency, claimed: float, measured: float, note: str) -> Any:
    """State one price of a law."""
    sort = "block" if law.slot_epsilon == law.epsilon else "ramp"
    name = f"monitoring: lie-law, {sort}, {law.reports} reports, epsilon {law.epsilon}"
    return finding(name, adjacency, claimed=claimed, measured=measured, method="exact", note=note)


def samplers(draws: int) -> Iterator[AuditRow]:
    """Compare the patterns that a device draws, by its own randomness, with their law."""
    own = signature(Client).parameters["randbelow"].default
    for law in (block_law(10, 10), ramp_law(10, 10, 2)):
        made = plan(
            10_000, 100, 10, 0.8, strategy="ramp", reports=10, slot_epsilon=law.slot_epsilon
        )
        checked = CheckedPlan(made.to_dict())
        patterns = np.array([checked.pattern(own) for _ in range(draws)])
        numbers = np.bincount((patterns < 0).sum(axis=1), minlength=law.reports + 1)
        places = (patterns < 0).sum(axis=0)
        sort = f"slot epsilon {law.slot_epsilon}"
        for what, seen, masses in (
            ("how many lies", numbers, np.array(law.lie_probabilities)),
            ("where the lies are", places, np.full(law.reports, 1 / law.reports)),
        ):
            chance = p_value(seen, masses)
            yield finding(
                f"monitoring: lie-law, a device's pattern, {sort}, {what}", "none",
                claimed=FALSE_ALARM, measured=chance, method="law", quantity="p-value",
                holds=chance > FALSE_ALARM,
                note=f"{draws} patterns from the device's own source",
            )  # fmt: skip


def devices(draws: int) -> Iterator[AuditRow]:
    """Let whole devices report an epoch, state file and all, and bound epsilon from outside.

    Each strategy with two trajectories that are its worst ones: all slots of an epoch, a window
    over two cycles (after the silence with which rolling begins), one change sooner or later.
    """
    whole = (0, 0), (1, 1)
    straddling = (0,) * 8, (0, 0, 0, 0, 0, 1, 1, 0)
    asked: list[tuple[str, dict[str, Any], tuple[Any, Any], Adjacency]] = [
        ("block", {"slot_epsilon": None}, whole, EPOCH),
        ("ramp", {"slot_epsilon": "0.7"}, whole, EPOCH),
        ("independent", {}, whole, EPOCH),
        ("published", {}, whole, EPOCH),
        ("rolling", {"rolling": 2}, straddling, WINDOW),
        ("tree", {"reports": None, "max_changes": 1}, ((1, 1), (0, 1)), EPOCH),
    ]
    for strategy, settings, (one, other), adjacency in asked:
        made = plan(
            10_000, 2, 1, 0.5, strategy=strategy, timetable=Timetable(origin=10.0),
            task="audit", **{"reports": 2, **settings},
        ).to_dict()  # fmt: skip
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
            yield audit_callable(
                partial(epoch_of, made, Path(folder)),
                one,
                other,
                epsilon=1,
                draws=draws,
                alpha=FALSE_ALARM,
                name=f"monitoring: {strategy}, a device's epoch",
                adjacency=adjacency,
                note=f"{draws} of each; a right device fails with chance {FALSE_ALARM:g}",
            )


def epoch_of(made: Any, folder: Path, states: tuple[int, ...]) -> str:
    """Let a new device live through some slots; give what it said."""
    now = [0.0]
    state = folder / "state.json"
    state.unlink(missing_ok=True)
    client = Client(
        state, made, device="d", key=b"k", lifetime_epsilon=len(states), clock=lambda: now[0]
    )  # fmt: skip
    said = []
    for slot, bit in enumerate(states):
        now[0] = 10.0 + 3600 * slot + 1
        client.begin({"task": "audit", "epoch": 0, "slots": [1, 2]})
        message = client.report(lambda bit=bit: bit)  # type: ignore[misc]
        said.append(json.loads(message or '{"y": null}')["y"])
    return repr(said)


def shuffled() -> Iterator[AuditRow]:
    """Enumerate a shuffled slot of ten people for every input of the others."""
    people, local, delta = 10, 1.0, 0.02
    exact = shuffled_epsilon(people, 1, delta)
    for name, epsilon, expected in (
        ("exact bound", exact, "holds"),
        ("clones bound", shuffled_epsilon(people, 1, delta, "clones"), "holds"),
        ("all others equal, taken for a guarantee", shuffle_floor(people, 1, delta), FAILS),
    ):
        found = max(shuffled_delta(people, local, ones, epsilon) for ones in range(people))
        yield finding(
            f"monitoring: shuffled, {people} people, epsilon0 1: {name}", SHUFFLED, claimed=delta,
            measured=found, method="exact", quantity="delta", expected=expected,
            holds=found <= delta * (1 + 1e-9),
            note=f"at epsilon {epsilon:.6f}; every state of the others, brute force",
        )  # fmt: skip


def shuffled_delta(people: int, local: float, ones: int, epsilon: float) -> float:
    """Give delta for one person's bit where `ones` of the others hold a 1, over all lies."""
    laws = []
    for mine in (0, 1):
        bits = [mine] + [1] * ones + [0] * (people - 1 - ones)
        law: Counter[int] = Counter()
        for lies in product((0, 1), repeat=people):
            chance = exp(-local * sum(lies)) / (1 + exp(-local)) ** people
            law[sum(bit ^ lie for bit, lie in zip(bits, lies, strict=True))] += chance  # type: ignore[assignment]
        laws.append(law)
    factor = exp(epsilon)
    return max(
        sum(max(0.0, p[s] - factor * q[s]) for s in range(people + 1))
        for p, q in (laws, reversed(laws))
    )
