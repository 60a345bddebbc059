"""Count carriers among cases and controls, streamed from PLINK files.

Codings (of the counted allele)
    carrier (or dominant)   one copy or two      recessive   two copies
    heterozygous            exactly one          allelic     the copies themselves
The first three count people; `allelic` counts alleles, so each group counts twice.

Privacy
    One person fills one column of every row, so one person moves each count by at most 1 (2 with
    `allelic`). A missing genotype is counted as carrying nothing: the groups' sizes stay public and
    the same for every variant. What must be public, because it decides what is counted: the list
    of variants, who is in which group, and of each variant which allele is the counted one. PLINK
    may have called the rarer allele of these very people A1; give a manifest where one exists.
    Reading depends on public sizes only; the counts themselves are secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.association.codings import read_coding
from noren.association.statistic import Counts, Flags, Tables
from noren.data.bed import Bed, Packed, VariantRange, open_bed
from noren.data.people import Groups, groups, private_groups
from noren.data.sites import Sites
from noren.engine import Engine, run
from noren.errors import ParameterError, SchemaError

Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"
Progress: TypeAlias = Callable[[int, int], None]

ALL, NONE = 2**64 - 1, 0
PASSES = {  # how `both` is turned, and whether it is ignored: see counting_kernel
    "carrier": ((NONE, ALL),),
    "recessive": ((NONE, NONE),),
    "heterozygous": ((ALL, NONE),),
    "allelic": ((NONE, ALL), (NONE, NONE)),  # somebody with two copies is marked twice
}
PIECE_BYTES = 1 << 25  # of one partition
FEW_BYTES = 1 << 24  # files so small that NumPy is quicker than loading a compiler
GAP = 64  # rows that are rather read and thrown away than skipped
LANE = 32  # words: masks are padded to a multiple, so that no loop has a remainder


def count_tables(
    bed_path: str | Path,
    *,
    coding: str = "carrier",
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
    counted: str | Path | Sites = "A1",
    variants: Sequence[str] | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
) -> Tables:
    """Count the table of every variant of a PLINK `.bed`, `.bim`, `.fam` set.

    Parameters
    ----------
    bed_path
        The `.bed`, or what the three files' names have in common.
    coding
        "carrier" (or "dominant"), "recessive", "heterozygous" or "allelic".
    phenotype_file, column, codes, keep
        Who is a case and who a control: see `noren.data.people.groups`.
    counted
        Which allele is counted: "A1" or "A2" of the `.bim`, or a public manifest (a file, or
        `Sites`) that names the variants to use and the counted allele of each.
    variants
        The ids of the variants to count, in the order of the file; all by default.
    progress
        Called with (variants done, variants in all).
    workers, engine
        See `noren.engine.run`.
    """
    prepared = prepare(
        bed_path, coding=coding, phenotype_file=phenotype_file, column=column, codes=codes,
        keep=keep, counted=counted, variants=variants,
    )  # fmt: skip
    return prepared.count(progress, workers=workers, engine=engine)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Prepared:
    """What comes before a count: who is in which group, and which variants; nothing counted.

    All of it is public, but for groups and their sizes where status is private.
    """

    bed: Bed
    counter: Counter
    wanted: Flags
    sites: Sites

    @property
    def cases(self) -> int:
        """The number of cases (of their alleles, where these are counted)."""
        return self.sizes[0]

    @property
    def controls(self) -> int:
        """The number of controls (of their alleles, where these are counted)."""
        return self.sizes[1]

    @property
    def sizes(self) -> list[int]:
        """The sizes of all groups that are counted."""
        return [int(members.sum()) * self.counter.step for members in self.counter.groups]

    def count(
        self,
        progress: Progress | None = None,
        *,
        workers: int | None = None,
        engine: Engine | None = None,
    ) -> Tables:
        """Read the genotypes and count."""
        a, b = self.carriers(progress, workers=workers, engine=engine)
        return Tables(a, b, self.cases, self.controls, self.counter.step, self.sites)

    def carriers(
        self,
        progress: Progress | None = None,
        *,
        workers: int | None = None,
        engine: Engine | None = None,
    ) -> Counts:
        """Read the genotypes and count the carriers of every group: one row for each group."""
        pieces = ranges(self.bed, self.wanted)
        stretch = run(
            pieces, self.counter, workers=workers, engine=engine,
            progress=None if progress is None else by_variants(progress, pieces),
        )  # fmt: skip
        return stretch.at(np.flatnonzero(self.wanted))


def prepare(
    bed_path: str | Path,
    *,
    coding: str = "carrier",
    phenotype_file: str | Path | None = None,
    column: str | int | None = None,
    codes: str = "1/2",
    keep: str | Path | None = None,
    counted: str | Path | Sites = "A1",
    variants: Sequence[str] | None = None,
    private_status: bool = False,
) -> Prepared:
    """Read what is public of a PLINK set, as `count_tables` does, without reading genotypes.

    With `private_status` the groups are not public, and nobody is left out for having no status.
    """
    bed = open_bed(bed_path)
    mark = private_groups if private_status else groups
    marked = mark(bed.people, phenotype_file=phenotype_file, column=column, codes=codes, keep=keep)
    wanted, sites, first_allele = chosen(bed, counted, variants)
    return Prepared(bed, Counter.of(coding, marked, first_allele), wanted, sites)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Stretch:
    """Counts of some variants, by their places in the file; `+` joins stretches."""

    places: Counts
    counts: Counts

    def __add__(self, other: Stretch) -> Stretch:
        return Stretch(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.counts, other.counts], axis=1),
        )

    def __repr__(self) -> str:
        return f"Stretch({len(self.places)} variants)"

    def at(self, places: Counts) -> Counts:
        """Give the counts at some places, which must all be there."""
        order = np.argsort(self.places, kind="stable")
        return self.counts[:, order[np.searchsorted(self.places[order], places)]]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Counter:
    """Turns packed rows into counts; goes where the genotypes are read, and nowhere else.

    Groups are as secret as the genotypes where status is private.
    """

    step: int
    passes: tuple[tuple[int, int], ...]
    groups: tuple[Flags, ...]  # pairs: cases and controls of each stratum (or of all people)
    first_allele: Flags

    @classmethod
    def of(cls, coding: str, marked: Groups, first_allele: Flags) -> Counter:
        """Prepare to count by a coding."""
        return cls.of_groups(coding, (marked.cases, marked.controls), first_allele)

    @classmethod
    def of_groups(cls, coding: str, members: tuple[Flags, ...], first_allele: Flags) -> Counter:
        """Prepare to count pairs of groups by a coding."""
        named = read_coding(coding)
        step = 2 if named == "allelic" else 1
        return cls(step, PASSES[named], members, first_allele)

    def __call__(self, blocks: Iterable[Packed]) -> Stretch:
        """Count the blocks of one partition."""
        masks, places, counts = None, [], []
        row_bytes = -(-len(self.groups[0]) // 4)
        for block in blocks:
            here = np.arange(block.first, block.first + block.rows)
            found = np.zeros((len(self.groups), block.rows), np.int64)
            if len(self.first_allele) * row_bytes <= FEW_BYTES:
                count_with_numpy(self, block, row_bytes, found)
            else:
                masks = shifted_masks(*self.groups) if masks is None else masks
                count_compiled(self, block, row_bytes, masks, found)
            places.append(here)
            counts.append(found)
        return Stretch(np.concatenate(places), np.concatenate(counts, axis=1))


def count_compiled(
    counter: Counter, block: Packed, row_bytes: int, masks: Words, out: Counts
) -> None:
    """Count a block by the compiled loop."""
    from noren.association.counting_kernel import count_rows

    first = counter.first_allele[block.first : block.first + block.rows]
    for turned, ignored in counter.passes:
        count_rows(
            block.words, block.rows, row_bytes, masks, first,
            np.uint64(turned), np.uint64(ignored), out,
        )  # fmt: skip


def count_with_numpy(counter: Counter, block: Packed, row_bytes: int, out: Counts) -> None:
    """Count a block by whole arrays, from single pairs of bits."""
    size = block.rows * row_bytes
    rows = block.words.view(np.uint8)[:size].reshape(block.rows, row_bytes)
    pairs = (rows[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    pairs = pairs.reshape(block.rows, -1)[:, : len(counter.groups[0])]
    first = counter.first_allele[block.first : block.first + block.rows, None]
    one, two = pairs == 2, pairs == np.where(first, 0, 3)
    copies = {(NONE, ALL): one | two, (NONE, NONE): two, (ALL, NONE): one}
    for marked in (copies[kind] for kind in counter.passes):
        for group, members in enumerate(counter.groups):
            out[group] += marked[:, members].sum(axis=1)


def shifted_masks(*groups: Flags) -> Words:
    """Mark each group's people in the lower bit of their pairs, for rows that begin anywhere."""
    row_bytes = -(-len(groups[0]) // 4)
    words = -(-(row_bytes + 7) // (8 * LANE)) * LANE
    masks = np.zeros((len(groups), 8, words * 8), np.uint8)
    for group, members in enumerate(groups):
        padded = np.zeros(row_bytes * 4, np.uint8)
        padded[: len(members)] = members
        packed = padded.reshape(-1, 4) @ np.array([1, 4, 16, 64], np.uint8)
        for shift in range(8):
            masks[group, shift, shift : shift + row_bytes] = packed
    return masks.view(np.uint64)


def ranges(bed: Bed, wanted: Flags) -> list[VariantRange]:
    """Cut the wanted rows into stretches that are read apart from each other."""
    places = np.flatnonzero(wanted)
    if not len(places):
        raise ParameterError("variants", "empty", "at least one variant of the .bim file")
    rows = max(1, PIECE_BYTES // bed.row_bytes)
    breaks = np.flatnonzero(np.diff(places) > GAP)
    starts = places[np.concatenate([[0], breaks + 1])]
    ends = places[np.concatenate([breaks, [len(places) - 1]])] + 1
    return [
        VariantRange(str(bed.path), bed.row_bytes, begin, min(begin + rows, int(end)))
        for start, end in zip(starts, ends, strict=True)
        for begin in range(int(start), int(end), rows)
    ]


def by_variants(progress: Progress, pieces: Sequence[VariantRange]) -> Progress:
    """Report progress in variants rather than in pieces."""
    sizes = np.cumsum([0] + [piece.stop - piece.start for piece in pieces])
    return lambda done, total: progress(int(sizes[done]), int(sizes[total]))


def chosen(
    bed: Bed, counted: str | Path | Sites, variants: Sequence[str] | None
) -> tuple[Flags, Sites, Flags]:
    """Say which rows are wanted, what they are called, and where the first allele is counted."""
    sites, first_allele = bed.sites, np.ones(len(bed.sites), bool)
    wanted = np.ones(len(sites), bool)
    if counted == "A2":
        first_allele[:] = False
        sites = replace(sites, counted=sites.other, other=sites.counted)
    elif counted != "A1":
        manifest = counted if isinstance(counted, Sites) else Sites.read(counted)
        wanted, first_allele = by_manifest(bed.sites, manifest)
        sites = swapped(bed.sites, first_allele)
    if variants is not None:
        wanted &= listed(sites, variants)
    return wanted, sites if wanted.all() else sites.select(wanted), first_allele


def listed(sites: Sites, variants: Sequence[str]) -> Flags:
    """Mark the variants of a list; each must be in the file."""
    names = set(variants)
    if len(names) < len(variants):
        raise SchemaError("The list of variants names one twice, but each is counted once only.")
    absent = sorted(names - set(sites.names))
    if absent:
        raise SchemaError(
            f"The list of variants names {absent[0]!r}, which the .bim file does not hold (nor "
            f"{len(absent) - 1} others). Remove them from the list, or use the files it is for."
        )
    return np.array([name in names for name in sites.names])


def by_manifest(sites: Sites, manifest: Sites) -> tuple[Flags, Flags]:
    """Mark the variants of a manifest, and where its counted allele is the file's first."""
    if len(manifest.counted) != len(manifest):
        raise SchemaError(
            "The manifest has no column 'counted', but it must name the counted allele of each "
            "variant."
        )
    wanted = listed(sites, manifest.names)
    alleles = dict(zip(manifest.names, manifest.counted, strict=True))
    first_allele = np.ones(len(sites), bool)
    for place in np.flatnonzero(wanted).tolist():
        first, second = sites.counted[place], sites.other[place]
        allele = alleles[sites.names[place]]
        if allele == second or (second == "0" and allele != first):
            first_allele[place] = False
        elif allele != first and first != "0":
            raise SchemaError(
                f"The manifest counts allele {allele!r} of variant {sites.names[place]!r}, but the "
                f".bim file knows {first!r} and {second!r}. Give both in the same strand."
            )
    return wanted, first_allele


def swapped(sites: Sites, first_allele: Flags) -> Sites:
    """Put the counted allele first in the list."""
    pairs = zip(sites.counted, sites.other, first_allele.tolist(), strict=True)
    both = [(a, b) if first else (b, a) for a, b, first in pairs]
    return replace(sites, counted=tuple(a for a, _ in both), other=tuple(b for _, b in both))
