"""`noren reproduce`: a paper's experiments, the published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from noren.cli.output import Output, table, with_output
from noren.papers import PAPERS, PaperRow

COLUMNS = ("experiment", "setting", "quantity", "published", "ours", "tolerance", "ok", "note")
FILES = {name: text for paper in PAPERS.values() for name, text in paper.files.items()}


def file_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add one option for each file that some paper can use."""
    for name, text in FILES.items():
        add = click.option(f"--{name}", type=click.Path(path_type=Path), help=text)
        command = add(command)
    return command


@click.command()
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="End within a minute, with fewer repetitions.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write an HTML report to this file, too."
)
@file_options
@with_output
def reproduce(
    output: Output, name: str | None, quick: bool, report: Path | None, **files: Path | None
) -> None:
    """Repeat the experiments of the paper NAME, and compare with what it printed.

    Without NAME, list the papers. Exit code 1 when a figure is not what a faithful run gives.
    """
    if name is None:
        list_papers(output)
        return
    rows = run(output, name, quick, given_files(name, files))
    people = table(name, COLUMNS, [cells(row) for row in rows])
    output.show(
        "reproduction", {"name": name, "rows": [row.to_dict() for row in rows]}, people=people
    )
    if report is not None:
        write_report(report, name, rows)
        output.remark(f"The report is {report}")
    if not all(row.ok for row in rows):
        raise click.exceptions.Exit(1)


def list_papers(output: Output) -> None:
    """Name what can be reproduced."""
    empty = "There is no reproduction here yet."
    people = "\n".join(f"noren reproduce {name}" for name in PAPERS) or empty
    output.show("reproductions", {"names": list(PAPERS)}, people=people)


def given_files(name: str, files: dict[str, Path | None]) -> dict[str, Path | None]:
    """Give the files that this paper can use; refuse a file that is another paper's."""
    if name not in PAPERS:
        known = ", ".join(PAPERS) or "none is here yet"
        raise click.BadParameter(f"'{name}' is not a reproduction ({known}).", param_hint="NAME")
    own = {key: files.get(key) for key in PAPERS[name].files}
    for key, path in files.items():
        if path is not None and key not in own:
            raise click.UsageError(f"'{name}' has no use for --{key}.")
    return own


def run(output: Output, name: str, quick: bool, files: dict[str, Path | None]) -> list[PaperRow]:
    """Gather the rows of one paper."""
    paper = import_module(PAPERS[name].module)
    with output.progress(f"Reproducing {name}") as progress:
        return list(paper.rows(quick=quick, progress=progress, **files))


def cells(row: PaperRow) -> list[Any]:
    """Give a row's values in the order of the columns."""
    return [getattr(row, column) for column in COLUMNS]


def write_report(path: Path, name: str, rows: Sequence[PaperRow]) -> None:
    """Write the rows and the paper's charts as one HTML file."""
    from noren.page import Chart, Page, Part, Section, Table

    parts: list[Part] = []
    for experiment in dict.fromkeys(row.experiment for row in rows):
        own = [cells(row)[1:] for row in rows if row.experiment == experiment]
        parts += [Section(experiment), Table(COLUMNS[1:], own)]
    charts = import_module(PAPERS[name].module).charts(rows)
    if charts:
        parts += [Section("Charts"), *(Chart(chart, caption) for caption, chart in charts)]
    lead = "What the paper printed, beside what this run found."
    Page(title=f"Reproduction: {name}", lead=lead, parts=parts).write(path)
