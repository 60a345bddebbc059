"""The statistic of the adjusted score test: encoded genotypes, read as often as they are needed.

Maths
    One pass over the rows adds up U, w'(g^2) and z of every variant, exactly, and how far one
    person may move its variance. A score at a threshold also needs who carries the variant among
    those with the largest residuals, so each threshold is one more pass, a light one: the rows are
    read again rather than kept. Never are all people by all variants in memory.

Privacy
    All of this is secret, as the genotypes are. A missing genotype counts as none: never as the
    study's mean, which everybody's rows decide. A score near a tie is computed in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from noren.association.counting import by_variants
from noren.association.null_model import NullModel
from noren.association.score_exact import Rule, exact_score
from noren.association.score_layout import Layout, read_dose_coding
from noren.association.statistic import Counts, Flags, Floats
from noren.data.bed import SPARE, Packed, VariantRange
from noren.engine import Engine, Progress, run
from noren.errors import ParameterError

FEW = 2**18  # genotypes, in at most so many variants, that need no compiler
FEW_VARIANTS = 256
TOGETHER = 2**24  # bytes of rows that share the tables of the sums


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Added:
    """What was added up of some variants, by their places in the file; `+` joins."""

    places: Counts
    sums: Counts
    measured: Floats

    def __add__(self, other: Added) -> Added:
        return Added(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.sums, other.sums]),
            np.concatenate([self.measured, other.measured]),
        )

    def __repr__(self) -> str:
        return f"Added({len(self.places)} variants)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Scored:
    """Scores of some variants, by their places in the file; `+` joins."""

    places: Counts
    scores: Counts

    def __add__(self, other: Scored) -> Scored:
        return Scored(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.scores, other.scores]),
        )

    def __repr__(self) -> str:
        return f"Scored({len(self.places)} variants)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HeldRows:
    """Packed rows that are held in memory, as a partition. Secret."""

    words: Any
    row_bytes: int
    start: int
    stop: int

    @property
    def id(self) -> str:
        """The piece's name."""
        return f"held#{self.start}-{self.stop}"

    def read(self) -> Iterator[Packed]:
        """Yield all rows at once."""
        yield Packed(self.words, self.start, self.stop - self.start)


@dataclass(frozen=True, eq=False, repr=False)
class GenotypeRows:
    """Hold where a study's genotypes can be read, and what is public about them.

    Parameters
    ----------
    layout : Layout
        The public model, laid out for the rows.
    pieces : sequence
        Partitions that yield packed rows.
    first_allele : array
        For each row of the file, whether the first allele is the counted one.
    wanted : array
        For each row of the file, whether it is asked about.
    workers, engine
        See `noren.engine.run`.
    """

    layout: Layout
    pieces: Sequence[VariantRange | HeldRows]
    first_allele: Flags
    wanted: Flags
    workers: int | None = None
    engine: Engine | None = None

    @classmethod
    def held(cls, model: NullModel, genotypes: Any, coding: str = "carrier") -> GenotypeRows:
        """Take genotypes from memory: one row for each variant, copies 0, 1 or 2 for each person.

        Examples
        --------
        >>> model = NullModel.fit([[1]] * 4, [1, 1, 0, 0])
        >>> GenotypeRows.held(model, [[0, 1, 2, 0], [0, 0, 0, 1]])
        GenotypeRows(2 variants, 4 people)
        """
        copies = read_copies(genotypes, model.people)
        layout = Layout(model, read_dose_coding(coding), np.arange(model.people), model.people)
        rows, row_bytes = len(copies), -(-model.people // 4)
        padded = np.zeros((rows, 4 * row_bytes), np.uint8)
        padded[:, : model.people] = np.array([0, 2, 3], np.uint8)[copies]
        packed = padded.reshape(rows, row_bytes, 4) @ np.array([1, 4, 16, 64], np.uint8)
        words = np.zeros(rows * row_bytes // 8 + SPARE, np.uint64)
        words.view(np.uint8)[: packed.size] = packed.ravel()
        pieces = (HeldRows(words, row_bytes, 0, rows),)
        return cls(layout, pieces, np.zeros(rows, bool), np.ones(rows, bool))

    def __len__(self) -> int:
        return int(self.wanted.sum())

    def __repr__(self) -> str:
        return f"GenotypeRows({len(self)} variants, {self.layout.model.people} people)"

    @property
    def is_small(self) -> bool:
        """Whether every score is computed in whole numbers from the start: a public fact."""
        rows = len(self.wanted)
        return rows <= FEW_VARIANTS and rows * self.layout.in_file <= FEW

    @cached_property
    def added(self) -> Added:
        """What was added up, in the order of the file."""
        return self.add_up(None)

    def counted(self, progress: Progress | None) -> GenotypeRows:
        """Read the genotypes once, and add up."""
        if not self.is_small:
            self.__dict__["added"] = self.add_up(progress)
        return self

    def add_up(self, progress: Progress | None) -> Added:
        """Add up every variant."""
        count = partial(added_up, self.layout, self.first_allele)
        return in_order(self.over_pieces(count, progress), self.wanted)  # type: ignore[no-any-return]

    def scores(self, tau: Fraction, floor: Fraction) -> Counts:
        """Give the score of every variant that is asked about."""
        rule = Rule(self.layout.model, tau, floor, self.layout.additive)
        if self.is_small:
            count: Any = partial(scored_exactly, self.layout, self.first_allele, rule)
        else:
            count = partial(scored, self.layout, self.first_allele, self.wanted, self.added, rule)
        return in_order(self.over_pieces(count, None), self.wanted).scores  # type: ignore[no-any-return]

    def over_pieces(self, count: Any, progress: Progress | None) -> Any:
        """Count every piece, and join what was counted."""
        told = None if progress is None else by_variants(progress, self.pieces)  # type: ignore[arg-type]
        return run(
            self.pieces, count, workers=self.workers, engine=self.engine, progress=told
        )  # fmt: skip


def read_copies(genotypes: Any, people: int) -> Counts:
    """Read secret copies of the counted allele; an error quotes none of them."""
    accepted = f"copies 0, 1 or 2 of an allele, one row for each variant, {people} in each"
    try:
        copies = np.asarray(genotypes)
    except (ValueError, TypeError):
        copies = np.asarray(None)
    copies = np.atleast_2d(copies)
    if copies.ndim != 2 or copies.shape[1] != people:
        raise ParameterError("genotypes", "of another shape", accepted)
    if copies.dtype.kind not in "iufb" or not np.isin(copies, (0, 1, 2)).all():
        raise ParameterError("genotypes", "not made of such numbers", accepted)
    return copies.astype(np.int64)


def in_order(joined: Any, wanted: Flags) -> Any:
    """Keep what was wanted, in the order of the file."""
    order = np.argsort(joined.places, kind="stable")
    order = order[wanted[joined.places[order]]]
    return type(joined)(*(getattr(joined, name)[order] for name in type(joined).__slots__))


def formed(layout: Layout, first_allele: Flags, block: Packed) -> Any:
    """Put a block's rows into the kernels' form, without the compiler."""
    row_bytes = -(-layout.in_file // 4)
    stored = block.words.view(np.uint8)[: block.rows * row_bytes].reshape(block.rows, row_bytes)
    equal = ~(stored ^ (stored >> 1)) & np.uint8(0x55)
    turned = stored ^ (equal | (equal << 1))
    first = first_allele[block.first : block.first + block.rows, None]
    return np.where(first, turned, stored)


def scored_exactly(
    layout: Layout, first_allele: Flags, rule: Rule, blocks: Iterable[Packed]
) -> Scored:
    """Score a partition in whole numbers."""
    places, found = [], []
    for block in blocks:
        rows = formed(layout, first_allele, block)
        places.append(np.arange(block.first, block.first + block.rows))
        found.append([exact_score(layout.model, layout.genotypes(row), rule) for row in rows])
    return Scored(np.concatenate(places), np.concatenate(found).astype(np.int64))


def added_up(layout: Layout, first_allele: Flags, blocks: Iterable[Packed]) -> Added:
    """Add up a partition, many rows at a time."""
    from noren.association import score_sums_kernel as kernel

    row_bytes = -(-layout.in_file // 4)
    room = max(1, TOGETHER // (8 * layout.row_words))
    rows = np.zeros((room, 8 * layout.row_words), np.uint8)
    parts, held, first = [], 0, None
    for block in blocks:
        taken = 0
        while taken < block.rows:
            first = block.first + taken if first is None else first
            many = min(room - held, block.rows - taken)
            stored = block.words.view(np.uint8)[taken * row_bytes :]
            marks = first_allele[block.first + taken : block.first + taken + many]
            kernel.put_in_form(stored, many, row_bytes, marks, rows, held)
            taken, held = taken + many, held + many
            if held == room:
                parts.append(added_rows(layout, rows[:held], first))
                held, first = 0, None
    if held and first is not None:
        parts.append(added_rows(layout, rows[:held], first))
    return Added(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.sums for part in parts]),
        np.concatenate([part.measured for part in parts]),
    )


def added_rows(layout: Layout, rows: Any, first: int) -> Added:
    """Add up rows in the kernels' form, and measure how far they may move."""
    from noren.association.score_change_kernel import measure
    from noren.association.score_sums_kernel import add_up

    lanes = layout.lanes
    sums, table = np.zeros((len(rows), lanes), np.int64), np.zeros((2048, lanes), np.int64)
    add_up(rows.view(np.uint64), layout.doses, layout.values, (0,) * lanes, table, sums)
    measured = np.empty((len(rows), 4))
    columns = (0,) * layout.model.columns
    measure(sums, layout.matrix, *layout.chunks, columns, layout.additive, measured)
    return Added(np.arange(first, first + len(rows)), sums, measured)


def scored(
    layout: Layout, first_allele: Flags, wanted: Flags, added: Added, rule: Rule,
    blocks: Iterable[Packed],
) -> Scored:  # fmt: skip
    """Score a partition whose sums are known."""
    from noren.association.score_search_kernel import search_all
    from noren.association.score_sums_kernel import put_in_form

    row_bytes = -(-layout.in_file // 4)
    one = 2.0**-rule.unit_bits
    public = (float(rule.tau), float(rule.floor), rule.cap * one, rule.drift * one)
    before = np.concatenate([[0], np.cumsum(wanted)])
    places, found = [], []
    for block in blocks:
        rows = np.zeros((block.rows, 8 * layout.row_words), np.uint8)
        stop = block.first + block.rows
        marks = first_allele[block.first : stop]
        put_in_form(block.words.view(np.uint8), block.rows, row_bytes, marks, rows, 0)
        asked = np.flatnonzero(wanted[block.first : stop])
        rows, known = rows[asked], slice(before[block.first], before[stop])
        scores, again = np.empty(len(rows), np.int64), np.empty(len(rows), bool)
        search_all(
            rows, added.sums[known], added.measured[known], layout.order, layout.signed,
            layout.longest, layout.doses, layout.whole, *public, scores, again,
        )  # fmt: skip
        for row in np.flatnonzero(again):
            scores[row] = exact_score(layout.model, layout.genotypes(rows[row]), rule)
        places.append(block.first + asked)
        found.append(scores)
    return Scored(np.concatenate(places), np.concatenate(found))
