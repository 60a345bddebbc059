"""People of a genotype file: who is there, and who is a case or a control.

A `.fam` file has one line for each person, in the order of the genotypes: family, person, father,
mother, sex, phenotype. The phenotype is 2 for a case, 1 for a control and 0, -9 or NA for neither;
a separate phenotype file (family, person, then one or more columns) may be used instead. Whoever
has no phenotype is left out of both groups, which is a public choice, as the groups' sizes are.

Errors name files and columns, never a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.errors import FileProblem, ParameterError

Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Key: TypeAlias = tuple[str, ...]

NEITHER = {"0", "-9", "NA", "na", "NaN", "nan", "", "."}
CODES = {  # what marks a control, and what marks a case
    "1/2": ("1", "2", NEITHER),
    "0/1": ("0", "1", NEITHER - {"0"}),
}
FAMILY_WORDS, PERSON_WORDS = {"FID", "#FID"}, {"IID", "#IID"}


@dataclass(frozen=True, slots=True, repr=False)
class People:
    """List people in the order of a genotype file, with the phenotypes the file states."""

    ids: tuple[Key, ...]
    phenotypes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"People({len(self)})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Groups:
    """Mark who is a case and who is a control; whoever is neither is left out.

    Where that is private, nothing of it is shown.
    """

    cases: Flags
    controls: Flags
    private: bool = False

    def __repr__(self) -> str:
        if self.private:
            return f"Groups(private, {len(self.cases)} people in all)"
        cases, controls = int(self.cases.sum()), int(self.controls.sum())
        return f"Groups({cases} cases, {controls} controls, {len(self.cases)} people in all)"


def read_fam(path: str | Path) -> People:
    """Read a `.fam` file."""
    rows = words_of(path)
    if any(len(row) != 6 for row in rows):
        raise FileProblem(
            f"{path} has lines that do not hold six words, but each person needs family, person, "
            "father, mother, sex and phenotype. Check that this is the .fam of the genotypes."
        )
    ids = tuple((row[0], row[1]) for row in rows)
    refuse_twins(path, ids)
    return People(ids, tuple(row[5] for row in rows))


def groups(
    people: People,
    *,
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
) -> Groups:
    """Say who is a case and who is a control.

    Parameters
    ----------
    people
        Those of the genotype file.
    phenotype_file
        Takes the place of the phenotypes in the `.fam`.
    column
        Which of its columns: its name in the header line, or its number (1 follows the ids).
    codes
        "1/2" if a control is 1 and a case 2, "0/1" if a control is 0 and a case 1.
    keep
        A file of family and person ids: only these people are used.

    Examples
    --------
    >>> groups(People((("f", "ann"), ("f", "bob"), ("g", "cid")), ("2", "1", "-9")))
    Groups(1 cases, 1 controls, 3 people in all)
    """
    control, case, neither = read_codes(codes)
    source = phenotype_file or "the .fam file"
    stated = stated_of(people, phenotype_file, column)
    if set(stated) - neither - {control, case}:
        raise FileProblem(
            f"{source} has phenotypes that are neither a case, a control nor missing, but every "
            f"one must be {control} (control), {case} (case) or -9. Check the column and codes=."
        )
    kept = np.ones(len(people), bool) if keep is None else named_in(keep, people)
    words = np.array(stated, dtype=object)
    marked = Groups(kept & (words == case), kept & (words == control))
    if not marked.cases.any() or not marked.controls.any():
        who, word = ("case", case) if not marked.cases.any() else ("control", control)
        raise FileProblem(
            f"{source} gives no person who is used the phenotype {word}, but there must be at "
            f"least one {who}. Check the column, codes= and which people are kept."
        )
    return marked


def private_groups(
    people: People,
    *,
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
) -> Groups:
    """Say who is a case where status is private: everybody else who is used is a control.

    The arguments are those of `groups`. Nobody is left out for having no phenotype, no word and no
    line without one is refused, and no group is too small: each would tell of somebody's status.

    Examples
    --------
    >>> people = People((("f", "ann"), ("f", "bob"), ("g", "cid")), ("1", "1", "-9"))
    >>> private_groups(people), private_groups(people).controls.tolist()
    (Groups(private, 3 people in all), [True, True, True])
    """
    _, case, _ = read_codes(codes)
    kept = np.ones(len(people), bool) if keep is None else named_in(keep, people)
    words = np.array(stated_of(people, phenotype_file, column, refuse=False), dtype=object)
    return Groups(kept & (words == case), kept & (words != case), private=True)


def read_codes(codes: str) -> tuple[str, str, set[str]]:
    """Say what marks a control, a case and neither."""
    if codes not in CODES:
        raise ParameterError("codes", repr(codes), "'1/2' or '0/1'")
    return CODES[codes]


def stated_of(
    people: People,
    phenotype_file: str | Path | None,
    column: str | int | None,
    refuse: bool = True,
) -> Sequence[str]:
    """Give the phenotypes that the files state."""
    if phenotype_file is None:
        return people.phenotypes
    table = read_phenotypes(phenotype_file, column, refuse)
    return [found_in(table, key) for key in people.ids]


def read_phenotypes(
    path: str | Path, column: str | int | None, refuse: bool = True
) -> dict[Key, str]:
    """Read a phenotype file: ids (family and person, or person alone) and a phenotype.

    Lines without one are refused, unless that would tell of somebody: then they say it is missing,
    and the header line alone, which is nobody's, decides whether there is such a column.
    """
    rows = words_of(path)
    header = rows[0] if rows[0][0] in FAMILY_WORDS | PERSON_WORDS else None
    ids = 1 if header is not None and header[0] in PERSON_WORDS else 2
    place = ids + place_of(path, column, None if header is None else header[ids:])
    if header is None and not refuse and place > ids:
        raise FileProblem(
            f"{path} has no header line, but where status is private a column beyond the first "
            "needs one: without it a person's own line would decide whether there is the column. "
            "Begin with FID IID and the columns' names."
        )
    rows = rows[1:] if header is not None else rows
    short = [row for row in rows if len(row) <= place]
    if (short and refuse) or (header is not None and len(header) <= place):
        raise FileProblem(
            f"{path} has lines without the column that was asked for, but each must hold "
            "family, person and the phenotypes. Check column=."
        )
    keys = [tuple(row[:ids]) for row in rows]
    refuse_twins(path, keys)
    stated = [row[place] if len(row) > place else "-9" for row in rows]
    return dict(zip(keys, stated, strict=True))


def column_name(path: str | Path, column: str | int | None) -> str:
    """Give the name that a file's header line has for a column, or an empty one."""
    first = words_of(path)[0]
    if first[0] not in FAMILY_WORDS | PERSON_WORDS:
        return ""
    names = first[1 if first[0] in PERSON_WORDS else 2 :]
    place = place_of(path, column, names)
    return names[place] if place < len(names) else ""


def place_of(path: str | Path, column: str | int | None, header: list[str] | None) -> int:
    """Find a column by its name or number, counted after the ids."""
    if column is None:
        return 0
    if isinstance(column, int) and not isinstance(column, bool) and column >= 1:
        return column - 1
    if header is not None and column in header:
        return header.index(str(column))
    raise ParameterError(
        "column",
        repr(column),
        f"a name in the header line of {path}, or a number from 1 on",
        "The header begins with FID IID; number 1 is the first column after the ids.",
    )


def found_in(table: dict[Key, str], key: Key) -> str:
    """Give a person's phenotype, missing if the file does not list them."""
    return table.get(key, table.get(key[1:], "-9"))


def named_in(path: str | Path, people: People) -> Flags:
    """Mark the people whose ids a file lists."""
    rows = [row for row in words_of(path) if row[0] not in FAMILY_WORDS | PERSON_WORDS]
    if any(len(row) < 2 for row in rows):
        raise FileProblem(
            f"{path} has lines without two words, but each must hold a family and a person id."
        )
    listed = {tuple(row[:2]) for row in rows}
    return np.array([key in listed for key in people.ids], dtype=bool)


def refuse_twins(path: str | Path, keys: Iterable[Key]) -> None:
    """Refuse a file that lists a person twice: who counts for what would be unclear."""
    listed = list(keys)
    if len(set(listed)) < len(listed):
        raise FileProblem(
            f"{path} lists a person more than once, but every pair of family and person id must "
            "be unique. Remove the copies: a person's genotypes may count once only."
        )


def words_of(path: str | Path) -> list[list[str]]:
    """Read the words of each line that has any; an error quotes none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        problem = type(error).__name__
    else:
        rows = [row for row in map(str.split, text.split("\n")) if row]
        if rows:
            return rows
        problem = "it is empty"
    raise FileProblem(
        f"{path} cannot be read as a list of people ({problem}), but it must be a text file in "
        "UTF-8 with one person a line. Check the path."
    )
