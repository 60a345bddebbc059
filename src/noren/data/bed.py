"""PLINK files: `.bed` genotypes in two bits each, `.bim` variants, `.fam` people.

A `.bed` holds, after three bytes that say what it is, one row for each variant: four people in a
byte, the first in the lowest bits. The two bits of a person are, as a number,
    0  two copies of the first allele (A1)      2  one copy of each
    3  two copies of the second (A2)            1  missing
`open_bed` checks that the three files fit each other; `VariantRange` streams rows through one
buffer, so that the whole is never in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.data.people import People, read_fam
from noren.data.sites import Sites
from noren.errors import FileProblem

Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

MAGIC, VARIANT_MAJOR, PERSON_MAJOR = b"\x6c\x1b", 1, 0
HEADER = 3  # bytes
BLOCK_BYTES = 1 << 20  # read at a time: what a core keeps near
SPARE = 64  # words behind the last row, so that a loop over a row may overshoot


@dataclass(frozen=True, slots=True)
class Bed:
    """Name a checked set of files: its public shape and lists, no genotypes."""

    path: Path
    people: People
    sites: Sites

    @property
    def row_bytes(self) -> int:
        """The bytes of one variant."""
        return -(-len(self.people) // 4)


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows of a `.bed` as they are stored, in 8-byte words. Secret, and soon overwritten."""

    words: Words
    first: int
    rows: int


@dataclass(frozen=True, slots=True)
class VariantRange:
    """A stretch of variants that can be read by itself: a file name and a range, no genotypes."""

    path: str
    row_bytes: int
    start: int
    stop: int

    @property
    def id(self) -> str:
        """The piece's name; equal names mean the same variants."""
        return f"{self.path}#{self.start}-{self.stop}"

    def read(self) -> Iterator[Packed]:
        """Yield blocks of rows; each must be used before the next is read."""
        rows = max(1, min(self.stop - self.start, BLOCK_BYTES // self.row_bytes))
        words = np.zeros((rows + 1) * self.row_bytes // 8 + SPARE, np.uint64)
        bytes_ = words.view(np.uint8).data
        with Path(self.path).open("rb", buffering=0) as file:
            file.seek(HEADER + self.start * self.row_bytes)
            for first in range(self.start, self.stop, rows):
                count = min(rows, self.stop - first)
                fill(file, bytes_[: count * self.row_bytes], self.path)
                yield Packed(words, first, count)


def fill(file: Any, target: memoryview, path: str) -> None:
    """Read exactly as many bytes as the target holds."""
    while target:
        got = file.readinto(target)
        if not got:
            raise FileProblem(
                f"{path} became shorter while it was read, but it must stay as it is. Try again."
            )
        target = target[got:]


def open_bed(path: str | Path) -> Bed:
    """Check a set of PLINK files, named by the `.bed` or by what its files have in common."""
    stem = Path(path)
    if not stem.name:
        raise FileProblem(f"{path} is a folder, but it must name PLINK files. Check the path.")
    stem = stem.with_suffix("") if stem.suffix in (".bed", ".bim", ".fam") else stem
    bed = Bed(
        stem.with_name(stem.name + ".bed").absolute(),
        read_fam(stem.with_name(stem.name + ".fam")),
        read_bim(stem.with_name(stem.name + ".bim")),
    )
    check_bed(bed)
    return bed


def check_bed(bed: Bed) -> None:
    """Refuse a file that is not a variant-major `.bed` of these people and variants."""
    try:
        with bed.path.open("rb") as file:
            head, size = file.read(HEADER), file.seek(0, 2)
    except OSError as error:
        raise FileProblem(
            f"{bed.path} cannot be read ({type(error).__name__}), but it must be a PLINK .bed "
            "file. Check the path."
        ) from None
    if len(head) < HEADER or head[:2] != MAGIC or head[2] not in (VARIANT_MAJOR, PERSON_MAJOR):
        raise FileProblem(
            f"{bed.path} does not begin as a PLINK .bed does (bytes 6c 1b 01), but it must be "
            "one. Make it with: plink --make-bed"
        )
    if head[2] == PERSON_MAJOR:
        raise FileProblem(
            f"{bed.path} is ordered by people (sample-major), but it must be ordered by variants. "
            "Make it again with: plink --make-bed"
        )
    expected = HEADER + len(bed.sites) * bed.row_bytes
    if size != expected:
        raise FileProblem(
            f"{bed.path} has {size} bytes, but its .bim ({len(bed.sites)} variants) and .fam "
            f"({len(bed.people)} people) need {expected}: it is truncated, or the files do not "
            "belong together. Copy all three again from one source."
        )


def read_bim(path: str | Path) -> Sites:
    """Read a `.bim` file; `counted` is its first allele (A1) and `other` its second.

    Which allele PLINK calls A1 may depend on the people, so a list of counted alleles that was
    fixed in public should take its place where one exists.
    """
    try:
        text = Path(path).read_text("utf-8")
        if any(len(line.split()) not in (0, 6) for line in text.split("\n")):
            raise ValueError
        words = text.split()
        positions = tuple(map(int, words[3::6]))
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as a list of variants ({type(error).__name__}), but each "
            "line must hold chromosome, id, distance, position and two alleles."
        ) from None
    chromosomes, names, first, second = (tuple(words[place::6]) for place in (0, 1, 4, 5))
    return Sites(names, chromosomes, positions, first, second)


def write_bim(path: str | Path, sites: Sites) -> None:
    """Write a `.bim` file, its first allele the counted one."""
    count = len(sites)
    columns = zip(
        sites.chromosomes or ("0",) * count,
        sites.names,
        sites.positions or (0,) * count,
        sites.counted or ("A",) * count,
        sites.other or ("B",) * count,
        strict=True,
    )
    with Path(path).open("w", encoding="utf-8") as file:
        file.writelines(f"{c}\t{name}\t0\t{bp}\t{a1}\t{a2}\n" for c, name, bp, a1, a2 in columns)
