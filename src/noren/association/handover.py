"""Tables as a statistic file: one row a variant, counted where the people are.

    snp, a, b    and, where known, chromosome, position, counted, other
    public       cases, controls (of alleles where these are counted), step, coding

Carriers by variant are a GROUP BY: a site can count in its own warehouse and hand over this table.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from noren.association.codings import read_coding
from noren.association.scoring import CaseControl
from noren.association.statistic import Tables
from noren.association.study import Study
from noren.data.handover import (
    BATCH_ROWS,
    Kind,
    StatisticFile,
    open_statistic,
    public_text,
    public_whole,
    write_statistic,
)
from noren.data.sites import COLUMNS, Sites
from noren.errors import ParameterError

KIND = Kind(
    "association-tables",
    {"snp": pa.string(), "a": pa.int64(), "b": pa.int64()},
    {
        "chromosome": pa.string(),
        "position": pa.int64(),
        "counted": pa.string(),
        "other": pa.string(),
    },
)
LISTS = {name: COLUMNS[name] for name in ("snp", *KIND.further)}


def write_tables(path: str | Path, tables: Tables, coding: str) -> Path:
    """Write tables of a public list of variants, and by which coding they were counted."""
    if not isinstance(tables, Tables):
        raise ParameterError(
            "what was counted", f"a {type(tables).__name__}", "one table for each variant",
            "A statistic file holds plain tables: leave strata, covariates, private status out.",
        )  # fmt: skip
    sites = tables.sites
    if sites is None:
        raise ParameterError("tables", "without a list of variants", "tables of `sites`")
    lists = {name: getattr(sites, key) for name, key in LISTS.items() if getattr(sites, key)}

    def parts() -> Iterator[dict[str, Any]]:
        for start in range(0, len(tables), BATCH_ROWS):
            some = slice(start, start + BATCH_ROWS)
            yield {name: values[some] for name, values in lists.items()} | {
                "a": tables.a[some],
                "b": tables.b[some],
            }

    public = {
        "cases": tables.cases,
        "controls": tables.controls,
        "step": tables.step,
        "coding": read_coding(coding),
    }
    return write_statistic(path, KIND, public, parts(), [*lists, "a", "b"])


def read_handed(path: str | Path) -> tuple[Tables, str]:
    """Read tables, and by which coding they were counted."""
    file = open_statistic(path, KIND)
    coding = read_coding(public_text(file, "coding"))
    return tables_of(file), coding


def tables_of(file: StatisticFile) -> Tables:
    """Give the tables of an open file."""
    columns = file.whole()
    lists = {key: columns[name].to_pylist() for name, key in LISTS.items() if name in columns}
    sites = Sites(**{key: tuple(values) for key, values in lists.items()})
    a, b = (columns[name].to_numpy() for name in ("a", "b"))
    cases, controls = (public_whole(file, name, 1) for name in ("cases", "controls"))
    return Tables(a, b, cases, controls, public_whole(file, "step", 1), sites)


def open_handed(path: str | Path) -> Study:
    """Open a statistic file as a study."""
    tables, _ = read_handed(path)
    assert tables.sites is not None
    return Study(CaseControl.of(tables), tables.sites, lambda *_, **__: tables)


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what is public of it."""
    tables, coding = read_handed(path)
    return {
        "variants": len(tables),
        "cases": tables.cases,
        "controls": tables.controls,
        "coding": coding,
    }
