"""Where a story is told: it asks a real ledger, says what happens, and gathers a report.

For each question the forecast comes first, before anything is spent; then the answer with its
price; then, only because the data is generated, what is true.
"""

from __future__ import annotations

from typing import Any

from noren.cli.output import Output, plain
from noren.errors import BudgetRefused
from noren.ledger import Balance, Ledger
from noren.noise import Noise
from noren.noise.public import generator
from noren.page import Answered, Chart, Part, Section, Table, Text
from noren.privacy import Guarantee


class Stage:
    """Ask and show. Parts of the report and JSON rows grow as a story goes on."""

    def __init__(
        self, output: Output, ledger: Ledger, data_seed: int, noise: Noise | None = None
    ) -> None:
        self.output, self.ledger, self.data_seed, self.noise = output, ledger, data_seed, noise
        self.parts: list[Part] = []
        self.answers: list[dict[str, Any]] = []
        self.accounts: list[str] = []

    def generator(self) -> Any:
        """Give public randomness, for generated data only."""
        return generator(self.data_seed)

    def chapter(self, title: str, text: str) -> None:
        """Start a story."""
        self.parts += [Section(title), Text(text)]
        self.output.say("", title, "=" * len(title), text)

    def open_account(self, name: str, budget: Guarantee) -> str:
        """Open an account for data that was just generated: a new one in every run."""
        taken = set(self.ledger.accounts())
        number = next(n for n in range(1, len(taken) + 2) if f"{name}-{n}" not in taken)
        balance = self.ledger.create_account(f"{name}-{number}", budget)
        self.accounts.append(balance.account)
        self.note(f"Opened {balance}.")
        return balance.account

    def note(self, text: str) -> None:
        """Say something between questions."""
        self.parts.append(Text(text))
        self.output.say("", text)

    def ask(
        self,
        account: str,
        asked: str,
        question: Any,
        statistic: Any,
        *,
        truth: str,
        facts: Any = None,
        request_id: str | None = None,
    ) -> Any:
        """Ask one question in words and in fact: forecast, answer, price, truth."""
        forecast = question.forecast(facts)
        self.output.say("", asked, f"  forecast  {forecast} (nothing is spent yet)")
        answer = self.ledger.ask(
            account, question, statistic, request_id=request_id, noise=self.noise
        )
        self.output.say(*told(answer), f"  truth     {truth} (known because the data is made up)")
        self.parts += [Answered(answer, asked=asked), Text(f"{TRUTH}: {truth}.")]
        row = {"account": account, "asked": asked, "forecast": forecast.to_dict()}
        self.answers.append(row | {"answer": answer.to_dict(), "truth": truth})
        return answer

    def refused(self, account: str, asked: str, question: Any, statistic: Any) -> None:
        """Ask what the account can no longer pay for, and show the refusal."""
        try:
            self.ledger.ask(account, question, statistic, noise=self.noise)
        except BudgetRefused as refusal:
            self.note(f"{asked} is refused. {refusal}")
        else:
            raise RuntimeError("The demo's last question should have been refused.")

    def close(self) -> list[dict[str, Any]]:
        """End with what was spent, and give the accounts' balances."""
        balances = [self.ledger.balance(name) for name in self.accounts]
        self.parts += [Section("What was spent"), Chart(spend(self.ledger, balances), SPEND)]
        self.parts.append(Table(HISTORY, self._history()))
        self.output.say("", "What was spent", "==============", *balances)
        return [plain(balance.to_dict()) for balance in balances]

    def _history(self) -> list[tuple[str, str, str]]:
        """List what was charged, oldest first."""
        return [
            (entry.request_id, f"{entry.question}", f"{entry.price}")
            for name in self.accounts
            for entry in self.ledger.history(name)
            if entry.price is not None
        ]


TRUTH = "The truth, known only because this data is made up"
HISTORY = ("request", "question", "price")
SPEND = "Each account's epsilon: one piece for each question, and what is left."
LEFT = "not spent"


def told(answer: Any) -> list[str]:
    """Say an answer, its marks and its price, in as few lines as hold them."""
    marks = [f"  !         {mark}" for mark in answer.marks]
    price = f"  price     {answer.guarantee or 'no guarantee'}, charged to {answer.receipt.account}"
    return [*marks, f"  answer    {answer.headline}", price]


def spend(ledger: Ledger, balances: list[Balance]) -> Any:
    """Draw each account's total as a bar: one piece for each question, and what is left."""
    import altair

    pieces = [
        (balance.account, f"{entry.question}", entry.charge)
        for balance in balances
        for entry in ledger.history(balance.account)
        if entry.charge is not None
    ]
    pieces += [(balance.account, LEFT, balance.remaining) for balance in balances]
    rows = [
        {"account": account, "piece": piece, "epsilon": float(price.epsilon or 0), "order": order}
        for order, (account, piece, price) in enumerate(pieces)
    ]
    names = [*dict.fromkeys(piece for _, piece, _ in pieces if piece != LEFT), LEFT]
    return (
        altair.Chart({"values": rows})
        .mark_bar()
        .encode(
            altair.X("epsilon:Q", title="epsilon"),
            altair.Y("account:N", title=None, sort=None),
            altair.Color("piece:N", title=None, sort=names),
            altair.Order("order:Q"),
            opacity=altair.condition(
                f"datum.piece == '{LEFT}'", altair.value(0.3), altair.value(1)
            ),
        )
        .properties(height={"step": 40})
    )
