"""One guarantee said in another way, only when asked for.

Every rule here is a theorem about the same mechanism; nothing in Noren applies one silently,
because it changes who is protected or loses something. Amounts are rounded up.

    to rho              (epsilon, delta) is delta-approximate epsilon tanh(epsilon / 2)-zCDP
    to (epsilon, delta) from rho by the best order; from epsilon by the exact profile of
                        randomized response, the worst mechanism of its price; the smaller wins
    to substitute       a replaced record is one removed and one added, through a middle dataset:
                        2 epsilon; ((2 epsilon, (1 + e^epsilon) delta); 4 rho. There is no way back
    to groups of g      g epsilon; delta (e^(g epsilon) - 1) / (e^epsilon - 1); g^2 rho
    bits to records     a record of B bits is a group of B bits
    records to persons  substituted records keep their number, so a group of them is a person who
                        has as many rows as before, and says so; added and removed ones need not

Approximate zCDP (a delta beside rho) has no group rule here, twice-epsilon included: it is
refused, and goes through (epsilon, delta) first.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from noren.errors import AdjacencyMismatch, GuaranteeMismatch, ParameterError
from noren.privacy.adjacency import (
    ADD_REMOVE,
    BIT,
    LOCAL,
    RECORD,
    SUBSTITUTE,
    USER,
    Adjacency,
)
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.composition import optimal_composition_epsilon_charge
from noren.privacy.decimals import TINY, decimal, precise, rounded_up
from noren.privacy.guarantee import Guarantee, legal_conversions
from noren.privacy.numbers import Number, not_negative, read_delta, shown, whole
from noren.privacy.zcdp import zcdp_epsilon_charge


def as_zcdp(guarantee: Guarantee) -> Guarantee:
    """State a guarantee in rho alone: its own where it has one, else converted."""
    if guarantee.rho is not None:
        return Guarantee(guarantee.adjacency, delta=guarantee.rho_delta, rho=guarantee.rho)
    assert guarantee.epsilon is not None  # a guarantee states one of the two
    rho = pure_to_zcdp_charge(guarantee.epsilon)
    return Guarantee(guarantee.adjacency, delta=guarantee.delta, rho=rho)


def as_approximate(guarantee: Guarantee, delta: Number) -> Guarantee:
    """State a guarantee as (epsilon, delta) at a delta: the smallest epsilon that is proved."""
    target = read_delta(delta)
    found = [
        epsilon
        for epsilon in (_from_epsilon(guarantee, target), _from_rho(guarantee, target))
        if epsilon is not None
    ]
    if not found:
        raise ParameterError(
            "delta",
            shown(target),
            f"above {shown(guarantee.delta)}, the delta that this guarantee already has",
            "A guarantee in rho has no finite epsilon at that delta; ask for a larger one.",
        )
    return Guarantee(guarantee.adjacency, min(found), target)


def as_substitute(guarantee: Guarantee) -> Guarantee:
    """Turn an add-remove guarantee into a substitute one: two steps, so a group of two."""
    adjacency = guarantee.adjacency
    if adjacency.relation is not ADD_REMOVE:
        raise AdjacencyMismatch(adjacency, Adjacency(ADD_REMOVE), legal_conversions(adjacency))
    return _group(guarantee, 2, replace(adjacency, relation=SUBSTITUTE))


def as_group(guarantee: Guarantee, size: int) -> Guarantee:
    """Turn a guarantee for one record into one for a person with up to `size` of them.

    Bits become a group of bits, persons a group of persons, said in the adjacency's `within`.
    """
    steps = whole("size", size, 1)
    return _group(guarantee, steps, group_adjacency(guarantee.adjacency, steps))


def group_adjacency(adjacency: Adjacency, size: int) -> Adjacency:
    """Say who is protected when `size` steps are taken together."""
    if adjacency.relation is LOCAL:
        raise AdjacencyMismatch(
            adjacency, f"groups of {size}", "Local neighbors are any two inputs: add up instead."
        )
    if adjacency.unit is RECORD:
        keeps_number = adjacency.relation is SUBSTITUTE and size > 1
        words = narrowed(adjacency, AS_MANY_ROWS) if keeps_number else adjacency.within
        return replace(adjacency, unit=USER, max_records=size, within=words)
    noun = "bits" if adjacency.unit is BIT else "persons"
    return replace(adjacency, within=narrowed(adjacency, f"any {size} {noun}"))


AS_MANY_ROWS = "as many rows as before"


def narrowed(adjacency: Adjacency, words: str) -> str:
    """Add words to those that narrow the neighbors already."""
    return ", ".join(part for part in (adjacency.within, words) if part)


def as_record(guarantee: Guarantee, bits: int) -> Guarantee:
    """Turn a guarantee for one bit into one for a whole record of `bits` bits."""
    adjacency = guarantee.adjacency
    if adjacency.unit is not BIT:
        raise AdjacencyMismatch(
            adjacency, "one bit of one record is flipped", legal_conversions(adjacency)
        )
    return _group(guarantee, whole("bits", bits, 1), replace(adjacency, unit=RECORD))


def group_delta_charge(epsilon: Number, delta: Number, size: int) -> Fraction:
    """Give delta (e^(size epsilon) - 1) / (e^epsilon - 1), rounded up, at most 1."""
    each, start, size = not_negative("epsilon", epsilon), read_delta(delta), whole("size", size, 1)
    if not each or not start or size == 1:
        return min(Fraction(1), size * start)
    with precise(max(each, TINY)):
        e = decimal(max(each, TINY))
        growth = ((size * e).exp() - 1) / (e.exp() - 1)
        return min(Fraction(1), rounded_up(decimal(start) * growth))


def group_delta(epsilon: Number, delta: Number, size: int) -> float:
    """Give the delta of a group, at `size` times epsilon, of an (epsilon, delta) mechanism.

    Examples
    --------
    >>> round(group_delta(epsilon="0.5", delta="1e-6", size=3), 14)
    5.3670031e-06
    """
    return float(group_delta_charge(epsilon, delta, size))


def _group(guarantee: Guarantee, size: int, adjacency: Adjacency) -> Guarantee:
    """Apply the group rules to whatever the guarantee states."""
    if guarantee.rho is not None and guarantee.rho_delta:
        raise GuaranteeMismatch(
            f"An approximate zCDP guarantee ({guarantee}) has no rule for {adjacency}. "
            "Turn it into (epsilon, delta) first: as_approximate(delta)."
        )
    rho = None if guarantee.rho is None else size**2 * guarantee.rho
    if guarantee.epsilon is None:
        return Guarantee(adjacency, rho=rho)
    delta = group_delta_charge(guarantee.epsilon, guarantee.delta, size)
    if delta >= 1:
        raise GuaranteeMismatch(
            f"The guarantee ({guarantee}) says nothing under '{adjacency}': its delta reaches 1. "
            "Start from a smaller delta."
        )
    return Guarantee(adjacency, size * guarantee.epsilon, delta, rho)


def _from_epsilon(guarantee: Guarantee, delta: Fraction) -> Fraction | None:
    """Give epsilon at a delta by the profile of randomized response."""
    if guarantee.epsilon is None or delta < guarantee.delta:
        return None
    if not guarantee.epsilon:
        return Fraction(0)
    return optimal_composition_epsilon_charge(guarantee.epsilon, 1, delta, guarantee.delta)


def _from_rho(guarantee: Guarantee, delta: Fraction) -> Fraction | None:
    """Give epsilon at a delta by the best order, from rho or from epsilon's own rho."""
    in_rho = as_zcdp(guarantee)
    if delta <= in_rho.rho_delta:
        return None
    assert in_rho.rho is not None  # as_zcdp states it
    return zcdp_epsilon_charge(in_rho.rho, delta, in_rho.rho_delta)
