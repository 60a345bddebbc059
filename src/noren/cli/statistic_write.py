"""`noren statistic write`: count what a question needs, into a file. Spends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.associate_scan import cohort_options
from noren.cli.collaborate_files import consortium_option
from noren.cli.engines import FILE, engine_options
from noren.cli.options import NewFile, TableFile, spare
from noren.cli.output import Output, with_output
from noren.cli.reweight_fit import question_options, schema_option
from noren.cli.similar_leak import form_option, read

if TYPE_CHECKING:
    from noren.engine import Engine

SECRET = "SECRET: as secret as the data it was counted from."

out_option = click.option(
    "--out",
    type=NewFile(),
    required=True,
    help="The new file (.parquet). It is as secret as the data.",
)


@click.group()
def write() -> None:
    """Count what a question needs, into a file that asks later. Spends nothing."""


def wrote(output: Output, out: Path, kind: Any) -> None:
    """Say what was written."""
    result = {"file": str(out), "kind": kind.name, "secret": kind.secret}
    mark = [f"! {SECRET}"] if kind.secret else []
    output.show("statistic-written", result, people=[*mark, f"Wrote {out} ({kind.name})"])


@write.command()
@click.argument("cohort", type=click.Path(path_type=Path))
@cohort_options
@click.option("--tests", type=FILE, help="Count only the variants listed here, one a line.")
@click.option("--covariates", type=FILE, help="Refused: their scores need more than counts.")
@out_option
@engine_options
@with_output
def associate(
    output: Output, cohort: Path, out: Path, engine: Engine | None, **settings: Any
) -> None:
    """Count the variants of COHORT: PLINK files, or a table of counts (snp, a, b).

    With --strata in each stratum; with --private-status for a scan that hides who is a case.
    """
    from noren.association.handover import COVARIATES, write_study
    from noren.cli.associate_scan import opened

    if settings["covariates"] is not None:
        raise click.UsageError(COVARIATES)
    spare(out, cohort)
    study = opened(cohort, settings)
    with output.progress("Counting variants") as progress:
        counted = study.count(progress, engine=engine)
    wrote(output, out, write_study(out, study.design, counted, settings["coding"]))


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
    from noren.cli.monitor_show import counted_reports, plans_of
    from noren.monitoring.handover import KIND, read_grouped, write_counts
    from noren.monitoring.sealing import classes_of

    spare(out, *reports)
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


@write.command()
@click.argument("records", type=FILE)
@form_option
@out_option
@with_output
def similar(output: Output, records: Path, form: str | None, out: Path) -> None:
    """Pack the bits of RECORDS: a search scores each of them, so no count would do."""
    from noren.similarity.handover import KIND, write_records

    spare(out, records)
    write_records(out, read(records, form))
    wrote(output, out, KIND)


@write.command()
@click.argument("private", type=TableFile())
@click.argument("public", type=TableFile())
@schema_option
@question_options
@out_option
@engine_options
@with_output
def reweight(
    output: Output, private: Path | str, public: Path | str, declared: Path, out: Path,
    engine: Engine | None,
    **settings: Any,
) -> None:  # fmt: skip
    """Add up PRIVATE as `noren reweight fit` would with the same options and the same PUBLIC.

    The adaptive method looks at rows more than once: for it the file holds the encoded rows.
    """
    from noren.cli.reweight_fit import read_schema
    from noren.data import partitions
    from noren.reweighting import prepare
    from noren.reweighting.filed_rows import EncodedPart
    from noren.reweighting.handover import ROWS, SUMS, write_rows, write_sums

    spare(out, private, public)
    prepared = prepare(public, read_schema(declared), **settings)
    if prepared.basis is None:
        encoding = prepared.public.encoding
        parts = (EncodedPart(encoding, part) for part in partitions(private, encoding.schema))
        write_rows(out, encoding, (block for part in parts for block in part.read()))
        wrote(output, out, ROWS)
        return
    with output.progress("Reading the private table") as progress:
        sums = prepared.count(private, progress, engine=engine)
    write_sums(out, sums)
    wrote(output, out, SUMS)


@write.command()
@click.argument("rows", type=TableFile())
@consortium_option
@out_option
@with_output
def collaborate(output: Output, rows: Path | str, consortium: Path, out: Path) -> None:
    """Encode ROWS by the consortium's task: a fit looks at them more than once."""
    from noren.collaboration import Consortium
    from noren.collaboration.filed_rows import EncodedPart
    from noren.collaboration.handover import KIND, write_rows
    from noren.data import partitions

    spare(out, rows)
    task = Consortium.read(consortium).task
    parts = (EncodedPart(task, part) for part in partitions(rows, task.schema))
    write_rows(out, task, (block for part in parts for block in part.read()))
    wrote(output, out, KIND)
