"""Choose how to monitor before anything is asked, from public facts only.

`plan` lists every candidate with its expected error and chooses one. No private data takes part.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Literal

from noren.errors import ParameterError
from noren.monitoring.accuracy import best_m, read_threshold
from noren.monitoring.client import MOST_EPSILON
from noren.monitoring.decisions import read_chance, read_rule
from noren.monitoring.plans import MonitoringPlan, Timetable, read_task
from noren.monitoring.strategies import Setting, Strategy, in_slots, make, published, tree
from noren.monitoring.tree import levels
from noren.privacy.numbers import Number, positive, probability, read_epsilon, shown, whole

MOST_PEOPLE = 10**12
LARGE_EPSILON = 10
FEW_REPORTS = 100


def plan(
    n_people: int,
    horizon: int,
    epsilon: Number,
    threshold: Number,
    *,
    slot_epsilon: Number | Literal["published"] | None = "published",
    strategy: str | None = None,
    reports: int | None = None,
    max_changes: int | None = None,
    rolling: int | bool | None = None,
    worst_case: bool = False,
    r: Number = 0,
    rule: str = "plain",
    alpha: Number = 0.05,
    power: Number = 0.8,
    all_slots: bool = False,
    task: str = "monitoring",
    timetable: Timetable | None = None,
) -> MonitoringPlan:
    """Choose a strategy and its number of reports, and say what to expect.

    Parameters
    ----------
    n_people : int
        How many people take part.
    horizon : int
        How many slots an epoch has.
    epsilon : number
        What an epoch may cost one person.
    threshold : number
        The share at which a slot is "up".
    slot_epsilon : number, "published" or None
        What a change of one slot may cost; "published" is what the published scheme charges for it
        (its epsilon / m*), None leaves it at epsilon, which is best for trajectories alone. With a
        large epsilon a device then often sends several true bits in a row.
    strategy : str, optional
        One of published, independent, ramp, block, rolling, tree; chosen if left out.
    reports : int, optional
        How many reports a person makes; the best if left out (of at most 4096 where lies are
        drawn together).
    max_changes : int, optional
        How often a person's bit may change in an epoch; lets the tree compete.
    rolling : int, optional
        Protect every window of so many slots, without an end (True: of `horizon` slots).
    worst_case : bool
        Choose for a share of 1/2 instead of the threshold.
    r : number
        The chance that a dummy of the published scheme is a 1.
    rule, alpha, power
        "plain" or "confident"; the chance of a wrong word, and of noticing a detectable margin.
    all_slots : bool
        Let alpha hold for all slots of an epoch together.
    task, timetable
        The public name of this monitoring, and when its slots are.

    Examples
    --------
    >>> found = plan(10_000, 100, 2, 0.8)
    >>> found.chosen.name, found.chosen.reports, round(found.sd**2, 10)
    ('ramp', 2, 0.0028392103)
    """
    setting = read_setting(
        n_people, rolling_window(horizon, rolling), epsilon, threshold, slot_epsilon, r, worst_case
    )
    found = compared(setting, max_changes, bool(rolling))
    chosen = (
        best_of(found, setting)
        if strategy is None
        else make(strategy, setting, reports, max_changes)
    )
    if strategy is None and reports is not None:
        chosen = make(chosen.name, setting, reports, max_changes)
    level = read_chance("alpha", alpha) / (setting.horizon if all_slots else 1)
    made = MonitoringPlan(
        n_people=setting.people,
        threshold=setting.threshold,
        chosen=chosen,
        candidates=found,
        rule=read_rule(rule),
        alpha=level,
        power=read_chance("power", power),
        task=read_task(task),
        timetable=timetable or Timetable(),
        notes=remarks(setting, chosen),
    )
    if setting.epsilon > LARGE_EPSILON:
        warnings.warn(made.notes[0], UserWarning, stacklevel=2)
    return made


def read_setting(
    n_people: int,
    horizon: int,
    epsilon: Number,
    threshold: Number,
    slot_epsilon: Number | Literal["published"] | None,
    r: Number,
    worst_case: bool,
) -> Setting:
    """Read the public facts."""
    price, slots = read_epsilon(epsilon), whole("horizon", horizon, 1)
    if price > MOST_EPSILON:
        raise ParameterError(
            "epsilon", epsilon, f"at most {MOST_EPSILON}, the most that a device accepts",
            "Above 10 it protects nobody.",
        )  # fmt: skip
    slot: Fraction | None = None
    if slot_epsilon == "published":
        slot = price / best_m(slots, price)
    elif slot_epsilon is not None:
        slot = min(price, positive("slot_epsilon", slot_epsilon))
    return Setting(
        people=read_people(n_people),
        horizon=slots,
        epsilon=price,
        slot_epsilon=slot,
        threshold=read_threshold(threshold),
        dummy=probability("r", r),
        worst_case=worst_case,
    )


def rolling_window(horizon: int, rolling: int | bool | None) -> int:
    """Give the length of a window, or of an epoch."""
    return horizon if rolling is None or isinstance(rolling, bool) else whole("rolling", rolling, 1)


def compared(setting: Setting, max_changes: int | None, rolling: bool) -> tuple[Strategy, ...]:
    """List every candidate."""
    if rolling:
        return (in_slots("rolling", setting),)
    names = ["ramp", "block", "independent"]
    if setting.slot_epsilon is None:
        names.remove("ramp")
    found = [in_slots(name, setting) for name in names] + [published(setting)]
    if max_changes is not None and levels(setting.horizon) >= 0:
        found.append(tree(setting, whole("max_changes", max_changes, 1)))
    return tuple(found)


def best_of(found: tuple[Strategy, ...], setting: Setting) -> Strategy:
    """Choose the ramp (or rolling), unless the tree is expected to be better where it matters."""
    first, last = found[0], found[-1]
    at = "sd_at_half" if setting.worst_case else "sd_at_threshold"
    is_better = last.name == "tree" and getattr(last, at) < getattr(first, at)
    return last if is_better else first


def remarks(setting: Setting, chosen: Strategy) -> tuple[str, ...]:
    """Say what must be read with the plan."""
    found = []
    if setting.epsilon > LARGE_EPSILON:
        found.append(
            f"epsilon {shown(setting.epsilon)} is above {LARGE_EPSILON}: what one person did can "
            "be told from the reports almost surely"
        )
    if chosen.scheduled(setting.people) < FEW_REPORTS:
        found.append(f"fewer than {FEW_REPORTS} reports a slot: expect little more than noise")
    return tuple(found)


def read_people(given: object) -> int:
    """Read a public number of people, of which there are not endlessly many."""
    people = whole("n_people", given, 1)
    if people > MOST_PEOPLE:
        raise ParameterError("n_people", people, f"at most {MOST_PEOPLE:,}", "Count people.")
    return people
