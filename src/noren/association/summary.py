"""Read counts that were made elsewhere: a table of variants with a and b.

A site can count its own carriers and hand over only this table (CSV, TSV or Parquet, with the
columns `snp`, `a`, `b`, and `chromosome`, `position` where known). It is as secret as the people
it was counted from. The groups' sizes are given beside it, because they are public.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from noren.association.statistic import Tables
from noren.data.files import existing_file, safe
from noren.data.sites import SYNONYMS, Sites
from noren.errors import FileProblem, SchemaError

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
LISTS = {"snp": "names", "chromosome": "chromosomes", "position": "positions"}


def read_tables(path: str | Path, cases: int, controls: int, step: int = 1) -> Tables:
    """Read a table of counts.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file with the columns snp, a and b.
    cases, controls
        The public sizes of the groups (of alleles, with `step=2`).
    step
        1 if people were counted, 2 if alleles were.
    """
    file = existing_file(path)
    columns = safe(file, "parquet" if is_parquet(file) else "csv", lambda: columns_of(file))
    named = {SYNONYMS.get(name.strip().lower(), name.strip().lower()): name for name in columns}
    absent = [name for name in ("snp", "a", "b") if name not in named]
    if absent:
        raise FileProblem(
            f"{file} has no column {absent[0]!r}, but a table of counts needs snp, a and b "
            "(carriers among the cases and among the controls). Rename its columns."
        )
    lists = {LISTS[name]: tuple(columns[named[name]]) for name in LISTS if name in named}
    sites = Sites(**{key: words(key, values, file) for key, values in lists.items()})
    a, b = (counts(columns[named[name]], name, file) for name in ("a", "b"))
    return Tables(a, b, cases, controls, step, sites)


def columns_of(file: Path) -> dict[str, list[Any]]:
    """Read a small file's columns as lists."""
    if is_parquet(file):
        import pyarrow.parquet as parquet

        return dict(parquet.read_table(file).to_pydict())
    from pyarrow import csv

    options = csv.ParseOptions(delimiter=SEPARATORS.get(file.suffix.lower(), ","))
    return dict(csv.read_csv(file, parse_options=options).to_pydict())


def is_parquet(file: Path) -> bool:
    """Say whether a file's name is that of a Parquet file."""
    return file.suffix.lower() in (".parquet", ".pq")


def words(key: str, values: tuple[Any, ...], file: Path) -> tuple[Any, ...]:
    """Give a public column as words, or as whole numbers where it holds positions."""
    if any(value is None for value in values):
        raise SchemaError(f"{file} has gaps in the public list of variants. Fill or remove them.")
    if key != "positions":
        return tuple(map(str, values))
    if not all(isinstance(value, int) for value in values):
        raise SchemaError(f"{file} has positions that are not whole numbers. Write them as such.")
    return values


def counts(values: list[Any], name: str, file: Path) -> Any:
    """Give a secret column as an array; gaps are refused without saying where they are."""
    if any(value is None for value in values):
        raise FileProblem(
            f"{file} has gaps in the column {name!r}, but every variant of the list needs its "
            "counts: 0 where nobody carries it."
        )
    return np.asarray(values)
