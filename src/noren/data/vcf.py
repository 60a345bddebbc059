"""Convert VCF or BCF to PLINK files once, against the public list of variants.

Why
    A VCF lists a variant only because somebody in it carries it, so which variants it lists is
    itself secret. Here the public list decides: a listed variant that the file does not hold is
    written as everybody having two copies of the reference allele, and a variant outside the list
    is ignored. So one person's genotypes change one person's column, and nothing else.

    The three files appear when all of them are whole, or not at all.

Rules
    A record belongs to a listed variant if chromosome, position, reference and alternate allele
    agree; of a record with several alternates each is looked at by itself, and the others count as
    the reference. A genotype with a missing allele is missing; one allele alone (a haploid call)
    counts as two copies. The list's columns `counted` and `other` name the alleles; `reference`
    says which of them is the reference (by default `other`). `counted` becomes A1.

A BCF whose checksums are right and whose records are nonsense can make its library end the process
with exit code 1 and no word: only somebody who means to makes such a file, and no file is written.

Needs the extra [genomics].
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.data.bed import HEADER, MAGIC, VARIANT_MAJOR, Bed, open_bed, write_bim
from noren.data.files import existing_file
from noren.data.sites import Sites
from noren.errors import FileProblem, MissingExtra, NorenError, SchemaError

Pairs: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Place: TypeAlias = tuple[str, int, str, str]

TWO_FIRST, MISSING, ONE, TWO_SECOND = 0, 1, 2, 3  # what a .bed stores for copies of A1 and A2
ENDINGS = (".fam", ".bim", ".bed")
OPEN_END = -2  # pads calls of fewer alleles than the record's widest


def convert_vcf(path: str | Path, sites: str | Path | Sites, out: str | Path) -> Bed:
    """Write `out`.bed, .bim and .fam from a VCF or BCF (also compressed).

    The `.fam` has no phenotypes: give them in a file of their own when counting.

    Parameters
    ----------
    path
        The VCF or BCF.
    sites
        The public list: chromosome, position, snp, counted, other and perhaps reference.
    out
        What the new files' names have in common.
    """
    listed = sites if isinstance(sites, Sites) else Sites.read(sites)
    rows = places_of(listed)
    file = existing_file(path)
    reader = open_vcf(file)
    known, people = headings(reader, path)
    if not known & set(listed.chromosomes):
        raise SchemaError(
            f"{path} and the list of variants have no chromosome name in common, but they must "
            "be written alike (1 or chr1). Rename those of the list."
        )
    require_declared(file, known)
    stem, part = Path(out), Path(f"{out}.part")
    try:
        write_people(ending(part, ".fam"), people, path)
        write_bim(ending(part, ".bim"), listed)
        fill_with_reference(ending(part, ".bed"), listed, len(people))
        copy_records(reader, ending(part, ".bed"), rows, len(people), path)
        for own in ENDINGS:
            ending(part, own).replace(ending(stem, own))
    finally:
        for own in ENDINGS:
            ending(part, own).unlink(missing_ok=True)
    return open_bed(stem)


def ending(stem: Path, own: str) -> Path:
    """Add an ending to a name that may hold dots."""
    return stem.with_name(stem.name + own)


def open_vcf(path: Path) -> Any:
    """Open a VCF or BCF, and keep its reader from printing what it could not read."""
    try:
        from cyvcf2 import VCF, cyvcf2
    except ImportError:
        raise MissingExtra("Reading VCF and BCF files", "genomics") from None
    cyvcf2.set_htslib_log_level(0)
    try:
        return VCF(str(path), gts012=False, strict_gt=True)
    except Exception as error:
        problem = type(error).__name__
    raise FileProblem(
        f"{path} cannot be read as VCF or BCF ({problem}), but it must be one. Check the path."
    )


def headings(reader: Any, source: str | Path) -> tuple[set[str], list[str]]:
    """Give the chromosomes and the people that a header lists; an error quotes none."""
    try:
        return set(reader.seqnames), [str(sample) for sample in reader.samples]
    except Exception as error:
        problem = type(error).__name__
    raise FileProblem(
        f"The header of {source} cannot be read ({problem}), but it must be text in UTF-8. "
        "Check how it was made."
    )


def require_declared(path: Path, known: set[str]) -> None:
    """Refuse text with a record on a chromosome that the header does not list.

    Where the rest of such a record is broken too, cyvcf2 (0.34) ends the whole process.
    """
    names = {name.encode() for name in known}
    with path.open("rb") as file:
        packed_text = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if packed_text else path.open("rb") as lines:
            if lines.read(3) == b"BCF":
                return
            lines.seek(0)
            found = (line.partition(b"\t")[0] for line in lines if not line.startswith(b"#"))
            strange = any(name not in names for name in found if name.strip())
    except (OSError, EOFError, zlib.error):
        strange = False  # cut short: its reader says so
    if strange:
        raise FileProblem(
            f"{path} has records on chromosomes that its header does not list, but each needs a "
            "line ##contig=<ID=...>. Add them with: bcftools reheader --fai"
        )


def places_of(sites: Sites) -> dict[Place, tuple[int, bool]]:
    """Find the row of each place and pair of alleles, and whether its alternate is A1."""
    for column in ("chromosomes", "positions", "counted", "other"):
        if len(getattr(sites, column)) != len(sites):
            raise SchemaError(
                f"The list of variants lacks {column}, but converting a VCF needs chromosome, "
                "position, counted and other of each variant."
            )
    rows: dict[Place, tuple[int, bool]] = {}
    references = sites.reference or sites.other
    columns = (sites.chromosomes, sites.positions, sites.counted, sites.other, references)
    for row, (chromosome, position, counted, other, reference) in enumerate(
        zip(*columns, strict=True)
    ):
        if reference not in (counted, other) or counted == other:
            raise SchemaError(
                f"Variant {sites.names[row]!r} has the reference {reference!r}, but it must be one "
                f"of its two different alleles, {counted!r} and {other!r}."
            )
        alternate_is_first = reference == other
        alternate = counted if alternate_is_first else other
        place = (chromosome, int(position), reference, alternate)
        if place in rows:
            raise SchemaError(
                f"Variant {sites.names[row]!r} has place and alleles of another one in the list, "
                "but each variant is counted once only. Remove one."
            )
        rows[place] = (row, alternate_is_first)
    return rows


def write_people(path: Path, people: list[str], source: str | Path) -> None:
    """Write a `.fam` without phenotypes."""
    if not people or len(set(people)) < len(people):
        raise FileProblem(
            f"{source} lists no people, or one of them twice, but it must list each once. "
            "Give it the sample names of the study."
        )
    if any(name.split() != [name] for name in people):
        raise FileProblem(
            f"{source} has sample names with spaces, which a .fam file cannot hold. Rename them."
        )
    path.write_text("".join(f"{name}\t{name}\t0\t0\t0\t-9\n" for name in people), "utf-8")


def fill_with_reference(path: Path, sites: Sites, people: int) -> None:
    """Write every row as two copies of the reference allele for everybody."""
    references = sites.reference or sites.other
    first = packed(np.full(people, TWO_FIRST, np.uint8)).tobytes()
    second = packed(np.full(people, TWO_SECOND, np.uint8)).tobytes()
    with path.open("wb") as file:
        file.write(MAGIC + bytes([VARIANT_MAJOR]))
        for counted, reference in zip(sites.counted, references, strict=True):
            file.write(first if counted == reference else second)


def copy_records(
    reader: Any, target: Path, rows: dict[Place, tuple[int, bool]], people: int, source: str | Path
) -> None:
    """Write the rows of listed variants over what stands there; an error quotes no record."""
    row_bytes, problem, done = -(-people // 4), "", set()
    with target.open("r+b") as file:
        try:
            for record in reader:
                for index, alternate in enumerate(record.ALT, 1):
                    found = rows.get((record.CHROM, record.POS, record.REF, alternate))
                    if found is None:
                        continue
                    if found[0] in done:
                        raise twice(source)
                    done.add(found[0])
                    alleles = record.genotype.array()[:, :-1]
                    file.seek(HEADER + found[0] * row_bytes)
                    file.write(packed(stored(alleles, index, found[1])).tobytes())
        except NorenError:
            raise
        except Exception as error:
            problem = type(error).__name__
    if problem:
        raise FileProblem(
            f"{source} cannot be read to its end ({problem}), but it must be a whole VCF or BCF "
            "with genotypes (GT). Check how it was made."
        )


def twice(source: str | Path) -> FileProblem:
    """Say that a file holds a variant in two records."""
    return FileProblem(
        f"{source} holds a listed variant in two records, but there must be one. Join them with: "
        "bcftools norm -m +any"
    )


def stored(alleles: Any, index: int, alternate_is_first: bool) -> Pairs:
    """Turn called alleles (people x ploidy) into the stored pair of each person."""
    called = alleles != OPEN_END
    gone = (called & (alleles < 0)).any(axis=1) | ~called.any(axis=1)
    copies = (alleles == index).sum(axis=1) * np.where(called.sum(axis=1) == 1, 2, 1)
    codes = (TWO_SECOND, ONE, TWO_FIRST) if alternate_is_first else (TWO_FIRST, ONE, TWO_SECOND)
    pairs = np.array(codes, np.uint8)[np.minimum(copies, 2)]
    return np.where(gone, np.uint8(MISSING), pairs)


def packed(pairs: Pairs) -> Pairs:
    """Put four people into a byte."""
    padded = np.zeros(-(-len(pairs) // 4) * 4, np.uint8)
    padded[: len(pairs)] = pairs
    fours = padded.reshape(-1, 4)
    return np.asarray(
        fours[:, 0] | fours[:, 1] << 2 | fours[:, 2] << 4 | fours[:, 3] << 6, dtype=np.uint8
    )
