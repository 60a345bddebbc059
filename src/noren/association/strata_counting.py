"""Count carriers in every stratum, in one pass over a PLINK `.bed`.

A file of strata has one line for each person: family, person, then one or more columns of words,
with or without a header line (`FID IID site sex`). A stratum is what the chosen columns say
together. Who has no line, or NA in one of them, belongs to a stratum of their own, "missing": a
public rule that needs nobody's genotypes.

Privacy
    Strata are public: who is in which must be settled without looking at genotypes. One person
    moves one of the 2K counts by at most 1. Counts of alleles are not offered: their step is two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.association.codings import read_coding
from noren.association.counting import Counter, Prepared, Progress, chosen
from noren.association.public_covariates import refuse_strata_from_genotypes
from noren.association.statistic import Flags
from noren.association.strata import StratifiedTables
from noren.data.bed import open_bed
from noren.data.people import (
    NEITHER,
    Groups,
    Key,
    column_name,
    groups,
    private_groups,
    read_phenotypes,
)
from noren.data.sites import Sites
from noren.engine import Engine
from noren.errors import NotPrivate, ParameterError

MISSING = "missing"
MOST_STRATA = 1_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PreparedStrata:
    """The public side of a count in strata: which there are, and who is in which group."""

    prepared: Prepared
    labels: tuple[str, ...]
    digest: str

    @property
    def cases(self) -> tuple[int, ...]:
        """The public numbers of cases."""
        return tuple(self.prepared.sizes[0::2])

    @property
    def controls(self) -> tuple[int, ...]:
        """The public numbers of controls."""
        return tuple(self.prepared.sizes[1::2])

    @property
    def sites(self) -> Sites:
        """The public list of variants."""
        return self.prepared.sites

    def count(
        self,
        progress: Progress | None = None,
        *,
        workers: int | None = None,
        engine: Engine | None = None,
    ) -> StratifiedTables:
        """Read the genotypes and count."""
        found = self.prepared.carriers(progress, workers=workers, engine=engine)
        return StratifiedTables(found[0::2], found[1::2], self.cases, self.controls, self.sites)


def count_stratified_tables(
    bed_path: str | Path, strata_file: str | Path, *, progress: Progress | None = None,
    workers: int | None = None, engine: Engine | None = None, **settings: Any,
) -> StratifiedTables:  # fmt: skip
    """Count the tables of every stratum, of every variant of a PLINK set.

    Parameters
    ----------
    bed_path
        The `.bed`, or what the three files' names have in common.
    strata_file
        Who is in which stratum: family, person, then one or more columns.
    progress
        Called with (variants done, variants in all).
    workers, engine
        See `noren.engine.run`.
    **settings
        `strata_columns` (names or numbers; the first unless given), and as `count_tables` takes
        them: coding, phenotype_file, column, codes, keep, counted, variants.
    """
    prepared = prepare_strata(bed_path, strata_file, **settings)
    return prepared.count(progress, workers=workers, engine=engine)


def prepare_strata(
    bed_path: str | Path,
    strata_file: str | Path,
    *,
    strata_columns: Sequence[str | int] = (),
    coding: str = "carrier",
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
    counted: str | Path | Sites = "A1",
    variants: Sequence[str] | None = None,
    private_status: bool = False,
) -> PreparedStrata:
    """Read what is public, as `count_stratified_tables` does, without reading genotypes.

    With `private_status` who is a case is not public (how many are in each stratum is), and nobody
    is left out for having no status.
    """
    if read_coding(coding) == "allelic":
        raise NotPrivate(
            "Alleles cannot be counted in strata: a person brings two, and no score is proved for "
            "that. Use the coding carrier, recessive or heterozygous."
        )
    refuse_strata_from_genotypes([name for name in strata_columns if isinstance(name, str)])
    refuse_strata_from_genotypes(
        [column_name(strata_file, column) for column in strata_columns or (None,)]
    )
    bed = open_bed(bed_path)
    mark = private_groups if private_status else groups
    marked = mark(bed.people, phenotype_file=phenotype_file, column=column, codes=codes, keep=keep)
    words = stratum_of_each(strata_file, bed.people.ids, strata_columns)
    labels = tuple(sorted(set(np.array(words)[marked.cases | marked.controls].tolist())))
    if len(labels) > MOST_STRATA:
        raise ParameterError(
            "strata", f"{len(labels)} different ones", f"at most {MOST_STRATA}",
            "Merge them by public rules, or use the covariate-adjusted test.",
        )  # fmt: skip
    wanted, sites, first_allele = chosen(bed, counted, variants)
    counter = Counter.of_groups(coding, in_strata(words, labels, marked), first_allele)
    known = b"" if private_status else marked.cases.tobytes()
    content = hashlib.sha256("\n".join(words).encode() + known)
    return PreparedStrata(Prepared(bed, counter, wanted, sites), labels, content.hexdigest())


def stratum_of_each(
    path: str | Path, people: Sequence[Key], columns: Sequence[str | int]
) -> list[str]:
    """Say what stratum each person is in."""
    tables = [read_phenotypes(path, column) for column in columns or (None,)]
    words = []
    for key in people:
        said = [table.get(key, table.get(key[1:], "NA")) for table in tables]
        known = not any(word in NEITHER - {"0"} for word in said)
        words.append("/".join(said) if known else MISSING)
    return words


def in_strata(words: Sequence[str], labels: Sequence[str], marked: Groups) -> tuple[Flags, ...]:
    """Mark the cases and the controls of each stratum, one after the other."""
    names = np.array(words)
    return tuple(
        group & (names == label) for label in labels for group in (marked.cases, marked.controls)
    )
