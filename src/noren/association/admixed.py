"""Generated cohorts with structure: ancestry, sex, batch and age go with the disease.

Maths
    A person's share of the second of two ancestries is q ~ Beta(1/2, 1/2); sex is one of two,
    batch one of three, age normal. The liability is structure (q - 1/2) + 0.4 sex + 0.4 batch +
    0.3 age (each centered) plus logistic noise; the people of highest liability are the cases. A
    variant has an ancestral rate p, and in the two populations rates from
    Beta(p (1-F)/F, (1-p) (1-F)/F); a person draws two alleles at the mean of these, weighted by q.
    At a hit the log-odds of an allele are shifted by beta for cases against controls, beta chosen
    so that the score test of the allele has about the planted z. So a variant that has nothing to
    do with the disease differs between cases and controls through ancestry, and an unadjusted scan
    finds it.

Everything here is public: whoever has the seed can make the same files. No person is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from noren.association.cohort import with_suffix
from noren.association.statistic import Flags, Floats, group_size
from noren.data.bed import MAGIC, VARIANT_MAJOR, write_bim
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import probability, whole

Doses: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"

BANDS, BATCHES = 4, 3
SEX_EFFECT, BATCH_EFFECT, AGE_EFFECT = 0.4, 0.4, 0.3
RATES = (0.05, 0.5)
STRENGTHS = (5.5, 12.0)
STORED = np.array([3, 2, 0], np.uint8)  # the pair of bits for no copy, one, two
AT_ONCE = 1 << 22  # alleles drawn together
PER_CHROMOSOME = 1_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class People:
    """What is public of generated people: covariates and status."""

    ancestry: Floats
    sex: Any
    batch: Any
    age: Floats
    is_case: Flags

    def __repr__(self) -> str:
        return f"People({len(self.age)} simulated)"

    @property
    def band(self) -> Any:
        """The quarter of ancestry that a person reports, from 0 to 3."""
        cuts = np.quantile(self.ancestry, np.arange(1, BANDS) / BANDS)
        return np.searchsorted(cuts, self.ancestry, side="right")

    @property
    def cell(self) -> Any:
        """Ancestry, sex and batch together, from 0 to 23."""
        return (self.band * 2 + self.sex) * BATCHES + self.batch

    @property
    def table(self) -> Floats:
        """The covariates as columns: one, ancestry, sex, two batches, age."""
        columns = [np.ones(len(self.age)), self.ancestry, self.sex, self.batch == 1,
                   self.batch == 2, self.age]  # fmt: skip
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


@dataclass(frozen=True, slots=True)
class AdmixedCohort:
    """Say where the files are and what was planted."""

    path: Path
    hits: tuple[str, ...]
    strengths: tuple[float, ...]
    covariates: Path


def draw_people(
    random: Any, cases: int, controls: int, structure: float, others: float = 1.0
) -> People:
    """Draw covariates, and who of these people are the cases.

    `others` scales what sex, batch and age do to the liability.

    Examples
    --------
    >>> people = draw_people(generator(1), 30, 70, 3.0)
    >>> people, int(people.is_case.sum()), people.table.shape
    (People(100 simulated), 30, (100, 6))
    """
    count = group_size("cases", cases) + group_size("controls", controls)
    ancestry, age = random.beta(0.5, 0.5, count), random.normal(0, 1, count)
    sex, batch = random.integers(0, 2, count), random.integers(0, BATCHES, count)
    rest = SEX_EFFECT * (sex - 0.5) + BATCH_EFFECT * (batch - 1) + AGE_EFFECT * age
    liability = structure * (ancestry - 0.5) + others * rest + random.logistic(0, 1, count)
    is_case = np.zeros(count, bool)
    is_case[np.argsort(-liability, kind="stable")[:cases]] = True
    return People(ancestry, sex, batch, age, is_case)


def draw_doses(
    random: Any, people: People, rates: Floats, shifts: Floats, apart: float, copies: int = 2
) -> Iterator[Doses]:
    """Draw the genotypes of some variants at a time: counted alleles, a row for each variant.

    Parameters
    ----------
    random
        A public generator.
    people
        Who they are.
    rates, shifts
        The ancestral rate of each variant, and by how much the log-odds of its allele differ
        between cases and controls (0: it has nothing to do with the disease).
    apart
        F, how far the two populations have drifted apart.
    copies
        How many alleles a person draws: 2, or 1 where the rates are those of carriers.
    """
    count = len(people.age)
    centered = people.is_case - people.is_case.mean()
    together = max(1, AT_ONCE // (2 * count))
    for first in range(0, len(rates), together):
        p = rates[first : first + together]
        spread = (1 - apart) / apart
        one, two = (random.beta(p * spread, (1 - p) * spread)[:, None] for _ in range(2))
        mean = (1 - people.ancestry) * one + people.ancestry * two
        moved = np.exp(shifts[first : first + together, None] * centered)
        chance = np.float32(mean * moved / (1 - mean + mean * moved))
        drawn = random.random((copies, *chance.shape), dtype=np.float32) < chance
        yield drawn.sum(axis=0, dtype=np.uint8)


def shifts_for(strengths: Floats, rates: Floats, people: People, copies: int = 2) -> Floats:
    """Give the shifts of log-odds that make a test of the allele, within cells, so strong."""
    sizes = np.bincount(people.cell)
    cases = np.bincount(people.cell, weights=people.is_case)
    varied = float((cases * (1 - cases / np.maximum(sizes, 1))).sum())
    information = varied * copies * rates * (1 - rates)
    return np.asarray(strengths / np.sqrt(information))


def simulate_admixed(
    path: str | Path,
    *,
    cases: int,
    controls: int,
    variants: int,
    seed: int,
    hits: int = 20,
    structure: float = 3.0,
    apart: float = 0.05,
    rates: tuple[float, float] = RATES,
    strengths: tuple[float, float] = STRENGTHS,
) -> AdmixedCohort:
    """Write `path`.bed, .bim, .fam, a table of covariates (.covariates) and the hits (.hits).

    Parameters
    ----------
    path
        What the files' names have in common.
    cases, controls, variants
        The size of the study.
    seed
        Decides everything; there is no default.
    hits
        How many variants go with the disease beyond what the covariates explain.
    structure
        By how much the log-odds of the disease differ between the two ancestries.
    apart
        F, how far the populations have drifted apart.
    rates
        Between which the ancestral rates of the counted alleles lie.
    strengths
        The planted z, evenly spaced between these.
    """
    many, planted = whole("variants", variants, 1), whole("hits", hits, 0)
    if planted > many:
        raise ParameterError("hits", hits, f"at most {many}, the number of variants")
    drift = float(probability("apart", apart))
    if not 0 < drift < 1:
        raise ParameterError("apart", apart, "above 0 and below 1", "0.05 is usual.")
    random, stem = generator(seed), Path(path)
    stem.parent.mkdir(parents=True, exist_ok=True)
    people = draw_people(random, cases, controls, float(structure))
    own_rates, places = random.uniform(*rates, many), random.permutation(many)[:planted]
    strong = np.linspace(*strengths, planted)
    shifts = np.zeros(many)
    shifts[places] = shifts_for(strong, own_rates[places], people)
    with with_suffix(stem, ".bed").open("wb") as file:
        file.write(MAGIC + bytes([VARIANT_MAJOR]))
        for doses in draw_doses(random, people, own_rates, shifts, drift):
            file.write(packed(doses).data)
    sites = sites_of(many)
    write_bim(with_suffix(stem, ".bim"), sites)
    write_people(stem, people)
    order = np.argsort(places)
    names = tuple(sites.names[place] for place in places[order])
    with_suffix(stem, ".hits").write_text("".join(f"{name}\n" for name in names), "utf-8")
    covariates = with_suffix(stem, ".covariates")
    return AdmixedCohort(stem, names, tuple(strong[order].tolist()), covariates)


def packed(doses: Doses) -> Doses:
    """Turn counts of alleles into rows of a `.bed`."""
    pairs = np.zeros((len(doses), -(-doses.shape[1] // 4) * 4), np.uint8)
    pairs[:, : doses.shape[1]] = STORED[doses]
    four = pairs.reshape(len(doses), -1, 4) << np.array([0, 2, 4, 6], np.uint8)
    return np.ascontiguousarray(np.bitwise_or.reduce(four, axis=2))


def sites_of(count: int) -> Sites:
    """Name the variants, evenly spread over as many chromosomes as they fill."""
    per = max(PER_CHROMOSOME, -(-count // 22))
    return Sites(
        tuple(f"rs{place + 1}" for place in range(count)),
        tuple(str(1 + place // per) for place in range(count)),
        tuple(1 + 10_000 * (place % per) for place in range(count)),
        ("A",) * count,
        ("G",) * count,
    )


def write_people(stem: Path, people: People) -> None:
    """Write the people with their phenotypes, and their covariates."""
    rows = zip(
        people.is_case.tolist(), people.band.tolist(), people.sex.tolist(), people.batch.tolist(),
        people.age.tolist(), people.ancestry.tolist(), strict=True,
    )  # fmt: skip
    fam, table = [], ["FID IID band sex batch age ancestry"]
    for i, (case, band, sex, batch, age, share) in enumerate(rows, 1):
        fam.append(f"family{i}\tperson{i}\t0\t0\t{1 + sex}\t{2 if case else 1}")
        words = f"quarter{band + 1} {'female' if sex else 'male'} batch{batch + 1}"
        table.append(f"family{i} person{i} {words} {55 + 10 * age:.1f} {share:.4f}")
    for ending, lines in ((".fam", fam), (".covariates", table)):
        with_suffix(stem, ending).write_text("\n".join(lines) + "\n", "utf-8")
