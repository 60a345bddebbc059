"""A town asks its people a few things: counts, a mean, a choice, and a question about a secret."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from noren.cli.stories.stage import Stage
from noren.mechanisms import (
    BestCandidate,
    BoundedMean,
    CellCounts,
    Counts,
    RandomizedResponse,
    Responses,
    Scores,
    Sum,
    fine_grid,
)
from noren.privacy import ADD_REMOVE, LOCAL, USER, Adjacency, Guarantee

PEOPLE = 3000
AGES = ("18 to 29", "30 to 44", "45 to 64", "65 and over")
WISHES = ("library", "swimming pool", "bus line", "market hall", "park")
ANYBODY = Adjacency(ADD_REMOVE)
EACH_DEVICE = Adjacency(LOCAL, unit=USER)
SECRET = ("never", "once", "more often")


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "A small town's survey",
        f"{PEOPLE} generated people answer a survey. The town wants to publish what they said, and "
        "nobody is to learn what any one of them said.",
    )
    town = generate(stage.generator())
    account = stage.open_account("survey", Guarantee(ANYBODY, epsilon=2))
    ask_ages(stage, account, town["age"])
    ask_sleep(stage, account, town["sleep"])
    ask_wish(stage, account, town["wishes"])
    stage.refused(
        account,
        "One question too many, at epsilon 1.5,",
        ages_question("1.5"),
        Counts.of(town["age"], len(AGES)),
    )
    ask_secret(stage, town["secret"])


def generate(public: Any) -> dict[str, Any]:
    """Generate the town."""
    return {
        "age": public.choice(len(AGES), PEOPLE, p=[0.18, 0.27, 0.33, 0.22]),
        "sleep": public.normal(7.1, 1.3, PEOPLE),
        "wishes": public.random((PEOPLE, len(WISHES))) < [0.42, 0.35, 0.47, 0.20, 0.45],
        "secret": public.choice(len(SECRET), PEOPLE, p=[0.7, 0.2, 0.1]),
    }


def ages_question(epsilon: str) -> CellCounts:
    """Ask for the age groups."""
    return CellCounts(cells=AGES, adjacency=ANYBODY, epsilon=Fraction(epsilon))


def ask_ages(stage: Stage, account: str, age: Any) -> None:
    """Count people in age groups; ask again for nothing."""
    counts = Counts.of(age, len(AGES))
    question, asked = ages_question("0.5"), "How many people are in each age group?"
    truth = ", ".join(f"{cell}: {n}" for cell, n in zip(AGES, counts.values, strict=True))
    first = stage.ask(account, asked, question, counts, truth=truth, request_id="ages")
    again = stage.ledger.ask(account, question, counts, request_id="ages", noise=stage.noise)
    same = "the same numbers" if (first.values == again.values).all() else "other numbers"
    stage.note(f"Asked again under the same request id, the ledger gives {same} and charges 0.")


def ask_sleep(stage: Stage, account: str, sleep: Any) -> None:
    """Ask for a mean; the number of people stays private, so it shares the price."""
    hours = fine_grid(0, 14, missing=7)
    question = BoundedMean(grid=hours, adjacency=ANYBODY, epsilon=Fraction("0.5"))
    truth = f"{np.clip(sleep, 0, 14).mean():.4f} hours"
    asked, facts = "How long do people sleep, in hours?", {"records": PEOPLE}
    stage.ask(account, asked, question, Sum.of(sleep, hours), truth=truth, facts=facts)


def ask_wish(stage: Stage, account: str, wishes: Any) -> None:
    """Choose the wish that most people approve of."""
    question = BestCandidate(
        candidates=WISHES, bounds=(0, 1), adjacency=ANYBODY, epsilon=Fraction("0.25")
    )
    scores = Scores.of(wishes.astype(int), (0, 1))
    truth = ", ".join(f"{wish}: {n}" for wish, n in zip(WISHES, scores.values, strict=True))
    asked = "What should the town build? (Everybody may approve of several.)"
    stage.ask(account, asked, question, scores, truth=truth)


def ask_secret(stage: Stage, secret: Any) -> None:
    """Ask what nobody wants to tell, so that each device answers at random."""
    stage.note(
        "Some things people will not tell even the town. Each device then randomizes its own "
        "answer, and only the randomized one leaves it; the account says what each device spends."
    )
    account = stage.open_account("devices", Guarantee(EACH_DEVICE, epsilon=1))
    question = RandomizedResponse(categories=SECRET, adjacency=EACH_DEVICE, epsilon=Fraction(1))
    shares = np.bincount(secret, minlength=len(SECRET)) / PEOPLE
    truth = ", ".join(f"{word}: {share:.3f}" for word, share in zip(SECRET, shares, strict=True))
    asked = "How often have you cheated on your taxes?"
    facts = {"people": PEOPLE}
    stage.ask(account, asked, question, Responses(secret), truth=truth, facts=facts)
