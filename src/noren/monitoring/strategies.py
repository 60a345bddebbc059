"""The ways to spend a person's epsilon over time, behind one face: what each sends and how well.

    published    every person sends in every slot; m true or lying reports, dummies in the rest
    independent  k known reporters a slot, each lie a coin of its own
    ramp         k reports, lies drawn together, a price for the trajectory and one for a slot
    block        the same with one price only
    rolling      no end: k reports in every window of w slots, coins of their own
    tree         changes over dyadic intervals, for people who change at most s times

Privacy
    All are pure and LOCAL. published, independent, ramp, block, tree: one person's whole trajectory
    within one epoch is replaced by any other. rolling: trajectories that differ only inside one
    window of w slots; any window holds exactly k reports of epsilon / k each, because a person's
    slots are the same in every cycle. Lies drawn together would cost nearly twice as much in a
    window that straddles two cycles, so rolling uses coins.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt, tanh

from noren.errors import ParameterError
from noren.monitoring.accuracy import (
    at_most,
    best_m,
    published_chances,
    published_variance,
    slot_variance,
)
from noren.monitoring.decisions import Channel
from noren.monitoring.lies import (
    EPOCH,
    LEAST_CONTRAST,
    MOST_TOGETHER,
    SLOT,
    TIE,
    LieLaw,
    best_contrast,
    block_law,
    candidate_counts,
    independent_law,
    ramp_law,
)
from noren.monitoring.tree import average_variance, levels
from noren.privacy import LOCAL, USER, Adjacency, Guarantee
from noren.privacy.numbers import shown

NAMES = ("published", "independent", "ramp", "block", "rolling", "tree")
SINGLE = ("published", "independent", "rolling")  # one coin for each report


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The public facts that a strategy is chosen by."""

    people: int
    horizon: int
    epsilon: Fraction
    slot_epsilon: Fraction | None
    threshold: float
    dummy: Fraction = Fraction(0)
    worst_case: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way, with its law and its expected error.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    reports : int
        How many reports a person makes in an epoch (or window); for the tree, s.
    law : LieLaw
        The law of lies: over all reports, or over one where each lie has a coin of its own.
    sd_at_threshold, sd_at_half : float
        Standard deviation of one slot's estimate at the threshold and at a share of 1/2 (for the
        tree, from the mean variance over the slots).
    """

    name: str
    horizon: int
    reports: int
    epsilon: Fraction
    law: LieLaw
    sd_at_threshold: float
    sd_at_half: float
    dummy: Fraction = Fraction(0)

    @property
    def guarantee(self) -> Guarantee:
        """The price of an epoch, or of any window where it is rolling."""
        if self.name == "rolling":
            window = Adjacency(LOCAL, unit=USER, within=f"any {self.horizon} slots")
            return Guarantee(window, epsilon=self.epsilon)
        return Guarantee(EPOCH, epsilon=self.epsilon)

    @property
    def slot_epsilon(self) -> Fraction:
        """What a change in one slot alone costs."""
        return self.law.slot_epsilon

    @property
    def slot_epsilon_text(self) -> str:
        """What a change in one slot alone costs, in words."""
        return shown(self.slot_epsilon)

    @property
    def slot_guarantee(self) -> Guarantee:
        """The price of a change in one slot."""
        return Guarantee(SLOT, epsilon=self.slot_epsilon)

    @property
    def channel(self) -> Channel:
        """How a report depends on the share (for the tree: on a change)."""
        if self.name == "published":
            settings = self.horizon, self.reports, self.epsilon, self.dummy
            _, low, gap = published_chances(*settings)
            return Channel(low, gap)
        return Channel.symmetric(self.law.contrast)

    def scheduled(self, people: int) -> float:
        """Give how many reports a slot gets (for the tree: a level)."""
        if self.name == "published":
            return people
        if self.name == "tree":
            return people / (levels(self.horizon) + 1)
        return people * self.reports / self.horizon


def published(setting: Setting, reports: int | None = None) -> Strategy:
    """Give the published scheme, with its own m unless another is named."""
    m = best_m(setting.horizon, setting.epsilon) if reports is None else reports

    def sd(share: float) -> float:
        given = setting.people, setting.horizon, m, setting.epsilon, setting.dummy
        return sqrt(published_variance(*given, share))

    return Strategy(
        name="published", horizon=setting.horizon, reports=m, epsilon=setting.epsilon,
        law=independent_law(m, setting.epsilon), dummy=setting.dummy,
        sd_at_threshold=sd(setting.threshold), sd_at_half=sd(0.5),
    )  # fmt: skip


def in_slots(name: str, setting: Setting, reports: int | None = None) -> Strategy:
    """Give independent, ramp, block or rolling, with the number of reports that is best."""
    k = best_reports(name, setting) if reports is None else reports
    if setting.people * k < setting.horizon:
        raise empty_slots(setting)
    law = law_for(name, k, setting)

    def sd(share: float) -> float:
        held = setting.people * k / setting.horizon
        return sqrt(slot_variance(setting.people, held, law.contrast, share))

    return Strategy(
        name=name, horizon=setting.horizon, reports=k, epsilon=setting.epsilon, law=law,
        sd_at_threshold=sd(setting.threshold), sd_at_half=sd(0.5),
    )  # fmt: skip


def tree(setting: Setting, changes: int) -> Strategy:
    """Give the tree for people who change at most `changes` times."""
    found = sqrt(average_variance(setting.people, setting.horizon, changes, setting.epsilon))
    return Strategy(
        name="tree", horizon=setting.horizon, reports=changes, epsilon=setting.epsilon,
        law=block_law(changes, setting.epsilon), sd_at_threshold=found, sd_at_half=found,
    )  # fmt: skip


def law_for(name: str, k: int, setting: Setting) -> LieLaw:
    """Build the law of lies of a strategy in slots."""
    if name in SINGLE:
        return independent_law(k, setting.epsilon)
    if name == "block" or setting.slot_epsilon is None:
        return block_law(k, setting.epsilon)
    return ramp_law(k, setting.epsilon, setting.slot_epsilon)


def quick_contrast(name: str, k: int, setting: Setting) -> float:
    """Give that law's contrast in floats, to compare numbers of reports."""
    if name in SINGLE:
        return tanh(float(setting.epsilon / k) / 2)
    slot = None if name == "block" else setting.slot_epsilon
    return best_contrast(k, setting.epsilon, slot)


def best_reports(name: str, setting: Setting) -> int:
    """Give the number of reports with the least variance at the threshold; of equals, the least."""
    share = 0.5 if setting.worst_case else setting.threshold
    most = setting.horizon if name in SINGLE else min(setting.horizon, MOST_TOGETHER)
    enough = [k for k in candidate_counts(most) if setting.people * k >= setting.horizon]
    if not enough:
        raise empty_slots(setting)
    best, least = 0, float("inf")
    for k in enough:
        contrast = quick_contrast(name, k, setting)
        if contrast < LEAST_CONTRAST:
            continue
        held = setting.people * k / setting.horizon
        found = slot_variance(setting.people, held, contrast, share)
        if found < least * (1 - TIE):
            best, least = k, found
    return best or law_for(name, enough[0], setting).reports  # which refuses: it tells nothing


def empty_slots(setting: Setting) -> ParameterError:
    """Say that some slot would have no report."""
    return ParameterError(
        "n_people",
        setting.people,
        f"enough for a report in each of {setting.horizon} slots",
        "Ask for more reports a person, or for fewer slots.",
    )


def make(name: str, setting: Setting, reports: int | None, changes: int | None) -> Strategy:
    """Give a strategy by its name."""
    if name not in NAMES:
        raise ParameterError("strategy", name, f"one of {', '.join(NAMES)}")
    if name == "tree":
        return tree(*tree_settings(setting, reports, changes))
    if reports is not None:
        reports = at_most("reports", reports, setting.horizon, "horizon")
    return published(setting, reports) if name == "published" else in_slots(name, setting, reports)


def tree_settings(
    setting: Setting, reports: int | None, changes: int | None
) -> tuple[Setting, int]:
    """Check what the tree needs: a power of two, and a declared number of changes."""
    if levels(setting.horizon) < 0:
        raise ParameterError("horizon", setting.horizon, "a power of two for the tree")
    most = changes if changes is not None else reports
    if most is None:
        raise ParameterError(
            "max_changes", None, "stated for the tree",
            "It is how often a person's bit may change; the start at 1 counts as a change.",
        )  # fmt: skip
    return setting, at_most("max_changes", most, setting.horizon, "horizon")
