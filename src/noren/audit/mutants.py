"""Faults put in on purpose: an audit that does not catch them proves nothing.

A mutant keeps the claim of a right mechanism and breaks its noise. It is examined with the same
tools as the right one, and its row is ok only when its claim was found false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from noren.audit.row import FAILS, AuditRow, finding


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in words, what the broken mechanism claims, and how to measure what it does."""

    mechanism: str
    fault: str
    adjacency: object
    claimed: float
    measure: Callable[[], float]
    quantity: str = "epsilon"


def caught(mutants: Iterable[Mutant]) -> Iterator[AuditRow]:
    """Measure each mutant; it is caught when more than its claim is found."""
    for mutant in mutants:
        yield finding(
            f"{mutant.mechanism}, fault: {mutant.fault}",
            mutant.adjacency,
            claimed=mutant.claimed,
            measured=mutant.measure(),
            method="mutant",
            expected=FAILS,
            quantity=mutant.quantity,
            note="a fault put in on purpose; it must be caught",
        )
