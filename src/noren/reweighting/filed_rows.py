"""Encoded private rows that stay where they lie, for questions that look more than once. Secret.

Each look is one round of an engine: a pure function goes out, sums come back. In this process the
files are read anew each time; a cluster's workers keep their rows until the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from noren.engine import Engine, LocalEngine, Rounds
from noren.reweighting.encoding import Encoding
from noren.reweighting.rows import Floats


@dataclass(frozen=True, slots=True, repr=False)
class EncodedPart:
    """A piece of a table whose blocks are encoded as they are read."""

    encoding: Encoding
    source: Any  # a TablePartition of the encoding's columns

    @property
    def id(self) -> str:
        """The piece's name."""
        return str(self.source.id)

    def read(self) -> Iterator[Floats]:
        """Yield encoded rows."""
        return (self.encoding.encode(block) for block in self.source.read())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FiledRows:
    """Stand for encoded rows wherever these are only counted."""

    rounds: Rounds
    width: int
    _cache: dict[str, int] = field(default_factory=dict, init=False)

    @property
    def records(self) -> int:
        """How many rows there are."""
        if "records" not in self._cache:
            self._cache["records"] = self.rounds(how_many)
        return self._cache["records"]

    def summed(self, count: Callable[[Iterable[Floats]], Any]) -> Any:
        """Count the blocks by a pure function."""
        return self.rounds(count)

    def __repr__(self) -> str:
        return f"FiledRows({self.width} coordinates)"


def how_many(blocks: Iterable[Floats]) -> int:
    """Count rows."""
    return sum(len(block) for block in blocks)


@contextmanager
def opened_rows(
    parts: Iterable[Any], width: int, engine: Engine | None = None
) -> Iterator[FiledRows]:
    """Open pieces of encoded rows for the looks of a question."""
    with (engine or LocalEngine()).rounds(parts) as rounds:
        yield FiledRows(rounds, width)
