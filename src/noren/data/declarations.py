"""Check a column's declaration while it is built, and say in words what is wrong with it.

Everything here is public: names, bounds, categories, rules. An error may quote them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noren.data.missing import MISSING_LEVEL, SPACES, Missing, fill, is_word
from noren.errors import ParameterError, SchemaError
from noren.privacy.numbers import exact, whole

if TYPE_CHECKING:
    from noren.data.columns import Categorical, Column, Integer, Numeric, Ordered

LARGEST_INTEGER = 2**53 - 1  # no number beyond it rounds to one within, as a double


def put(column: Column, field: str, value: object) -> None:
    """Set a field of a frozen column while it is being built."""
    object.__setattr__(column, field, value)


def check_name(column: Column) -> None:
    """Refuse a name that no file could have, and read the missing rule."""
    name: object = column.name
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise SchemaError(
            f"A column's name is {name!r}, but it must be a printable, non-empty string. "
            "Write it exactly as in the file's header."
        )
    put(column, "missing", Missing.read(name, column.missing))


def finite(column: str, what: str, given: object) -> float:
    """Read a public number as a finite float."""
    try:
        number = float(exact(what, given))
    except (ParameterError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SchemaError(
            f"Column {column!r} has {what} {given!r}, but it must be a finite number of at "
            "most 1e300. Choose it from public knowledge; Noren never reads bounds off the data."
        )
    return number


def counted(column: str, what: str, given: object) -> int:
    """Read a public whole number that a double holds exactly."""
    try:
        number = whole(what, given)
    except ParameterError:
        number = LARGEST_INTEGER + 1
    if abs(number) > LARGEST_INTEGER:
        raise SchemaError(
            f"Column {column!r} has {what} {given!r}, but it must be a whole number between "
            "-(2^53 - 1) and 2^53 - 1. Choose it from public knowledge."
        )
    return number


def check_numeric(column: Numeric) -> None:
    """Read the bounds and the fill value as floats, and check them."""
    for bound in ("lower", "upper"):
        put(column, bound, finite(column.name, bound, getattr(column, bound)))
    check_range(column)
    if column.missing.action == "fill":
        check_inside(column, finite(column.name, "fill", column.missing.value))


def check_integer(column: Integer) -> None:
    """Read the bounds and the fill value as integers, and check them."""
    for bound in ("lower", "upper"):
        put(column, bound, counted(column.name, bound, getattr(column, bound)))
    check_range(column)
    if column.missing.action == "fill":
        check_inside(column, counted(column.name, "fill", column.missing.value))


def check_range(column: Numeric | Integer) -> None:
    """Refuse bounds in the wrong order, and an unknown rule for what lies outside."""
    if column.lower >= column.upper:
        raise SchemaError(
            f"Column {column.name!r} has bounds {column.lower} and {column.upper}, but lower must "
            "be below upper. Swap them, or leave a constant column out."
        )
    if column.outside not in ("clamp", "missing"):
        raise SchemaError(
            f"Column {column.name!r} has outside {column.outside!r}, but it must be 'clamp' or "
            "'missing'. 'clamp' moves the value to the nearer bound."
        )
    if not is_word(column.unit):
        raise SchemaError(
            f"Column {column.name!r} has a unit that is no word, but it must be a string of one "
            "line. Leave it out, or write it in quotes."
        )


def check_inside(column: Numeric | Integer, value: float) -> None:
    """Take a fill value inside the bounds: sensitivities are built from the bounds."""
    if not column.lower <= value <= column.upper:
        raise SchemaError(
            f"Column {column.name!r} fills missing cells with {value}, but that must lie between "
            f"{column.lower} and {column.upper}. Move the fill value or the bounds."
        )
    put(column, "missing", fill(value))


def check_levels(column: Categorical | Ordered) -> None:
    """Refuse categories that cannot be told apart or cannot occur."""
    given: object = column.categories
    if isinstance(given, (str, bytes)) or not isinstance(given, (list, tuple)) or not given:
        raise SchemaError(
            f"Column {column.name!r} must declare its categories as a non-empty list of words. "
            "They are public: take them from a code book, never from the private table."
        )
    put(column, "categories", tuple(given))
    for word in (*given, *(() if column.other is None else (column.other,))):
        if not is_word(word) or not word or word != word.strip(SPACES):
            raise SchemaError(
                f"Column {column.name!r} has the category {word!r}, but a category must be a "
                "non-empty string without spaces around it. Write numbers in quotes."
            )
    if len(set(given)) < len(given):
        raise SchemaError(
            f"Column {column.name!r} declares a category twice, but each must occur once. "
            "Remove the repetition."
        )
    check_level_rules(column)


def check_level_rules(column: Categorical | Ordered) -> None:
    """Refuse a missing rule that names no level, or makes one that exists already."""
    declared = declared_levels(column)
    if column.missing.action == "own" and MISSING_LEVEL in declared:
        raise SchemaError(
            f"Column {column.name!r} declares a category {MISSING_LEVEL!r} and keeps missing cells "
            f"as their own category, but they would share a name. Use {{fill = "
            f'"{MISSING_LEVEL}"}} to put them together.'
        )
    if column.missing.action == "fill" and column.missing.value not in declared:
        raise SchemaError(
            f"Column {column.name!r} fills missing cells with {column.missing.value!r}, but that "
            "must be one of its categories. Declare it, or use 'own'."
        )


def declared_levels(column: Categorical | Ordered) -> tuple[str, ...]:
    """Give the categories, and `other` after them where it is a level of its own."""
    extra = column.other is not None and column.other not in column.categories
    return (*column.categories, *((str(column.other),) if extra else ()))


def all_levels(column: Categorical | Ordered) -> tuple[str, ...]:
    """Give the declared levels, and "missing" last where it is kept as its own."""
    own = (MISSING_LEVEL,) if column.missing.action == "own" else ()
    return declared_levels(column) + own


def level_for_missing(column: Categorical | Ordered) -> int:
    """Give the code of a missing cell (0 where its record is dropped anyway)."""
    if column.missing.action == "drop":
        return 0
    word = MISSING_LEVEL if column.missing.action == "own" else str(column.missing.value)
    return all_levels(column).index(word)
