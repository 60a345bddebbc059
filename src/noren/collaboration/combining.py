"""Combine received models: by the receiver's own rows (secret), or by a data-free rule (public).

Ways, and what each may use
    auto                                    rows; the default: `noren.collaboration.auto`
    mirror, ewa                             rows; as published with form="score", beta=3
    stack, best-single, local               rows; baselines
    mean, clipped-mean, coordinate-median, geometric-median, precision, uniform-vote
                                            the files alone

Condition of mirror averaging's bound: scores within [-B, B] and beta >= e**B. Unit learners (the
default here, beta = e) and signs meet it; raw scores have no B, and the result says so.

Privacy
    A data-free combination is post-processing: each organization keeps its own price. Whatever
    used the receiver's rows is a `SecretCombination`: it is a function of them without noise, and
    answering others' queries with it leaks as much as handing it over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.collaboration import baselines
from noren.collaboration.auto import auto_fit
from noren.collaboration.combined import Combination, SecretCombination
from noren.collaboration.joining import (
    SecretJoining,
    does_joining_help,
    health,
)
from noren.collaboration.learners import (
    FORMS,
    SCORE,
    SIGN,
    UNIT,
    Floats,
    losses_of,
    read_learners,
    read_rows,
)
from noren.collaboration.precision import precision_weights
from noren.collaboration.predictor import Predictor
from noren.collaboration.statistic import LONGEST
from noren.collaboration.task import Task
from noren.collaboration.weights import ewa_weights, mirror_weights
from noren.errors import ParameterError, SchemaError
from noren.privacy.numbers import positive

AUTO, LOCAL = "auto", "local"
WEIGHED = ("mirror", "ewa")
ON_ROWS = (AUTO, *WEIGHED, "stack", "best-single", LOCAL)
DATA_FREE = (
    "mean", "clipped-mean", "coordinate-median", "geometric-median", "precision", "uniform-vote",
)  # fmt: skip
METHODS = ON_ROWS + DATA_FREE
BEYOND_THEOREM = "the published risk bound asks for scores within [-B, B] and beta of at least e**B"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How to combine: a method with its options.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    form : str
        For mirror and ewa: "unit", "score" or "sign"; for stack "score" means raw learners.
    beta : float
        Their temperature; e unless given, 3 as published.
    include_start : bool
        For mirror: count the even weights before any row (the textbook's form).
    ridge : float
        For stack (of the weights) and local (of the coefficients).
    folds : int, optional
        For auto.
    """

    method: str = AUTO
    form: str = UNIT
    beta: float = math.e
    include_start: bool = True
    ridge: float = 1.0
    folds: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(
                "method",
                repr(self.method),
                f"one of {', '.join(METHODS)}",
                "'auto' is the default.",
            )
        if self.form not in FORMS:
            raise ParameterError(
                "form", repr(self.form), f"one of {', '.join(FORMS)}", "'unit' is the default."
            )
        positive("beta", self.beta)
        positive("ridge", self.ridge)

    @property
    def is_public(self) -> bool:
        """Whether it looks at the files alone."""
        return self.method in DATA_FREE

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be read with the result."""
        bounded = self.form in (SIGN, UNIT) and self.beta >= math.e
        return () if self.method not in WEIGHED or bounded else (BEYOND_THEOREM,)

    def predictor(self, learners: Floats, rows: Floats, labels: Floats) -> Predictor:
        """Combine with some rows."""
        if self.method == AUTO:
            return Predictor.of(auto_fit(rows, labels, learners, self.folds).coefficients)
        if self.method == "stack":
            unit = self.form != SCORE
            return Predictor.of(baselines.stack(rows, labels, learners, self.ridge, unit=unit))
        if self.method == LOCAL:
            return Predictor.of(baselines.local_fit(rows, labels, self.ridge))
        if self.method == "best-single":
            return Predictor.of(learners[baselines.best_single(learners, rows, labels)])
        losses = losses_of(rows, labels, learners, self.form)
        if self.method == "ewa":
            return Predictor(learners, ewa_weights(losses, self.beta), self.form)
        weights = mirror_weights(losses, self.beta, self.include_start)
        return Predictor(learners, weights, self.form)


def combine(
    shares: Any, X: Any = None, y: Any = None, method: str = AUTO, **options: Any
) -> Combination | SecretCombination:
    """Combine shares of a two-class task.

    Parameters
    ----------
    shares
        Verified shares, private models, or an array with a learner a row.
    X, y
        The receiver's rows, encoded (`task.rows`, `task.targets`: labels -1 and 1). A data-free
        method needs none.
    method
        One of `METHODS`.
    **options
        Of `Way`: form, beta, include_start, ridge, folds.

    Examples
    --------
    >>> combine([[0.0, 1.0], [0.0, 3.0]], method="mean").coefficients
    array([0., 2.])
    """
    way, table = Way(method=method, **options), read_learners(shares)
    task = common_task(shares)
    named = tuple(source_of(share, place) for place, share in enumerate(shares))
    if way.is_public:
        found = data_free(way.method, shares, table)
        return Combination(predictor=found, method=way.method, task=task, sources=named)
    if X is None or y is None:
        raise ParameterError(
            "X, y", "not given", f"the receiver's own rows, which '{way.method}' uses",
            f"Without any, choose by name one of {', '.join(DATA_FREE)}.",
        )  # fmt: skip
    rows, labels = read_rows(X, y, table.shape[1])
    if not np.all(np.einsum("ij,ij->i", rows, rows) <= LONGEST**2):
        raise ParameterError(
            "X, y", "not of encoded rows", "rows of length at most 1",
            "Encode them by the task of the shares (`task.rows`).",
        )  # fmt: skip
    found = way.predictor(table, rows, labels)
    return SecretCombination(
        predictor=found,
        method=way.method,
        task=task,
        sources=named,
        notes=way.notes,
        joining=joining_of(way, shares, table, rows, labels, found),
    )


def joining_of(
    way: Way, shares: Sequence[Any], table: Floats, rows: Floats, labels: Floats, found: Predictor
) -> SecretJoining | None:
    """Say whether joining helps, with the health of each file."""
    if len(rows) < 2:
        return None
    named = [
        (source_of(share, place), str(getattr(share, "organization", "")), price_text(share))
        for place, share in enumerate(shares)
    ]
    files = health(rows, labels, table, found.coefficients, named)

    def make(some: Floats, theirs: Floats) -> Predictor:
        return way.predictor(table, some, theirs)

    return does_joining_help(rows, labels, make, way.method, files)


def data_free(method: str, shares: Sequence[Any], table: Floats) -> Predictor:
    """Combine by the files alone."""
    if method == "uniform-vote":
        return Predictor(table, np.full(len(table), 1 / len(table)), SIGN)
    if method == "precision":
        return Predictor(table, precision_weights(shares), SCORE)
    if method == "mean":
        return Predictor.of(baselines.mean(table, declared_sizes(shares)))
    ways = {
        "clipped-mean": baselines.clipped_mean,
        "coordinate-median": baselines.coordinate_median,
        "geometric-median": baselines.geometric_median,
    }
    return Predictor.of(ways[method](table))


def declared_sizes(shares: Sequence[Any]) -> list[int] | None:
    """Give the declared sizes, where every share has one."""
    sizes = [getattr(model_of(share), "parameters", {}).get("size") for share in shares]
    return [int(size) for size in sizes if size] if all(sizes) else None


def model_of(share: Any) -> Any:
    """Give the model of a share, or the thing itself."""
    return getattr(share, "model", share)


def source_of(share: Any, place: int) -> str:
    """Name what was combined."""
    return str(getattr(share, "source", f"model {place + 1}"))


def price_text(share: Any) -> str:
    """Say what a share cost."""
    stated = getattr(model_of(share), "guarantee", None)
    return "" if stated is None else str(stated)


def common_task(shares: Sequence[Any]) -> Task | None:
    """Give the one task of all shares; None for bare arrays."""
    tasks = [getattr(model_of(share), "task", None) for share in shares]
    found = {None if task is None else task.identity for task in tasks}
    if len(found) > 1:
        raise SchemaError("The shares are of different tasks. Combine those of one task only.")
    task = tasks[0] if tasks else None
    if task is not None and task.kind != "binary":
        raise SchemaError(
            f"The task is {task.kind}, but combining by scores is for two classes. Use `merge` (on "
            "the command line: publish): it adds up released sums, or averages models."
        )
    return task
