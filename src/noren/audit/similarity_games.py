"""Adaptive searchers against a session over a real ledger, every outcome enumerated.

Two records of two bits. The searcher asks for the best record by column 0, then chooses the next
query and its price by the answer, asks again what was asked before, and goes on until refused. What
the searcher saw is the outcome. Between neighbors its log ratio must stay within the cap.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from noren import Guarantee
from noren.audit.similarity_cases import Release, worst_loss
from noren.errors import BudgetRefused
from noren.ledger import Ledger
from noren.noise import Noise
from noren.similarity import Records, Session
from noren.similarity.asked import ONE_BIT

CAP = 1


class Enumerating:
    """A ledger for testing that draws from the noise that is enumerated."""

    def __init__(self, ledger: Ledger, noise: Noise) -> None:
        self.ledger, self.noise = ledger, noise

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Ask with this noise."""
        return self.ledger.ask(
            account, question, statistic, request_id=request_id, noise=self.noise
        )

    def balance(self, name: str) -> Any:
        """Pass on."""
        return self.ledger.balance(name)


class ForgetsRequests(Enumerating):
    """The fault: a repeat is charged once, and drawn anew."""

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Charge by the id, then draw whatever is stored."""
        kept = super().ask(account, question, statistic, request_id=request_id)
        return kept if callable(statistic) else question.answer(statistic, self.noise)


class ChargesNothing(Enumerating):
    """The fault: nothing is added up."""

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Draw, whatever was spent."""
        found = statistic() if callable(statistic) else statistic
        return question.answer(found, self.noise)


def adaptive(session: Session) -> list[Any]:
    """Play: give what the searcher saw."""
    seen: list[Any] = [session.best(["0"], epsilon="0.5").row]
    next_query = ["0"] if seen[0] == 0 else ["0", "1"]
    for query, price in (
        (next_query, "0.25"),
        (["0"], "0.5"),  # a repeat: the same answer
        (next_query, "0.2"),
        (["0"], "0.4"),  # too much: refused
        (["0"], "0.05"),
    ):
        try:
            seen.append(session.best(query, epsilon=price).row)
        except BudgetRefused:
            seen.append("refused")
    return seen


def repeating(session: Session) -> list[Any]:
    """Ask the same thing twice."""
    return [session.best(["0"], epsilon="0.5").row for _ in range(2)]


def played(keeper: Any, play: Any, ledger: Ledger) -> Release:
    """Play a game on a fresh account."""
    numbers = count()

    def release(records: Records, noise: Noise) -> Any:
        budget, name = Guarantee(ONE_BIT, epsilon=CAP), f"records {next(numbers)}"
        ledger.create_account(name, budget, columns=records.column_names)
        return play(Session(records, keeper(ledger, noise), name))

    return release


def game_loss(keeper: Any = Enumerating, play: Any = adaptive) -> float:
    """Find the largest log ratio of a game."""
    with Ledger.open("sqlite://", testing=True) as ledger:
        return worst_loss(played(keeper, play, ledger), 2, 2, ONE_BIT)
