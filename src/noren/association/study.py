"""A study's files: what is public of them at once, the counts only when they are asked for.

A question is priced, forecast and charged from public facts alone: how many cases and controls,
which variants. So a study is opened first, and its genotypes are read when the price is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren.association.codings import read_coding
from noren.association.counting import prepare
from noren.association.private_status import AnyStatus, SwappedStatus
from noren.association.scoring import CaseControl, Scoring
from noren.association.status import StatusTables
from noren.association.status_scores import ANY, SWAP
from noren.association.strata_counting import prepare_strata
from noren.association.stratified import Strata
from noren.association.summary import SEPARATORS, read_tables
from noren.association.variants import Variants
from noren.errors import NotPrivate, ParameterError

SUMMARIES = {*SEPARATORS, ".parquet", ".pq"}
CONVERTED = {".vcf", ".bcf", ".gz"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Study:
    """The public side of a study, and how its statistic is counted."""

    design: Scoring
    variants: Variants
    count: Callable[..., Any]

    def __repr__(self) -> str:
        return f"Study({self.design!r})"


def open_study(
    path: str | Path,
    *,
    coding: str = "carrier",
    cases: int | None = None,
    controls: int | None = None,
    strata: str | Path | None = None,
    strata_columns: Sequence[str | int] = (),
    private_status: str | None = None,
    **settings: Any,
) -> Study:
    """Open PLINK files, or a table of counts.

    Parameters
    ----------
    path
        A `.bed` or what its files' names have in common; or a CSV, TSV or Parquet table with the
        columns snp, a and b.
    coding
        What is counted; see `noren.association.codings`.
    cases, controls
        How many people are in the groups, for a table of counts only.
    strata, strata_columns
        Who is in which stratum, for PLINK files only: see `noren.association.strata_counting`.
    private_status
        "swap" or "any" where who is a case is private: see `noren.association.private_status`.
    **settings
        For PLINK files, as `count_tables` takes them: phenotype_file, column, codes, keep,
        counted, variants.
    """
    suffix, named = Path(path).suffix.lower(), read_coding(coding)
    if suffix in CONVERTED:
        raise ParameterError(
            "COHORT",
            path,
            "PLINK files or a table of counts",
            "Convert a VCF once, against the public list of variants: noren associate convert.",
        )
    if suffix in SUMMARIES:
        refuse_for_counts(strata=strata, private_status=private_status)
        return open_summary(path, named, cases, controls, settings)
    if cases is not None or controls is not None:
        raise ParameterError(
            "cases", cases, "left out for PLINK files", "Their .fam says who is a case."
        )
    if private_status is not None:
        refuse_with_private_status(private_status, named, strata)
    if strata is not None:
        settings |= {"strata_columns": strata_columns, "private_status": private_status is not None}
        return open_strata(path, strata, coding=named, **settings)
    if private_status is not None:
        return open_private(path, private_status, coding=named, **settings)
    prepared = prepare(path, coding=named, **settings)
    step = prepared.counter.step
    design = CaseControl(cases=prepared.cases, controls=prepared.controls, step=step)
    return Study(design, prepared.sites, prepared.count)


def refuse_for_counts(**given: Any) -> None:
    """Refuse what cannot be said of people who were counted already."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                name, value, "left out for a table of counts", "It needs the PLINK files."
            )


def open_strata(path: str | Path, strata: str | Path, **settings: Any) -> Study:
    """Open PLINK files to be counted in strata."""
    prepared = prepare_strata(path, strata, **settings)
    design = Strata(
        cases=prepared.cases,
        controls=prepared.controls,
        labels=prepared.labels,
        digest=prepared.digest,
        private_status=settings["private_status"],
    )
    return Study(design, prepared.sites, prepared.count)


def refuse_with_private_status(kind: str, coding: str, strata: object) -> None:
    """Refuse, by name, what has no proof where status is private."""
    if kind not in (SWAP, ANY):
        raise ParameterError("private_status", repr(kind), "'swap' or 'any'")
    if coding == "allelic":
        raise NotPrivate(
            "Alleles cannot be counted where status is private: a person brings two, and no score "
            "is proved for that. Use the coding carrier, recessive or heterozygous."
        )
    if kind == ANY and strata is not None:
        raise NotPrivate(
            "The stratified test cannot be asked where any record may change: it needs the number "
            "of cases in each stratum. Use private_status 'swap', or no strata."
        )


def open_private(path: str | Path, kind: str, **settings: Any) -> Study:
    """Open PLINK files of which nobody may learn who is a case."""
    prepared = prepare(path, private_status=True, **settings)
    if kind == SWAP:
        design = SwappedStatus(cases=prepared.cases, controls=prepared.controls)
        return Study(design, prepared.sites, prepared.count)

    def count(progress: Any, **where: Any) -> StatusTables:
        a, b = prepared.carriers(progress, **where)
        return StatusTables(a, b, prepared.cases, prepared.controls, prepared.sites)

    return Study(AnyStatus(people=sum(prepared.sizes)), prepared.sites, count)


def open_summary(
    path: str | Path,
    coding: str,
    cases: int | None,
    controls: int | None,
    settings: dict[str, Any],
) -> Study:
    """Open a table of counts; who was counted is given beside it, because it is public."""
    given = [name for name, value in settings.items() if value is not None]
    usual = {"counted": "A1", "codes": "1/2"}
    strange = [name for name in given if settings[name] != usual.get(name)]
    if strange:
        raise ParameterError(
            strange[0], settings[strange[0]], "left out for a table of counts", "It is counted."
        )
    if cases is None or controls is None:
        raise ParameterError("cases", cases, "stated, and controls too, for a table of counts")
    step = 2 if coding == "allelic" else 1
    tables = read_tables(path, cases * step, controls * step, step)
    assert tables.sites is not None
    return Study(CaseControl.of(tables), tables.sites, lambda *_, **__: tables)
