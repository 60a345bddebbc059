"""From the price of one step between neighbors to the price for a person, and back.

Maths
    A person with up to k rows is k steps; where a mechanism is proved for added and removed rows
    only, a substituted one is two steps. g steps of (e, d) are g e and
    d (exp(g e) - 1) / (exp(e) - 1). So a total of (epsilon, delta) leaves each step
    e = epsilon / g and d = delta (exp(e) - 1) / (exp(g e) - 1), rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from noren.errors import ParameterError
from noren.mechanisms.wording import neighbours
from noren.privacy import ADD_REMOVE, SUBSTITUTE, USER, Adjacency, Guarantee, Relation, Unit
from noren.privacy.conversion import AS_MANY_ROWS, group_delta_charge

LARGEST_EXPONENT = 700.0  # beyond, exp leaves the range of floats


def read_neighbours(given: Adjacency | str) -> Adjacency:
    """Take add-remove or substitute, of records or of persons who keep their number of rows."""
    found = neighbours(given, ADD_REMOVE, SUBSTITUTE)
    if found.relation is SUBSTITUTE and found.max_records > 1 and not found.within:
        found = replace(found, within=AS_MANY_ROWS)
    words = AS_MANY_ROWS if found.relation is SUBSTITUTE and found.max_records > 1 else ""
    if found.within != words:
        raise ParameterError(
            "within", repr(found.within), repr(words), "The proof covers no other neighbors."
        )
    return found


def steps_of(adjacency: Adjacency, only_add_remove: bool) -> int:
    """Count the steps between two neighbors."""
    twice = only_add_remove and adjacency.relation is SUBSTITUTE
    return adjacency.max_records * (2 if twice else 1)


def step_share(epsilon: Fraction, delta: Fraction, steps: int) -> tuple[Fraction, Fraction]:
    """Give what one of some steps may cost, so that all cost (epsilon, delta)."""
    each = epsilon / steps
    if steps == 1 or not delta:
        return each, delta
    if float(epsilon) > LARGEST_EXPONENT:
        raise ParameterError(
            "epsilon",
            float(epsilon),
            "at most 700 for a group",
            "Use a smaller one: beyond 10 little is protected.",
        )
    ratio = math.expm1(float(each)) / math.expm1(float(epsilon))
    share = delta * Fraction(ratio * (1 - 1e-12))
    return each, Fraction(float(share) * (1 - 1e-12))


def total_of_steps(
    adjacency: Adjacency, epsilon: float | Fraction, delta: float | Fraction, steps: int
) -> Guarantee:
    """State what some steps of (epsilon, delta) each cost together."""
    each, start = Fraction(epsilon), Fraction(delta)
    return Guarantee(adjacency, each * steps, group_delta_charge(each, start, steps))


def adjacency_parameters(adjacency: Adjacency) -> dict[str, Any]:
    """Give the neighbors as parameters of a claim."""
    return {
        "adjacency": adjacency.relation.value,
        "unit": adjacency.unit.value,
        "max_records": adjacency.max_records,
    }


def adjacency_of(parameters: Mapping[str, Any]) -> Adjacency:
    """Read the neighbors back."""
    try:
        relation, unit = Relation(parameters["adjacency"]), Unit(parameters["unit"])
    except ValueError:
        raise ParameterError(
            "the claim's adjacency",
            "none that is known",
            "'add-remove' or 'substitute'",
            "Ask the sender for a file that names one.",
        ) from None
    rows = parameters["max_records"]
    return read_neighbours(Adjacency(relation, unit, rows if unit is USER else 1))
