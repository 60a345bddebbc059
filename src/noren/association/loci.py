"""Loci: a public map that says which variants belong together.

Neighboring variants are inherited together, so the strongest twenty variants may all tell of one
place in the genome. A locus is a group of variants fixed in public (linkage blocks of a reference
panel, or windows of a public length); its score is the largest score in it, which one person
changes by at most 1, because that is true of each. So whatever selects variants selects loci.

A map is a text file with a header line, either of `snp` and `locus`, or of `chromosome`, `start`,
`end` and, if you like, `locus`. A variant that no locus covers is a locus of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.association.statistic import Counts
from noren.data.sites import SYNONYMS, Sites, public_lines, splitter
from noren.errors import FileProblem, ParameterError
from noren.privacy.numbers import whole

INTERVAL = {"chromosome", "start", "end"}
WORDS = SYNONYMS | {
    "block": "locus",
    "region": "locus",
    "from": "start",
    "to": "end",
    "stop": "end",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loci:
    """Hold the names of the loci, and of each variant the place of its locus among them.

    Examples
    --------
    >>> sites = Sites(("rs1", "rs2", "rs3"), chromosomes=("1", "1", "2"), positions=(10, 900, 10))
    >>> loci = Loci.windows(sites, 500)
    >>> loci, loci.names[1], loci.of.tolist()
    (Loci(3 loci of 3 variants), '1:501-1000', [0, 1, 2])
    """

    names: tuple[str, ...]
    of: Counts

    def __post_init__(self) -> None:
        places = np.asarray(self.of)
        inside = places.ndim == 1 and places.dtype.kind in "iu"
        if not inside or set(np.unique(places).tolist()) != set(range(len(self.names))):
            raise ParameterError(
                "of",
                "an array that is not a map",
                "the place of each variant's locus among the names, none of them unused",
            )
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "of", places.astype(np.int64))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Loci({len(self)} loci of {self.of.size} variants)"

    @property
    def sizes(self) -> Counts:
        """How many variants each locus has."""
        return np.bincount(self.of, minlength=len(self))

    def best(self, scores: Counts) -> Counts:
        """Give each locus the largest score of its variants."""
        largest = np.full(len(self), np.iinfo(np.int64).min)
        np.maximum.at(largest, self.of, scores)
        return largest

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the map in a question's identity."""
        content = hashlib.sha256("\n".join(self.names).encode())
        content.update(self.of.tobytes())
        return {"loci": len(self), "variants": self.of.size, "sha256": content.hexdigest()}

    @classmethod
    def named(cls, labels: Sequence[str]) -> Loci:
        """Make a map from the name of each variant's locus."""
        places: dict[str, int] = {}
        of = [places.setdefault(label, len(places)) for label in labels]
        return cls(tuple(places), np.array(of, dtype=np.int64))

    @classmethod
    def windows(cls, sites: Sites, base_pairs: int) -> Loci:
        """Cut each chromosome into windows of one length, from its first base on."""
        length = whole("base_pairs", base_pairs, 1)
        require_positions(sites)
        starts = [(position - 1) // length * length for position in sites.positions]
        pairs = zip(sites.chromosomes, starts, strict=True)
        return cls.named([f"{name}:{start + 1}-{start + length}" for name, start in pairs])

    @classmethod
    def read(cls, path: str | Path, sites: Sites) -> Loci:
        """Read a map for a list of variants."""
        lines = public_lines(path)
        split = splitter(lines[0])
        header = [WORDS.get(word.strip().lower(), word.strip().lower()) for word in split(lines[0])]
        rows = [split(line) for line in lines[1:]]
        if any(len(row) != len(header) for row in rows):
            raise FileProblem(
                f"{path} has lines with more or fewer columns than its header names, but every "
                "line needs one word for each. Check its separators."
            )
        columns = {name: [row[i].strip() for row in rows] for i, name in enumerate(header)}
        if {"snp", "locus"} <= set(header):
            labels = dict(zip(columns["snp"], columns["locus"], strict=True))
            if len(labels) < len(columns["snp"]):
                raise FileProblem(
                    f"{path} names a variant twice, but each belongs to one locus. Remove a line."
                )
            return cls.named([labels.get(name, name) for name in sites.names])
        if set(header) >= INTERVAL:
            require_positions(sites)
            return cls.named(covered(path, columns, sites))
        raise FileProblem(
            f"{path} begins with the columns {header}, but a map of loci needs snp and locus, or "
            "chromosome, start and end."
        )


Groups: TypeAlias = "Loci | None"


def require_positions(sites: Sites) -> None:
    """Refuse a list of variants that does not say where they are."""
    if not (sites.chromosomes and sites.positions):
        raise ParameterError(
            "sites",
            "without positions",
            "a list of variants with chromosome and position",
            "Use a map of snp and locus instead.",
        )


def covered(path: str | Path, columns: dict[str, list[str]], sites: Sites) -> list[str]:
    """Name the interval that each variant lies in, or the variant itself."""
    intervals = sorted_intervals(path, columns)
    labels = []
    for name, chromosome, place in zip(
        sites.names, sites.chromosomes, sites.positions, strict=True
    ):
        starts, ends, names = intervals.get(bare(chromosome), ([], [], []))
        i = int(np.searchsorted(starts, place, side="right")) - 1
        labels.append(names[i] if i >= 0 and place <= ends[i] else name)
    return labels


def sorted_intervals(
    path: str | Path, columns: dict[str, list[str]]
) -> dict[str, tuple[list[int], list[int], list[str]]]:
    """Sort the intervals of each chromosome, and refuse some that overlap."""
    try:
        starts, ends = [int(x) for x in columns["start"]], [int(x) for x in columns["end"]]
    except ValueError:
        raise FileProblem(
            f"{path} has a start or an end that is not a whole number, but each must be one."
        ) from None
    where = columns["chromosome"]
    given = columns.get("locus") or [
        f"{c}:{a}-{b}" for c, a, b in zip(where, starts, ends, strict=True)
    ]
    found: dict[str, tuple[list[int], list[int], list[str]]] = {}
    for chromosome, start, end, name in sorted(zip(where, starts, ends, given, strict=True)):
        own = found.setdefault(bare(chromosome), ([], [], []))
        if end < start or (own[1] and start <= own[1][-1]):
            raise FileProblem(
                f"{path} has the interval {chromosome}:{start}-{end}, which is empty or overlaps "
                "another one, but loci must be disjoint. Merge or remove it."
            )
        own[0].append(start)
        own[1].append(end)
        own[2].append(name)
    return found


def bare(chromosome: str) -> str:
    """Write a chromosome without the prefix that some files give it."""
    return chromosome.lower().removeprefix("chr")
