"""How weights are shown: diagnostics for people, the table in a file, pictures in a page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from noren.cli.options import require_folder
from noren.cli.output import Output, answer_lines, json_text
from noren.cli.output import table as table_of
from noren.errors import ParameterError

FILES = (".csv", ".parquet")
RELEASE = ".release.json"


def output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say where the result goes, and hand them over as `shown`."""

    def run(*args: Any, out: Path | None, report: Path | None, **settings: Any) -> None:
        if out is None and not settings.get("dry_run"):
            raise click.UsageError("Say where the weighted table goes: --out FILE.")
        if out is not None and out.suffix.lower() not in FILES:
            raise ParameterError("--out", out, f"a name that ends in {' or '.join(FILES)}")
        require_folder("--out", out)
        require_folder("--report", report)
        function(*args, shown={"out": out, "report": report}, **settings)

    command: Callable[..., None] = functools.wraps(function)(run)
    for add in (
        click.option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write weights, marginals and moments as one HTML file, too.",
        ),
        click.option(
            "--out",
            type=click.Path(path_type=Path, dir_okay=False),
            help="The weighted table: .parquet or .csv; the release is kept beside it.",
        ),
    ):
        command = add(command)
    return command


def show_plan(output: Output, prepared: Any, queries: int | None) -> None:
    """Show what would be asked."""
    plan = prepared.plan
    notices = [*prepared.public.encoding.notices, *plan.notices]
    result = {
        "method": plan.method,
        "reason": plan.reason,
        "forecast": plan.forecast.to_dict(),
        "assumed_public": list(plan.question.assumed_public),
        "notices": notices,
    }
    people = [
        f"Method: {plan.method} ({plan.reason})",
        f"Price: {plan.question.guarantee}",
        f"Forecast: {plan.forecast}",
        *(f"! {notice}" for notice in notices),
        table_of("", ("before anything is spent", ""), list(plan.forecast.figures.items())),
    ]
    if queries is not None:
        each, better = plan.direct.error(queries), plan.direct.better(queries)
        result["direct"] = {"queries": queries, "noise": each, "better": better}
        verdict = "better asked directly" if better else "better by weights"
        people.append(f"{queries} shares asked directly: noise {each:.3g} each ({verdict})")
    people.append("Nothing was spent.")
    output.show("reweight-plan", result, guarantee=plan.question.guarantee, people=people)


def show_weights(output: Output, found: Any, shown: dict[str, Any]) -> None:
    """Write the weighted table and what was released; show how good the weights are."""
    out: Path = shown["out"]
    release = out.with_name(out.name + RELEASE)
    write_table(out, found)
    found.save_release(release)
    result = about(found) | {"files": {"table": str(out), "release": str(release)}}
    if shown["report"] is not None:
        write_report(shown["report"], found)
        result["files"]["report"] = str(shown["report"])
    people = [
        *answer_lines(found.release),
        *(f"! {notice}" for notice in found.notices),
        table_of("", ("weights", ""), figures(found)),
        *(f"Wrote the {what}: {name}" for what, name in result["files"].items()),
    ]
    output.show("weights", result, guarantee=found.release.guarantee, people=people)


def about(found: Any) -> dict[str, Any]:
    """Say in JSON what the weights are worth and what was assumed."""
    made = found.release.to_dict()
    return {
        "diagnostics": found.weights.diagnostics(),
        "notices": list(found.notices),
        "assumed_public": list(found.release.question.assumed_public),
        "marks": list(found.release.marks),
        "receipt": made.get("receipt"),
    }


def figures(found: Any) -> list[tuple[str, Any]]:
    """Give the diagnostics that fit in a line each."""
    given = found.weights.diagnostics()
    simple = [(key, value) for key, value in given.items() if isinstance(value, (int, float, str))]
    chosen = [(f"chosen {key}", value) for key, value in given["settings"].items()]
    return simple + chosen


def write_table(path: Path, found: Any) -> None:
    """Write the public table with its weights, and its price inside the file or beside it."""
    text = json_text("weights", about(found), found.release.guarantee)
    table = found.table
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as parquet

        metadata = {**(table.schema.metadata or {}), b"noren": text.encode()}
        parquet.write_table(table.replace_schema_metadata(metadata), path)
        return
    from pyarrow import csv

    csv.write_csv(table, path)
    path.with_name(path.name + ".about.json").write_text(text, encoding="utf-8")


def write_report(path: Path, found: Any) -> None:
    """Write a page: what was released, how weights are spread, what they do to each column."""
    from noren.page import Answered, Chart, Page, Part, Section, Table, Text
    from noren.reweighting.charts import marginal_chart, moments_met_chart, weight_chart

    weights, release = found.weights, found.release
    private = release.secure
    parts: list[Part] = [Answered(release, asked="What are the private table's moments?")]
    parts += [Text(f"Mind: {notice}.", private) for notice in found.notices]
    parts += [
        Section("The weights", private),
        Table(("diagnostic", "value"), figures(found), is_private=private),
        Chart(weight_chart(weights), "How the weights of the public rows are spread.", "", private),
        Chart(
            moments_met_chart(weights),
            "Weighted moments beside the noisy ones, with two standard deviations.",
            "",
            private,
        ),
        Section("What they do to each column", private),
    ]
    for name, shares in found.public.marginals(weights):
        caption = f"{name}: share of the public rows as they are, and weighted."
        parts.append(Chart(marginal_chart(name, shares), caption, "", private))
    lead = "The public table with weights; its price is stated below. Weighting again is free."
    Page(title="A public table that speaks for a private one", lead=lead, parts=parts).write(path)
