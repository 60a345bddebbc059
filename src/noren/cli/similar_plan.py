"""`noren similar plan`: compare the ways of searching, and see what none of them can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.options import NewFile
from noren.cli.output import Output, table, with_output
from noren.cli.similar_leak import form_option, read
from noren.cli.similar_session import FILE
from noren.errors import ParameterError

if TYPE_CHECKING:
    from noren.similarity import Records
    from noren.similarity.planning import SearchPlan, SecretPlan


@click.command()
@click.argument("records", type=FILE, required=False)
@form_option
@click.option("--epsilon", required=True, help="What all queries together may cost one bit.")
@click.option("--queries", type=int, help="How many queries will share a column.")
@click.option("--size", type=int, help="The columns of a query.")
@click.option(
    "--workload", type=FILE, help="All queries, known beforehand, one a line: instead of the two."
)
@click.option("--top", "k", type=int, default=10, show_default=True, help="How many are wanted.")
@click.option("--n-records", type=int, help="The number of records, where no file is given.")
@click.option("--n-columns", type=int, help="The number of columns, likewise.")
@click.option(
    "--try",
    "tries",
    type=click.IntRange(min=1),
    metavar="N",
    help="SECRET: also try N random queries on RECORDS and show how well each way finds.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the trial: public.")
@click.option(
    "--report", type=NewFile(), help="Write the plan with its pictures as one HTML file, too."
)
@with_output
def plan(
    output: Output, records: Path | None, form: str | None, epsilon: str, queries: int | None,
    size: int | None, workload: Path | None, k: int, n_records: int | None, n_columns: int | None,
    tries: int | None, seed: int, report: Path | None,
) -> None:  # fmt: skip
    """Compare ways of searching at one price, from public facts; nothing is spent.

    Shows from how many queries on randomized records are better, and the cap that binds any rule.
    With --try a second part is computed from RECORDS: it is secret, costs nothing, and must not
    decide the query, K or the price.
    """
    from noren.similarity.planning import plan as choose

    if records is None and None in (n_records, n_columns):
        raise click.UsageError("Give RECORDS, or --n-records and --n-columns.")
    if records is not None and (n_records, n_columns) != (None, None):
        raise click.UsageError("RECORDS has its own size: leave out --n-records and --n-columns.")
    if tries is not None and records is None:
        raise click.UsageError("--try needs RECORDS: name their file.")
    given = [value is not None for value in (queries, size)]
    if any(given) if workload is not None else not all(given):
        raise click.UsageError("Give --queries and --size, or --workload instead of both.")
    held = None if records is None else read(records, form)
    rows, width = (len(held), held.n_columns) if held is not None else (n_records, n_columns)
    asked: Any = queries
    if workload is not None:
        asked = read_workload_file(workload, held, width or 0)
        size = max(map(len, asked))
    made = choose(rows or 0, width or 0, size or 0, epsilon, asked, k=k)
    secret = None
    if held is not None and tries is not None:
        output.remark("Trying every way on the records: the result is secret.")
        secret = made.tried(held, count=tries, seed=seed)
    show_plan(output, made, secret)
    if report is not None:
        write_report(report, made, secret)
        output.remark(f"The report is {report}")


def read_workload_file(file: Path, held: Records | None, width: int) -> list[set[Any]]:
    """Read the queries that are known beforehand as sets of columns, the empty ones left out.

    Where no records are given, nobody knows the names of columns: they are taken as they are.
    """
    from noren.similarity.leak_workload import read_queries, read_workload

    lines = read_queries(file)
    if held is not None:
        return [set(columns) for columns in read_workload(held, lines) if columns]
    found = [columns_in(line, width) for line in lines]
    if not any(found):
        raise ParameterError("workload", "empty", "at least one query with a column")
    return [columns for columns in found if columns]


def columns_in(line: str, width: int) -> set[Any]:
    """Read one query without knowing the names of columns."""
    if len(line) == width > 1 and set(line) <= {"0", "1"}:
        return {place for place, bit in enumerate(line) if bit == "1"}
    return {name.strip() for name in line.split(",") if name.strip()}


def show_plan(output: Output, made: SearchPlan, secret: SecretPlan | None) -> None:
    """Print the public part, then the secret one."""
    ways = [
        [way.name, float(way.epsilon_each), way.deviation, way.charges, float(way.record_epsilon),
         way.note] for way in made.ways
    ]  # fmt: skip
    heads = ["way", "epsilon a query", "sd of a number", "charged", "a whole record", ""]
    caps = [[lead, most, own] for lead, most, own in made.caps()]
    result: dict[str, Any] = {**made.to_dict(), "secret_part": secret.to_dict() if secret else None}
    people: list[Any] = [
        f"Advised: {made}", "", table("Ways at one total price", heads, ways), "",
        table("How often the best record can be named", ["lead in bits", "any rule", "best-record"],
              caps),
    ]  # fmt: skip
    if made.n_records > 1:
        alone, together = made.naming_odds()
        people += [
            "", "Where a whole record is protected, one match is listed at most "
            f"{alone:.3g} times for each wrong record (rules for each record alone; {together:.3g} "
            "for rules that look at all): ask for counts.",
        ]  # fmt: skip
    if secret is not None:
        people += ["", *secret_lines(secret)]
    output.show("similar-plan", result, people=people)


def secret_lines(secret: SecretPlan) -> list[Any]:
    """Show how well each way finds."""
    from noren.similarity.planning import SECRET

    rows = [
        [name, use.precision, use.error, use.ndcg] for name, use in secret.uses.items()
    ]  # fmt: skip
    heads = ["way", f"P@{secret.plan.k}", "standard error", f"NDCG@{secret.plan.k}"]
    precision, recall = secret.naming
    return [
        f"! {SECRET}",
        table("On the records themselves (simulated)", heads, rows),
        f"Naming all matches, a whole record protected: precision {precision:.3g}, recall "
        f"{recall:.3g}",
    ]


def write_report(path: Path, made: SearchPlan, secret: SecretPlan | None) -> None:
    """Write the plan as a page."""
    from noren.page import Chart, Page, Part, Text
    from noren.similarity.planning import SECRET

    parts: list[Part] = [
        Text(str(made)),
        Chart(made.chart(), "Error of a score by the number of queries that share a column"),
    ]
    if secret is not None:
        parts += [Chart(secret.chart(), "How well each way finds, on the private records")]
    Page(title="Plan of a private search", parts=parts, banner=SECRET if secret else "").write(path)
