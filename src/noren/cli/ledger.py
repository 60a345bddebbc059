"""`noren ledger`: open accounts, see what was spent, check that nothing was changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.config import resolved
from noren.cli.output import Output, table, with_output
from noren.errors import LedgerError, ParameterError, RecordDamaged

if TYPE_CHECKING:
    from noren.ledger import Balance, Entry, Ledger
    from noren.privacy import Adjacency, Guarantee

ledger_option = click.option(
    "--ledger",
    "place",
    metavar="PLACE",
    help="The ledger: a file, or postgresql://user@host/database.",
)
HEAD_ADVICE = "Keep it elsewhere: noren ledger verify --head HASH notices an older copy put back."


@click.group()
def ledger() -> None:
    """Open accounts, see what was spent, and check that nothing was changed."""


def budget_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how much may be spent, and whom it protects."""
    for add in (
        click.option("--rho", help="The budget in rho (for many small questions)."),
        click.option("--delta", help="The budget's delta, far below one over the people."),
        click.option("--epsilon", help="The budget's epsilon; alone, for few large questions."),
        click.option("--within", default="", help="Public words that narrow the neighbors."),
        click.option(
            "--max-records",
            type=click.IntRange(min=1),
            help="Protect persons with up to so many rows, not single records.",
        ),
        click.option(
            "--adjacency",
            required=True,
            help="Who is protected: add-remove, substitute, bit, zero-out or local.",
        ),
    ):
        command = add(command)
    return command


@ledger.command()
@click.argument("name")
@ledger_option
@budget_options
@click.option("--filter", "kind", help="'zcdp' or 'pure'; pure when only epsilon is given.")
@click.option(
    "--columns",
    type=click.Path(path_type=Path),
    help="A file with a column name a line: each gets the budget for itself.",
)
@with_output
def create(
    output: Output,
    name: str,
    place: str | None,
    adjacency: str,
    max_records: int | None,
    within: str,
    kind: str | None,
    columns: Path | None,
    **amounts: str | None,
) -> None:
    """Open the account NAME for one dataset, in a new ledger or one that exists.

    A budget never changes afterwards. Two accounts over the same rows add up.
    """
    from noren.privacy import Guarantee

    given = {unit: amount for unit, amount in amounts.items() if amount is not None}
    budget = Guarantee(neighbors(adjacency, max_records, within), **given)
    _, policy = resolved({"ledger": place})
    policy.allow_budget(budget)
    names = None if columns is None else columns.read_text(encoding="utf-8").split("\n")
    with opened(place, create=True) as found:
        wanted = None if names is None else [line.strip() for line in names if line.strip()]
        balance = found.create_account(name, budget, filter=kind, columns=wanted)
    output.show("ledger-account", balance.to_dict(), people=balance_table(balance))
    output.remark(f"The account's head hash: {balance.head}\n{HEAD_ADVICE}")


@ledger.command()
@click.argument("name", required=False)
@ledger_option
@with_output
def show(output: Output, name: str | None, place: str | None) -> None:
    """Show what the account NAME may spend, has spent, and can still afford; without it, all."""
    with opened(place) as found:
        names = [name] if name else found.accounts()
        balances = [found.balance(account) for account in names]
    result = {"accounts": [balance.to_dict() for balance in balances]}
    people: Any = [balance_table(balance) for balance in balances]
    output.show("ledger-balance", result, people=people or "The ledger has no account yet.")


@ledger.command()
@click.argument("name", required=False)
@ledger_option
@click.option(
    "--chart",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the spending over time into FILE: .html, .svg or .png.",
)
@with_output
def history(output: Output, name: str | None, place: str | None, chart: Path | None) -> None:
    """List what the account NAME was opened with, charged and answered."""
    account = chosen_account(name, place)
    with opened(place) as found:
        entries, balance = found.history(account), found.balance(account)
    rows = [entry.to_dict() for entry in entries]
    output.show(
        "ledger-history", {"account": account, "entries": rows}, people=history_table(entries)
    )
    if chart is not None:
        draw(chart, balance, entries)
        output.remark(f"The picture is {chart}")


@ledger.command()
@ledger_option
@click.option("--head", metavar="HASH", help="A head hash that an answer carried, kept elsewhere.")
@with_output
def verify(output: Output, place: str | None, head: str | None) -> None:
    """Compute every chain and total anew; exit code 5 where something does not agree.

    A chain shows what was changed, removed or moved. Only a head hash kept elsewhere shows that the
    tail was cut off, or an older copy put back.
    """
    try:
        with opened(place) as found:
            checked = found.verify(head=head)
    except RecordDamaged as damage:
        rows = [[finding] for finding in damage.findings]
        result = {"ok": False, "findings": list(damage.findings)}
        output.show("ledger-verification", result, people=table("Damage", ["finding"], rows))
        output.remark("Ask nothing more of this ledger. Restore a backup that holds the last head.")
        raise click.exceptions.Exit(damage.exit_code) from None
    result = {
        "ok": True,
        "findings": [],
        "accounts": checked.accounts,
        "entries": checked.entries,
        "heads": checked.heads,
    }
    heads = table("Heads", ["account", "head"], checked.heads.items())
    output.show("ledger-verification", result, people=[str(checked), heads])


@ledger.command()
@click.argument("name", required=False)
@ledger_option
@with_output
def export(output: Output, name: str | None, place: str | None) -> None:
    """Write every charge of the account NAME (or of all) for an accountant outside, as JSON.

    Each charge has its mechanisms with sensitivity and noise scale apart.
    """
    with opened(place) as found:
        output.show("ledger-export", found.export(name))


def opened(place: str | None, *, create: bool = False) -> Ledger:
    """Open the ledger that options, environment, files and policies name."""
    from noren.ledger import Ledger

    setting = resolved({"ledger": place})[0]["ledger"]
    if setting.value is None:
        raise LedgerError(
            "No ledger is named. Name one with --ledger FILE, with NOREN_LEDGER, or in noren.toml."
        )
    return Ledger.open(setting.value, create=create)


def chosen_account(name: str | None, place: str | None) -> str:
    """Take the account that was named, or the one that settings name."""
    account = name or resolved({"ledger": place})[0]["account"].value
    if account is None:
        raise click.UsageError("Name an account, or set one in noren.toml or NOREN_ACCOUNT.")
    return account


def neighbors(word: str, max_records: int | None, within: str) -> Adjacency:
    """Read who is protected."""
    from noren.privacy import USER, Adjacency

    adjacency = replace(Adjacency.read(word), within=within)
    if max_records is None:
        return adjacency
    return replace(adjacency, unit=USER, max_records=max_records)


def balance_table(balance: Balance) -> Any:
    """Show an account."""
    from noren.ledger.account import amounts_of

    rows: list[list[object]] = [
        ["protects", str(balance.adjacency)],
        ["filter", balance.filter],
        ["budget", amounts_of(balance.budget)],
        ["total", amounts_of(balance.total)],
        ["spent", amounts_of(balance.spent)],
        ["remaining", amounts_of(balance.remaining)],
        ["largest single question", " or ".join(map(amounts_of, balance.largest)) or "none"],
        ["entries", balance.entries],
        ["head", balance.head],
    ]
    if balance.spent_epsilon is not None:
        told = f"epsilon {balance.spent_epsilon:.6g} at the budget's delta"
        rows.insert(5, ["spent, in other words", told])
    if balance.columns is not None:
        rows.insert(5, ["columns", f"{len(balance.columns)}, each with the budget for itself"])
    return table(f"Account '{balance.account}'", ["", ""], rows)


def history_table(entries: list[Entry]) -> Any:
    """Show entries, oldest first."""
    from noren.ledger.account import amounts_of

    def words(price: Guarantee | None) -> str | None:
        return amounts_of(price) if price else None

    columns = ["#", "time", "kind", "request", "question", "price", "charged", "hash"]
    rows = [
        [
            entry.sequence,
            entry.time[:19],
            entry.kind,
            entry.request_id or None,
            entry.question,
            words(entry.price),
            words(entry.charge),
            entry.hash[:12],
        ]
        for entry in entries
    ]
    return table("History", columns, rows)


def draw(file: Path, balance: Balance, entries: list[Entry]) -> None:
    """Write the picture of spending, in the form that the file's name ends in."""
    from noren.ledger.charts import spend_chart
    from noren.page import Chart, Page, save_chart

    ending = file.suffix.lower()
    if ending not in (".html", ".svg", ".png"):
        raise ParameterError("chart", str(file), "a name ending in .html, .svg or .png")
    picture = spend_chart(balance, entries)
    if ending == ".html":
        page = Page(title=f"Budget of '{balance.account}'", parts=[Chart(picture)])
        page.write(file)
    else:
        save_chart(picture, file)
