"""How the generic questions read their public names, and say things in the same words."""

from __future__ import annotations

from collections.abc import Iterable

from noren.errors import ParameterError
from noren.privacy import BIT, SUBSTITUTE, Adjacency, Relation
from noren.privacy.numbers import shown


def labels(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Take distinct public names, at least one."""
    found = () if isinstance(given, str) else tuple(given)
    if not found or len(set(found)) != len(found) or not all(isinstance(x, str) for x in found):
        raise ParameterError(
            name,
            f"{given!r}" if isinstance(given, str) else f"{len(found)} names",
            "a sequence of distinct names, at least one",
            "They are public: fix them without looking at the data.",
        )
    return found


def neighbours(given: Adjacency | str, *accepted: Relation) -> Adjacency:
    """Take an adjacency whose relation the proof of the question covers."""
    adjacency = Adjacency.read(given)
    if adjacency.relation not in accepted or adjacency.unit is BIT:
        words = " or ".join(f"'{relation.value}'" for relation in accepted)
        raise ParameterError(
            "adjacency",
            f"'{adjacency.word}'",
            f"{words}, of records or persons",
            "The proof of this question covers no other neighbours.",
        )
    return adjacency


def public_rows(adjacency: Adjacency) -> tuple[str, ...]:
    """Say what the neighbours take the number of records, or of a person's rows, to be."""
    rows = adjacency.max_records
    if adjacency.relation is SUBSTITUTE:
        held = "records" if rows == 1 else f"persons, each with 1 to {rows} rows"
        return (f"the number of {held}: none is left out for what it holds",)
    return (f"that no person has more than {rows} rows",) if rows > 1 else ()


def plus_minus(margin: float) -> str:
    """Write a margin as people read it, to 4 digits."""
    return f"+-{shown(margin) if margin == int(margin) else f'{margin:.4g}'}"
