"""`noren reweight schema`, `plan`, `fit` and `refit`: from two files to a table with weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.engines import engine_options, statistic_option
from noren.cli.options import NewFile, TableFile, is_one_file, spare
from noren.cli.output import Output, with_output
from noren.cli.reweight_output import output_options, show_plan, show_weights
from noren.cli.spending import Spending, spending_options
from noren.errors import FileProblem, ParameterError

if TYPE_CHECKING:
    from noren.data import Schema
    from noren.engine import Engine

METHODS = ("auto", "kriging", "ridge", "calibration", "rake", "adaptive")
ESTIMATORS = ("kriging", "ridge", "calibration", "rake", "adaptive")

a_file = click.Path(path_type=Path, dir_okay=False)


def schema_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--schema`."""
    text = "The declared columns (.toml or .json): public bounds and levels."
    return click.option("--schema", "declared", type=a_file, required=True, help=text)(function)


def question_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what is asked, and at what price."""
    command = function
    for add in (
        click.option(
            "--method",
            type=click.Choice(METHODS),
            default="auto",
            help="How weights are found; auto, by public facts alone, unless given.",
        ),
        click.option(
            "--about",
            type=click.IntRange(min=1),
            help="With add-remove: a public order of magnitude of the number of private rows.",
        ),
        click.option(
            "--records",
            type=click.IntRange(min=1),
            help="With substitute: the public number of private rows.",
        ),
        click.option(
            "--adjacency",
            type=click.Choice(["add-remove", "substitute"]),
            required=True,
            help="Who is protected: a row that is there or not, or what a row holds.",
        ),
        click.option("--epsilon", required=True, help="The price of the one release."),
    ):
        command = add(command)
    return command


def fit_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of fitting, which is free."""
    command = function
    for add in (
        click.option("--cap", type=float, help="The largest weight to publish (the mean is 1)."),
        click.option(
            "--target",
            type=click.Choice(["population", "table"]),
            default="population",
            help="population (with intervals; the default), or this very table.",
        ),
    ):
        command = add(command)
    return command


@click.command()
@click.argument("public", type=TableFile())
@click.option("--out", type=NewFile(), help="Write it to a file instead: .toml, or .json.")
@with_output
def schema(output: Output, public: Path | str, out: Path | None) -> None:
    """Propose a schema for the columns of PUBLIC, to be corrected by hand. Spends nothing.

    Never give it a private table: bounds and levels read off one would give away its records.
    """
    from noren.data import propose
    from noren.data.whole import read_whole

    spare(out, public)
    if out is not None and out.exists():
        raise FileProblem(
            f"{out} exists already, and may be a schema that was corrected by hand. Move it away, "
            "or choose another name."
        )
    made = propose(read_whole(public))
    if out is not None and out.suffix.lower() not in (".toml", ".json"):
        raise ParameterError("--out", out, "a name that ends in .toml or .json")
    if out is not None and out.suffix.lower() == ".json":
        made.schema.write(out)
    elif out is not None:
        out.write_text(made.toml(), encoding="utf-8")
    result = {"schema": made.schema.to_dict(), "reasons": made.reasons}
    output.show("schema", result, people=made.toml() if out is None else f"Wrote {out}")


@click.command()
@click.argument("public", type=TableFile())
@schema_option
@question_options
@click.option("--queries", type=click.IntRange(min=1), help="How many counts you need, if few.")
@with_output
def plan(
    output: Output, public: Path | str, declared: Path, queries: int | None, **settings: Any
) -> None:
    """Show what would be asked, its price and its error, from PUBLIC alone. Spends nothing."""
    from noren.reweighting import prepare

    prepared = prepare(public, read_schema(declared), **settings)
    show_plan(output, prepared, queries)


@click.command()
@click.argument("tables", type=TableFile(), nargs=-1, required=True, metavar="[PRIVATE] PUBLIC")
@schema_option
@question_options
@statistic_option
@engine_options
@fit_options
@output_options
@spending_options
@with_output
def fit(
    output: Output,
    spending: Spending,
    tables: tuple[Path | str, ...],
    declared: Path,
    statistic: Path | None,
    engine: Engine | None,
    shown: dict[str, Any],
    cap: float | None,
    target: str,
    **settings: Any,
) -> None:
    """Ask PRIVATE once, and write PUBLIC with a column of weights. PRIVATE is read for this alone.

    What was released is kept beside the result: refit and query need no private file. With
    --statistic, name PUBLIC alone.
    """
    from noren.reweighting import prepare

    check_cap(cap)
    if len(tables) != (2 if statistic is None else 1):
        raise click.UsageError("Name PRIVATE and PUBLIC; with --statistic FILE, PUBLIC alone.")
    private, public = (tables[0], tables[-1]) if statistic is None else (statistic, tables[0])
    for file in shown.values():
        spare(file, private, public)
    if is_one_file(private, public):
        raise ParameterError(
            "PUBLIC", public, "another file than PRIVATE", "Its rows are written out as they are."
        )
    prepared = prepare(public, read_schema(declared), **settings)
    with ExitStack() as opened:
        count: Any
        if statistic is not None:
            count = opened.enter_context(prepared.handed(statistic, engine=engine))
        else:
            progress = opened.enter_context(output.progress("Reading the private table"))
            count = opened.enter_context(prepared.counter(private, progress, engine=engine))
        question = prepared.plan.question
        release = spending.ask(output, question, count, facts=settings["about"])
    if release is not None:
        show_weights(output, prepared.fit(release, target=target, cap=cap), shown)


@click.command()
@click.argument("release", type=a_file)
@click.argument("public", type=TableFile())
@click.option("--estimator", type=click.Choice(ESTIMATORS), help="Another one than at first.")
@fit_options
@output_options
@with_output
def refit(
    output: Output,
    release: Path,
    public: Path | str,
    shown: dict[str, Any],
    estimator: str | None,
    cap: float | None,
    target: str,
) -> None:
    """Fit again, from what was released: spends nothing, and opens no private file."""
    check_cap(cap)
    for file in shown.values():
        spare(file, release, public)
    again = opened(release, public, estimator=estimator, target=target, cap=cap)
    show_weights(output, again, shown)


def opened(release: Path, public: Path | str, **settings: Any) -> Any:
    """Fit the public table to a saved release, by the schema that was saved with it."""
    from noren.data import Schema
    from noren.reweighting import load_release, refit, saved_about

    saved = load_release(release)
    about = saved_about(release)
    if "schema" not in about:
        raise FileProblem(
            f"{release} holds a release without its schema, but it must be a file that "
            "`noren reweight fit` wrote. Fit it in Python (noren.reweighting.refit), schema given."
        )
    return refit(saved, public, Schema.from_dict(about["schema"]), **settings)


def read_schema(path: Path) -> Schema:
    """Read the declared columns."""
    from noren.data import Schema

    return Schema.read(path)


def check_cap(cap: float | None) -> None:
    """Refuse a cap that no weights of mean one keep, before anything is spent."""
    if cap is not None and not cap >= 1:
        raise ParameterError("--cap", cap, "at least 1", "Weights of mean 1 cannot all lie below.")
