"""Which question to ask, by a public rule, and what to expect from it, before anything is spent.

Maths (d columns, s = n epsilon; the first that applies)
    d <= 3                       kriging of a normalized basis
    more than half categorical   whitened moments of order 1 where their pv is at most 0.1 (and
                                 for an epsilon at most 30 of them), else tables of all columns
    s >= 1000                    adaptive
    else                         whitened moments of the highest order with pv <= 0.1, or order 1
                                 with pv <= 0.4; else kriging

    pv = p v, the expected squared noise where the public spread is 1 per coordinate.
    Direct answers: k counting queries that share the price have the noise sqrt(2) k / (n epsilon)
    each, or sqrt(k / (2 rho)) / n. Kriging's own standard error for one half of the public table,
    which needs no release, says for how many queries that is less.

Privacy
    Chosen from the price, the public table, its columns, and the public number of private rows or
    its order of magnitude: never from the private table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.mechanisms.additive import read_price
from noren.mechanisms.ball import MOST
from noren.mechanisms.wording import neighbours
from noren.privacy import ADD_REMOVE, SUBSTITUTE
from noren.question import Forecast
from noren.reweighting.adaptive import AdaptiveMoments, read_about
from noren.reweighting.adaptive_plan import FEWEST_COLUMNS
from noren.reweighting.coded_columns import CodedColumn, read_columns
from noren.reweighting.direct import Direct, compared
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.moments import Moments, read_records
from noren.reweighting.public_basis import (
    ENOUGH,
    how_many_centres,
    price_as_epsilon,
    settled_basis,
)
from noren.reweighting.rows import Floats, public_matrix
from noren.reweighting.statistic import BasisSums
from noren.reweighting.table_basis import TableBasis
from noren.reweighting.whitened_basis import WhitenedBasis

METHODS = ("auto", "kriging", "ridge", "calibration", "rake", "adaptive")
LARGEST_PV = 0.1
MARGINAL_PV = 0.4  # above it kriging came closer on a real table with many levels and gaps


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeightPlan:
    """A question that is ready to be asked, why it was chosen, and what to expect.

    `method` and `reason` say which and why; `question` goes to a ledger (or to `answer`) with the
    statistic that `statistic` makes of encoded private blocks; `direct` compares with counting
    queries answered directly.
    """

    method: str
    reason: str
    question: Any
    forecast: Forecast
    direct: Direct
    notices: tuple[str, ...] = ()

    def statistic(self, blocks: Iterable[ArrayLike]) -> Any:
        """Turn encoded private rows, block by block, into the secret statistic."""
        if isinstance(self.question, AdaptiveMoments):
            return EncodedRows.counted(blocks, self.question.public.shape[1])
        return BasisSums.counted(blocks, self.question.basis)

    def __repr__(self) -> str:
        return f"WeightPlan({self.method}, {self.question.guarantee})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is public about a plan: price, neighbours, sizes."""

    adjacency: Any
    epsilon: Any
    rho: Any
    records: int | None
    about: int | None

    @property
    def size(self) -> int:
        """The public number of private rows, or its order of magnitude."""
        return int(self.records or self.about or 1)

    @property
    def strength(self) -> float:
        """Give n epsilon."""
        return self.size * price_as_epsilon(self.epsilon, self.rho)

    def asked(self, basis: Any) -> Moments:
        """Ask for moments of a basis."""
        return Moments(
            basis=basis,
            adjacency=self.adjacency,
            epsilon=self.epsilon,
            rho=self.rho,
            records=self.records,
        )

    def pv(self, basis: WhitenedBasis) -> float:
        """Give the expected squared noise of whitened moments; infinite where none is offered."""
        if self.epsilon is not None and basis.size > MOST:
            return math.inf
        law = basis.law(self.adjacency, self.epsilon, self.rho)
        return float(basis.size * law.variance / (basis.unit * self.size) ** 2)


def plan_weights(
    public: ArrayLike,
    columns: Sequence[CodedColumn] | None = None,
    *,
    adjacency: Any,
    epsilon: Any = None,
    rho: Any = None,
    records: int | None = None,
    about: int | None = None,
    method: str = "auto",
    precision: str = "float64",
    seed: int = 0,
) -> WeightPlan:
    """Choose a question by the public rule, and forecast what it gives; nothing is spent.

    Parameters
    ----------
    public : array
        The encoded public rows.
    columns : sequence of CodedColumn, optional
        Which coordinates belong to which column; left out, each is a numeric column.
    adjacency : Adjacency or str
        "add-remove" or "substitute".
    epsilon, rho : number
        The price, exactly one of them.
    records : int
        The public number of private rows ("substitute").
    about : int
        Its public order of magnitude ("add-remove").
    method : str
        "auto", or "kriging", "ridge", "calibration", "rake", "adaptive".
    precision : str
        "float64" or "float32", of kriging and ridge.
    seed : int
        A public seed of k-means.

    Examples
    --------
    >>> plan = plan_weights([[0.1], [0.4], [0.9], [0.7]], adjacency="substitute", epsilon=1,
    ...                     records=500)
    >>> plan.method, plan.question.basis.size
    ('kriging', 4)
    """
    rows = public_matrix("public", public)
    if len(rows) < 2:
        raise ParameterError("public", "a table of one row", "at least two rows")
    if method not in METHODS:
        raise ParameterError("method", repr(method), f"one of {', '.join(METHODS)}")
    price = read_price(epsilon, rho)
    neighboring = neighbours(adjacency, ADD_REMOVE, SUBSTITUTE)
    setting = Setting(
        adjacency=neighboring,
        epsilon=price[0],
        rho=price[1],
        records=read_records(records, neighboring),
        about=read_about(about, neighboring),
    )
    named = read_columns(columns, rows.shape[1])
    chosen, reason = choice(rows, named, setting) if method == "auto" else (method, "asked for")
    question, told = question_of(chosen, rows, named, setting, precision, seed)
    direct = compared(rows, setting, seed)
    return WeightPlan(
        method=chosen,
        reason=reason,
        question=question,
        forecast=forecast_of(question, setting, direct),
        direct=direct,
        notices=told,
    )


def choice(rows: Floats, columns: Sequence[CodedColumn], setting: Setting) -> tuple[str, str]:
    """Give the method that the rule chooses, and its reason."""
    d, strength = len(columns), setting.strength
    categorical = sum(not column.numeric for column in columns)
    if d < FEWEST_COLUMNS:
        return "kriging", "at most three columns"
    if 2 * categorical > d:
        if setting.pv(WhitenedBasis.of(rows, 1)) <= LARGEST_PV:
            return "calibration", "mostly categorical columns, few enough for their noise"
        return "rake", "mostly categorical columns"
    if strength >= ENOUGH:
        return "adaptive", "at least four columns, and rows times epsilon is at least 1000"
    if setting.pv(WhitenedBasis.of(rows, 1)) <= MARGINAL_PV:
        return "calibration", "at least four columns, and rows times epsilon is below 1000"
    return "kriging", "rows times epsilon is too small for a moment of each coordinate"


def question_of(
    method: str,
    rows: Floats,
    columns: Sequence[CodedColumn],
    setting: Setting,
    precision: str,
    seed: int,
) -> tuple[Any, tuple[str, ...]]:
    """Give the question of a method, and what to mind about it."""
    if method == "rake":
        return setting.asked(TableBasis.of(rows, columns)), ()
    if method == "calibration":
        basis = highest_order(rows, setting, most=3 if len(columns) == rows.shape[1] else 1)
        noisy = setting.pv(basis) > LARGEST_PV
        told = "the noise of the moments is large beside the public spread (pv above 0.1)"
        return setting.asked(basis), (told,) if noisy else ()
    if method == "adaptive":
        question = AdaptiveMoments(
            public=rows,
            coded=tuple(columns),
            adjacency=setting.adjacency,
            epsilon=setting.epsilon,
            rho=setting.rho,
            records=setting.records,
            about=setting.about,
            seed=seed,
        )
        few = setting.strength < ENOUGH
        told = "rows times epsilon is below 1000: one round, and the choice of columns is noisy"
        return question, (told,) if few else ()
    count = how_many_centres(setting.strength)
    return setting.asked(settled_basis(rows, count, precision=precision, seed=seed)), ()


def highest_order(rows: Floats, setting: Setting, most: int) -> WhitenedBasis:
    """Give whitened moments of the highest order whose pv is at most 0.1, or of order 1."""
    for order in range(most, 1, -1):
        basis = WhitenedBasis.of(rows, order)
        if basis.size < len(rows) // 2 and setting.pv(basis) <= LARGEST_PV:
            return basis
    return WhitenedBasis.of(rows, 1)


def forecast_of(question: Any, setting: Setting, direct: Direct) -> Forecast:
    """Give the question's forecast, beside what direct answers would give."""
    own = question.forecast(setting.size)
    figures = {**own.figures, **direct.figures}
    return Forecast(
        sentence=f"{own.sentence}; {direct.sentence}",
        variance=own.variance,
        margin_95=own.margin_95,
        figures=figures,
    )
