"""What the searching commands share: their options, and the session that they ask through."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.options import noise_from
from noren.cli.output import Output
from noren.cli.spending import ASKED_BEFORE, NoLedger, Spending, spending_options_for

if TYPE_CHECKING:
    from noren.similarity import Records
    from noren.similarity.session import Session

OPENING = "noren similar open RECORDS --account {account} --ledger {ledger}"
FILE = click.Path(path_type=Path, dir_okay=False)
NOBODY_SAYS = "No account says who is protected: add --adjacency bit or --adjacency substitute."
ADJACENCIES = click.Choice(["bit", "substitute"])


def session_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a session, and hand the command `make`: records -> (session, spending)."""

    @functools.wraps(function)
    def run(
        *args: Any,
        spending: Spending,
        adjacency: str | None,
        data_version: int,
        searcher: str | None,
        **settings: Any,
    ) -> None:
        if spending.request_id is not None:
            raise click.UsageError(
                "A search names its own request, so that the same one is always free: leave out "
                "--request-id."
            )
        if searcher is not None and spending.charged is None:
            raise click.UsageError("--searcher limits an account: it goes with --account.")
        if adjacency is None and spending.charged is None:
            raise click.UsageError(NOBODY_SAYS)

        def make(records: Records) -> Session:
            return session_of(spending, records, adjacency, data_version, searcher)

        function(*args, spending=spending, make=make, **settings)

    command: Callable[..., None] = run
    for add in (
        click.option(
            "--searcher", metavar="NAME", help="Also charge this searcher's own, lower account."
        ),
        click.option(
            "--data-version",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="A public counter: raise it whenever the records change.",
        ),
        click.option(
            "--adjacency",
            type=ADJACENCIES,
            help="Who is protected; needed only where no account says it.",
        ),
    ):
        command = add(command)
    return spending_options_for("--adjacency bit", OPENING)(command)


def session_of(
    spending: Spending,
    records: Records,
    adjacency: str | None,
    version: int,
    searcher: str | None,
) -> Session:
    """Open the session that an account, or none, pays for."""
    from noren.similarity.session import Session

    keeper = forecasting(spending, adjacency) if spending.dry_run else spending.asks()
    if isinstance(keeper, NoLedger):
        keeper = Unkept(keeper)
    return Session(
        records, keeper, spending.account, adjacency=adjacency, version=version, searcher=searcher
    )


def forecasting(spending: Spending, adjacency: str | None) -> Any:
    """Give the account that a forecast is for, or none where it is not made yet."""
    from noren.errors import FileProblem, LedgerError

    try:
        return spending.asks()
    except (FileProblem, LedgerError):
        if adjacency is None:
            raise click.UsageError(NOBODY_SAYS) from None
        return NoLedger(None)


class Unkept:
    """Answer from one run to the end, charging nobody and keeping nothing."""

    def __init__(self, beside: NoLedger) -> None:
        self.noise = noise_from(beside.insecure_seed)

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Draw, and give the answer without a receipt; a function stands for what is stored."""
        found = statistic() if callable(statistic) else statistic
        return question.answer(found, self.noise)


def forecast_only(
    output: Output, spending: Spending, session: Session, question: Any, facts: Any = None
) -> bool:
    """Show price and forecast; True where that is all that was asked for."""
    question.check(session.records)
    if spending.dry_run:
        spending.ask(output, question, None, facts=facts)
        return True
    output.remark(f"Price: {question.guarantee}\nForecast: {question.forecast(facts)}")
    return False


def paid(output: Output, spending: Spending, session: Session, question: Any) -> Any:
    """Ask, and say what was charged: nothing for a repeat."""
    answer, repeated = session.answered(question)
    if repeated:
        output.remark(ASKED_BEFORE)
    elif answer.receipt is not None:
        output.remark(spending.receipt(answer.receipt))
    return answer


def query_of(records: Records, query: str | None, file: Path | None) -> Any:
    """Read the query that the options give."""
    from noren.similarity.queries import read_columns, read_query_file

    if (query is None) == (file is None):
        raise click.UsageError("Give a query: --query NAMES, or --query-file FILE.")
    return read_query_file(records, file) if file is not None else read_columns(records, query)
