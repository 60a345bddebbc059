"""What a study is read from beside its genotypes: other formats, strata, covariates, statistics."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from fuzzing import Target, through_file

from noren.association import simulate
from noren.association.adjusted_study import open_adjusted
from noren.association.handover import write_study
from noren.association.loci import Loci
from noren.association.study import open_study
from noren.cli.statistic import HOMES
from noren.collaboration import Task, TrainingRows
from noren.collaboration.handover import write_rows as write_training_rows
from noren.data import Schema
from noren.data.handover import kind_of
from noren.data.sites import Sites
from noren.data.vcf import convert_vcf
from noren.errors import SchemaError
from noren.monitoring.handover import read_grouped, write_counts
from noren.reweighting import BasisSums, Encoding, LevelBasis
from noren.reweighting.handover import write_rows as write_encoded_rows
from noren.reweighting.handover import write_sums
from noren.similarity import Records
from noren.similarity.handover import write_records

VCF = b"""##fileformat=VCFv4.2
##contig=<ID=1>
##contig=<ID=X>
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tSECRETWORD\tbob\tcid
1\t100\tx\tA\tG\t.\t.\t.\tGT\t0/0\t0/1\t./.
1\t200\t.\tC\tT,G\t.\t.\t.\tGT\t0/1\t1/2\t1|2
1\t7310477\tSECRETWORD\tC\tT\t.\t.\t.\tGT\t1/1\t1/1\t1/1
X\t50\t.\tT\tA\t.\t.\t.\tGT\t1\t0\t0/1
"""
LISTED = Sites(
    ("first", "second", "sex", "gone"), ("1", "1", "X", "X"), (100, 200, 50, 60),
    ("G", "G", "A", "T"), ("A", "C", "T", "C"),
)  # fmt: skip
GROUPED = b"slot,y,reports\n1,0,5\n1,1,6\n2,0,7\n2,1,3\n"


def studies(folder: Path) -> Iterator[Target]:
    """Give the readers of what a scan is asked with."""
    yield from variant_calls(folder)
    place = folder / "scans"
    place.mkdir()
    simulate(place / "s", cases=6, controls=6, variants=4, seed=5, hits=1, block=1)
    people = named_people(place / "s.fam")

    def text(name: str, header: str, columns: list[str], read: Any, share: float) -> Target:
        rows = [f"{ids} {value}".strip() for ids, value in zip(people, columns, strict=True)]
        return Target(name, [lines(header, rows)], through_file(place / f"{name}.txt", read), share)

    def adjusted(path: Path) -> object:
        return open_adjusted(place / "s", path, workers=1, cap=3)

    def opened(option: str) -> Any:
        return lambda path: open_study(place / "s", **{option: path})

    centres = ["ab"[n % 2] for n in range(12)]
    yield text("strata", "FID IID centre", centres, opened("strata"), 0.5)
    ages = [f"{30 + 7 * n % 40} {'xyz'[n % 3]}" for n in range(12)]
    yield text("covariates", "FID IID age site", ages, adjusted, 0.2)
    yield text("people to keep", "FID IID", [""] * 12, opened("keep"), 0.5)
    status = [str(1 + n % 2) for n in range(12)]
    yield text("phenotypes", "FID IID ill", status, opened("phenotype_file"), 0.5)
    maps = (b"snp,locus\nfirst,a\nsecond,a\n", b"chromosome\tstart\tend\n1\t1\t150\nX\t1\t99\n")
    grouped = through_file(place / "loci.txt", lambda path: Loci.read(path, LISTED))
    yield Target("loci", maps, grouped, 0.6)
    listed = b"snp\tchrom\tpos\tcounted\tother\tref\nfirst\t1\t100\tG\tA\tA\nx\tX\t5\tA\tT\tT\n"
    yield Target("list of variants", [listed], through_file(place / "sites.tsv", Sites.read), 0.6)


def named_people(fam: Path) -> list[str]:
    """Give somebody a name that no refusal may say, and list everybody's ids."""
    rows = fam.read_text().splitlines()
    rows[3] = rows[3].replace(rows[3].split()[1], "SECRETWORD")
    fam.write_text("\n".join(rows) + "\n")
    return [" ".join(row.split()[:2]) for row in rows]


def lines(header: str, rows: list[str]) -> bytes:
    """Put rows under a header."""
    return "\n".join([header, *rows, ""]).encode()


def variant_calls(folder: Path) -> Iterator[Target]:
    """Give what turns VCF and BCF, plain and packed, into PLINK files, with [genomics] only.

    BCF stays under its checksums here: its library ends the process at some that is not packed.
    """
    try:
        import cyvcf2
    except ImportError:
        return
    place = folder / "calls"
    place.mkdir()

    def converted(path: Path) -> object:
        return convert_vcf(path, LISTED, place / "out")

    (place / "good.vcf").write_bytes(VCF)
    reader = cyvcf2.VCF(str(place / "good.vcf"), gts012=False, strict_gt=True)
    writer = cyvcf2.Writer(str(place / "good.bcf"), reader, mode="wb")
    for record in reader:
        writer.write_record(record)
    writer.close()
    yield Target("VCF", [VCF], through_file(place / "a.vcf", converted), 0.4)
    yield Target("VCF, packed", [gzip.compress(VCF, mtime=0)],
                 through_file(place / "a.vcf.gz", converted), 0.2)  # fmt: skip
    yield Target("BCF", [(place / "good.bcf").read_bytes()],
                 through_file(place / "a.bcf", converted), 0.2)  # fmt: skip


def handed(folder: Path) -> Iterator[Target]:
    """Give the readers of statistic files, of every kind, as `noren statistic check` reads them."""
    place = folder / "handed"
    place.mkdir()

    def checked(path: Path) -> object:
        kind = kind_of(path)
        if kind not in HOMES:
            raise SchemaError(f"{path.name} holds a statistic of another kind.")
        return import_module(HOMES[kind]).checked(path)

    made = dict(statistics(place))
    assert set(made) == set(HOMES)
    words = tuple(f'"{word}"'.encode() for word in (*HOMES, "format", "public", "kind"))
    for kind, path in made.items():
        feed = through_file(place / "given.parquet", checked)
        yield Target(f"statistic, {kind}", [path.read_bytes()], feed, 0.5, words)
    yield Target("statistic, grouped reports", [GROUPED], through_file(
        place / "grouped.csv", lambda path: read_grouped(path, 2)), 0.3)  # fmt: skip


def statistics(place: Path) -> Iterator[tuple[str, Path]]:
    """Write a small statistic of every kind."""
    simulate(place / "s", cases=6, controls=6, variants=4, seed=5, hits=1, block=1)
    centres = [f"{ids} {'ab'[n % 2]}" for n, ids in enumerate(named_people(place / "s.fam"))]
    (place / "strata.txt").write_bytes(lines("FID IID centre", centres))
    options: tuple[dict[str, Any], ...] = (
        {}, {"private_status": "swap"}, {"private_status": "any"}, {"strata": place / "strata.txt"},
    )  # fmt: skip
    for number, option in enumerate(options):
        study, made = open_study(place / "s", **option), place / f"a{number}.parquet"
        yield write_study(made, study.design, study.count(None), "carrier").name, made
    (place / "g.csv").write_bytes(GROUPED)
    counts = read_grouped(place / "g.csv", 2)
    yield "report-counts", write_counts(place / "m.parquet", counts)
    records = Records.of([[1, 0, 1], [0, 1, 1]])
    yield "bit-records", write_records(place / "r.parquet", records)
    sums = BasisSums.of(np.array([[0.0, 1.0]]), LevelBasis((3, 2)))
    yield "basis-sums", write_sums(place / "b.parquet", sums)
    ages = {"name": "age", "kind": "numeric", "lower": 0, "upper": 100, "missing": {"fill": 1}}
    encoding = Encoding(Schema.from_dict({"columns": [ages]}))
    blocks = [np.array([[73.10477], [12.0]])]
    yield "encoded-rows", write_encoded_rows(place / "e.parquet", encoding, blocks)
    task = Task.of_bounds([0, 0], [1, 1])
    rows = TrainingRows.of(task, np.array([[0.1, 0.9], [0.4, 0.3]]), np.array([0, 1]))
    yield "training-rows", write_training_rows(place / "t.parquet", task, rows.parts)
