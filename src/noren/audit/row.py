"""One line of evidence: what was claimed, what was measured, how, and whether that was expected."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

HOLDS = "holds"
FAILS = "fails"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """State one finding of an audit.

    Attributes
    ----------
    mechanism : str
        What was examined, as "room: thing".
    adjacency : str
        The neighbours, in plain words ("none" where a law alone is tested).
    claimed, measured : float
        The claim and the finding, both in the unit that `quantity` names.
    method : str
        "exact" (enumerated), "law" (a sampler's law, or the floats it reaches), "statistical"
        (a bound that holds with the stated confidence), "mutant" (a fault put in on purpose).
    quantity : str
        "epsilon", "delta", "rho" or "p-value"; of a claim that is no price, its own unit.
    expected : str
        "holds", or "fails" for a counter-example and for a mutant.
    ok : bool
        What was expected happened.
    detects : float or None
        For statistical rows: the smallest true value caught with 90 % probability.
    note : str
        What must be read with the row.

    Examples
    --------
    >>> row = finding("demo: coin", "any other input", claimed=1.0, measured=0.9, method="exact")
    >>> row.ok, row.to_dict()["measured"]
    (True, 0.9)
    """

    mechanism: str
    adjacency: str
    claimed: float
    measured: float
    method: str
    ok: bool
    quantity: str = "epsilon"
    expected: str = HOLDS
    detects: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; JSON has no infinity, so it is the word "infinite"."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def finding(
    mechanism: str,
    adjacency: object,
    *,
    claimed: float,
    measured: float,
    method: str,
    holds: bool | None = None,
    expected: str = HOLDS,
    quantity: str = "epsilon",
    detects: float | None = None,
    note: str = "",
) -> AuditRow:
    """Make a row; unless said otherwise the claim holds when the measured value is not above it."""
    if holds is None:
        holds = measured <= claimed * (1 + 1e-12)
    return AuditRow(
        mechanism=mechanism,
        adjacency=str(adjacency),
        claimed=float(claimed),
        measured=float(measured),
        method=method,
        ok=bool(holds) == (expected == HOLDS),
        quantity=quantity,
        expected=expected,
        detects=None if detects is None else float(detects),
        note=note,
    )


def plain(value: Any) -> Any:
    """Write an infinite number as a word."""
    return "infinite" if isinstance(value, float) and math.isinf(value) else value
