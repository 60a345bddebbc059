"""What every command that spends budget shares: options, and one way to ask.

    @click.command()
    @click.argument("data")
    @spending_options
    @with_output
    def scan(output: Output, spending: Spending, data: Path) -> None:
        question = ...
        answer = spending.ask(output, question, lambda: count(data), facts=...)
        if answer is not None:  # None: --dry-run showed the forecast, and nothing was spent
            output.show("scan", answer.to_dict(), guarantee=answer.guarantee, people=...)

The statistic is given as a function, so that nothing is counted for a question that cannot be
paid. A command needs an account: from `--ledger` and `--account`, the environment or `noren.toml`.
Without one it refuses at once and prints the command that makes one. `--no-ledger`, spelled out,
is the only way around, and a policy can forbid it; the answer then says so.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from noren.cli.config import resolved
from noren.cli.options import insecure_seed_option, noise_from
from noren.cli.output import Output
from noren.cli.policy import Policy
from noren.errors import LedgerError, NotPrivate

if TYPE_CHECKING:
    from noren.question import Asks

NEEDS_ACCOUNT = """This command spends privacy budget, so it needs an account. Make one (a budget is
set once: choose its adjacency and amount with care),

    {opening}

and name it with --ledger and --account, with NOREN_LEDGER and NOREN_ACCOUNT, or in noren.toml:

    ledger = "{ledger}"
    account = "{account}"

To see the forecast and spend nothing, add --dry-run. To charge no ledger, add --no-ledger."""


ASKED_BEFORE = "It was answered before: nothing was charged."
ADD_REMOVE = "--adjacency add-remove"
OPENING = "noren ledger create {account} --ledger {ledger}"


def spending_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a spending command, and hand it a `Spending` named `spending`."""
    return spending_options_for(ADD_REMOVE)(function)


def spending_options_for(
    neighbors: str | Callable[[dict[str, Any]], str], opening: str = OPENING
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the same options to a command whose questions all have one adjacency.

    `neighbors` are the words that open an account with that adjacency (or say them from the
    command's other settings), `opening` is the whole command. An option `--adjacency` goes first.
    """
    return functools.partial(_with_options, neighbors=neighbors, opening=opening)


def _with_options(
    function: Callable[..., None],
    neighbors: str | Callable[[dict[str, Any]], str],
    opening: str,
) -> Callable[..., None]:
    """Add the options to one command."""

    def run(
        *args: Any,
        ledger: str | None,
        account: str | None,
        no_ledger: bool,
        dry_run: bool,
        request_id: str | None,
        insecure_seed: int | None,
        **settings: Any,
    ) -> None:
        words = neighbors(settings) if callable(neighbors) else neighbors
        spending = choose(
            {"ledger": ledger, "account": account},
            no_ledger,
            dry_run,
            request_id,
            insecure_seed,
            f"{opening} {asked_words(settings, words)}",
        )
        function(*args, spending=spending, **settings)

    command: Callable[..., None] = functools.wraps(function)(run)
    for add in (
        insecure_seed_option,
        click.option(
            "--request-id",
            metavar="ID",
            help="Ask again with the same id, and the stored answer comes back for nothing.",
        ),
        click.option("--dry-run", is_flag=True, help="Show price and forecast; spend nothing."),
        click.option("--no-ledger", is_flag=True, help="Charge no account. The answer says so."),
        click.option("--account", metavar="NAME", help="The account to charge."),
        click.option("--ledger", metavar="PLACE", help="The ledger that holds the account."),
    ):
        command = add(command)
    return command


def asked_words(settings: dict[str, Any], neighbors: str) -> str:
    """Say the options of an account that affords a question, as the question's own options say.

    With a delta the filter is the pure one, which affords the whole price of one question; under
    zCDP a part of delta goes into the conversion.
    """
    many, delta = settings.get("max_records") or 1, settings.get("delta") or "0"
    words = [
        f"--adjacency {settings['adjacency']}" if settings.get("adjacency") else neighbors,
        f"--max-records {many}" if many > 1 else "",
        f"--epsilon {shlex.quote(settings.get('epsilon') or '1')}",
        f"--delta {shlex.quote(delta)} --filter pure" if delta != "0" else "",
    ]
    return " ".join(word for word in words if word)


def choose(
    options: dict[str, str | None],
    no_ledger: bool,
    dry_run: bool,
    request_id: str | None,
    insecure_seed: int | None,
    opening: str,
) -> Spending:
    """Decide what is charged, and refuse what does not fit together."""
    if no_ledger and (options["account"] or request_id):
        raise click.UsageError("--no-ledger charges no account: leave out --account, --request-id.")
    settings, policy = resolved(options)
    policy.allow_user()
    ledger, account = settings["ledger"].value, settings["account"].value
    if no_ledger:
        policy.allow_no_ledger()
    elif insecure_seed is not None and not dry_run:
        raise NotPrivate(
            "--insecure-seed makes noise that can be predicted, and no ledger takes that. Add "
            "--no-ledger, and the answer is marked NOT PRIVATE."
        )
    elif not dry_run and (ledger is None or account is None):
        missing = {"ledger": ledger or "ledger.sqlite", "account": account or "NAME"}
        raise LedgerError(NEEDS_ACCOUNT.format(opening=opening.format(**missing), **missing))
    charged = None if no_ledger or ledger is None or account is None else (ledger, account)
    return Spending(charged, policy, dry_run, request_id, insecure_seed)


@dataclass(frozen=True, slots=True)
class Spending:
    """Where a command's questions are charged: an account of a ledger, or none."""

    charged: tuple[str, str] | None
    policy: Policy
    dry_run: bool
    request_id: str | None
    insecure_seed: int | None

    def ask(self, output: Output, question: Any, statistic: Any, *, facts: Any = None) -> Any:
        """Show the forecast, then charge and answer; with --dry-run stop before, and give None.

        `statistic` is best a function without arguments: it is called only once the question is
        known to be affordable and new. `facts` are public facts for the forecast.
        """
        forecast = question.forecast(facts)
        if self.dry_run:
            result = {"kind": question.kind, "forecast": forecast.to_dict()}
            people = [f"Price: {question.guarantee}", f"Forecast: {forecast}", "Nothing was spent."]
            output.show("forecast", result, guarantee=question.guarantee, people=people)
            return None
        output.remark(f"Price: {question.guarantee}\nForecast: {forecast}")
        counting = Counting(statistic)
        answer = self.asks().ask(self.account, question, counting, request_id=self.request_id)
        if answer.receipt is not None:
            output.remark(self.receipt(answer.receipt) if counting.done else ASKED_BEFORE)
        return answer

    @property
    def account(self) -> str:
        """The account that is charged; empty where none is."""
        return self.charged[1] if self.charged else ""

    def asks(self) -> Asks:
        """Give whoever charges and answers, for commands that ask in their own way."""
        if self.charged is None:
            return NoLedger(self.insecure_seed)
        from noren.ledger import Ledger

        place, account = self.charged
        ledger = Ledger.open(place, create=False)
        self.policy.allow_budget(ledger.balance(account).budget)
        return ledger

    def receipt(self, receipt: Any) -> str:
        """Say what was charged, and what to keep."""
        return (
            f"Charged to account '{receipt.account}', request {receipt.request_id}. Keep the head "
            f"hash elsewhere, to notice an older copy put back: {receipt.head}"
        )


@dataclass(slots=True)
class Counting:
    """A statistic, or what counts it, that knows whether a ledger wanted it: not for a repeat."""

    statistic: Any
    done: bool = False

    def __call__(self) -> Any:
        """Count."""
        self.done = True
        return self.statistic() if callable(self.statistic) else self.statistic


@dataclass(frozen=True, slots=True)
class NoLedger:
    """Answer without charging anybody: the answer says so."""

    insecure_seed: int | None

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Draw, and give the answer without a receipt."""
        found = statistic() if callable(statistic) else statistic
        return question.answer(found, noise_from(self.insecure_seed))
