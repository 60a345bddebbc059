"""A monitoring plan: what is decided and published before an epoch, and what it promises.

Its JSON form is what the collector publishes: devices and collector read it, so that nothing about
an epoch is decided later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, inf, isfinite
from typing import Any

from noren.errors import FileProblem, NorenError, ParameterError
from noren.monitoring.accuracy import detectable_margin, people_needed, read_threshold
from noren.monitoring.client import MOST_EPSILON
from noren.monitoring.decisions import critical_counts, read_chance, read_rule, worst_error
from noren.monitoring.lies import LieLaw
from noren.monitoring.strategies import SINGLE, Strategy
from noren.monitoring.weights import keeps_limits
from noren.privacy import Guarantee
from noren.privacy.numbers import Number, exact, positive, probability, shown, whole
from noren.question import Forecast

FORMAT = 1
TASK = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """When slots are: the first begins at `origin` (seconds since 1970), epochs follow gapless.

    Reports are taken until `grace_seconds` after their slot, and the slot is decided then. That is
    less than a slot, so that every decision comes before the next slot is over.
    """

    origin: float = 0.0
    slot_seconds: float = 3600.0
    grace_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not isfinite(self.origin):
            raise ParameterError("origin", self.origin, "a finite number of seconds since 1970")
        if not 0 < self.slot_seconds < inf:
            raise ParameterError("slot_seconds", self.slot_seconds, "positive and finite")
        if not 0 <= self.grace_seconds < self.slot_seconds:
            raise ParameterError(
                "grace_seconds", self.grace_seconds, f"at least 0 and below {self.slot_seconds:g}",
                "A slot is decided before the next one is over.",
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringPlan:
    """What is decided before an epoch: prices, law of lies, timetable, rule.

    Attributes
    ----------
    chosen : Strategy
        What will be done.
    candidates : tuple of Strategy
        Everything that was compared.
    """

    n_people: int
    threshold: float
    chosen: Strategy
    candidates: tuple[Strategy, ...] = field(repr=False)
    rule: str
    alpha: float
    power: float
    task: str
    timetable: Timetable
    notes: tuple[str, ...] = ()

    @property
    def guarantee(self) -> Guarantee:
        """What an epoch (or any window) costs each person."""
        return self.chosen.guarantee

    @property
    def slot_guarantee(self) -> Guarantee:
        """What a change in one slot costs each person."""
        return self.chosen.slot_guarantee

    @property
    def horizon(self) -> int:
        """How many slots an epoch or window has."""
        return self.chosen.horizon

    @property
    def reports_per_slot(self) -> int:
        """How many reports the emptiest slot gets when nobody is silent."""
        return floor(self.chosen.scheduled(self.n_people))

    @property
    def sd(self) -> float:
        """The standard deviation of one slot's estimate at the threshold."""
        return self.chosen.sd_at_threshold

    @property
    def margin(self) -> float:
        """How far above the threshold a share must lie to be noticed with the plan's power."""
        return detectable_margin(self.sd, self.alpha, self.power)

    def power_at(self, share: Number) -> float:
        """Give P(up) of the confident rule at a true share, by the binomial tail."""
        from scipy.stats import binom

        channel, held = self.chosen.channel, self.reports_per_slot
        up, _ = critical_counts(held, channel, self.threshold, self.alpha)
        rate = channel.rate(float(probability("share", share)))
        return 0.0 if up is None else float(binom.sf(up - 1, held, rate))

    def people_for(self, sd: Number) -> int:
        """Give how many people make the standard deviation at the threshold at most `sd`."""
        if self.chosen.name in ("published", "tree"):  # variance times people is constant
            aim = float(positive("sd", sd))
            return max(1, -floor(-self.n_people * (self.sd / aim) ** 2))
        contrast = self.chosen.law.contrast
        return people_needed(self.horizon, self.chosen.reports, contrast, self.threshold, sd)

    def people_for_margin(self, margin: Number) -> int:
        """Give how many people make a share this far above the threshold noticed."""
        aim = float(positive("margin", margin))
        return self.people_for(aim / detectable_margin(1.0, self.alpha, self.power))

    def accuracy(self, beta: Number) -> float | None:
        """Give the error that no slot of an epoch passes with probability 1 - beta.

        By exact binomial tails at the worst of 101 true shares; None for the tree, whose slots are
        sums over intervals.
        """
        if self.chosen.name == "tree":
            return None
        tail = read_chance("beta", beta) / (2 * self.horizon)
        shares = [i / 100 for i in range(101)]
        return worst_error(self.reports_per_slot, self.chosen.channel, tail, shares)

    def forecast(self) -> Forecast:
        """Say the error to expect, before anybody is asked."""
        sentence = (
            f"each slot's share within +-{1.96 * self.sd:.4g} with probability 0.95; a share "
            f"{self.margin:.4g} above the threshold is noticed with probability {self.power:g} "
            f"at a false alarm of {self.alpha:g}"
        )
        figures = {
            "sd_at_threshold": self.sd,
            "sd_at_half": self.chosen.sd_at_half,
            "detectable_margin": self.margin,
            "reports_per_slot": self.reports_per_slot,
            "people_for_half_the_sd": self.people_for(self.sd / 2) if self.sd else self.n_people,
            "all_slots_margin_95": self.accuracy(0.05),
        }
        return Forecast(
            sentence=sentence, variance=self.sd**2, margin_95=1.96 * self.sd, figures=figures
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form that devices and the collector read."""
        chosen = self.chosen
        dummy = str(chosen.dummy) if chosen.name == "published" else "0"
        return {
            "monitoring": FORMAT,
            "task": self.task,
            "strategy": chosen.name,
            "n_people": self.n_people,
            "horizon": chosen.horizon,
            "reports": chosen.reports,
            "epsilon": str(chosen.epsilon),
            "slot_epsilon": str(chosen.slot_epsilon),
            "weights": [str(weight) for weight in chosen.law.weights],
            "contrast": chosen.law.contrast,
            "dummy": dummy,
            "threshold": self.threshold,
            "rule": self.rule,
            "alpha": self.alpha,
            "power": self.power,
            "origin": self.timetable.origin,
            "slot_seconds": self.timetable.slot_seconds,
            "grace_seconds": self.timetable.grace_seconds,
            "sd_at_threshold": chosen.sd_at_threshold,
            "sd_at_half": chosen.sd_at_half,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> MonitoringPlan:
        """Read a plan; check its weights against the prices that it states."""
        try:
            found = read_plan(given)
        except NorenError:
            raise
        except (KeyError, TypeError, IndexError, ValueError, ArithmeticError) as error:
            raise FileProblem(
                f"This is not a monitoring plan ({type(error).__name__}), but it must be the JSON "
                "that 'noren monitor plan' writes. Write it again."
            ) from None
        law = found.chosen.law
        if not keeps_limits(law.weights, law.epsilon, law.slot_epsilon):
            raise ParameterError("weights", "given", "within the limits of the stated prices")
        return found

    def __str__(self) -> str:
        chosen = self.chosen
        sent = "changes" if chosen.name == "tree" else "reports"
        return (
            f"{chosen.name}: {chosen.reports} {sent} a person in {chosen.horizon} slots, "
            f"contrast {chosen.law.contrast:.4g}; {self.guarantee}; one slot costs "
            f"{shown(chosen.slot_epsilon)}; {self.forecast()}"
        )


def read_plan(given: dict[str, Any]) -> MonitoringPlan:
    """Build a plan from its JSON form."""
    epsilon, reports = exact("epsilon", given["epsilon"]), whole("reports", given["reports"], 1)
    single = given["strategy"] in SINGLE
    slot = exact("slot_epsilon", given["slot_epsilon"])
    for name, price in (("epsilon", epsilon), ("slot_epsilon", slot)):
        if not 0 < price <= MOST_EPSILON:
            most = f"above 0 and at most {MOST_EPSILON}"
            raise ParameterError(name, "out of range", most, "No device reads such a plan.")
    law = LieLaw(
        reports=1 if single else reports,
        epsilon=epsilon / reports if single else epsilon,
        slot_epsilon=slot,
        offset=Fraction(0),
        weights=tuple(int(weight) for weight in given["weights"]),
    )
    chosen = Strategy(
        name=given["strategy"],
        horizon=whole("horizon", given["horizon"], 1),
        reports=reports,
        epsilon=epsilon,
        law=law,
        sd_at_threshold=float(given["sd_at_threshold"]),
        sd_at_half=float(given["sd_at_half"]),
        dummy=exact("dummy", given["dummy"]),
    )
    times = ("origin", "slot_seconds", "grace_seconds")
    return MonitoringPlan(
        n_people=whole("n_people", given["n_people"], 1),
        threshold=read_threshold(given["threshold"]),
        chosen=chosen,
        candidates=(chosen,),
        rule=read_rule(given["rule"]),
        alpha=float(given["alpha"]),
        power=float(given["power"]),
        task=read_task(given["task"]),
        timetable=Timetable(**{name: float(given[name]) for name in times}),
        notes=tuple(given["notes"]),
    )


def read_task(task: object) -> str:
    """Read the public name of a monitoring task."""
    if not isinstance(task, str) or not TASK.fullmatch(task):
        raise ParameterError("task", task, "1 to 64 letters, digits, '.', '_' or '-'")
    return task
