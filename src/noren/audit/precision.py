"""Look for leaks in the last bits of released floats.

Maths
    Two inputs 0 and 1 that neighbours may give, and the event E that 0 < y < 1/4 and y * 2**53 is
    not a whole number. Adding float noise to a float x reaches only some doubles, and which ones
    depends on x: NumPy's Laplace noise has P(E | 0) = 0.093 and P(E | 1) = 0, so one draw tells
    the inputs apart whatever its epsilon. E is fixed beforehand, so all draws count, and the
    Clopper-Pearson bound of `noren.audit.heldout` on both directions is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.audit.heldout import epsilon_lower_bound
from noren.audit.row import HOLDS, AuditRow, finding

ALPHA = 1e-6
FAR = 2.0**53


def in_event(released: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which floats lie in (0, 1/4) off the grid of step 2**-53."""
    scaled = released * FAR
    found: NDArray[np.bool_] = (released > 0) & (released < 0.25) & (scaled != np.floor(scaled))
    return found


def precision_row(
    mechanism: str,
    adjacency: object,
    release: Callable[[int, int], Any],
    *,
    epsilon: float,
    draws: int,
    expected: str = HOLDS,
    note: str = "",
) -> AuditRow:
    """Audit the floats that `release(input, draws)` gives for the inputs 0 and 1."""
    at_0, at_1 = (
        int(in_event(np.asarray(release(x, draws), dtype=np.float64)).sum()) for x in (0, 1)
    )
    bound = max(
        epsilon_lower_bound(at_0, at_1, draws, alpha=ALPHA / 2),
        epsilon_lower_bound(at_1, at_0, draws, alpha=ALPHA / 2),
    )
    return finding(
        mechanism,
        adjacency,
        claimed=epsilon,
        measured=max(0.0, bound),
        method="law",
        expected=expected,
        note="; ".join(part for part in ("precision of floats", note) if part),
    )
