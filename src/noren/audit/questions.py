"""Evidence for every question by the same rules: exact, law, from outside, mutants.

The other rooms of the audit look at each capability in its own way, deeper. Here each question's
subject (`noren.audit.subjects`) is treated like every other:

    exact        its code is run through all outcomes on two neighbors, where they can be taken
    law          its answers, or the integers that its answers draw, follow the stated law
    statistical  whole asks of a ledger on two neighbors: charge, draw, store, answer
    mutant       the families of faults in `noren.audit.question_faults`
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from scipy.stats import kstest

from noren.audit import question_faults
from noren.audit.additive import worst_cost
from noren.audit.black_box import audit_callable
from noren.audit.collaboration_densities import log_density, pure_law
from noren.audit.enumerated import key, law_of
from noren.audit.exact import Law, log_ratio
from noren.audit.law import FALSE_ALARM, gaussian_tail, integer_p_value, laplace_tail, p_value
from noren.audit.recorded import Recording, coefficient_move
from noren.audit.row import AuditRow, finding
from noren.audit.subjects import Subject, coefficients, subjects
from noren.collaboration import LogisticTraining, PublishedTraining, TrainingRows
from noren.ledger import Ledger
from noren.noise import Noise
from noren.privacy import Guarantee
from noren.reweighting.amplification import sampling_loss

FLOOR = Decimal("1e-4")  # rarer outcomes may be touched by the cut of the tails
ROUNDING = 1e-6
BUDGET = 10**6
ADDITIVE = ("basis-moments", "published-ratio")
MODELS = ("logistic-training", "softmax-training", "published-training")  # a float linear term


def rows(quick: bool) -> Iterator[AuditRow]:
    """Treat every question alike."""
    every = subjects()
    for subject in every.values():
        yield from exact_rows(subject)
    yield from special_prices(every)
    for subject in every.values():
        yield law_row(subject, int((1_200 if quick else 20_000) * subject.draws))
    yield from asked_of_a_ledger(every, 160 if quick else 4_000)
    yield from question_faults.rows(every)


def exact_rows(subject: Subject) -> Iterator[AuditRow]:
    """Enumerate one question on its two neighbors, where that can be done."""
    if subject.window is not None:
        note = "its code, all outcomes, on the two neighbors"
        note += f"; tails cut at {subject.window}" if subject.window > 2 else ""
        yield priced(subject, loss(subject), note)
    elif subject.kind in ADDITIVE:
        measured = worst_cost(partial(released, subject), numbered(subject))[0]
        yield priced(subject, measured, "its code, with chosen noise, on the two neighbors")


def priced(subject: Subject, measured: float, note: str, detail: str = "") -> AuditRow:
    """State an exact price beside the claim."""
    claim = subject.question.guarantee
    return finding(
        f"questions: {subject.kind}{detail}", claim.adjacency, claimed=float(claim.epsilon),
        measured=measured, method="exact", note=note,
        holds=measured <= float(claim.epsilon) * (1 + ROUNDING),
    )  # fmt: skip


def law_under(subject: Subject, data: Any) -> Law:
    """Give the exact law of what a subject's question releases."""
    assert subject.window is not None
    return law_of(
        lambda noise: subject.look(subject.question.answer(data, noise)), window=subject.window
    )[0]


def loss(subject: Subject) -> float:
    """Give the largest log ratio between a subject's two neighbors, both ways."""
    first, second = (law_under(subject, data) for data in subject.pair)
    floor = FLOOR if subject.window else Decimal(0)
    return max(log_ratio(first, second, floor), log_ratio(second, first, floor))


def numbered(subject: Subject) -> list[tuple[int, int]]:
    """Name the two neighbors by their places, which can be hashed."""
    assert len(subject.pair) == 2
    return [(0, 1)]


def released(subject: Subject, place: int, noise: Noise) -> Any:
    """Answer about one of the two neighbors."""
    return subject.look(subject.question.answer(subject.pair[place], noise))


def special_prices(every: dict[str, Subject]) -> Iterator[AuditRow]:
    """Price three questions that are neither enumerated nor additive as a whole."""
    note = "the longest move of the rounded coefficients, over the scale of the noise"
    subject = every["output-perturbation"]
    yield priced(subject, coefficient_move(subject), note, ", on its grid")
    subject = every["tuned-training"]
    note = "rows in one part: the largest price that its code asks for, a fit's or the choice's"
    yield priced(subject, tuned_price(subject), note, ", parts")
    claimed = math.log1p(math.expm1(1) * 2 / 3)
    yield finding(
        "questions: published-centres-ratio, sampled in order",
        every["published-centres-ratio"].question.guarantee.adjacency,
        claimed=claimed, measured=sampling_loss(3, 2, 1.0, in_order=True), method="exact",
        note="three rows of one bit, two drawn, each at epsilon 1, all tables and outcomes",
    )  # fmt: skip


def tuned_price(subject: Subject) -> float:
    """Give the largest of the prices that a tuned training in parts pays."""
    noise = Recording()
    subject.question.answer(subject.pair[0], noise)
    return float(max(*noise.chosen, *(part.epsilon for part in subject.question.questions)))


def law_row(subject: Subject, draws: int) -> AuditRow:
    """Hold answers to the law that their question states."""
    if subject.window is not None:
        p, what = answers_fit(subject, draws), f"{draws} answers against their exact law"
    elif subject.kind in MODELS:
        p, what = linear_terms_fit(subject, draws // 4), f"{draws // 4} models"
    elif subject.kind == "best-of-private":
        p, what = runs_fit(subject, draws), f"{draws} answers: how often each candidate is kept"
    else:
        p, what = draws_fit(subject, draws // 4)
    return finding(
        f"questions: {subject.kind}, law", "none", claimed=FALSE_ALARM, measured=p, method="law",
        quantity="p-value", holds=p > FALSE_ALARM, note=what,
    )  # fmt: skip


def answers_fit(subject: Subject, draws: int) -> float:
    """Compare whole answers with their enumerated law; what lies beyond the cut is one outcome."""
    data, noise = subject.pair[0], Noise()
    law = law_under(subject, data)
    seen = Counter(key(subject.look(subject.question.answer(data, noise))) for _ in range(draws))
    order = sorted(law, key=lambda outcome: law[outcome])
    masses = np.array([float(law[outcome]) for outcome in order])
    counts = np.array([seen[outcome] for outcome in order])
    counts[0] += draws - counts.sum()  # beyond the cut, or the rarest
    masses[0] += max(0.0, 1 - masses.sum())
    return p_value(counts, masses)


def draws_fit(subject: Subject, answers: int) -> tuple[float, str]:
    """Compare the integers that answers drew with the laws that they asked for."""
    noise = Recording()
    for _ in range(answers):
        subject.question.answer(subject.pair[0], noise)
    (law, parameter), drawn = max(noise.drawn.items(), key=lambda item: len(item[1]))
    if law == "Laplace":
        tail, reach = laplace_tail(float(parameter)), math.ceil(40 * float(parameter))
    else:
        tail, reach = gaussian_tail(float(parameter)), math.ceil(9 * math.sqrt(float(parameter)))
    fit = integer_p_value(np.array(drawn), tail, reach=reach)
    return fit, f"{len(drawn)} integers drawn by {answers} answers ({law}, {float(parameter):.6g})"


def linear_terms_fit(subject: Subject, models: int) -> float:
    """Hold models to the density that the linear term of their objective gives them.

    Without rows a model is -b / ridge, so its length shows the law of b; a question that must have
    a row is held to the exact density of one coefficient.
    """
    question, noise = subject.question, Noise()
    if isinstance(question, PublishedTraining):
        return density_fit(question, subject.pair[0], models)
    empty = TrainingRows.empty(question.task)
    lengths = [
        np.sqrt((question.answer(empty, noise).coefficients ** 2).sum()) * question.ridge
        for _ in range(models)
    ]
    shape = 1 if isinstance(question, LogisticTraining) else len(question.task.classes)
    return float(kstest(lengths, "gamma", args=(shape, 0, 1 / question.spread)).pvalue)


def density_fit(question: Any, data: Any, models: int) -> float:
    """Compare single coefficients with their exact density, one row x = 1 (or -1 by its label)."""
    noise = Noise()
    found = [float(coefficients(question.answer(data, noise))[0]) for _ in range(models)]
    end = (1 + 40 / question.spread) / question.ridge
    points = np.linspace(-end, end, 200_001)
    rows_ = np.concatenate([x[:, 0] * y for x, y, _ in data.parts])
    density = np.exp(log_density(points, rows_, question.ridge, pure_law(question.spread)))
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return float(kstest(found, lambda at: np.interp(at, points, below / below[-1])).pvalue)


def runs_fit(subject: Subject, draws: int) -> float:
    """Compare how often each answer of a tuned choice is kept with its closed form."""
    from noren.audit.mechanisms import tuned_law

    data, noise = subject.pair[0], Noise()
    law = tuned_law(subject.question, data)
    answers = (subject.question.answer(data, noise) for _ in range(draws))
    seen = Counter(f"{answer.chosen}:{answer.best.index}" for answer in answers)
    names = list(law)
    masses = np.array([float(law[name]) for name in names])
    return p_value(np.array([seen[str(name)] for name in names]), masses)


def asked_of_a_ledger(every: dict[str, Subject], draws: int) -> Iterator[AuditRow]:
    """Ask a ledger about two neighbors many times, and bound epsilon by the answers alone."""
    with Ledger.open("sqlite://", testing=True) as ledger:
        for subject in every.values():
            claim, asks = subject.question.guarantee, max(100, int(draws * subject.draws))
            budget = Guarantee(claim.adjacency, epsilon=BUDGET)
            ledger.create_account(subject.kind, budget, columns=columns_of(subject))
            ids = count()

            def ask(data: Any, it: Subject = subject, ids: Iterator[int] = ids) -> Any:
                name = f"{it.kind} {next(ids)}"
                return it.look(ledger.ask(it.kind, it.question, data, request_id=name))

            yield audit_callable(
                ask, subject.pair[0], subject.pair[1], epsilon=claim.epsilon, draws=asks,
                alpha=FALSE_ALARM,
                name=f"questions: {subject.kind}, through a ledger", adjacency=claim.adjacency,
                note=f"{asks} asks of each; a right question fails with chance {FALSE_ALARM:g}",
            )  # fmt: skip


def columns_of(subject: Subject) -> tuple[str, ...] | None:
    """Name the columns of an account that keeps a budget for each; None where it keeps one."""
    claim = subject.question.guarantee
    return ("0", "1") if claim.adjacency.word == "bit" else None
