"""What is decided when a slot is sealed: estimate, interval, verdict, and what to beware of.

One class of people is decided by its exact binomial law. Several classes have no common law, so
their estimates are combined with public weights and decided with Hoeffding's margin. Weights are
the sizes of the classes; only where people were put into classes at random may they be the
precisions, because otherwise the noise-optimal mixture is a share of other people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from scipy.stats import binom

from noren.monitoring.decisions import (
    Channel,
    Reading,
    Verdict,
    combined_verdict,
    false_reports_to_flip,
    plain_verdict,
    possible_shares,
    read_slot,
    wide_margin,
)
from noren.monitoring.planning import FEW_REPORTS
from noren.monitoring.plans import MonitoringPlan
from noren.monitoring.smoothing import Smoother, cautious_variance
from noren.monitoring.statistic import SlotCounts
from noren.monitoring.tree import levels, tree_estimate

Kinds = Mapping[int, tuple[int, int]]
SILENCE_ALARM = 1e-3  # the chance of an alarm in a slot that is as silent as those before it
CONFIDENCE = 0.95


def decide(
    plans: Sequence[MonitoringPlan],
    epoch: int,
    slot: int,
    counts: Callable[[int], Kinds],
    scheduled: Mapping[int, int],
    before: Sequence[Mapping[str, Any]],
    *,
    sizes: Mapping[int, int] | None = None,
    by_precision: bool = False,
    smoother: Smoother | None = None,
) -> dict[str, Any]:
    """Give the decision of a slot, from its counts and from the decisions before it.

    `sizes` says how many people each class really has; left out, the plans' numbers stand. A
    `smoother` has been fed the slots before.
    """
    held = counts(slot)
    expected = sum(scheduled.values())
    if plans[0].chosen.name == "tree":
        reading, variance = tree_reading(plans[0], slot, counts, expected)
    elif len(plans) == 1:
        reading, variance = single_reading(plans[0], held.get(0, (0, 0)), expected)
    else:
        people = [(sizes or {}).get(i, plan.n_people) for i, plan in enumerate(plans)]
        weigh = None if by_precision else people
        reading, variance = combined_reading(plans, held, expected, weigh)
    decision = {"task": plans[0].task, "epoch": epoch, "slot": slot,
                "threshold": plans[0].threshold, "scheduled": expected}  # fmt: skip
    decision |= asdict(reading) | {"verdict": reading.verdict.value}
    decision["variance"] = variance
    decision["silence_alarm"] = silence_alarm(reading.reports, expected, before)
    decision["remarks"] = remarks(reading, plans[0])
    if smoother is not None:
        decision |= smoothed(smoother, decision)
    return decision


def decide_all(
    plans: Sequence[MonitoringPlan], counts: SlotCounts, epoch: int = 0
) -> list[dict[str, Any]]:
    """Decide every slot of an epoch from counts that are complete, such as stored or simulated."""

    def counted(slot: int) -> Kinds:
        rows = zip(counts.reports[slot - 1], counts.ones[slot - 1], strict=True)
        return {kind: (int(held), int(ones)) for kind, (held, ones) in enumerate(rows)}

    found: list[dict[str, Any]] = []
    for slot in range(1, plans[0].horizon + 1):
        found.append(decide(plans, epoch, slot, counted, planned_reports(plans, slot), found))
    return found


def classes_of(plans: Sequence[MonitoringPlan]) -> int:
    """Say how many classes messages name: one for each plan, or for each level of the tree."""
    return levels(plans[0].horizon) + 1 if plans[0].chosen.name == "tree" else len(plans)


def planned_reports(plans: Sequence[MonitoringPlan], slot: int) -> dict[int, int]:
    """Say how many reports of each class a slot gets at least, if all people of the plans send."""
    if plans[0].chosen.name == "tree":
        due = [h for h in range(classes_of(plans)) if slot % (1 << h) == 0]
        return dict.fromkeys(due, plans[0].reports_per_slot)
    return {kind: plan.reports_per_slot for kind, plan in enumerate(plans)}


def single_reading(
    plan: MonitoringPlan, held: tuple[int, int], expected: int
) -> tuple[Reading, float | None]:
    """Read a slot of one class."""
    reports, ones = held
    channel = plan.chosen.channel
    reading = read_slot(
        ones, reports, channel, plan.threshold, rule=plan.rule, alpha=plan.alpha,
        confidence=CONFIDENCE, scheduled=expected,
    )  # fmt: skip
    return reading, cautious_variance(reports, channel.contrast) if reports else None


def combined_reading(
    plans: Sequence[MonitoringPlan], held: Kinds, expected: int, people: Sequence[int] | None
) -> tuple[Reading, float | None]:
    """Read a slot of several classes; nothing is said while some class has no report.

    Classes weigh as many `people` as they have; None: by precision.
    """
    reports, ones = (sum(held.get(i, (0, 0))[j] for i in range(len(plans))) for j in (0, 1))
    if any(not held.get(i, (0, 0))[0] for i in range(len(plans))):
        return nothing(plans[0].rule, reports, expected), None
    channels = [plan.chosen.channel for plan in plans]
    spreads = [cautious_variance(held[i][0], c.contrast) for i, c in enumerate(channels)]
    sizes = [1 / spread for spread in spreads] if people is None else people
    weights = [size / sum(sizes) for size in sizes]
    share = sum(w * c.share(held[i][1] / held[i][0])
                for i, (w, c) in enumerate(zip(weights, channels, strict=True)))  # fmt: skip
    parts = [(w, held[i][0], c.contrast)
             for i, (w, c) in enumerate(zip(weights, channels, strict=True))]  # fmt: skip
    reading = with_margins(
        plans[0], share, (ones, reports), expected,
        wide_margin(parts, plans[0].alpha), wide_margin(parts, (1 - CONFIDENCE) / 2),
        min(c / w * k for w, k, c in parts),
    )  # fmt: skip
    return reading, sum(w * w * spread for w, spread in zip(weights, spreads, strict=True))


def tree_reading(
    plan: MonitoringPlan, slot: int, counts: Callable[[int], Kinds], expected: int
) -> tuple[Reading, float | None]:
    """Read a slot of the tree: the sum of the changes up to it, with margins that are proved."""
    contrast = plan.chosen.law.contrast

    def node(level: int, end: int) -> tuple[int, int]:
        reports, ones = counts(end).get(level, (0, 0))
        return ones, reports

    held = counts(slot).values()
    reports, ones = sum(it[0] for it in held), sum(it[1] for it in held)
    found = tree_estimate(slot, node, contrast)
    if found is None:
        return nothing(plan.rule, reports, expected), None
    margin, wide = (found.margin(tail) for tail in (plan.alpha, (1 - CONFIDENCE) / 2))
    reading = with_margins(plan, found.share, (ones, reports), expected, margin, wide, None)
    return reading, found.variance


def nothing(rule: str, reports: int, expected: int) -> Reading:
    """Say that there is no data to decide by."""
    empty = read_slot(0, 0, Channel(0.0, 1.0), 0.5, rule=rule, scheduled=expected)
    return empty if not reports else Reading(**{**fields_of(empty), "reports": reports})


def fields_of(reading: Reading) -> dict[str, Any]:
    """Give a reading's fields as they are."""
    return {name: getattr(reading, name) for name in Reading.__slots__}


def with_margins(
    plan: MonitoringPlan,
    share: float,
    held: tuple[int, int],
    expected: int,
    margin: float,
    wide: float,
    leverage: float | None,
) -> Reading:
    """Read an estimate that has margins instead of an exact law."""
    ones, reports = held
    missing = max(0.0, 1 - reports / expected) if expected else 0.0
    low, high = (min(1.0, max(0.0, share + side * wide)) for side in (-1, 1))
    plain = plain_verdict(share, plan.threshold)
    verdict = plain if plan.rule == "plain" else combined_verdict(share, plan.threshold, margin)
    return Reading(
        ones=ones, reports=reports, share=share, low=low, high=high, at_edge=low == high,
        verdict=verdict, rule=plan.rule,
        flips=(
            None if leverage is None else false_reports_to_flip(share, 1, leverage, plan.threshold)
        ),
        missing=missing,
        possible=possible_shares(share, missing),
    )  # fmt: skip


def silence_alarm(reports: int, expected: int, before: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether this slot is more or less silent than the slots before it would explain."""
    asked = sum(it["scheduled"] for it in before)
    missed = sum(max(0, it["scheduled"] - it["reports"]) for it in before)
    if not asked or not expected:
        return False
    usual, gone = (missed + 0.5) / (asked + 1), max(0, expected - reports)
    rare = min(binom.sf(gone - 1, expected, usual), binom.cdf(gone, expected, usual))
    return bool(2 * rare < SILENCE_ALARM)


def remarks(reading: Reading, plan: MonitoringPlan) -> list[str]:
    """Say what must be read with a decision."""
    found = []
    if reading.verdict is Verdict.NO_DATA:
        return ["no data"]
    if reading.reports < FEW_REPORTS:
        found.append(f"fewer than {FEW_REPORTS} reports")
    if reading.at_edge:
        found.append("the interval lies at the edge; this is not certainty")
    return found


def smoothed(bank: Smoother, decision: Mapping[str, Any]) -> dict[str, Any]:
    """Feed one more slot to the bank; give the smoothed share and what plain would say of it."""
    latest = fed(bank, decision)
    if latest is None:
        return {"smoothed": None, "smoothed_verdict": Verdict.NO_DATA.value}
    verdict = plain_verdict(latest, decision["threshold"])
    return {"smoothed": latest, "smoothed_verdict": verdict.value}


def fed(bank: Smoother, decision: Mapping[str, Any]) -> float | None:
    """Feed a slot to the bank, if it has data."""
    if decision["share"] is None:
        return None
    return bank.feed(decision["share"], decision["variance"])
