"""Propose a schema from a public table, and write it as a file that a person can correct.

Only ever from a public table: bounds and levels read off a private one would give away its
records. What is proposed holds for that table; where the private one is known to reach further
(an older population, a town that the public survey left out), widen it by hand, from public
knowledge.

Rules
    a cell of true/false, yes/no, 0/1 only      boolean
    whole numbers only, numbers only            integer or numeric, between the table's own extremes
    at most 100 words, not all different        categorical; other words count as "other"
    nine tenths numbers, of many words          the same; the other words count as missing
    anything else                               text: carried along, never used
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from noren.data.blocks import as_cells, names_in
from noren.data.cells import (
    FALSE_WORDS,
    TRUE_WORDS,
    Cells,
    Values,
    floats,
    missing_in,
    text_of,
)
from noren.data.columns import Boolean, Categorical, Column, Integer, Numeric, Text
from noren.data.declarations import LARGEST_INTEGER
from noren.data.missing import MISSING_LEVEL, OWN, fill, is_word
from noren.data.schema import MISSING_WORDS, Schema, column_to_dict

MOST_LEVELS = 100
MOSTLY = 0.9  # of the cells that are not missing: then a column is one of numbers
OTHER_WORD = "other"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A schema, and for each column why it was declared so."""

    schema: Schema
    reasons: dict[str, str]

    def toml(self) -> str:
        """Write it as TOML, the reasons as comments."""
        head = (
            "# Proposed from a public table. Correct it by hand, from public knowledge alone:\n"
            "# whatever the private table holds outside these bounds and levels is clamped, or\n"
            "# counted as other or missing, and nothing is said when that happens.\n"
        )
        parts = [self.column_toml(column) for column in self.schema]
        return "\n".join([head, *parts])

    def column_toml(self, column: Column) -> str:
        """Write one column."""
        stated = {key: value for key, value in column_to_dict(column).items() if value is not None}
        stated = {key: value for key, value in stated.items() if value != "" or key == "name"}
        lines = [f"{key} = {toml_value(value)}" for key, value in stated.items()]
        return "\n".join(["[[columns]]", f"# {self.reasons[column.name]}", *lines, ""])


def propose(table: Any) -> Proposal:
    """Propose a schema for a public table: columns of a mapping, a frame or an Arrow table.

    Examples
    --------
    >>> made = propose({"age": [31, 48], "town": ["Nara", "Nara"], "id": ["x1", "x2"]})
    >>> [(column.name, column.kind) for column in made.schema]
    [('age', 'integer'), ('town', 'categorical'), ('id', 'text')]
    """
    pairs = [declared(str(name), as_cells(table[name])) for name in names_in(table)]
    columns = [column for column, _ in pairs]
    return Proposal(Schema(columns), {column.name: reason for column, reason in pairs})


def declared(name: str, cells: Cells) -> tuple[Column, str]:
    """Declare one column, and say why so."""
    found = text_of(cells)
    present = found.filter(~np.asarray(missing_in(found, MISSING_WORDS)))
    words = sorted(pc.unique(present).to_pylist())
    if words and {word.lower() for word in words} <= {*TRUE_WORDS, *FALSE_WORDS}:
        return Boolean(name=name, missing=OWN), "only yes and no occur"
    numbers, _ = floats(present, ())
    if words and np.isfinite(numbers).all():
        return between(name, numbers)
    if len(words) <= MOST_LEVELS and (len(words) < len(present) or not words):
        return levels(name, words)
    known = np.isfinite(numbers)
    if known.mean() >= MOSTLY:
        column, why = between(name, numbers[known])
        return column, f"{why}; {(~known).sum()} cells are no numbers and count as missing"
    why = f"{len(words)} different words: carried along, not used"
    return Text(name=name, missing=fill("")), why


def between(name: str, numbers: Values) -> tuple[Column, str]:
    """Declare a number between its public extremes."""
    low, high = float(numbers.min()), float(numbers.max())
    why = "bounds: the smallest and the largest of the public table"
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0) or float(low == 0)
        why = "one single value in the public table: no weights can depend on it"
    if (numbers == np.floor(numbers)).all() and max(abs(low), abs(high)) <= LARGEST_INTEGER:
        return Integer(name=name, lower=int(low), upper=int(high), missing=OWN), why
    low, high = outward(low, high)
    return Numeric(name=name, lower=low, upper=high, missing=OWN), f"{why}, rounded outwards"


def outward(low: float, high: float) -> tuple[float, float]:
    """Round bounds outwards to three digits of their distance."""
    distance = high - low
    if not 1e-100 < distance < 1e100:
        return low, high
    places = 2 - math.floor(math.log10(distance))
    scale = 10.0**places
    below = round(math.floor(low * scale) / scale, places)
    above = round(math.ceil(high * scale) / scale, places)
    return min(below, low), max(above, high)


def levels(name: str, words: list[str]) -> tuple[Column, str]:
    """Declare words; where none occur, a single level. What takes several lines is other."""
    why = "the words of the public table; add those that the private one is known to have"
    categories = [word for word in words if word and is_word(word)] or ["none"]
    other = None if OTHER_WORD in categories else OTHER_WORD
    rule = fill(MISSING_LEVEL) if MISSING_LEVEL in categories else OWN
    return Categorical(name=name, categories=tuple(categories), other=other, missing=rule), why


def toml_value(value: Any) -> str:
    """Write one value; a JSON string is a TOML string, too, once its DEL is escaped."""
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, float) and not isinstance(value, bool):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
