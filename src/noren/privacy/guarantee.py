"""What an answer cost: a guarantee under one adjacency.

Forms
    pure                epsilon, delta 0
    approximate         epsilon and delta > 0
    zCDP                rho (delta 0), or delta-approximate rho-zCDP (delta > 0, no epsilon)
    two at once         epsilon (with its delta) and rho: both hold, delta belongs to epsilon

Amounts are exact fractions. Guarantees with the same adjacency add up, form by form: what both
sides state is summed, what only one side states is lost, and if nothing is common the sum is
refused with the names of both. Conversions happen only when asked for (`noren.privacy.conversion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noren.errors import AdjacencyMismatch, GuaranteeMismatch, ParameterError
from noren.privacy.adjacency import ADD_REMOVE, BIT, SUBSTITUTE, Adjacency
from noren.privacy.numbers import as_float, not_negative, read_delta, shown


def legal_conversions(adjacency: Adjacency) -> str:
    """Say in words what a guarantee under this adjacency may be turned into, on request."""
    if adjacency.unit is BIT:
        return "A bit guarantee becomes a record guarantee as a group of its bits (as_group)."
    if adjacency.relation is ADD_REMOVE:
        return "An add-remove guarantee becomes a substitute one at twice epsilon (as_substitute)."
    if adjacency.relation is SUBSTITUTE and adjacency.within:
        return (
            "A guarantee within public words has no conversion: it is charged to an account that "
            "was opened within the same words."
        )
    if adjacency.relation is SUBSTITUTE:
        return "A substitute guarantee has no conversion to add-remove."
    return "There is no conversion between them."


@dataclass(frozen=True, slots=True)
class Guarantee:
    """State a price under an adjacency: (epsilon, delta), or rho, or both where both are proved.

    Examples
    --------
    >>> from noren.privacy import ADD_REMOVE, Adjacency
    >>> one = Guarantee(Adjacency(ADD_REMOVE), epsilon="0.1")
    >>> print(one + one)
    epsilon 0.2 (one record is added or removed)
    """

    adjacency: Adjacency
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __init__(
        self, adjacency: Adjacency | str, epsilon: Any = None, delta: Any = 0, rho: Any = None
    ) -> None:
        if epsilon is None and rho is None:
            raise ParameterError(
                "epsilon", None, "stated, or rho", "There is no default: smaller is more private."
            )
        put = object.__setattr__
        put(self, "adjacency", Adjacency.read(adjacency))
        put(self, "epsilon", None if epsilon is None else not_negative("epsilon", epsilon))
        put(self, "delta", read_delta(delta))
        put(self, "rho", None if rho is None else not_negative("rho", rho))

    @property
    def form(self) -> str:
        """Name the form: 'pure', 'approximate', 'zCDP' or 'approximate zCDP'."""
        if self.epsilon is not None:
            return "approximate" if self.delta else "pure"
        return "approximate zCDP" if self.delta else "zCDP"

    def __add__(self, other: Guarantee) -> Guarantee:
        """Add two prices under one adjacency (basic composition, sound for adaptive asking)."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        if self.adjacency != other.adjacency:
            raise AdjacencyMismatch(
                self.adjacency, other.adjacency, legal_conversions(self.adjacency)
            )
        epsilon, rho = common(self.epsilon, other.epsilon), common(self.rho, other.rho)
        if epsilon is None and rho is None:
            raise GuaranteeMismatch(
                f"A {self.form} guarantee and a {other.form} one have no common amount to add. "
                "Convert the one with epsilon first: as_zcdp()."
            )
        if epsilon is None:  # a delta that belongs to a dropped epsilon is dropped with it
            return Guarantee(self.adjacency, delta=self.rho_delta + other.rho_delta, rho=rho)
        return Guarantee(self.adjacency, epsilon, self.delta + other.delta, rho)

    @property
    def rho_delta(self) -> Fraction:
        """The delta that belongs to rho: none where epsilon is stated beside it."""
        return self.delta if self.epsilon is None else Fraction(0)

    def as_zcdp(self) -> Guarantee:
        """State it in rho alone: its own, else epsilon * tanh(epsilon / 2), rounded up."""
        from noren.privacy import conversion

        return conversion.as_zcdp(self)

    def as_approximate(self, delta: Any) -> Guarantee:
        """State it as the smallest epsilon that is proved at a delta, rounded up."""
        from noren.privacy import conversion

        return conversion.as_approximate(self, delta)

    def as_substitute(self) -> Guarantee:
        """Turn an add-remove guarantee into a substitute one, at twice epsilon or four rho."""
        from noren.privacy import conversion

        return conversion.as_substitute(self)

    def as_group(self, size: int) -> Guarantee:
        """Turn a guarantee for one record into one for a person with up to `size` of them."""
        from noren.privacy import conversion

        return conversion.as_group(self, size)

    def as_record(self, bits: int) -> Guarantee:
        """Turn a guarantee for one bit into one for a whole record of `bits` bits."""
        from noren.privacy import conversion

        return conversion.as_record(self, bits)

    def __str__(self) -> str:
        parts = [] if self.epsilon is None else [f"epsilon {shown(self.epsilon)}"]
        parts += [f"delta {shown(self.delta)}"] if self.delta else []
        parts += [] if self.rho is None else [f"rho {shown(self.rho)}"]
        return f"{', '.join(parts)} ({self.adjacency})"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: adjacency in plain words, amounts as numbers, null if not stated."""
        return {
            "adjacency": str(self.adjacency),
            "epsilon": as_float(self.epsilon),
            "delta": as_float(self.delta),
            "rho": as_float(self.rho),
        }


def common(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """Add what both state."""
    return None if first is None or second is None else first + second
