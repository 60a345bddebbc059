"""The rule for a cell that cannot be used: drop the record, fill in, or keep it as its own.

It is declared for each column and never guessed, because it decides which records count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from noren.errors import SchemaError

MISSING_LEVEL = "missing"
SPACES = " \t\n\v\f\r"  # removed around every cell
SURROGATES = re.compile("[\ud800-\udfff]")  # halves of characters: no file can hold them
Value: TypeAlias = float | int | str | bool


@dataclass(frozen=True, slots=True)
class Missing:
    """Say what becomes of a cell that cannot be used: use `DROP`, `OWN` or `fill(value)`."""

    action: str
    value: Value | None = None

    def __post_init__(self) -> None:
        if self.action not in ("drop", "own", "fill"):
            raise SchemaError(
                f"A missing rule is {self.action!r}, but it must be 'drop', 'own' or 'fill'. "
                "Use DROP, OWN or fill(value) of noren.data."
            )

    @classmethod
    def read(cls, column: str, given: object) -> Missing:
        """Take a rule or its written form: "drop", "own" or {"fill": value}."""
        if isinstance(given, Missing):
            return given
        if given == "drop" or given == "own":
            return cls(str(given))
        if isinstance(given, Mapping) and set(given) == {"fill"}:
            return cls("fill", given["fill"])
        raise SchemaError(
            f"Column {column!r} has no usable rule for missing cells: it must be 'drop', 'own' or "
            "{fill = a public value}. There is no default, because the rule decides which records "
            "count."
        )

    def to_json(self) -> Any:
        """Give the written form."""
        return {"fill": self.value} if self.action == "fill" else self.action


DROP = Missing("drop")
OWN = Missing("own")


def fill(value: Value) -> Missing:
    """Replace what cannot be used by a public value."""
    return Missing("fill", value)


def is_word(given: object) -> bool:
    """Tell whether this is a string that one line of UTF-8 can hold."""
    return isinstance(given, str) and "\n" not in given and not SURROGATES.search(given)
