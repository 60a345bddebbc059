"""From counted reports to a share, an interval and a decision, each with its stated error.

Maths
    Of K accepted reports of a slot S say 1; each says 1 with probability low + c Phi, where
    low = (1 - c) / 2 for symmetric lies (the published scheme, with its dummies, has another low).

    plain       up exactly if the estimate (S / K - low) / c reaches the threshold
    confident   up if S >= s_crit, the smallest s with P(Bin(K, lambda) >= s) <= alpha at
                lambda = low + c threshold; down if S is at most the mirrored bound; else undecided.
                S is a sum of K independent coins of unequal chances in law (its generating function
                has real roots only), so its tails are thinner than the binomial's from one report
                beyond the mean on: s_crit is at least ceil(K lambda + 1), its mirror at most
                floor(K lambda - 1). Then a wrong "up" and a wrong "down" have chance <= alpha each.
    interval    Clopper-Pearson for S / K, mapped to shares and clipped to [0, 1].

Privacy
    All of this is computed from reports that are noisy already, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil, floor, log, sqrt
from typing import Any

from scipy.special import betaincinv
from scipy.stats import binom

from noren.errors import ParameterError
from noren.monitoring.accuracy import read_contrast, read_share, read_threshold
from noren.privacy.numbers import Number, exact, whole


class Verdict(Enum):
    """What is said of a slot."""

    UP = "up"
    DOWN = "down"
    UNDECIDED = "undecided"
    NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Channel:
    """How a report depends on a share: it says 1 with probability low + contrast * share."""

    low: float
    contrast: float

    @classmethod
    def symmetric(cls, contrast: Number) -> Channel:
        """Give the channel of lies that are as likely for 0 as for 1."""
        found = read_contrast(contrast)
        return cls((1 - found) / 2, found)

    def share(self, rate: float) -> float:
        """Give the share at which this rate of ones is expected."""
        return (rate - self.low) / self.contrast

    def rate(self, share: float) -> float:
        """Give the rate of ones that is expected at a share."""
        return self.low + self.contrast * share


def read_counts(ones: int, reports: int) -> tuple[int, int]:
    """Read how many reports say 1 and how many there are."""
    held = whole("reports", reports, 0)
    found = whole("ones", ones, 0)
    if found > held:
        raise ParameterError("ones", ones, f"at most reports ({held})")
    return found, held


def read_chance(name: str, value: Number) -> float:
    """Read a chance strictly between 0 and 1."""
    found = float(exact(name, value))
    if not 0 < found < 1:
        raise ParameterError(name, value, "strictly between 0 and 1")
    return found


def estimate(ones: int, reports: int, contrast: Number) -> float | None:
    """Estimate the share of people whose bit is 1; None when there are no reports.

    It has no bias and is not clipped, so it can lie outside [0, 1].

    Examples
    --------
    >>> import math
    >>> round(estimate(640, 1000, math.tanh(0.5)), 10)
    0.8029534779
    """
    found, held = read_counts(ones, reports)
    channel = Channel.symmetric(contrast)
    return channel.share(found / held) if held else None


def displayed(share: Any) -> Any:
    """Clip an estimate to [0, 1], to be shown; decisions use it as it is."""
    return None if share is None else min(1.0, max(0.0, share))


def interval(
    ones: int, reports: int, contrast: Number, confidence: Number
) -> tuple[float, float] | None:
    """Give an interval that holds the true share with this confidence; None without reports.

    Examples
    --------
    >>> import math
    >>> low, high = interval(640, 1000, math.tanh(0.5), 0.95)
    >>> round(low, 6), round(high, 6)
    (0.736676, 0.867441)
    """
    found, held = read_counts(ones, reports)
    channel, sure = Channel.symmetric(contrast), read_chance("confidence", confidence)
    return band(found, held, channel, sure) if held else None


def band(ones: int, reports: int, channel: Channel, confidence: float) -> tuple[float, float]:
    """Map the Clopper-Pearson interval to shares, and clip it."""
    low, high = clopper_pearson(ones, reports, confidence)
    return tuple(min(1.0, max(0.0, channel.share(end))) for end in (low, high))  # type: ignore[return-value]


def clopper_pearson(ones: int, reports: int, confidence: float) -> tuple[float, float]:
    """Give the exact interval for a binomial chance."""
    tail = (1 - confidence) / 2
    low = float(betaincinv(ones, reports - ones + 1, tail)) if ones else 0.0
    high = float(betaincinv(ones + 1, reports - ones, 1 - tail)) if ones < reports else 1.0
    return low, high


def critical_count(reports: int, contrast: Number, threshold: Number, alpha: Number) -> int | None:
    """Give the fewest ones that say "up" with a false alarm of at most alpha; None: no number does.

    Examples
    --------
    >>> import math
    >>> critical_count(1000, math.tanh(0.5), 0.8, 0.01)
    675
    """
    held = whole("reports", reports, 0)
    channel, level = Channel.symmetric(contrast), read_chance("alpha", alpha)
    return critical_counts(held, channel, read_threshold(threshold), level)[0]


def critical_counts(
    reports: int, channel: Channel, threshold: float, alpha: float
) -> tuple[int | None, int | None]:
    """Give the fewest ones that say "up" and the most that say "down"; None where none do."""
    rate = channel.rate(threshold)
    up = max(first_rare(reports, rate, alpha), ceil(reports * rate + 1))
    zeros = first_rare(reports, 1 - rate, alpha)  # the mirror: few ones are many zeros
    down = min(reports - zeros, floor(reports * rate - 1))
    return (up if up <= reports else None), (down if down >= 0 else None)


def first_rare(reports: int, rate: float, alpha: float) -> int:
    """Give the smallest s with P(Bin >= s) <= alpha."""
    s = int(binom.isf(alpha, reports, rate)) + 1 if reports else 1
    while s > 0 and binom.sf(s - 2, reports, rate) <= alpha:
        s -= 1
    while binom.sf(s - 1, reports, rate) > alpha:
        s += 1
    return s


def worst_error(reports: int, channel: Channel, tail: float, shares: Sequence[float]) -> float:
    """Give the error of an estimate that each side passes with chance at most `tail`.

    By exact binomial tails, at the worst of some true shares.
    """

    def beyond(share: float) -> float:
        rate = channel.rate(share)
        up = first_rare(reports, rate, tail) - reports * rate
        down = first_rare(reports, 1 - rate, tail) - reports * (1 - rate)
        return max(up, down, 1.0) / (reports * channel.contrast)

    return max(map(beyond, shares))


def p_value(ones: int, reports: int, contrast: Number, share: Number) -> float:
    """Give P(at least this many ones) if the true share were `share`: against "Phi <= share"."""
    found, held = read_counts(ones, reports)
    return float(binom.sf(found - 1, held, Channel.symmetric(contrast).rate(read_share(share))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one slot's counts say.

    Attributes
    ----------
    ones, reports : int
        Counts of noisy reports, public.
    share : float or None
        The estimate, not clipped; None without data.
    low, high : float or None
        An interval of the stated confidence; `at_edge` if it was clipped to a single point.
    verdict : Verdict
        By the rule `rule`.
    flips : int or None
        How many false reports would turn a plain verdict.
    missing : float
        The part of the scheduled reports that did not come; `possible` holds what the share may be
        if nothing is known of why.
    """

    ones: int
    reports: int
    share: float | None
    low: float | None
    high: float | None
    at_edge: bool
    verdict: Verdict
    rule: str
    flips: int | None
    missing: float
    possible: tuple[float, float] | None


RULES = ("plain", "confident")


def read_rule(rule: str) -> str:
    """Read the name of a rule."""
    if rule not in RULES:
        raise ParameterError("rule", rule, f"one of {', '.join(RULES)}")
    return rule


def read_slot(
    ones: int,
    reports: int,
    channel: Channel,
    threshold: float,
    *,
    rule: str = "plain",
    alpha: float = 0.05,
    confidence: float = 0.95,
    scheduled: int | None = None,
) -> Reading:
    """Say what one slot's counts mean; nothing at all when no report came."""
    found, held = read_counts(ones, reports)
    read_rule(rule)
    absent = missing_part(held, scheduled)
    if not held:
        return Reading(ones=0, reports=0, share=None, low=None, high=None, at_edge=False,
                       verdict=Verdict.NO_DATA, rule=rule, flips=None, missing=absent,
                       possible=None)  # fmt: skip
    share = channel.share(found / held)
    low, high = band(found, held, channel, confidence)
    plain = rule == "plain"
    verdict = (
        plain_verdict(share, threshold)
        if plain
        else confident_verdict(found, held, channel, threshold, alpha)
    )
    return Reading(
        ones=found,
        reports=held,
        share=share,
        low=low,
        high=high,
        at_edge=low == high,
        verdict=verdict,
        rule=rule,
        flips=false_reports_to_flip(share, held, channel.contrast, threshold),
        missing=absent,
        possible=possible_shares(share, absent),
    )


def plain_verdict(share: float, threshold: float) -> Verdict:
    """Say up exactly if the estimate reaches the threshold."""
    return Verdict.UP if share >= threshold else Verdict.DOWN


def confident_verdict(
    ones: int, reports: int, channel: Channel, threshold: float, alpha: float
) -> Verdict:
    """Say up or down only where a wrong word has chance at most alpha."""
    up, down = critical_counts(reports, channel, threshold, alpha)
    if up is not None and ones >= up:
        return Verdict.UP
    return Verdict.DOWN if down is not None and ones <= down else Verdict.UNDECIDED


def missing_part(reports: int, scheduled: int | None) -> float:
    """Give the part of the scheduled reports that did not come."""
    return max(0.0, 1 - reports / scheduled) if scheduled else 0.0


def possible_shares(share: float, missing: float) -> tuple[float, float]:
    """Give what the share may be when a part of the people were silent for unknown reasons."""
    return (1 - missing) * share, (1 - missing) * share + missing


def false_reports_to_flip(share: float, reports: int, contrast: float, threshold: float) -> int:
    """Give how many false reports would turn the plain verdict."""
    gap = (threshold - share) * contrast * reports
    return max(1, ceil(gap)) if share < threshold else floor(-gap) + 1


def wide_margin(parts: Sequence[tuple[float, int, float]], alpha: float) -> float:
    """Give x such that an estimate over classes is off by x or more with chance <= alpha a side.

    Each part is (public weight W, reports K, contrast c) of a class; Hoeffding's bound, which holds
    for people drawn without replacement too: x = sqrt(ln(1 / alpha) / 2 sum W**2 / (K c**2)).
    """
    spread = sum(weight * weight / (held * c * c) for weight, held, c in parts)
    return sqrt(log(1 / alpha) / 2 * spread)


def combined_verdict(share: float, threshold: float, margin: float) -> Verdict:
    """Say up or down only beyond a margin."""
    if share >= threshold + margin:
        return Verdict.UP
    return Verdict.DOWN if share <= threshold - margin else Verdict.UNDECIDED
