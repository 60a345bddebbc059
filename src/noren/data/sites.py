"""Sites: the public list of variants that a study is asked about.

The list must be settled without looking at the people: an array's manifest, a reference panel.
It says which variants are counted, in which order, and of each variant which of its two alleles
is the counted one. Because it is public, its errors may quote it.

A list is a text file with a header line (columns in any order, separated by tabs, commas or
spaces): `snp` and `counted`, and where known `chromosome`, `position`, `other` and `reference`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain, compress
from pathlib import Path
from typing import Any

from noren.errors import FileProblem, SchemaError

COLUMNS = {
    "snp": "names",
    "chromosome": "chromosomes",
    "position": "positions",
    "counted": "counted",
    "other": "other",
    "reference": "reference",
}
SYNONYMS = {
    "name": "snp", "id": "snp", "variant": "snp", "rsid": "snp",
    "chrom": "chromosome", "chr": "chromosome", "#chrom": "chromosome",
    "pos": "position", "bp": "position", "allele": "counted", "ref": "reference",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Sites:
    """List variants; what is not known of them is left empty.

    Examples
    --------
    >>> sites = Sites(("rs7", "rs9"), positions=(105, 320), counted=("A", "T"))
    >>> sites
    Sites(2 variants)
    >>> sites.select([1]).names
    ('rs9',)
    """

    names: tuple[str, ...]
    chromosomes: tuple[str, ...] = ()
    positions: tuple[int, ...] = ()
    counted: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            values = tuple(getattr(self, field.name))
            object.__setattr__(self, field.name, values)
            if values and len(values) != len(self.names):
                raise SchemaError(
                    f"The list of variants has {len(values)} {field.name} for {len(self.names)} "
                    "variants, but it needs one for each, or none at all."
                )
        check_unique(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Sites({len(self)} variants)"

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the list in a question's identity: its length and its digest."""
        content = hashlib.sha256()
        for field in fields(self):
            values = getattr(self, field.name)
            content.update(f"{field.name} {len(values)}\n".encode())
            content.update("\n".join(map(str, values)).encode())
        return {"variants": len(self), "sha256": content.hexdigest()}

    def select(self, which: Any) -> Sites:
        """Keep some variants: a slice, a list of places or a mask."""
        return Sites(*(picked(getattr(self, field.name), which) for field in fields(self)))

    @classmethod
    def concatenate(cls, parts: Sequence[Sites]) -> Sites:
        """Put lists one after the other; what one of them does not know is left empty."""
        columns = []
        for field in fields(cls):
            pieces = [getattr(part, field.name) for part in parts]
            whole = all(len(piece) == len(part) for piece, part in zip(pieces, parts, strict=True))
            columns.append(tuple(chain.from_iterable(pieces)) if whole else ())
        return cls(*columns)

    @classmethod
    def read(cls, path: str | Path) -> Sites:
        """Read a list with a header line."""
        lines = public_lines(path)
        split = splitter(lines[0])
        header = [word.strip().lower() for word in split(lines[0])]
        header = [SYNONYMS.get(word, word) for word in header]
        if "snp" not in header or len(set(header)) < len(header):
            raise FileProblem(
                f"{path} begins with the columns {header}, but a list of variants needs a header "
                f"line with the column snp, and may have {', '.join(list(COLUMNS)[1:])}."
            )
        rows = [split(line) for line in lines[1:]]
        if any(len(row) != len(header) for row in rows):
            raise FileProblem(
                f"{path} has lines with more or fewer columns than its header names, but every "
                "line needs one word for each. Check its separators."
            )
        columns = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {"snp": ()}
        return cls(**{COLUMNS[word]: columns[word] for word in COLUMNS if word in columns}).typed(
            path
        )

    def typed(self, path: str | Path) -> Sites:
        """Turn positions into whole numbers."""
        try:
            positions = tuple(map(int, self.positions))
        except ValueError:
            raise FileProblem(
                f"{path} has positions that are not whole numbers, but each must be one: the "
                "variant's place on its chromosome."
            ) from None
        return Sites(
            self.names, self.chromosomes, positions, self.counted, self.other, self.reference
        )


def picked(values: tuple[Any, ...], which: Any) -> tuple[Any, ...]:
    """Take some of the values."""
    if not values or isinstance(which, slice):
        return values[which] if values else ()
    places = which.tolist() if hasattr(which, "tolist") else list(which)
    if places and isinstance(places[0], bool):
        return tuple(compress(values, places))
    return tuple(values[place] for place in places)


def check_unique(names: Iterable[str]) -> None:
    """Refuse a list that names a variant twice: it would be tested, and paid for, twice."""
    listed, seen = list(names), set()
    if len(set(listed)) == len(listed):
        return
    for name in listed:
        if name in seen:
            raise SchemaError(
                f"Variant {name!r} is listed twice, but every id must be unique, because each "
                "variant is counted once. Give the copies ids of their own, or remove them."
            )
        seen.add(name)


def splitter(header: str) -> Any:
    """Choose how a line is cut into words, from the header."""
    if "\t" in header:
        return lambda line: line.split("\t")
    if "," in header:
        return lambda line: [word.strip() for word in line.split(",")]
    return re.compile(r"\s+").split


def public_lines(path: str | Path) -> list[str]:
    """Read the lines of a public text file that are not blank."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read ({type(error).__name__}), but it must be a text file in "
            "UTF-8. Check the path."
        ) from None
    lines = [line.strip(" \r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise FileProblem(f"{path} is empty, but it must hold at least a header line.")
    return lines
