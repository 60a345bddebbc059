"""`noren monitor show`: what was decided so far, or what stored reports decide."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.engines import engine_options, statistic_option
from noren.cli.monitor_plan import FILE, read_plan
from noren.cli.output import Output, table, with_output
from noren.errors import FileProblem, ParameterError, SchemaError

if TYPE_CHECKING:
    from noren.engine import Engine

COLUMNS = ("epoch", "slot", "share", "low", "high", "verdict", "reports", "missing", "flips")


@click.command()
@click.option("--counts", type=FILE, help="A collector's file of counts.")
@click.option("--reports", type=FILE, multiple=True, help="Stored reports: .parquet or .jsonl.")
@click.option("--plan", "plans", type=FILE, multiple=True, help="The plan, with --reports.")
@click.option("--first", type=int, metavar="EPOCH", help="Of --reports, count each client's first.")
@statistic_option
@engine_options
@click.option("--chart", type=FILE, help="Draw shares over time: .svg, .png or .html.")
@with_output
def show(
    output: Output, counts: Path | None, reports: tuple[Path, ...], plans: tuple[Path, ...],
    first: int | None, statistic: Path | None, engine: Engine | None, chart: Path | None,
) -> None:  # fmt: skip
    """Show what was decided so far, or decide from stored reports.

    Stored reports have the columns slot, y and, for several classes, class; with --first also
    epoch and client.
    """
    if sum(map(bool, (counts, reports, statistic))) != 1:
        raise click.UsageError("Name one of --counts, --reports and --statistic (with --plan).")
    if counts is not None:
        decisions, uncounted, made = from_counts(counts)
    elif statistic is not None:
        decisions, uncounted, made = from_statistic(statistic, plans, first)
    else:
        with output.progress("Counting reports") as progress:
            counted = counted_reports(reports, plans, first, engine, progress)
        decisions, uncounted, made = decided(counted, plans, first)
    if chart is not None:
        draw(chart, decisions, made)
        output.remark(f"The chart is {chart}")
    rows = [[cell(decision, name) for name in COLUMNS] for decision in decisions]
    people: list[Any] = [table(f"{made.task}: {made.chosen.name}", COLUMNS, rows)]
    people += [f"Not counted: {name} {number}" for name, number in sorted(uncounted.items())]
    result = {"decisions": decisions, "uncounted": uncounted, "plan": made.to_dict()}
    output.show("monitoring", result, guarantee=made.guarantee, people=people)


def cell(decision: dict[str, Any], name: str) -> Any:
    """Give what a table shows of a decision."""
    from noren.monitoring.decisions import displayed

    return displayed(decision[name]) if name == "share" else decision[name]


def from_counts(path: Path) -> tuple[list[dict[str, Any]], dict[str, int], Any]:
    """Read a file of counts."""
    from noren.monitoring.collector import Collector

    if not path.exists():
        raise FileProblem(f"{path} does not exist. 'noren monitor collect' makes one.")
    with Collector(path) as collector:
        return collector.decisions(), collector.uncounted(), collector.plans[0]


def from_statistic(
    path: Path, plans: tuple[Path, ...], epoch: int | None
) -> tuple[list[dict[str, Any]], dict[str, int], Any]:
    """Decide from reports that were counted before."""
    from noren.monitoring.handover import read_counts
    from noren.monitoring.sealing import classes_of

    made, counts = plans_of(plans), read_counts(path)
    planned = made[0].horizon, classes_of(made)
    if counts.reports.shape != planned:
        raise SchemaError(
            f"{path} has other slots and classes than the plan, which has {planned[0]} slots and "
            f"{planned[1]} classes. Count with this plan: noren statistic write monitor"
        )
    return decided(counts, plans, epoch)


def plans_of(plans: tuple[Path, ...]) -> list[Any]:
    """Read the plans of stored reports."""
    if not plans:
        raise ParameterError("plan", None, "named with --plan for stored reports")
    return [read_plan(path) for path in plans]


def counted_reports(
    reports: Iterable[Path],
    plans: tuple[Path, ...],
    epoch: int | None,
    engine: Engine | None,
    progress: Any = None,
) -> Any:
    """Count stored reports."""
    from noren.monitoring.batch import count_first_reports, count_reports
    from noren.monitoring.sealing import classes_of

    made, files = plans_of(plans), list(reports)
    own: dict[str, Any] = {"classes": classes_of(made), "engine": engine, "progress": progress}
    if epoch is None:
        return count_reports(files, made[0].horizon, **own)
    return count_first_reports(files, made[0].horizon, epoch, **own)


def decided(
    counts: Any, plans: tuple[Path, ...], epoch: int | None
) -> tuple[list[dict[str, Any]], dict[str, int], Any]:
    """Decide from counts."""
    from noren.monitoring.sealing import decide_all

    made = plans_of(plans)
    strange = {"strange": counts.strange} if counts.strange else {}
    return decide_all(made, counts, epoch or 0), strange, made[0]


def draw(path: Path, decisions: list[dict[str, Any]], made: Any) -> None:
    """Draw the decisions as a picture or as a page."""
    from noren.monitoring.charts import over_time
    from noren.page import Chart, Page, save_chart

    picture = over_time(decisions, made.horizon)
    if path.suffix.lower() != ".html":
        save_chart(picture, path)
        return
    caption = "Estimated share with its interval, the threshold, and what was said of each slot."
    Page(title=f"Monitoring: {made.task}", lead=str(made), parts=[Chart(picture, caption)]).write(
        path
    )
