"""A study with covariates: the null model at once, the genotypes only when they are paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from noren.association.counting import chosen, ranges
from noren.association.covariate_file import REFUSE, read_covariates
from noren.association.null_model import NullModel
from noren.association.score_layout import Layout
from noren.association.score_rows import GenotypeRows
from noren.association.score_test import FLOOR, ScoreTest
from noren.association.study import Study
from noren.data.bed import open_bed
from noren.data.people import groups
from noren.data.sites import Sites
from noren.engine import Engine


def open_adjusted(
    path: str | Path,
    covariates: str | Path,
    *,
    coding: str = "carrier",
    family: str = "logistic",
    cap: object = None,
    floor: object = FLOOR,
    use: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    missing: str = REFUSE,
    declared: Mapping[str, str] | None = None,
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
    counted: str | Path | Sites = "A1",
    variants: Sequence[str] | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
) -> Study:
    """Open PLINK files and a file of covariates, and fit the public null model.

    Parameters
    ----------
    path
        A `.bed` or what its files' names have in common.
    covariates
        The file of public covariates; see `noren.association.covariate_file`.
    coding
        "carrier", "recessive", "heterozygous" or "additive" (the dose).
    family, cap, floor
        Of the null model and the test; see `NullModel.fit` and `ScoreTest`.
    use, categorical, missing, declared
        How the covariates are read; see `read_covariates`.
    phenotype_file, column, codes, keep, counted, variants
        As `count_tables` takes them.
    workers, engine
        See `noren.engine.run`.
    """
    bed = open_bed(path)
    marked = groups(
        bed.people, phenotype_file=phenotype_file, column=column, codes=codes, keep=keep
    )
    wanted, sites, first_allele = chosen(bed, counted, variants)
    read = read_covariates(
        covariates, bed.people, use=use, categorical=categorical, missing=missing, declared=declared
    )
    members = np.flatnonzero((marked.cases | marked.controls) & read.present)
    model = NullModel.fit(
        read.columns[members], marked.cases[members], family, cap=cap, names=read.names,
        declared=read.declared,
    )  # fmt: skip
    design = ScoreTest(model=model, coding=coding, floor=floor)  # type: ignore[arg-type]
    layout = Layout(model, design.coding, members, len(bed.people))
    rows = GenotypeRows(layout, ranges(bed, wanted), first_allele, wanted, workers, engine)
    return Study(design, sites, partial(counted_where, rows))


def counted_where(rows: GenotypeRows, progress: Any = None, *, engine: Engine | None = None) -> Any:
    """Count the rows here, or on another engine."""
    return (rows if engine is None else replace(rows, engine=engine)).counted(progress)
