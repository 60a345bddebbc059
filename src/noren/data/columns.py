"""The columns a schema can declare, and what happens to a cell that breaks the declaration.

Why
    A private table may hold anything: words where numbers should be, impossible ages, gaps. If
    such a cell stopped a computation, the stop itself would tell something about that record. So
    everything that a cell may hold is settled beforehand, in public: bounds, categories, and one
    rule for cells that cannot be used. Reading then never fails because of a private value.

Rules
    Out of bounds    clamped to the nearer bound, or treated as missing (`outside`).
    Undeclared word  counted under the level `other` where one is named, else missing.
    Missing          `DROP` the record; `fill(value)` with a public value; or keep it as its `OWN`
                     category: a level "missing" after the declared ones (categorical, ordered), or
                     the middle of the bounds (numbers) or false (boolean) beside a missing flag.
    An empty cell, an unreadable one, NaN and infinity are all missing.

Privacy
    Each rule looks at one record only, so one person changes at most their own record. Bounds and
    categories must be chosen without looking at the private table. `DROP` makes the number of
    records depend on what they hold: where neighbours have the same number (substitute), use
    `fill` or `OWN`, or a replaced record could disappear, which such a guarantee does not cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from noren.data.declarations import (
    all_levels,
    check_integer,
    check_levels,
    check_name,
    check_numeric,
    level_for_missing,
)
from noren.data.missing import Missing, is_word
from noren.errors import SchemaError


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric:
    """A real number between public bounds.

    Examples
    --------
    >>> from noren.data import OWN, Numeric
    >>> Numeric(name="income", lower=0, upper=200_000, missing=OWN).stand_in
    100000.0
    """

    kind: ClassVar[str] = "numeric"
    name: str
    lower: float
    upper: float
    missing: Missing
    outside: str = "clamp"
    unit: str = ""

    def __post_init__(self) -> None:
        check_name(self)
        check_numeric(self)

    @property
    def stand_in(self) -> float:
        """The public value that stands in a missing cell."""
        if self.missing.action == "fill":
            return float(self.missing.value or 0)
        return self.lower / 2 + self.upper / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """A whole number between public bounds; a number with a fraction is unreadable."""

    kind: ClassVar[str] = "integer"
    name: str
    lower: int
    upper: int
    missing: Missing
    outside: str = "clamp"
    unit: str = ""

    def __post_init__(self) -> None:
        check_name(self)
        check_integer(self)

    @property
    def stand_in(self) -> int:
        """The public value that stands in a missing cell."""
        if self.missing.action == "fill":
            return int(self.missing.value or 0)
        return (self.lower + self.upper) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Categorical:
    """One of some declared words.

    `other` names the level that takes every undeclared word: one of the categories, or a new one.

    Examples
    --------
    >>> from noren.data import OWN, Categorical
    >>> Categorical(name="town", categories=("Nara", "Uji"), other="elsewhere", missing=OWN).levels
    ('Nara', 'Uji', 'elsewhere', 'missing')
    """

    kind: ClassVar[str] = "categorical"
    name: str
    categories: tuple[str, ...]
    missing: Missing
    other: str | None = None

    def __post_init__(self) -> None:
        check_name(self)
        check_levels(self)

    @property
    def levels(self) -> tuple[str, ...]:
        """Everything a cell can become; a cell is read as its position here."""
        return all_levels(self)

    @property
    def stand_in(self) -> int:
        """The code that stands in a missing cell."""
        return level_for_missing(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """One of some declared words that have an order, least first."""

    kind: ClassVar[str] = "ordered"
    name: str
    categories: tuple[str, ...]
    missing: Missing
    other: str | None = None

    def __post_init__(self) -> None:
        check_name(self)
        check_levels(self)
        if self.other is not None and self.other not in self.categories:
            raise SchemaError(
                f"Column {self.name!r} sends undeclared words to {self.other!r}, but in an ordered "
                "column that must be one of its categories. A new level would have no place in "
                "the order; leave `other` out to treat such words as missing."
            )

    @property
    def levels(self) -> tuple[str, ...]:
        """Everything a cell can become; "missing", where kept, comes last and has no rank."""
        return all_levels(self)

    @property
    def stand_in(self) -> int:
        """The code that stands in a missing cell."""
        return level_for_missing(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    """Yes or no: true/false, t/f, yes/no, y/n, 1/0, in any case of letters."""

    kind: ClassVar[str] = "boolean"
    name: str
    missing: Missing

    def __post_init__(self) -> None:
        check_name(self)
        if self.missing.action == "fill" and not isinstance(self.missing.value, bool):
            raise SchemaError(
                f"Column {self.name!r} fills missing cells with {self.missing.value!r}, but a "
                "boolean column can be filled with true or false only."
            )

    @property
    def stand_in(self) -> bool:
        """The value that stands in a missing cell."""
        return bool(self.missing.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words carried along as they are, such as a record's external id."""

    kind: ClassVar[str] = "text"
    name: str
    missing: Missing

    def __post_init__(self) -> None:
        check_name(self)
        if self.missing.action == "own" or (
            self.missing.action == "fill" and not is_word(self.missing.value)
        ):
            raise SchemaError(
                f"Column {self.name!r} is text, so its missing cells can be dropped or filled with "
                "a public word only. Use 'drop' or {fill = \"...\"}."
            )

    @property
    def stand_in(self) -> str:
        """The word that stands in a missing cell."""
        return str(self.missing.value or "")


Column: TypeAlias = Numeric | Integer | Categorical | Ordered | Boolean | Text
KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (Numeric, Integer, Categorical, Ordered, Boolean, Text)
}
