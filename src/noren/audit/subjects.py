"""Every question of Noren, small: one example of each kind, and two neighbors that show most.

The audits that treat all questions alike run on these, and so do the tests of their forecasts. A
test finds the questions by itself and fails when one has no subject here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from noren.association import CaseControl, Decisions, DistanceScores, NoisyCounts, Tables, TopSnps
from noren.association.as_published import PublishedDecisions
from noren.collaboration import (
    GibbsLearner,
    GradientDescent,
    GramRegression,
    LogisticTraining,
    MomentLearner,
    OutputPerturbation,
    PublishedTraining,
    SoftmaxTraining,
    Task,
    TrainingRows,
    TunedTraining,
)
from noren.data import Numeric, Schema, fill
from noren.mechanisms import (
    Alternatives,
    BestCandidate,
    BestOfPrivate,
    BoundedMean,
    BoundedSum,
    CellCounts,
    Counts,
    RandomizedResponse,
    Responses,
    Scores,
    Sum,
)
from noren.noise.grid import Grid
from noren.privacy import LOCAL, Adjacency, Plan
from noren.reweighting import (
    AdaptiveMoments,
    BasisSums,
    EncodedRows,
    LogisticRatio,
    Moments,
    TableBasis,
)
from noren.reweighting.as_published import PublishedRatio
from noren.reweighting.as_published_sampled import PublishedCentresRatio
from noren.similarity import (
    BestRecord,
    NoisyScores,
    RandomizedRecords,
    Records,
    RowWeights,
    ScoreHistogram,
    ScorePairs,
    SimilarCount,
    TopSet,
)

WHOLE, SAMPLED = "whole", "sampled"
ADDED: dict[str, Any] = {"epsilon": 1, "adjacency": "add-remove"}
REPLACED: dict[str, Any] = {"epsilon": 1, "adjacency": "substitute"}
BIT: dict[str, Any] = {"epsilon": 1, "adjacency": "bit"}
LINE = Task.of_bounds([-1], [1], classes=("no", "yes"), intercept=0, scale=1)
WINDOW = 40  # two-sided geometric noise of scale 1 or 2 has next to nothing beyond

Pair: TypeAlias = Sequence[Any]  # of two


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One question at epsilon 1, and the statistics of two neighbors.

    Attributes
    ----------
    question, pair
        What is asked, and of what.
    window
        How far the open tails are followed where all outcomes can be enumerated; None where they
        cannot be.
    priced
        Fields of the question that hold its price, all multiplied when the price is.
    shown
        What of an answer is looked at; its record when left out.
    draws
        A factor on the number of draws: below 1 where an answer takes long.
    wider
        Two data sets that are neighbors only when a record may be replaced: what they cost under a
        price for an added record is the factor 2.
    close
        Two neighbors of which one has a tie: what doubles lose of a rare choice shows there.
    in_integers
        Whether it draws by whole numbers without end, so that no double stands for a chance.
    """

    question: Any
    pair: Pair
    window: int | None = None
    priced: tuple[str, ...] = ("epsilon",)
    shown: Callable[[Any], Any] | None = None
    draws: float = 1.0
    wider: Pair | None = None
    close: Pair | None = None
    in_integers: bool = False

    @property
    def kind(self) -> str:
        """Name the question."""
        return str(self.question.kind)

    def costing(self, factor: int) -> Any:
        """Give the same question at a multiple of its price: so much less noise."""
        changed = {name: factor * getattr(self.question, name) for name in self.priced}
        return replace(self.question, **changed)

    def look(self, answer: Any) -> Any:
        """Give the released part of an answer."""
        if self.shown is not None:
            return self.shown(answer)
        return {name: part for name, part in answer.record().items() if name != "secure"}


def subjects() -> dict[str, Subject]:
    """Give every subject by its kind."""
    every = (*generic(), *association(), *reweighting(), *similarity(), *collaboration())
    return {subject.kind: subject for subject in every}


def generic() -> tuple[Subject, ...]:
    """Give the questions that belong to no capability."""
    count = CellCounts(cells=("a",), **ADDED)
    grid = Grid(exponent=0, low=0, high=1, missing=0)
    totals = tuple(Sum.of([1.0] * n, grid) for n in (2, 1))
    signed = Grid(exponent=0, low=-1, high=1, missing=0)
    sums = tuple(Sum.of([1.0] * n, signed) for n in (2, 1))
    opposite = tuple(Sum.of([value], signed) for value in (1.0, -1.0))
    one, two, other = (Counts.of(np.zeros(n, int), 1) for n in (1, 2, 0))
    halves = (replace(count, epsilon=Fraction(1, 2)),) * 2
    ballots = tuple(Scores.of(np.array(rows), (0, 1)) for rows in ([[0, 1]] * 2, [[0, 1]]))
    candidate = BestCandidate(candidates=("x", "y"), bounds=(0, 1), **ADDED)
    cheap = replace(candidate, epsilon=Fraction(1, 3))
    several = tuple(Alternatives((scores, scores)) for scores in ballots)
    nobody = Scores.of(np.zeros((0, 2), int), (0, 1))
    swapped = tuple(Scores.of(np.array([row]), (0, 1)) for row in ([0, 1], [1, 0]))
    asked = RandomizedResponse(
        categories=("no", "yes", "?"), adjacency=Adjacency(LOCAL), epsilon=Fraction(1)
    )
    said = tuple(Responses(np.array([code])) for code in (0, 1))
    return (
        Subject(question=count, pair=(two, one), window=WINDOW),
        Subject(question=BoundedSum(grid=signed, **ADDED), pair=sums, window=WINDOW,
                wider=opposite),
        Subject(question=BoundedMean(grid=grid, **REPLACED, records=2), window=WINDOW,
                pair=(totals[0], Sum.of([1.0, 0.0], grid))),
        Subject(question=candidate, pair=ballots, window=0, wider=swapped,
                close=(ballots[1], nobody)),
        Subject(question=asked, pair=said, window=0),
        Subject(question=BestOfPrivate(candidates=(cheap, cheap), score="index", g=Fraction(1, 2)),
                pair=several, priced=()),
        Subject(question=Plan(questions=halves, delta=Fraction(0)),
                pair=((one, one), (other, other)), window=30, priced=(),
                shown=lambda answer: [part.values for part in answer.answers]),
    )  # fmt: skip


def association() -> tuple[Subject, ...]:
    """Give the questions of a scan: six cases, six controls."""
    design = CaseControl(cases=6, controls=6)
    one: dict[str, Any] = {"design": design, "variants": 1, "epsilon": 1}
    tau = Fraction(2)
    border = tuple(Tables([a], [1], 6, 6) for a in (4, 3))
    three = tuple(Tables(a, b, 6, 6) for a, b in (([6, 5, 0], [1, 1, 0]), ([5, 6, 1], [1, 1, 0])))
    published = PublishedDecisions(design=design, variants=1, epsilon_per_test=Fraction(1),
                                   tau=tau, method="unit-circle-tight")  # fmt: skip
    best = TopSnps(
        design=design, variants=3, top=1, epsilon=Fraction(1), tau=Fraction(3), method="set"
    )
    return (
        Subject(question=DistanceScores(**one, mode="agreement", tau=tau), pair=border, window=40),
        Subject(question=Decisions(**one, tau=tau), pair=border, window=40),
        Subject(question=NoisyCounts(**one), pair=border, window=14),
        Subject(question=best, pair=three, window=0, in_integers=True),
        Subject(question=published, window=0, priced=("epsilon_per_test",),
                pair=tuple(Tables([a], [3], 6, 6) for a in (6, 5))),
    )  # fmt: skip


def reweighting() -> tuple[Subject, ...]:
    """Give the questions of reweighting, with a public table of six rows."""
    public = np.array([[-1.0, 0.2], [-0.3, 0.9], [0.4, -0.8], [1.1, 0.1], [0.6, 1.4], [-0.7, -0.5]])
    basis = TableBasis.of(public[:, :1])
    rows = tuple(BasisSums.of(np.array(table), basis) for table in ([[9.0]] * 2, [[9.0]]))
    ends = tuple(EncodedRows.of(table) for table in ([[-1.0], [-1.0]], [[-1.0], [1.0]]))
    far = tuple(EncodedRows.of([[9.0, 9.0], [x, 9.0]]) for x in (9.0, -9.0))
    box = np.array([[-1.0, 1.0]])
    centres: dict[str, Any] = {"sigma": 0.2, "ridge": 0.1, **REPLACED, "records": 2}
    adaptive = AdaptiveMoments(public=public, **REPLACED, records=2)
    return (
        Subject(question=Moments(basis=basis, **ADDED), pair=rows, shown=lambda it: it.steps),
        Subject(question=PublishedRatio(centres=np.array([[-1.0], [1.0]]), **centres), pair=ends,
                shown=lambda it: it.steps),
        Subject(question=PublishedCentresRatio(box=box, centres=2, **centres), pair=ends,
                shown=lambda it: list(it.record().values())),
        Subject(question=LogisticRatio(public=public, ridge=Fraction(1, 10), **REPLACED, records=2),
                pair=far, shown=lambda it: it.steps),
        Subject(question=adaptive, pair=far, shown=first_stage),
    )  # fmt: skip


def first_stage(release: Any) -> list[float]:
    """Give the released numbers of an adaptive release's first stage."""
    first = release.stages[0]
    return [float(sum(first.places)), *map(float, first.release.steps)]


def similarity() -> tuple[Subject, ...]:
    """Give the questions about records of two bits."""
    none, some, full = (Records.of([bits, "00"]) for bits in ("00", "10", "11"))
    one, two = ("0",), ("0", "1")
    alone, record = (
        tuple(Records.of([bits]) for bits in pair) for pair in (("10", "00"), ("11", "00"))
    )
    return (
        Subject(question=NoisyScores(query=one, **BIT), pair=alone, window=WINDOW,
                shown=lambda it: it.scores()),
        Subject(question=BestRecord(query=two, **BIT), pair=(full, some), window=0,
                wider=(full, none), close=(some, none)),
        Subject(question=TopSet(query=two, k=1, **BIT), pair=(full, some), window=0,
                wider=(full, none), in_integers=True),
        Subject(question=RandomizedRecords(**BIT), pair=alone, window=2, wider=record),
        Subject(question=ScorePairs(query=one, n_columns=2, **BIT), pair=alone, window=14,
                wider=record),
        Subject(question=RowWeights(n_columns=2, **BIT), pair=alone, window=WINDOW, wider=record),
        Subject(question=SimilarCount(query=one, threshold=1, **REPLACED), pair=alone,
                window=WINDOW),
        Subject(question=ScoreHistogram(query=one, **REPLACED), pair=alone, window=16),
    )  # fmt: skip


def collaboration() -> tuple[Subject, ...]:
    """Give the ways to train: one row against none, or against its opposite."""
    row = TrainingRows.of(LINE, {"x0": [1.0], "y": ["yes"]})
    none, opposite = TrainingRows.empty(LINE), TrainingRows.of(LINE, {"x0": [1.0], "y": ["no"]})
    given: dict[str, Any] = {"task": LINE, **ADDED, "size": 1}
    swapped = {**given, "adjacency": "substitute"}
    classes = Task.of_bounds([-1], [1], classes=("a", "b", "c"), intercept=0, scale=1)
    third = TrainingRows.of(classes, {"x0": [1.0], "y": ["a"]})
    number = Task(
        Schema([Numeric(name="x", lower=-1, upper=1, missing=fill(0))]),
        Numeric(name="y", lower=-1, upper=1, missing=fill(0)), intercept=0, scale=1,
    )  # fmt: skip
    measured = TrainingRows.of(number, {"x": [1.0], "y": [1.0]})
    learners = GibbsLearner(task=LINE, learners=np.array([[1.0], [-1.0]]), **ADDED)
    tried = TunedTraining(
        **{**given, "size": 4}, candidates=(("moments", None), ("objective", 4.0))
    )
    descent = GradientDescent(**given, steps=2)
    return (
        Subject(question=LogisticTraining(**given), pair=(row, none), shown=coefficients),
        Subject(question=SoftmaxTraining(**{**given, "task": classes}), shown=coefficients,
                pair=(third, TrainingRows.empty(classes))),
        Subject(question=descent, pair=(row, none), shown=coefficients),
        Subject(question=MomentLearner(**given), pair=(row, none), shown=coefficients),
        Subject(question=OutputPerturbation(**given, ridge=10), pair=(row, none),
                shown=coefficients),
        Subject(question=GramRegression(**{**given, "task": number}), shown=coefficients,
                pair=(measured, TrainingRows.empty(number))),
        Subject(question=tried, pair=(row, none), shown=coefficients),
        Subject(question=PublishedTraining(**swapped, variant="cms"), pair=(row, opposite),
                shown=coefficients),
        Subject(question=learners, pair=(row, none), window=0),
    )  # fmt: skip


def coefficients(answer: Any) -> Any:
    """Give the released numbers of a model."""
    return answer.coefficients
