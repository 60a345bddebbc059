"""Tables as a statistic file: one row a variant, counted where the people are.

    snp, a, b    and, where known, chromosome, position, counted, other
    public       coding, and the sizes that the study's proof takes to be public

    kind                      public sizes                   further secret column
    association-tables        cases, controls, step          (of alleles, where step is 2)
    association-swapped       cases, controls                none: who is a case is private
    association-any-record    people                         cases: how many, the same in each row
    association-strata        cases, controls of each        stratum: a row for each of its variants
                              stratum, labels, digest

Carriers by variant are a GROUP BY: a site can count in its own warehouse and hand over this table.
The kind travels with the counts, so what was counted with a private status is never asked about as
if status were public. For a score test with covariates no counts would do: see `COVARIATES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noren.association.codings import read_coding
from noren.association.private_status import AnyStatus, SwappedStatus
from noren.association.scoring import CaseControl, Scoring
from noren.association.statistic import Tables
from noren.association.status import StatusTables
from noren.association.status_scores import ANY, SWAP
from noren.association.strata import StratifiedTables
from noren.association.stratified import Strata
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
from noren.errors import NotPrivate, ParameterError, SchemaError

COUNTED = {"snp": pa.string(), "a": pa.int64(), "b": pa.int64()}
KNOWN = {
    "chromosome": pa.string(),
    "position": pa.int64(),
    "counted": pa.string(),
    "other": pa.string(),
}
KIND = Kind("association-tables", COUNTED, KNOWN)
SWAPPED = Kind("association-swapped", COUNTED, KNOWN)
ANY_RECORD = Kind("association-any-record", {**COUNTED, "cases": pa.int64()}, KNOWN)
STRATA = Kind("association-strata", {**COUNTED, "stratum": pa.int64()}, KNOWN)
KINDS = (KIND, SWAPPED, ANY_RECORD, STRATA)
LISTS = {name: COLUMNS[name] for name in ("snp", *KNOWN)}
COVARIATES = (
    "A score adjusted for covariates cannot be handed over: besides sums it needs, at each "
    "threshold, who carries the variant among the people with the largest residuals, so each "
    "person's genotypes. Scan the PLINK files where they lie."
)


def write_study(path: str | Path, design: Scoring, counted: Any, coding: str) -> Kind:
    """Write what was counted for a design, and say as which kind."""
    if isinstance(design, SwappedStatus):
        sizes = {"cases": design.cases, "controls": design.controls}
        return write_rows(path, SWAPPED, sizes, counted, coding)
    if isinstance(design, AnyStatus):
        return write_rows(path, ANY_RECORD, {"people": design.people}, counted, coding)
    if isinstance(design, Strata):
        named = ("cases", "controls", "labels", "digest", "private_status")
        public = {name: getattr(design, name) for name in named}
        return write_rows(path, STRATA, public, counted, coding)
    write_tables(path, counted, coding)
    return KIND


def write_tables(path: str | Path, tables: Tables, coding: str) -> Path:
    """Write tables of a public list of variants, and by which coding they were counted."""
    if not isinstance(tables, Tables):
        raise ParameterError(
            "what was counted", f"a {type(tables).__name__}", "one table for each variant",
            "For strata or a private status take write_study. " + COVARIATES,
        )  # fmt: skip
    sizes = {"cases": tables.cases, "controls": tables.controls, "step": tables.step}
    write_rows(path, KIND, sizes, tables, coding)
    return Path(path)


def write_rows(
    path: str | Path, kind: Kind, public: Mapping[str, Any], counted: Any, coding: str
) -> Kind:
    """Write counts with the public list of their variants."""
    if counted.sites is None:
        raise ParameterError("tables", "without a list of variants", "tables of `sites`")
    lists = {
        name: getattr(counted.sites, key)
        for name, key in LISTS.items()
        if getattr(counted.sites, key)
    }
    parts = chain.from_iterable(in_batches(lists | part) for part in columns_of(counted, kind))
    about = {**public, "coding": read_coding(coding)}
    write_statistic(path, kind, about, parts, [*lists, *list(kind.columns)[1:]])
    return kind


def columns_of(counted: Any, kind: Kind) -> Iterator[dict[str, Any]]:
    """Yield the secret columns: of all people, or of one stratum after the other."""
    many = len(counted)
    if kind is STRATA:
        for place, (a, b) in enumerate(zip(counted.a, counted.b, strict=True)):
            yield {"a": a, "b": b, "stratum": np.full(many, place)}
        return
    own = {"cases": np.full(many, counted.cases)} if kind is ANY_RECORD else {}
    yield {"a": counted.a, "b": counted.b, **own}


def in_batches(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut columns into some thousand rows each."""
    for start in range(0, len(columns["snp"]), BATCH_ROWS):
        some = slice(start, start + BATCH_ROWS)
        yield {name: values[some] for name, values in columns.items()}


def open_handed(path: str | Path) -> Study:
    """Open a statistic file as the study that it was counted for."""
    file, _ = opened(path)
    columns = file.whole()
    if file.kind is STRATA:
        return handed_strata(file, columns)
    sites = sites_of(columns, len(columns["snp"]))
    a, b = (columns[name].to_numpy() for name in ("a", "b"))
    design: Scoring
    counted: Any
    if file.kind is ANY_RECORD:
        people = public_whole(file, "people", 2)
        cases = one_number(columns["cases"].to_numpy())
        counted = StatusTables(a, b, cases, people - cases, sites)
        design = AnyStatus(people=people)
    else:
        cases, controls = (public_whole(file, name, 1) for name in ("cases", "controls"))
        step = public_whole(file, "step", 1) if file.kind is KIND else 1
        counted = Tables(a, b, cases, controls, step, sites)
        design = (CaseControl if file.kind is KIND else SwappedStatus).of(counted)
    return Study(design, sites, lambda *_, **__: counted)


def handed_strata(file: StatisticFile, columns: Mapping[str, pa.Array]) -> Study:
    """Open the counts of strata; each must list the same variants in the same order."""
    design = strata_of(file)
    strata, many = design.strata, file.rows // design.strata
    places, snp = columns["stratum"].to_numpy(), columns["snp"]
    alike = len(places) == many * strata and (places == np.repeat(np.arange(strata), many)).all()
    if not alike or any(
        not snp.slice(k * many, many).equals(snp.slice(0, many)) for k in range(strata)
    ):
        raise SchemaError(
            f"{file.path} must list the same variants in each stratum, one stratum after the "
            "other. Write it again."
        )
    sites = sites_of(columns, many)
    a, b = (columns[name].to_numpy().reshape(strata, many) for name in ("a", "b"))
    counted = StratifiedTables(a, b, design.cases, design.controls, sites)
    return Study(design, sites, lambda *_, **__: counted)


def strata_of(file: StatisticFile) -> Strata:
    """Read the public strata, exactly as the data's own files gave them."""
    named = {"cases": list, "controls": list, "labels": list, "digest": str, "private_status": bool}
    if not all(type(file.public.get(name)) is kind for name, kind in named.items()):
        raise SchemaError(f"{file.path} does not state its strata. Write it again.")
    return Strata(**{name: file.public[name] for name in named})


def opened(path: str | Path) -> tuple[StatisticFile, str]:
    """Open a file of any of the kinds, and say by which coding it was counted."""
    file = open_statistic(path, *KINDS)
    coding = read_coding(public_text(file, "coding"))
    if coding == "allelic" and file.kind is not KIND:
        raise NotPrivate(
            f"{file.path} holds counts of alleles, but for strata and for a private status no "
            "score of these is proved. Count by carrier, recessive or heterozygous."
        )
    return file, coding


def sites_of(columns: Mapping[str, pa.Array], many: int) -> Sites:
    """Give the public list of variants from the first rows."""
    lists = {key: columns[name] for name, key in LISTS.items() if name in columns}
    return Sites(**{key: tuple(found.slice(0, many).to_pylist()) for key, found in lists.items()})


def one_number(values: Any) -> int:
    """Give the number that stands in every row; what it is stays unsaid."""
    if len(values) == 0 or (values != values[0]).any():
        raise SchemaError(
            "The statistic must hold one number in its column 'cases', the same in each row. "
            "Write it again."
        )
    return int(values[0])


def read_handed(path: str | Path) -> tuple[Any, str]:
    """Read what was counted, and by which coding."""
    _, coding = opened(path)
    return open_handed(path).count(), coding


def private_status_of(path: str | Path) -> tuple[str | None, bool]:
    """Say whose status a file's kind protects (swap, any or None), and whether it has strata."""
    file, _ = opened(path)
    if file.kind is STRATA:
        return (SWAP if strata_of(file).private_status else None), True
    return {SWAPPED.name: SWAP, ANY_RECORD.name: ANY}.get(file.kind.name), False


def checked(path: str | Path) -> dict[str, Any]:
    """Read a file whole, and give what is public of it."""
    study, (_, coding) = open_handed(path), opened(path)
    counted = study.count()
    status, strata = private_status_of(path)
    found = {"variants": len(counted)}
    if status == ANY:
        found |= {"people": counted.people}
    else:
        found |= {"cases": int(np.sum(counted.cases)), "controls": int(np.sum(counted.controls))}
    return {
        **found,
        **({"strata": counted.strata} if strata else {}),
        "coding": coding,
        **({} if status is None else {"private_status": status}),
    }
