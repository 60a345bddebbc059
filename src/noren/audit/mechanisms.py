"""Evidence for the generic questions: exact, from outside, in the last bits, by their faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import partial
from typing import Any

import numpy as np

from noren.audit import faults
from noren.audit.black_box import audit_callable
from noren.audit.cases import (
    ADDED,
    ANYONE,
    REPLACED,
    WINDOW,
    Case,
    additive_price,
    best,
    cells,
    enumerated_price,
    mean,
    response,
    total,
    tuned,
)
from noren.audit.enumerated import law_of
from noren.audit.exact import Dataset, Law, worst_of
from noren.audit.precision import precision_row
from noren.audit.row import FAILS, AuditRow, finding
from noren.mechanisms import BestOfPrivate, BoundedMean, BoundedSum, Sum, fine_grid
from noren.noise import Noise
from noren.noise.public import generator

FALSE_ALARM = 1e-6
ROUNDING = 1e-9  # rho of enumerated laws is computed in floats, from laws cut at a window


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine every generic question."""
    yield from enumerated_rows()
    yield from additive_rows()
    yield tuning_row()
    yield from seen_from_outside(2_000 if quick else 20_000)
    yield from last_bits(3_000 if quick else 20_000)
    yield from faults.rows()


def enumerated_rows() -> Iterator[AuditRow]:
    """Run the questions with few outcomes, and counts, through all outcomes."""
    for epsilon, adjacency in zip((2, 2, 3, 4), ANYONE, strict=True):
        yield from prices(cells(adjacency, epsilon=epsilon), window=WINDOW)
    for adjacency in (ADDED, REPLACED):
        yield from prices(cells(adjacency, "a", rho="0.125"), window=30)
        for method in ("permute-and-flip", "exponential"):
            yield from prices(best(adjacency, epsilon=1, method=method))
    for categories in (2, 4, 10):
        yield from prices(response(categories, 1))


def prices(case: Case, window: int = 0) -> Iterator[AuditRow]:
    """State what was enumerated, in each unit that the question claims."""
    worst, claim = enumerated_price(case, window=window), case.question.guarantee
    note = f"all outcomes, {worst.pairs} pairs of neighbours"
    note += f"; tails cut at {window}" if window else ""
    if claim.epsilon is not None:
        yield exact_row(case, "epsilon", float(claim.epsilon), worst.log_ratio, note)
    yield exact_row(case, "rho", float(claim.rho), worst.rho, note)


def exact_row(case: Case, quantity: str, claimed: float, measured: float, note: str) -> AuditRow:
    """State one exact finding."""
    return finding(
        f"mechanisms: {case.name}",
        case.adjacency,
        claimed=claimed,
        measured=measured,
        method="exact",
        quantity=quantity,
        holds=measured <= claimed * (1 + (ROUNDING if quantity == "rho" else 1e-12)),
        note=note,
    )


def additive_rows() -> Iterator[AuditRow]:
    """Find the exact price of sums and means by running them with chosen noise."""
    for adjacency in ANYONE:
        for make in (total, mean):
            case = make(adjacency, epsilon=1)
            epsilon, rho = additive_price(case)
            note = "additive: chosen noise reappears in the answer"
            yield exact_row(case, "epsilon", 1.0, epsilon, note)
            yield exact_row(case, "rho", float(case.question.guarantee.rho), rho, note)
            case = make(adjacency, rho="0.125")
            yield exact_row(case, "rho", 0.125, additive_price(case)[1], note)


def tuning_row() -> AuditRow:
    """Enumerate one run of a private choice among private candidates; add up the runs exactly."""
    case = tuned("0.01", epsilon=1)
    laws: dict[Dataset, Law] = {}

    def law(dataset: Dataset) -> Law:
        if dataset not in laws:
            laws[dataset] = tuned_law(case.question, case.statistic(dataset))
        return laws[dataset]

    worst = worst_of(law, case.pairs())
    note = "one run enumerated; the geometric number of runs added up in closed form"
    return exact_row(case, "epsilon", float(case.question.guarantee.epsilon), worst.log_ratio, note)


def tuned_law(question: BestOfPrivate, alternatives: Any) -> Law:
    """Give the law of the best of a geometric number of runs, from the law of one run."""
    runs: list[tuple[tuple[float, int], str, Decimal]] = []
    with localcontext() as context:
        context.prec = 50
        for i, candidate in enumerate(question.candidates):
            one = law_of(partial(candidate.answer, alternatives.members[i]))[0]
            for released, mass in one.items():
                index = json.loads(str(released))["index"]
                runs.append(((index, -i), f"{i}:{index}", mass / len(question.candidates)))
        g = Decimal(question.g.numerator) / question.g.denominator
        law: dict[Any, Decimal] = {}
        below = Decimal(0)
        for _, name, mass in sorted(runs):
            up_to = below + mass
            law[name] = mass * g / ((1 - (1 - g) * below) * (1 - (1 - g) * up_to))
            below = up_to
        return law


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Run each question on the neighbours that show most, and bound its epsilon by samples."""
    for case, data, neighbour in (
        (cells(ADDED, epsilon=1), (0, 0), (0,)),
        (cells(REPLACED, epsilon=1), (0, 1), (1, 1)),
        (total(ADDED, epsilon=1), (3.0,), ()),
        (mean(ADDED, epsilon=1), (3.0,), ()),
        (mean(REPLACED, epsilon=1), (3.0, 3.0), (3.0, -1.0)),
        (best(ADDED, epsilon=1), ((0, 2, 2),), ()),
        (response(4, 1), (0,), (1,)),
        (tuned("0.5", epsilon="0.5"), ((0, 2, 2),), ()),
    ):
        yield outside(case, data, neighbour, draws)


def outside(case: Case, data: Dataset, neighbour: Dataset, draws: int) -> AuditRow:
    """Audit one question as a black box."""
    noise, question = Noise(), case.question
    return audit_callable(
        lambda statistic: question.answer(statistic, noise),
        case.statistic(data),
        case.statistic(neighbour),
        epsilon=question.guarantee.epsilon,
        draws=draws,
        alpha=FALSE_ALARM,
        name=f"mechanisms: {case.name}",
        adjacency=case.adjacency,
        note=f"{draws} draws of each; a right mechanism fails with probability {FALSE_ALARM:g}",
    )


def last_bits(draws: int) -> Iterator[AuditRow]:
    """Audit every float that a generic answer shows, and NumPy's Laplace noise for contrast."""
    shared: dict[str, Any] = {"grid": fine_grid(0, 1, missing=0), "epsilon": 1}
    for question, field in (
        (BoundedSum(**shared, adjacency=REPLACED), "total"),
        (BoundedMean(**shared, adjacency=REPLACED, records=3), "mean"),
        (BoundedMean(**shared, adjacency=ADDED), "mean"),
        (BoundedMean(**shared, adjacency=ADDED), "records"),
    ):
        yield last_bits_of(question, field, draws)
    floats = generator(2012)
    yield precision_row(
        "NumPy: float + Generator.laplace",
        ADDED,
        lambda x, n: x + floats.laplace(0.0, 1.0, n),
        epsilon=1.0,
        draws=draws,
        expected=FAILS,
        note="a counter-example: this is how not to do it (NumPy's generator, simulated)",
    )


def last_bits_of(question: Any, field: str, draws: int) -> AuditRow:
    """Audit one released float, with one record of three at 0 or at 1."""
    noise = Noise()

    def release(x: int, n: int) -> Any:
        statistic = Sum.of([float(x), 0.0, 0.0], question.grid)
        return np.array([getattr(question.answer(statistic, noise), field) for _ in range(n)])

    return precision_row(
        f"mechanisms: {question.kind}, {question.law.name}, {field}",
        question.adjacency,
        release,
        epsilon=1.0,
        draws=draws,
    )
