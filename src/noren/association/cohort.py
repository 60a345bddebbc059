"""Generated cohorts: PLINK files with planted hits, for demonstrations, tests and benchmarks.

Maths
    A variant has one allele rate p; each person draws two alleles. Within a block of linked
    variants an allele is a copy of the neighbor's with probability `correlation`, else drawn anew,
    so neighbors correlate by just that. At a hit, carriers are a fraction c + delta m2/N of the
    cases and c - delta m1/N of the controls, with delta = z sqrt(c (1-c) (1/m1 + 1/m2)) for a
    planted z, so that chi-squared of the carrier coding is about z^2. A hit sits in the middle of
    its block, and its neighbors share it as far as they are linked.
    Bits of rate k/256 are made 64 at a time: from the lowest binary digit of the rate up, `or` a
    random word where the digit is 1, `and` it where it is 0.

Everything here is public: whoever has the seed can make the same files. No person is in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.association.statistic import Flags, Floats, group_size
from noren.data.bed import HEADER, MAGIC, VARIANT_MAJOR, write_bim
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import probability, whole

Words: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

LOWER = np.uint64(0x5555555555555555)  # one bit of each person's pair
COARSE, FINE = 8, 16  # binary digits of the rates of ordinary variants and of hits
CHUNK_WORDS = 1 << 16  # of one array at work
BASES_APART, BLOCKS_APART = 1_000, 100_000
LONGEST = 2_000_000_000  # bases of a chromosome; PLINK reads positions below 2^31


@dataclass(frozen=True, slots=True)
class SimulatedCohort:
    """Say where the files are and what was planted."""

    path: Path
    hits: tuple[str, ...]
    strengths: tuple[float, ...]
    loci: Path


def simulate(
    path: str | Path,
    *,
    cases: int,
    controls: int,
    variants: int,
    seed: int,
    hits: int = 20,
    block: int = 1,
    correlation: float = 0.95,
    missing: float = 0.01,
    rates: tuple[float, float] = (0.05, 0.5),
    strengths: tuple[float, float] = (5.5, 12.0),
) -> SimulatedCohort:
    """Write `path`.bed, .bim and .fam, a map of the blocks (.loci) and the planted hits (.hits).

    Parameters
    ----------
    path
        What the files' names have in common.
    cases, controls, variants
        The size of the study.
    seed
        Decides everything; there is no default.
    hits
        How many whole blocks hold a planted hit.
    block
        Linked variants in a block; 1 makes all variants independent.
    correlation
        Between neighbors in a block.
    missing
        The share of missing genotypes.
    rates
        Between which the rates of the counted allele lie.
    strengths
        The planted z, evenly spaced between these.
    """
    plan = Plan.read(cases, controls, variants, seed, hits, block, correlation, missing)
    stem = Path(path)
    stem.parent.mkdir(parents=True, exist_ok=True)
    allele_rates = plan.random.uniform(*rates, plan.blocks)
    hit_blocks = np.sort(plan.random.permutation(variants // plan.block)[: plan.hits])
    planted = dict(zip(hit_blocks.tolist(), np.linspace(*strengths, plan.hits), strict=True))
    write_bed(with_suffix(stem, ".bed"), plan, allele_rates, planted)
    sites, labels = sites_of(plan)
    write_bim(with_suffix(stem, ".bim"), sites)
    write_fam(with_suffix(stem, ".fam"), plan.is_case)
    names = tuple(sites.names[plan.center(hit)] for hit in planted)
    lines = (f"{name}\t{label}\n" for name, label in zip(sites.names, labels, strict=True))
    loci = with_suffix(stem, ".loci")
    with loci.open("w", encoding="utf-8") as file:
        file.writelines(chain(("snp\tlocus\n",), lines))
    with_suffix(stem, ".hits").write_text("".join(f"{name}\n" for name in names), "utf-8")
    return SimulatedCohort(stem, names, tuple(map(float, planted.values())), loci)


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of a cohort, who is a case, and the generator."""

    people: int
    variants: int
    block: int
    hits: int
    correlation: float
    missing: float
    is_case: Flags
    random: Any  # a NumPy generator

    @classmethod
    def read(
        cls, cases: int, controls: int, variants: int, seed: int, hits: int, block: int,
        correlation: float, missing: float,
    ) -> Plan:  # fmt: skip
        """Check the sizes; people of both groups are mixed at random."""
        m1, m2 = group_size("cases", cases), group_size("controls", controls)
        size, many = whole("block", block, 1), whole("variants", variants, 1)
        random = generator(seed)
        is_case = random.permutation(m1 + m2) < m1
        copied, gone = probability("correlation", correlation), probability("missing", missing)
        planted = whole("hits", hits, 0)
        plan = cls(m1 + m2, many, size, planted, float(copied), float(gone), is_case, random)
        if plan.hits > plan.variants // plan.block:
            whole_blocks = plan.variants // plan.block
            raise ParameterError(
                "hits", hits, f"at most {whole_blocks}, the number of whole blocks",
                "Use smaller blocks.",
            )  # fmt: skip
        return plan

    @property
    def blocks(self) -> int:
        """How many blocks there are; the last may be shorter."""
        return -(-self.variants // self.block)

    @property
    def words(self) -> int:
        """How many words of 32 people a row needs."""
        return -(-self.people // 32)

    def center(self, block: int) -> int:
        """Give the place of the variant in a block's middle."""
        return block * self.block + self.block // 2


def write_bed(path: Path, plan: Plan, rates: Floats, planted: dict[int, float]) -> None:
    """Write the genotypes, some blocks at a time."""
    row_bytes = -(-plan.people // 4)
    present = pairs_of(np.ones(plan.people, bool))
    together = max(1, CHUNK_WORDS // (plan.words * plan.block))
    with path.open("wb") as file:
        file.write(MAGIC + bytes([VARIANT_MAJOR]))
        for first in range(0, plan.blocks, together):
            alleles = linked(plan, rates[first : first + together], first, planted)
            stored = as_stored(plan, alleles) & present
            rows = stored.reshape(-1, plan.words).astype("<u8", copy=False).view(np.uint8)
            left = plan.variants - first * plan.block
            file.write(np.ascontiguousarray(rows[:left, :row_bytes]).data)
    assert path.stat().st_size == HEADER + plan.variants * row_bytes


def linked(plan: Plan, rates: Floats, first: int, planted: dict[int, float]) -> Words:
    """Draw the alleles of some blocks: from the middle of each outwards, mostly copies."""
    shape = (len(rates), plan.block, plan.words)
    alleles = np.empty(shape, np.uint64)
    middle = plan.block // 2
    alleles[:, middle] = bits(plan, rates, plan.words, COARSE)
    for place, rate in enumerate(rates.tolist()):
        if first + place in planted:
            alleles[place, middle] = hit_alleles(plan, rate, planted[first + place])
    for j in [*range(middle - 1, -1, -1), *range(middle + 1, plan.block)]:
        neighbor = alleles[:, j + 1 if j < middle else j - 1]
        fresh = bits(plan, rates, plan.words, COARSE)
        copied = bits(plan, np.full(len(rates), plan.correlation), plan.words, COARSE)
        alleles[:, j] = (neighbor & copied) | (fresh & ~copied)
    return alleles


def hit_alleles(plan: Plan, rate: float, z: float) -> Words:
    """Draw the alleles of a hit: more of them among the cases."""
    m1 = int(plan.is_case.sum())
    m2 = plan.people - m1
    carriers = 1 - (1 - rate) ** 2
    delta = z * np.sqrt(carriers * (1 - carriers) * (1 / m1 + 1 / m2))
    share = np.array([carriers + delta * m2 / plan.people, carriers - delta * m1 / plan.people])
    both = bits(plan, 1 - np.sqrt(1 - np.clip(share, 0.001, 0.999)), plan.words, FINE)
    among_cases = pairs_of(plan.is_case)
    chosen: Words = (both[0] & among_cases) | (both[1] & ~among_cases)
    return chosen


def bits(plan: Plan, rates: Floats, words: int, digits: int) -> Words:
    """Draw words of independent bits, one row for each rate, the rate to so many binary digits."""
    whole_rates = np.rint(rates * 2**digits).astype(np.int64)
    drawn = np.zeros((len(rates), words), np.uint64)
    for digit in range(digits):
        one = -((whole_rates >> digit) & 1).astype(np.uint64)[:, None]  # all ones, or none
        random = plan.random.integers(0, 2**64, drawn.shape, dtype=np.uint64)
        drawn = (drawn & random) | ((drawn | random) & one) if digit else random & one
    drawn[whole_rates == 2**digits] = ~np.uint64(0)
    return drawn


def as_stored(plan: Plan, alleles: Words) -> Words:
    """Turn pairs of alleles into the pairs of a `.bed`, some of them missing."""
    first, second = alleles & LOWER, (alleles >> np.uint64(1)) & LOWER
    low, high = LOWER & ~(first | second), LOWER & ~(first & second)
    if plan.missing:
        shares = np.full(alleles.shape[0] * alleles.shape[1], plan.missing)
        gone = bits(plan, shares, plan.words, COARSE).reshape(alleles.shape) & LOWER
        low, high = low | gone, high & ~gone
    return low | (high << np.uint64(1))


def pairs_of(members: Flags) -> Words:
    """Mark both bits of the pair of each person."""
    padded = np.zeros(-(-len(members) // 32) * 32, np.uint64)
    padded[: len(members)] = members
    shifts = np.arange(0, 64, 2, dtype=np.uint64)
    one = (padded.reshape(-1, 32) << shifts).sum(axis=1, dtype=np.uint64)
    both: Words = one | (one << np.uint64(1))
    return both


def sites_of(plan: Plan) -> tuple[Sites, list[str]]:
    """Name the variants, spread over 22 chromosomes, and say to which locus each belongs."""
    per_chromosome = -(-plan.blocks // 22)
    length = min(BLOCKS_APART + plan.block * BASES_APART, LONGEST // per_chromosome)
    apart = min(BASES_APART, length // plan.block)
    blocks = [place // plan.block for place in range(plan.variants)]
    inside = [place % plan.block for place in range(plan.variants)]
    positions = tuple(
        1 + (number % per_chromosome) * length + j * apart
        for number, j in zip(blocks, inside, strict=True)
    )
    count = plan.variants
    names = tuple(f"rs{place + 1}" for place in range(count))
    chromosomes = tuple(str(1 + number // per_chromosome) for number in blocks)
    sites = Sites(names, chromosomes, positions, ("A",) * count, ("G",) * count)
    return sites, [f"locus{number + 1}" for number in blocks]


def write_fam(path: Path, is_case: Flags) -> None:
    """Write the people, with their phenotypes."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(
            f"family{i + 1}\tperson{i + 1}\t0\t0\t{1 + i % 2}\t{2 if case else 1}\n"
            for i, case in enumerate(is_case.tolist())
        )


def with_suffix(stem: Path, suffix: str) -> Path:
    """Add an ending to a name that may hold dots."""
    return stem.with_name(stem.name + suffix)
