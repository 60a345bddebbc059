"""How far off a share estimated from lying reports is, and how many reports are best.

Maths
    K of N people report in a slot, chosen by a public rule that ignores the data, each truthful
    with probability (1 + c) / 2. The estimate (S / K - (1 - c) / 2) / c of the share Phi has no
    bias, and

        V(N, K, c, Phi) = ((1 - c**2) / (4 c**2) + Phi (1 - Phi) (N - K) / (N - 1)) / K

    exactly: the lies of different people are independent, the people drawn without replacement. It
    is the variance of one slot. Lies of one person in several slots depend on each other, so V
    divided by a number of slots is not the variance of an average over time.

    The published scheme has every person send in every slot: the truth or a lie in m chosen slots,
    dummies in the others. Its exact variance is
    (Phi p (1 - p) + (1 - Phi) q (1 - q)) / (N (p - q)**2), with p and q the chances of a one for a
    state of 1 and of 0. Its m maximises g(m / epsilon),
    g(x) = x expm1(-1/x)**2 / (1 + exp(-1/x)), which has one peak, at x = 0.574319285162838.
"""

from __future__ import annotations

from math import exp, expm1, tanh

from scipy.stats import norm

from noren.errors import ParameterError
from noren.monitoring.lies import LEAST_CONTRAST
from noren.privacy.numbers import Number, exact, probability, read_epsilon, whole


def read_contrast(value: Number) -> float:
    """Read a contrast: P(truth) - P(lie), in (0, 1]."""
    found = float(exact("contrast", value))
    if not LEAST_CONTRAST <= found <= 1:
        raise ParameterError(
            "contrast",
            value,
            f"between {LEAST_CONTRAST} and 1",
            "It is P(truth) - P(lie) of one report; a law of lies states it as `.contrast`.",
        )
    return found


def read_share(value: Number, name: str = "share") -> float:
    """Read a share in [0, 1]."""
    return float(probability(name, value))


def read_threshold(value: Number) -> float:
    """Read a threshold strictly between 0 and 1."""
    found = float(exact("threshold", value))
    if not 0 < found < 1:
        raise ParameterError("threshold", value, "strictly between 0 and 1")
    return found


def at_most(name: str, value: Number, limit: int, limit_name: str) -> int:
    """Read a whole number from 1 to a limit."""
    found = whole(name, value)
    if not 1 <= found <= limit:
        raise ParameterError(name, value, f"a whole number from 1 to {limit_name} ({limit})")
    return found


def variance(n_people: int, reports: int, contrast: Number, share: Number) -> float:
    """Give the exact variance of the estimated share of one slot.

    Parameters
    ----------
    n_people : int
        How many people there are.
    reports : int
        How many of them report in the slot.
    contrast : number
        P(truth) - P(lie) of one report.
    share : number
        The true share of people whose bit is 1.

    Examples
    --------
    >>> round(variance(4, 2, 0.5, 0.5), 12)
    0.458333333333
    """
    people = whole("n_people", n_people, 1)
    held = at_most("reports", reports, people, "n_people")
    return slot_variance(people, held, read_contrast(contrast), read_share(share))


def slot_variance(people: int, reports: float, contrast: float, share: float) -> float:
    """Give V; here the number of reports may also be the mean of two whole ones."""
    finite = (people - reports) / (people - 1) if people > 1 else 0.0
    lies = (1 - contrast) * (1 + contrast) / (4 * contrast * contrast)
    return (lies + share * (1 - share) * finite) / reports


def published_chances(
    horizon: int, m: int, epsilon: Number, r: Number = 0
) -> tuple[float, float, float]:
    """Give p and q of the published scheme, and p - q without cancellation."""
    slots = whole("horizon", horizon, 1)
    reports = at_most("m", m, slots, "horizon")
    share, dummy = float(read_epsilon(epsilon) / reports), float(probability("r", r))
    lie = exp(-share) / (1 + exp(-share))
    part = reports / slots
    rest = (1 - part) * dummy
    return part * (1 - lie) + rest, part * lie + rest, part * tanh(share / 2)


def published_variance(
    n_people: int, horizon: int, m: int, epsilon: Number, r: Number, share: Number
) -> float:
    """Give the exact variance of the published scheme, which sends dummies with chance r of a 1.

    Examples
    --------
    >>> round(published_variance(10_000, 100, 6, 10, 0, 0.8), 16)
    0.0024004395129191
    """
    people = whole("n_people", n_people, 1)
    p, q, gap = published_chances(horizon, m, epsilon, r)
    phi = read_share(share)
    return (phi * p * (1 - p) + (1 - phi) * q * (1 - q)) / (people * gap * gap)


def usefulness(x: float) -> float:
    """Give g(m / epsilon), which the published scheme maximises."""
    return x * expm1(-1 / x) ** 2 / (1 + exp(-1 / x))


def best_m(horizon: int, epsilon: Number) -> int:
    """Give the published number of reports m*: the one that maximises g(m / epsilon).

    Examples
    --------
    >>> best_m(100, 10), best_m(1000, 200)
    (6, 115)
    """
    slots, price = whole("horizon", horizon, 1), float(read_epsilon(epsilon))
    near = int(PEAK * price)
    tried = sorted({min(slots, max(1, m)) for m in (near, near + 1)})
    return max(tried, key=lambda m: (usefulness(m / price), -m))


PEAK = 0.574319285162838  # where g is largest


def detectable_margin(sd: float, alpha: float, power: float) -> float:
    """Give the margin above the threshold that is noticed with a power, at a false alarm alpha."""
    return float((norm.isf(alpha) + norm.ppf(power)) * sd)


def people_needed(horizon: int, reports: int, contrast: Number, share: Number, sd: Number) -> int:
    """Give how many people make the estimate's standard deviation at most `sd`.

    It leaves the finite-population gain out, so it errs towards more people.

    Examples
    --------
    >>> people_needed(96, 1, tanh(0.5), 0.8, 0.02)
    259362
    """
    c, phi = read_contrast(contrast), read_share(share)
    aim = float(exact("sd", sd))
    if not aim > 0:
        raise ParameterError("sd", sd, "a positive, finite number")
    slots = whole("horizon", horizon, 1)
    spread = (1 - c) * (1 + c) / (4 * c * c) + phi * (1 - phi)
    exactly = slots * spread / (at_most("reports", reports, slots, "horizon") * aim * aim)
    return max(int(exactly) + (exactly > int(exactly)), -(-slots // reports))
