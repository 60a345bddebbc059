"""`noren statistic write`: count what a question needs, into a file. Spends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.associate_scan import cohort_options
from noren.cli.engines import FILE, engine_options
from noren.cli.output import Output, with_output

if TYPE_CHECKING:
    from noren.engine import Engine

out_option = click.option(
    "--out", type=FILE, required=True, help="The new file (.parquet). It is as secret as the data."
)


@click.group()
def write() -> None:
    """Count what a question needs, into a file that asks later. Spends nothing."""


def wrote(output: Output, out: Path, kind: Any) -> None:
    """Say what was written."""
    result = {"file": str(out), "kind": kind.name, "secret": kind.secret}
    mark = ["! SECRET: as secret as the data it was counted from."] if kind.secret else []
    output.show("statistic-written", result, people=[*mark, f"Wrote {out} ({kind.name})"])


@write.command()
@click.argument("cohort", type=click.Path(path_type=Path))
@cohort_options
@click.option("--tests", type=FILE, help="Count only the variants listed here, one a line.")
@out_option
@engine_options
@with_output
def associate(
    output: Output, cohort: Path, out: Path, engine: Engine | None, **settings: Any
) -> None:
    """Count the variants of COHORT: PLINK files, or a table of counts (snp, a, b)."""
    from noren.association.handover import KIND, write_tables
    from noren.cli.associate_scan import opened

    study = opened(cohort, settings)
    with output.progress("Counting variants") as progress:
        tables = study.count(progress, engine=engine)
    write_tables(out, tables, settings["coding"])
    wrote(output, out, KIND)


@write.command()
@click.argument("reports", nargs=-1, required=True, type=FILE)
@click.option("--plan", "plans", type=FILE, multiple=True, required=True, help="The plan (of each "
              "class of people).")  # fmt: skip
@click.option("--first", type=int, metavar="EPOCH", help="Count each client's first report.")
@click.option(
    "--grouped", is_flag=True,
    help="REPORTS is one table that a warehouse counted: slot, y, reports (and class).",
)  # fmt: skip
@out_option
@engine_options
@with_output
def monitor(
    output: Output, reports: tuple[Path, ...], plans: tuple[Path, ...], first: int | None,
    grouped: bool, out: Path, engine: Engine | None,
) -> None:  # fmt: skip
    """Count stored REPORTS (.parquet or .jsonl) by slot, class and bit."""
    from noren.cli.monitor_collect import counted_reports, plans_of
    from noren.monitoring.handover import KIND, read_grouped, write_counts
    from noren.monitoring.sealing import classes_of

    if grouped and (len(reports) != 1 or first is not None):
        raise click.UsageError("--grouped takes one table, and no --first.")
    if grouped:
        made = plans_of(plans)
        counts = read_grouped(reports[0], made[0].horizon, classes_of(made))
    else:
        with output.progress("Counting reports") as progress:
            counts = counted_reports(reports, plans, first, engine, progress)
    write_counts(out, counts)
    wrote(output, out, KIND)
