"""A small question to ask of ledgers, and a process that asks it until it is done or killed.

    python ledger_asker.py PLACE ACCOUNT PRICE DRAWS FIRST STEP COUNT

asks requests FIRST, FIRST + STEP, ... (COUNT of them), each at PRICE, notes each draw as a line
of the file DRAWS before it is made, and prints what it got: the requests that were answered, with
the head of their receipts. It begins when it is sent a line.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.errors import BudgetRefused
from noren.noise import Noise
from noren.privacy import Guarantee
from noren.question import Answer, Forecast, Mechanism

WHO = "add-remove"


@dataclass(frozen=True, kw_only=True)
class TallyAnswer(Answer):
    count: int
    cells: np.ndarray
    scale: Fraction
    odds: tuple[float, ...]

    @property
    def headline(self) -> str:
        return f"about {self.count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    kind: ClassVar[str] = "tally"
    price: Guarantee
    label: str = ""
    columns: tuple[str, ...] | None = None
    draws: str = ""  # a file that notes each draw
    size: int = 3

    @property
    def guarantee(self) -> Guarantee:
        return self.price

    @property
    def assumed_public(self) -> tuple[str, ...]:
        return ("the cells",)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        if not self.price.epsilon:
            return ()
        scale = 1 / self.price.epsilon
        return (Mechanism(law="discrete Laplace", sensitivity=Fraction(1), scale=scale),)

    def forecast(self, facts: Any = None) -> Forecast:
        return Forecast(sentence="off by a few")

    def answer(self, statistic: int, noise: Noise) -> TallyAnswer:
        if self.draws:
            note(self.draws, self.label)
        cells = np.asarray(noise.discrete_laplace(5, self.size)) + statistic
        return TallyAnswer(
            question=self,
            secure=noise.secure,
            count=int(cells[0]) if self.size else 0,
            cells=cells,
            scale=Fraction(1, 3),
            odds=(0.5, float("inf")),
        )

    def restore(self, record: dict[str, Any]) -> TallyAnswer:
        return TallyAnswer(question=self, **record)


def note(file: str, line: str) -> None:
    """Append a line at once: it is there even if the process is killed right after."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def pure(epsilon: object) -> Guarantee:
    return Guarantee(WHO, epsilon=epsilon)


def tally(epsilon: object, **fields: Any) -> Tally:
    return Tally(price=pure(epsilon), **fields)


def main(place: str, account: str, price: str, draws: str, *numbers: str) -> None:
    from noren.ledger import Ledger

    first, step, count = map(int, numbers)
    got = {}
    with Ledger.open(place, create=False) as ledger:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(first, first + step * count, step):
            question = tally(price, label=str(number), draws=draws)
            with contextlib.suppress(BudgetRefused):
                answer = ledger.ask(account, question, 100, request_id=str(number))
                got[number] = answer.receipt.head
    print(json.dumps(got), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
