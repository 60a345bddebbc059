"""`noren similar leaks` and `attack`: what exact answers would give away. Spends nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.engines import one_source, only_with, statistic_option
from noren.cli.options import NewFile, insecure_seed_option, noise_from, spare
from noren.cli.output import Output, table, with_output
from noren.errors import FileProblem, ParameterError

if TYPE_CHECKING:
    from noren.engine import Engine
    from noren.similarity import LeakReport, Records

SECRET = "SECRET: this was computed from the records without noise. It stays with their owner."
FILE = click.Path(path_type=Path, dir_okay=False)
FORMS = ("npz", "wide", "long", "movielens", "fps")


def public_list(context: click.Context, option: click.Parameter, path: Path | None) -> None:
    """Read a public list, one a line, and keep it for `read`."""
    if path is None:
        return
    try:
        context.meta[f"noren.similar.{option.name}"] = path.read_text("utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as a public list, one a line ({type(error).__name__}). "
            "Check the path."
        ) from None


def form_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a file of records is read; `read` heeds them."""
    for add in (
        click.option(
            "--columns", "names", type=FILE, expose_value=False, callback=public_list,
            help="The public list of columns, one a line, where the file should not decide.",
        ),
        click.option(
            "--ids", type=FILE, expose_value=False, callback=public_list,
            help="The public list of records likewise: advised for files of pairs, in which a "
            "record without items is not seen.",
        ),
        click.option(
            "--form", type=click.Choice(FORMS),
            help="What the file holds; told from its name if left out.",
        ),
    ):  # fmt: skip
        command = add(command)
    return command


def held_by(
    records: Path | None, form: str | None, statistic: Path | None, engine: Engine | None
) -> Any:
    """Read the owner's file; or open a statistic, whose records stay there and are streamed."""
    from noren.similarity.handover import open_records

    one_source(records, statistic, "RECORDS")
    if statistic is not None:
        only_with("RECORDS", "form", "names", "ids")
        return open_records(statistic, engine)
    assert records is not None
    if engine is not None:
        raise click.UsageError(
            "--engine dask scores ranges of a file, so it needs --statistic: write it once with "
            "'noren statistic write similar'."
        )
    return read(records, form)


def streamed(records: Path) -> Any:
    """Open a file that is a statistic itself, whose records are streamed; None for any other."""
    from noren.data.handover import kind_of
    from noren.similarity.handover import KIND, open_records

    is_one = records.suffix.lower() == ".parquet" and kind_of(records) == KIND.name
    return open_records(records) if is_one else None


def read(records: Path, form: str | None) -> Records:
    """Read the owner's file, with the public lists of this command."""
    from noren.similarity import Records

    meta = click.get_current_context().meta
    lists = {key: meta.get(f"noren.similar.{key}") for key in ("names", "ids")}
    public = {
        key: [line.strip() for line in given if line.strip()]
        for key, given in lists.items()
        if given is not None
    }
    return Records.read(records, form, **public)


@click.command()
@click.argument("records", type=FILE, required=False)
@form_option
@statistic_option
@click.option(
    "--query",
    "queries",
    multiple=True,
    metavar="COLUMNS",
    help="A query: column names with commas between, or 0s and 1s. May be repeated.",
)
@click.option("--queries", "file", type=FILE, help="A file of queries, one a line.")
@click.option("--size", type=click.IntRange(min=1), help="Random queries of so many columns,")
@click.option("--count", type=click.IntRange(min=1), default=100, help="so many; 100 if left out.")
@click.option("--data-seed", type=click.IntRange(min=0), default=1, help="Decides random queries.")
@click.option(
    "--answers",
    type=click.Choice(["scores", "ranks", "top-k"]),
    default="scores",
    show_default=True,
    help="What the service would answer.",
)
@click.option("--k", type=click.IntRange(min=1), help="How many records a top-k list names.")
@click.option(
    "--prior", type=FILE, help="A third attacker's chance of a 1 in each column, one a line."
)
@click.option("--out", type=NewFile(), help="Write the whole report to a .json file. It is secret.")
@click.option("--report", type=NewFile(), help="Write it as one .html file, too. It is secret.")
@with_output
def leaks(
    output: Output,
    records: Path | None,
    form: str | None,
    statistic: Path | None,
    queries: tuple[str, ...],
    file: Path | None,
    size: int | None,
    count: int,
    data_seed: int,
    answers: str,
    k: int | None,
    prior: Path | None,
    out: Path | None,
    report: Path | None,
) -> None:
    """Say what exact answers about RECORDS would give away, before a service is opened.

    The report is secret: it is computed without noise, costs no budget and must stay with the
    owner. Name the queries with --query or --queries, or have them drawn with --size.

    All records are held in memory, those of --statistic too, and no cluster helps: what answers
    prove of one record follows from all answers about it, and from the others of equal score.
    """
    from noren.similarity import leak_report

    one_source(records, statistic, "RECORDS")
    for name, path, ending in (("--out", out, ".json"), ("--report", report, ".html")):
        if path is not None and path.suffix.lower() != ending:
            raise ParameterError(name, path, f"a name that ends in {ending}")
        spare(path, *(own for own in (records, statistic) if own is not None))
    held = handed_whole(statistic) if records is None else read(records, form)
    workload = workload_of(queries, file, size, count, data_seed)
    with output.progress("Assessing leaks") as progress:
        found = leak_report(
            held, workload, answers=answers, k=k, prior=prior_of(prior), progress=progress
        )
    output.show("leak-report", found.to_dict(), people=shown(found))
    for path in (out, report):
        if path is not None:
            found.write(path)
            output.remark(f"The report is {path}. It is secret.")


def handed_whole(statistic: Path | None) -> Records:
    """Read the records of a statistic into memory: a leak report looks at all of them together."""
    from noren.similarity.handover import read_records

    assert statistic is not None
    only_with("RECORDS", "form", "names", "ids")
    return read_records(statistic)


def workload_of(
    queries: tuple[str, ...], file: Path | None, size: int | None, count: int, seed: int
) -> Any:
    """Take the queries from one of the three places that may name them."""
    from noren.similarity import RandomQueries
    from noren.similarity.leak_workload import read_queries

    if sum(map(bool, (queries, file, size))) != 1:
        raise click.UsageError("Name the queries by one of --query, --queries and --size.")
    if size is not None:
        return RandomQueries(size=size, count=count, seed=seed)
    return list(queries) if file is None else read_queries(file)


def prior_of(path: Path | None) -> Any:
    """Read one probability a line."""
    if path is None:
        return None
    try:
        return [float(line) for line in path.read_text("utf-8").split()]
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as one probability a line ({type(error).__name__}). "
            "Check the file."
        ) from None


def shown(found: LeakReport) -> list[Any]:
    """Give the report for people: the mark first, then the figures."""
    from noren.similarity.leak_page import SIZE_COLUMNS, facts, size_rows

    worst = [(one.attack, one.queries, one.statement) for one in found.worst]
    top = [(one.record, one.proven, one.ones, one.completed) for one in found.top]
    return [
        f"! {found.mark}", found.headline, "",
        table("Over the whole workload", ("", "figure"), facts(found)), "",
        table("What a determined attacker needs", ("attack", "queries", "in words"), worst), "",
        table("One answer at a time (means)", SIZE_COLUMNS, size_rows(found)), "",
        table("Records of which most is proven",
              ("record", "bits proven", "ones among them", "whole with query"), top), "",
        *(f"! {note}" for note in found.notes),
    ]  # fmt: skip


@click.command()
@click.argument("records", type=FILE)
@form_option
@click.option(
    "--method",
    type=click.Choice(["detecting", "unit", "differencing"]),
    default="detecting",
    show_default=True,
    help="Coin weighing (fewest queries), one query a column, or differences of large queries.",
)
@click.option(
    "--answers",
    type=click.Choice(["scores", "ranks"]),
    default="scores",
    show_default=True,
    help="What the service would answer; ranks only with --method unit.",
)
@click.option(
    "--min-size", type=click.IntRange(min=1), default=1, help="The least query it would answer."
)
@click.option(
    "--epsilon", help="Answer privately instead: what all queries together may cost one bit."
)
@insecure_seed_option
@with_output
def attack(
    output: Output,
    records: Path,
    form: str | None,
    method: str,
    answers: str,
    min_size: int,
    epsilon: str | None,
    insecure_seed: int | None,
) -> None:
    """Recover RECORDS from answers alone: your own data, to see how few queries it takes.

    The result is secret. With --epsilon the same attack is tried on private answers, and fails.
    """
    from noren.similarity.leak_attack import attack as run

    held = read(records, form)
    noise = noise_from(insecure_seed) if epsilon is not None else None
    with output.progress("Attacking") as progress:
        found = run(
            held, method, answers=answers, min_size=min_size, epsilon=epsilon, noise=noise,
            progress=progress,
        )  # fmt: skip
    output.show("similar-attack", found.to_dict(), people=[f"! {SECRET}", str(found)])
