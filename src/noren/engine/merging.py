"""What every engine shares: which partitions count, and in which order statistics are merged.

A partition counts once however often it is listed or run again, because its id says which records
it holds. Statistics are merged in the natural order of the ids ("part 9" before "part 10") and in
a tree whose shape depends on their number alone. So neither the order of the listing, nor which
worker was faster, nor how many there are changes a bit of the result, float sums included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

from noren.errors import NorenError, ParameterError, PartitionFailed

B_co = TypeVar("B_co", covariant=True)
S = TypeVar("S")
DIGITS = re.compile("([0-9]+)")


class Part(Protocol[B_co]):
    """A piece of the data that can be read by itself, known by its id."""

    @property
    def id(self) -> str:
        """The piece's name; equal names mean the same records."""

    def read(self) -> Iterable[B_co]:
        """Yield its blocks."""


def natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """Give a key that sorts the numbers in names as numbers."""
    parts = DIGITS.split(name)  # words and numbers in turn
    parts[1::2] = [digits.lstrip("0") for digits in parts[1::2]]
    return [(len(part) if i % 2 else 0, part) for i, part in enumerate(parts)], name


def distinct(partitions: Iterable[Part[B_co]]) -> list[Part[B_co]]:
    """Keep one partition of each id, in the order of merging."""
    by_id: dict[str, Part[B_co]] = {}
    for partition in partitions:
        if not isinstance(getattr(partition, "id", None), str):
            raise ParameterError(
                "a partition",
                f"a {type(partition).__name__}",
                "an object with an id (a string) and a method read()",
                "noren.data.partitions makes them from files.",
            )
        by_id.setdefault(partition.id, partition)
    if not by_id:
        raise ParameterError(
            "partitions", "empty", "at least one partition", "An empty file still makes one."
        )
    return [by_id[name] for name in sorted(by_id, key=natural)]


def merged(statistics: Iterator[S]) -> S:
    """Merge statistics in a tree of fixed shape, holding few of them at a time.

    Neighbours of equal weight are merged as in a binary counter: of n statistics at most
    log2(n) + 1 are held, and joining pieces of arrays copies each of them log2(n) times only.
    """
    held: list[tuple[int, Any]] = []
    for statistic in statistics:
        weight, total = 1, statistic
        while held and held[-1][0] == weight:
            total = joined(held.pop()[1], total)
            weight *= 2
        held.append((weight, total))
    _, total = held.pop()
    while held:
        total = joined(held.pop()[1], total)
    result: S = total
    return result


def joined(first: Any, second: Any) -> Any:
    """Add two statistics; an error of theirs may quote them, so its text is held back."""
    try:
        return first + second
    except NorenError:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise PartitionFailed(problem)
