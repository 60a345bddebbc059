"""`noren similar publish`, `gather` and `lookup`: randomized records, searched for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.options import NewFile, spare
from noren.cli.output import Output, table, with_output
from noren.cli.similar_leak import form_option, read, streamed
from noren.cli.similar_session import FILE, forecast_only, paid, session_options
from noren.cli.spending import Spending

if TYPE_CHECKING:
    from noren.similarity.published import Published
    from noren.similarity.session import Session

TYPICAL = 16  # columns of a query, for the forecast


@click.command()
@click.argument("records", type=FILE)
@click.argument("out", type=NewFile())
@form_option
@click.option("--epsilon", required=True, help="The price of each bit.")
@session_options
@with_output
def publish(
    output: Output, spending: Spending, make: Callable[..., Session], records: Path, out: Path,
    form: str | None, epsilon: str,
) -> None:  # fmt: skip
    """Randomize every bit of RECORDS once and write them to OUT (.npz), with a manifest.

    All later searches of OUT are free, by anybody, any number of times. Also for one's own record
    alone: each holder publishes, and `noren similar gather` puts the files together.

    RECORDS may be a statistic (noren statistic write similar), which is read a part at a time. The
    randomized bits are held in memory: they are drawn here, by whoever is charged, never on a
    cluster.
    """
    from noren.similarity import RandomizedRecords

    spare(out, records)
    held = streamed(records) or read(records, form)
    session = make(held)
    question = RandomizedRecords(epsilon=epsilon, adjacency=session.adjacency)  # type: ignore[arg-type]
    if forecast_only(output, spending, session, question, {"query": min(TYPICAL, held.n_columns)}):
        return
    answer = paid(output, spending, session, question)
    show_file(output, answer.published(held.ids, held.names), out)


@click.command()
@click.argument("out", type=NewFile())
@click.argument("files", type=FILE, nargs=-1, required=True)
@with_output
def gather(output: Output, out: Path, files: tuple[Path, ...]) -> None:
    """Put the randomized records of several holders (FILES) together into OUT; free.

    All must have the same columns and the same price.
    """
    from noren.similarity import Published

    show_file(output, Published.join([Published.read(file) for file in files]), out)


@click.command()
@click.argument("published", type=FILE)
@click.option(
    "--query",
    required=True,
    metavar="NAMES",
    help="Columns with commas between, 0s and 1s, or 0x hexadecimal.",
)
@click.option("--top", "k", type=int, default=10, show_default=True, help="How many records.")
@click.option(
    "--unbiased", is_flag=True, help="Unbiased scores instead of shrunk ones, which rank better."
)
@with_output
def lookup(output: Output, published: Path, query: str, k: int, unbiased: bool) -> None:
    """Search randomized records (PUBLISHED); free, since they were paid for when published."""
    from noren.similarity import Published
    from noren.similarity.laws import randomized_deviation
    from noren.similarity.queries import read_columns

    held = Published.read(published)
    columns = read_columns(held.records, query)
    found = held.top(list(columns), min(k, len(held.records)), shrunk=not unbiased)
    rows = [[place, name, score] for place, (name, score) in enumerate(found, 1)]
    deviation = randomized_deviation(len(columns), held.epsilon) if columns else 0.0
    result = {
        "hits": [{"place": place, "id": name, "score": score} for place, name, score in rows],
        "estimate": "unbiased" if unbiased else "shrunk",
        "sd_of_an_unbiased_score": deviation,
        "marks": list(held.marks),
        "receipts": [dict(receipt) for receipt in held.receipts],
    }
    people: list[Any] = [f"! {mark}" for mark in held.marks]
    people += [
        table("", ["place", "record", "score"], rows),
        f"Paid when published: {held.guarantee or 'no guarantee'}",
        f"An unbiased score of {len(columns)} columns has a standard deviation of {deviation:.3g}",
    ]
    output.show("similar-lookup", result, guarantee=held.guarantee, people=people)


def show_file(output: Output, published: Published, out: Path) -> None:
    """Write randomized records, and say what the file holds."""
    from noren.similarity.published_files import beside

    file = published.save(out)
    made = published.manifest
    people: list[Any] = [f"! {mark}" for mark in published.marks]
    people += [
        f"{made['records']} records of {made['columns']} bits, each flipped with probability "
        f"{made['flip']:.4g}: {file}",
        f"Price of each bit: {published.guarantee or 'no guarantee'}",
        f"The manifest is {beside(file)}",
    ]
    result = {"file": str(file), "manifest": made}
    output.show("similar-published", result, guarantee=published.guarantee, people=people)
