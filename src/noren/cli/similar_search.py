"""`noren similar open`, `search`, `weights` and `status`: a private search inside a budget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.config import resolved
from noren.cli.engines import engine_options, statistic_option
from noren.cli.options import NewFile
from noren.cli.output import Output, answer_lines, plain, table, with_output
from noren.cli.similar_leak import form_option, held_by
from noren.cli.similar_session import (
    ADJACENCIES,
    FILE,
    forecast_only,
    paid,
    query_of,
    session_options,
)
from noren.cli.spending import Spending

if TYPE_CHECKING:
    from noren.engine import Engine
    from noren.similarity.session import Session
    from noren.similarity.session_views import Found

SIMILARITIES = ("common", "jaccard", "cosine", "dice", "tversky", "containment", "hamming")
SHOWN = 20


@click.command("open")
@click.argument("records", type=FILE, required=False)
@form_option
@statistic_option
@click.option("--ledger", metavar="PLACE", help="The ledger; a new one is made.")
@click.option("--account", metavar="NAME", help="The name of the account.")
@click.option(
    "--adjacency", type=ADJACENCIES, required=True, help="Who is protected: a bit, or a record."
)
@click.option(
    "--epsilon", required=True, help="The cap: of each column (bit), or in all (substitute)."
)
@click.option("--searcher", metavar="NAME", help="Open a lower cap for one searcher, beside it.")
@with_output
def open_account(
    output: Output, records: Path | None, form: str | None, statistic: Path | None,
    ledger: str | None, account: str | None, adjacency: str, epsilon: str, searcher: str | None,
) -> None:  # fmt: skip
    """Open an account for searches of RECORDS, with a cap for each of its columns.

    The cap never changes. It binds all searchers together, for they may share what they learn;
    --searcher adds a lower cap for one of them, which is a courtesy and no guarantee.
    """
    from noren.cli.ledger import balance_table, opened
    from noren.privacy import Guarantee
    from noren.similarity.courtesy import courtesy_account
    from noren.similarity.session import Session

    settings, policy = resolved({"ledger": ledger, "account": account})
    name = settings["account"].value
    if name is None:
        raise click.UsageError("Name the account: --account NAME.")
    policy.allow_user()
    policy.allow_budget(Guarantee(adjacency, epsilon=epsilon))
    held = held_by(records, form, statistic, None)
    with opened(ledger, create=True) as found:
        Session.open(held, found, name, epsilon, adjacency, searcher=searcher)
        balance = found.balance(name if searcher is None else courtesy_account(name, searcher))
    output.show("ledger-account", balance.to_dict(), people=balance_table(balance))
    output.remark(f"The account's head hash: {balance.head}")


@click.command()
@click.argument("records", type=FILE, required=False)
@form_option
@statistic_option
@engine_options
@click.option(
    "--query", metavar="NAMES", help="Columns with commas between, 0s and 1s, or 0x hexadecimal."
)
@click.option("--query-file", type=FILE, help="The same from a file, which must not be RECORDS.")
@click.option("--top", "k", type=int, metavar="K", help="Show the K most similar records.")
@click.option("--threshold", type=float, help="Show all records with at least this noisy score.")
@click.option("--best", is_flag=True, help="Name the most similar record only; more often right.")
@click.option("--set", "set_of", type=int, metavar="K", help="Name the set of the K most similar.")
@click.option("--count", type=int, metavar="C", help="Count the records with at least C columns.")
@click.option("--histogram", is_flag=True, help="Count the records at every score.")
@click.option(
    "--similarity",
    type=click.Choice(SIMILARITIES),
    default="common",
    show_default=True,
    help="With --top or --threshold. Free views of two counts, or of row weights released before.",
)
@click.option("--alpha", type=float, default=1.0, help="Weight of a query's own columns (tversky).")
@click.option("--beta", type=float, default=1.0, help="Weight of a record's own columns (tversky).")
@click.option(
    "--window",
    type=int,
    nargs=2,
    metavar="LOW HIGH",
    help="Public: move scores between these first; less noise where whole records are protected.",
)
@click.option("--epsilon", required=True, help="The price of this request.")
@click.option("--report", type=NewFile(), help="Write the answer as one HTML file, too.")
@session_options
@with_output
def search(
    output: Output, spending: Spending, make: Callable[..., Session], records: Path | None,
    form: str | None, statistic: Path | None, engine: Engine | None, query: str | None,
    query_file: Path | None, epsilon: str, report: Path | None, **wanted: Any,
) -> None:  # fmt: skip
    """Search RECORDS for those that resemble a public query, privately.

    The query must come from public knowledge, the searcher's own data or released answers. A query
    copied from a protected record (query by example) is outside every guarantee: it is refused by
    where it comes from, never by comparing it with records.

    A repeat, a smaller K, another threshold or similarity of the same counts costs nothing. Where
    whole records are protected, ask --count or --histogram: naming one needs a large epsilon.
    """
    mode = mode_of(wanted)
    held = held_by(records, form, statistic, engine)
    columns = query_of(held, query, query_file)
    session = make(held)
    if mode is None:
        found = searched(output, spending, session, columns, epsilon, wanted)
        if found is not None:
            show_found(output, found, report)
        return
    question = mode(session, columns, epsilon)
    if forecast_only(output, spending, session, question, {"records": len(held)}):
        return
    show_named(output, paid(output, spending, session, question), session, report)


def mode_of(wanted: dict[str, Any]) -> Callable[[Session, Any, str], Any] | None:
    """Choose what is asked; None: scores, seen by --top or --threshold."""
    from noren.similarity import BestRecord, ScoreHistogram, SimilarCount, TopSet

    given = {
        "--top": wanted["k"], "--threshold": wanted["threshold"], "--best": wanted["best"] or None,
        "--set": wanted["set_of"], "--count": wanted["count"],
        "--histogram": wanted["histogram"] or None,
    }  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise click.UsageError(f"Ask for one thing: {', '.join(given)}.")
    name = named[0]
    if name in ("--top", "--threshold"):
        return None
    if wanted["similarity"] != "common":
        raise click.UsageError("--similarity belongs to --top and --threshold.")
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "--best": (BestRecord, {}),
        "--set": (TopSet, {"k": wanted["set_of"]}),
        "--count": (SimilarCount, {"threshold": wanted["count"]}),
        "--histogram": (ScoreHistogram, {}),
    }
    kind, own = kinds[name]
    return lambda session, columns, epsilon: kind(**session.about(columns, epsilon), **own)


def searched(
    output: Output, spending: Spending, session: Session, columns: Any, epsilon: str,
    wanted: dict[str, Any],
) -> Found | None:  # fmt: skip
    """Search by scores, or show the forecast alone."""
    own = ("k", "similarity", "window")
    shared = {"epsilon": epsilon} | {name: wanted[name] for name in own}
    question = session.question(list(columns), **shared)
    if question is not None and forecast_only(output, spending, session, question):
        return None
    threshold = wanted["threshold"]
    if threshold is not None and threshold.is_integer():
        threshold = int(threshold)
    weights = {}
    if wanted["similarity"] == "tversky":
        weights = {"alpha": wanted["alpha"], "beta": wanted["beta"]}
    found = session.search(list(columns), **shared, threshold=threshold, **weights)
    if found.charged and found.answer is not None and found.answer.receipt is not None:
        output.remark(spending.receipt(found.answer.receipt))
    return found


def show_found(output: Output, found: Found, report: Path | None) -> None:
    """Show the records, and what they cost."""
    answer = found.answer
    rows = [[hit.rank, hit.id, hit.score] for hit in found.hits]
    heads = ["rank", "record", "noisy score"]
    result = found.to_dict() | {"headline": str(found)}
    people: list[Any] = [f"! {mark}" for mark in answer.marks] if answer else []
    people += [table("", heads, rows[:SHOWN])]
    people += [f"... and {len(rows) - SHOWN} more; --json prints them all."] if rows[SHOWN:] else []
    people += cost_lines(found)
    guarantee = answer.guarantee if answer else None
    output.show("similar-search", result, guarantee=guarantee, people=people)
    if report is not None:
        from noren.page import Chart, Page, Part, Table, Text

        private = answer is None or answer.secure
        parts: list[Part] = [
            *(Text(line, is_private=private) for line in cost_lines(found)),
            Chart(found.chart(), "Noisy scores of the first records", is_private=private),
            Table(heads, rows[: 10 * SHOWN], "The records found", is_private=private),
        ]
        Page(title="Private search", parts=parts).write(report)
        output.remark(f"The report is {report}")


def cost_lines(found: Found) -> list[str]:
    """Say what a search cost, and what is left."""
    if found.answer is None:
        return ["An empty query: all records are alike, and nothing was charged."]
    who = "every column" if found.columns is None else f"{len(found.columns)} columns"
    lines = [
        f"Price: {found.answer.guarantee or 'no guarantee'}",
        f"Charged now: epsilon {float(found.charged):g} to {who}"
        + ("" if found.charged else " (it was answered before)"),
        f"Expected error: {found.answer.uncertainty}",
        f"For a whole record: epsilon {float(found.record_loss):g}",
    ]
    if found.remaining is not None:
        lines.append(f"Left for the poorest of them: epsilon {float(found.remaining):g}")
    return lines


def show_named(output: Output, answer: Any, session: Session, report: Path | None) -> None:
    """Show an answer that names records or counts them."""
    made = answer.to_dict()
    result = {key: made[key] for key in made if key not in ("kind", "guarantee")}
    rows = plain(made["value"].get("rows", made["value"].get("row", [])))
    names = [session.records.id_of(row) for row in (rows if isinstance(rows, list) else [rows])]
    result["records"] = names
    people: list[Any] = [*answer_lines(answer)]
    if names:
        people += [f"Records: {', '.join(names)}"]
    counts = list(enumerate(plain(made["value"].get("counts", []))))
    if counts:
        people += [table("", ["score", "noisy number of records"], counts)]
    output.show(answer.question.kind, result, guarantee=answer.guarantee, people=people)
    if report is not None:
        from noren.page import Answered, Page

        Page(title="Private search", parts=[Answered(answer)]).write(report)
        output.remark(f"The report is {report}")


@click.command()
@click.argument("records", type=FILE, required=False)
@form_option
@statistic_option
@engine_options
@click.option("--epsilon", required=True, help="The price, charged to every column.")
@session_options
@with_output
def weights(
    output: Output, spending: Spending, make: Callable[..., Session], records: Path | None,
    form: str | None, statistic: Path | None, engine: Engine | None, epsilon: str,
) -> None:  # fmt: skip
    """Release the number of ones of each of the RECORDS, once.

    Afterwards searches by Jaccard, cosine and the like are charged to the query's columns only.
    """
    session = make(held_by(records, form, statistic, engine))
    question = session.weights_question(epsilon)
    if not forecast_only(output, spending, session, question):
        output.show_answer(paid(output, spending, session, question))


@click.command()
@click.option("--ledger", metavar="PLACE", help="The ledger that holds the account.")
@click.option("--account", metavar="NAME", help="The account.")
@click.option("--report", type=NewFile(), help="Draw the spending into one HTML file, too.")
@with_output
def status(output: Output, ledger: str | None, account: str | None, report: Path | None) -> None:
    """Show what searches have spent, column by column, and what that means for a record."""
    from noren.cli.ledger import chosen_account, opened
    from noren.similarity.session_views import status_of

    name = account or chosen_account(None, ledger)
    with opened(ledger) as found:
        state = status_of(found, name)
    low, high = state.belief
    rows = [[column, float(spent)] for column, spent in state.most_read()]
    people: list[Any] = [
        str(state),
        f"A bit of the most read column, held for even before, may now be believed with {low:.3g} "
        f"to {high:.3g} (if it is independent of all others)",
    ]
    if state.columns is not None:
        people += [table("Most read", ["column", "epsilon spent"], rows)]
        people += [f"{state.untouched} of {len(state.columns)} columns are untouched"]
    output.show("similar-status", state.to_dict(), people=people)
    if report is not None:
        from noren.page import Chart, Page, Part, Text

        parts: list[Part] = [Text(str(state)), Chart(state.chart(), "What the columns have spent")]
        Page(title=f"Searches of '{name}'", parts=parts).write(report)
        output.remark(f"The report is {report}")
