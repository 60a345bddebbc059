"""Read the competition's genotype files, of which a reader may have a copy.

A file begins with a line of ids, one for each person; then lines alternate: the id of a variant,
and one genotype of two letters for each person. Cases and controls are in separate files, told
apart by their names, each possibly in parts that hold different people. What the paper calls the
value of a variant is whether a person is heterozygous: with this coding its 63 significant
variants come out, with any other 20 to 26.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from noren.association import Tables
from noren.data.sites import Sites
from noren.errors import FileProblem

UNKNOWN = set("N0-.?")


def read_folder(folder: Path) -> Tables:
    """Count heterozygotes among cases and controls over all parts in a folder."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    found = {
        group: merged(read_part(path) for path in files if group in path.name.lower())
        for group in ("case", "control")
    }
    cases, controls = found["case"], found["control"]
    names = [name for name in cases[0] if name in controls[0]]
    if not names or not cases[1] or not controls[1]:
        raise FileProblem(
            f"{folder} holds no variants that both cases and controls have, but it must hold the "
            "competition's files, with 'case' or 'control' in their names."
        )
    a, b = ([group[0][name] for name in names] for group in (cases, controls))
    return Tables(a, b, cases[1], controls[1], sites=Sites(tuple(names)))


def read_part(path: Path) -> tuple[Counter[str], int]:
    """Count heterozygotes of each variant in one file, and the people in it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    people = len(lines[0].split())
    body = [line.split() for line in lines[1:] if line.strip()]
    if len(body) % 2 or any(len(name) != 1 for name in body[::2]):
        raise FileProblem(
            f"{path} does not alternate between the id of a variant and its genotypes, but after "
            "its first line it must."
        )
    counts: Counter[str] = Counter()
    for (name,), genotypes in zip(body[::2], body[1::2], strict=True):
        if len(genotypes) != people:
            raise FileProblem(
                f"{path} has lines with more or fewer genotypes than its first line has ids. "
                "Copy it again from its source."
            )
        counts[name] = sum(map(is_heterozygous, genotypes))
    return counts, people


def is_heterozygous(genotype: str) -> bool:
    """Tell two different letters.

    Examples
    --------
    >>> [is_heterozygous(g) for g in ("AG", "GG", "NN", "AN")]
    [True, False, False, False]
    """
    letters = set(genotype.upper())
    return len(letters) == 2 and not letters & UNKNOWN


def merged(parts: Iterable[tuple[Counter[str], int]]) -> tuple[Counter[str], int]:
    """Add up parts that hold different people at the same variants."""
    counts, people = Counter[str](), 0
    known: set[str] | None = None
    for part, many in parts:
        if known is not None and set(part) != known:
            raise FileProblem(
                "Parts of one group list different variants, but they must hold different people "
                "at the same variants. Put each set of variants into a folder of its own."
            )
        known = set(part)
        counts = Counter({name: counts[name] + part[name] for name in part})
        people += many
    return counts, people
