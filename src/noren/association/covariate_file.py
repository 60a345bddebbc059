"""Public covariates of people, from a file.

A text file in columns, with a header line: the ids (FID and IID, or IID alone) and the covariates'
names. Numbers are used as they are; words are categories, and so are the columns that are named as
such: each level but the first becomes a column of 0 and 1. Missing is NA, nan, -9, a dot, or not
being listed. A person with a missing covariate is refused unless a public rule says what to do:
"drop" leaves the person out, "category" gives missing a column of its own.

Everything here is public, so errors may name columns and values; they name no person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.association.public_covariates import declared_public
from noren.association.statistic import Flags, Floats
from noren.data.people import FAMILY_WORDS, PERSON_WORDS, Key, People, refuse_twins, words_of
from noren.errors import FileProblem, ParameterError

MISSING = {"NA", "na", "NaN", "nan", "-9", "."}
REFUSE, DROP, CATEGORY = "refuse", "drop", "category"
RULES = (REFUSE, DROP, CATEGORY)
INTERCEPT = "intercept"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Covariates:
    """Hold columns for everybody, and who has all of them.

    Parameters
    ----------
    names : tuple of str
        One name for each column; a level of a category is "name=level".
    columns : array
        One row for each person, the intercept first.
    present : array
        Who misses nothing, or nothing that the rule does not cover.
    declared : dict
        Which covariates were declared public though named like something computed from genotypes.
    """

    names: tuple[str, ...]
    columns: Floats
    present: Flags
    declared: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Covariates({', '.join(self.names)})"


def read_covariates(
    path: str | Path,
    people: People,
    *,
    use: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    missing: str = REFUSE,
    declared: Mapping[str, str] | None = None,
) -> Covariates:
    """Read the covariates of the people of a genotype file.

    Parameters
    ----------
    path
        The file.
    people
        Those of the genotype file, whose order is kept.
    use
        Which covariates to use; all unless given.
    categorical
        Which of them are categories though written as numbers.
    missing
        "refuse", "drop" or "category".
    declared
        Which are public though named like something computed from genotypes, and why.
    """
    if missing not in RULES:
        raise ParameterError("missing", repr(missing), f"one of {', '.join(RULES)}")
    header, rows = table_of(path)
    names = list(header if use is None else use)
    for name in (*names, *categorical):
        if name not in header:
            raise ParameterError(
                "the covariates", repr(name), f"among {', '.join(header)}, the columns of {path}"
            )
    reasons = declared_public(names, declared or {})
    nothing = ["NA"] * len(header)
    found = [rows.get(key, rows.get(key[1:], nothing)) for key in people.ids]
    made: list[tuple[str, Any]] = [(INTERCEPT, np.ones(len(people)))]
    present = np.ones(len(people), bool)
    for name in names:
        place = header.index(name)
        words = np.array([row[place] for row in found], dtype=object)
        gone = np.isin(words, list(MISSING))
        made += coded(name, words, gone, name in categorical, missing)
        present &= ~gone if missing == DROP else True
        if missing == REFUSE and gone.any():
            raise FileProblem(
                f"{path} misses values of {name}, or lists not everybody, but each person needs "
                "all covariates. Say which public rule holds: drop those people, or give missing "
                "a category of its own (--missing-covariates drop or category)."
            )
    columns = np.column_stack([column for _, column in made])
    return Covariates(tuple(name for name, _ in made), columns, present, reasons)


def table_of(path: str | Path) -> tuple[list[str], dict[Key, list[str]]]:
    """Read the names of the covariates, and for each person's ids the row of values."""
    lines = words_of(path)
    first = lines[0]
    if first[0] not in FAMILY_WORDS | PERSON_WORDS:
        raise FileProblem(
            f"{path} has no header line, but covariates need names: FID IID and one name for each "
            "column (or IID and the names)."
        )
    ids = 1 if first[0] in PERSON_WORDS else 2
    names = first[ids:]
    if not names or len(set(names)) < len(names):
        raise FileProblem(f"{path} must name at least one covariate, and each once only.")
    if any(len(line) != len(first) for line in lines):
        raise FileProblem(
            f"{path} has lines with more or fewer words than its header, but each person needs one "
            "for each column. Write NA where a value is missing."
        )
    keys = [tuple(line[:ids]) for line in lines[1:]]
    refuse_twins(path, keys)
    return names, {key: line[ids:] for key, line in zip(keys, lines[1:], strict=True)}


def coded(
    name: str, words: Any, gone: Flags, is_category: bool, missing: str
) -> list[tuple[str, Floats]]:
    """Turn one covariate into columns: its numbers, or 0 and 1 for each level but the first."""
    numbers = None if is_category else as_numbers(words, gone)
    made: list[tuple[str, Floats]] = []
    if numbers is not None:
        made.append((name, numbers))
    else:
        levels = sorted(set(words[~gone].tolist()))
        made += [(f"{name}={level}", (words == level).astype(float)) for level in levels[1:]]
    if missing == CATEGORY and gone.any():
        made.append((f"{name}=missing", gone.astype(float)))
    return made


def as_numbers(words: Any, gone: Flags) -> Floats | None:
    """Read finite numbers, missing ones as the mean of the others; None if some are words."""
    try:
        values = words[~gone].astype(np.float64)
    except ValueError:
        return None
    if not np.isfinite(values).all():
        return None
    made = np.full(len(words), values.mean() if values.size else 0.0)
    made[~gone] = values
    return made
