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
ALL = "all"
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
    """Repeat the experiments of the paper NAME (or of all), and compare with what it printed.

    Without NAME, list the papers. Exit code 1 when a figure is not what a faithful run gives.
    """
    if name is None:
        list_papers(output)
        return
    chosen = {paper: given_files(paper, files) for paper in papers_of(name)}
    refuse_useless(name, chosen, files)
    found = {paper: run(output, paper, quick, given) for paper, given in chosen.items()}
    people = [table(paper, COLUMNS, [cells(row) for row in rows]) for paper, rows in found.items()]
    result = [told(row, p if name == ALL else None) for p, rows in found.items() for row in rows]
    output.show("reproduction", {"name": name, "rows": result}, people=people)
    if report is not None:
        write_report(report, found)
        output.remark(f"The report is {report}")
    if not all(row["ok"] for row in result):
        raise click.exceptions.Exit(1)


def list_papers(output: Output) -> None:
    """Name what can be reproduced."""
    empty = "There is no reproduction here yet."
    people = "\n".join(f"noren reproduce {name}" for name in PAPERS) or empty
    output.show("reproductions", {"names": list(PAPERS)}, people=people)


def told(row: PaperRow, paper: str | None) -> dict[str, Any]:
    """Give a row's JSON form, with its paper where there are several."""
    return row.to_dict() if paper is None else {**row.to_dict(), "paper": paper}


def papers_of(name: str) -> list[str]:
    """Give the papers that a name stands for."""
    if name == ALL:
        return list(PAPERS)
    if name not in PAPERS:
        known = ", ".join([*PAPERS, ALL])
        raise click.BadParameter(f"'{name}' is not a reproduction ({known}).", param_hint="NAME")
    return [name]


def given_files(name: str, files: dict[str, Path | None]) -> dict[str, Path | None]:
    """Give the files that this paper can use."""
    return {key: files.get(key) for key in PAPERS[name].files}


def refuse_useless(
    name: str, chosen: dict[str, dict[str, Path | None]], files: dict[str, Path | None]
) -> None:
    """Refuse a file that none of the chosen papers can use."""
    useful = {key for given in chosen.values() for key in given}
    for key, path in files.items():
        if path is not None and key not in useful:
            raise click.UsageError(f"'{name}' has no use for --{key}.")


def run(output: Output, name: str, quick: bool, files: dict[str, Path | None]) -> list[PaperRow]:
    """Gather the rows of one paper."""
    paper = import_module(PAPERS[name].module)
    with output.progress(f"Reproducing {name}") as progress:
        return list(paper.rows(quick=quick, progress=progress, **files))


def cells(row: PaperRow) -> list[Any]:
    """Give a row's values in the order of the columns."""
    return [getattr(row, column) for column in COLUMNS]


def write_report(path: Path, found: dict[str, list[PaperRow]]) -> None:
    """Write rows and charts as one HTML file, paper by paper."""
    from noren.page import Page, Part

    parts: list[Part] = []
    for name, rows in found.items():
        parts += parts_of(name, rows, several=len(found) > 1)
    title = f"Reproduction: {', '.join(found)}"
    Page(title=title, lead="What was printed, beside what this run found.", parts=parts).write(path)


def parts_of(name: str, rows: Sequence[PaperRow], several: bool) -> list[Any]:
    """Give one paper's part of the page: in short, charts, differences, then every figure."""
    from noren.page import Chart, Section, Table, Text

    agree = sum(row.ok for row in rows)
    told = f"{agree} of {len(rows)} figures lie within the tolerance of a faithful run."
    parts: list[Any] = [Section(f"The paper on {name}"), Text(told)] if several else [Text(told)]
    start = f"{name}: " if several else ""
    compared = [row for row in rows if is_number(row.published) and is_number(row.ours)]
    if compared:
        parts += [Section(f"{start}published against ours"), Chart(side_by_side(compared), SIDES)]
    apart = [row for row in rows if row.published is not None and differs(row)]
    if apart:
        parts += [Section(f"{start}where they differ, and why"), Table(DIFFERENCES, reasons(apart))]
    charts = import_module(PAPERS[name].module).charts(rows)
    if charts:
        parts += [Section(f"{start}charts"), *(Chart(chart, caption) for caption, chart in charts)]
    for experiment in dict.fromkeys(row.experiment for row in rows):
        own = [cells(row)[1:] for row in rows if row.experiment == experiment]
        parts += [Section(f"{start}{experiment}"), Table(COLUMNS[1:], own)]
    return parts


SIDES = (
    "Every figure that the paper prints as a number, published and ours side by side, in units of "
    "the published one: where the two marks lie together, ours is what was printed."
)
DIFFERENCES = ("experiment", "setting", "quantity", "published", "ours", "why")
CLOSE = 0.02  # of the published figure: what its rounding, and that of a chart, hides
MOST = 80  # lines of one chart that can still be read


def is_number(value: object) -> bool:
    """Tell numbers from words and nothing."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differs(row: PaperRow) -> bool:
    """Tell whether ours is not what was published."""
    if is_number(row.published) and is_number(row.ours):
        published, ours = float(row.published or 0), float(row.ours or 0)
        allowed = max(CLOSE * abs(published), row.tolerance or 0)
        return abs(published - ours) > allowed
    return row.published != row.ours and bool(row.note)


def reasons(rows: Sequence[PaperRow]) -> list[list[Any]]:
    """Say in a sentence why a figure differs."""
    usual = "Ours is what a faithful run gives, within its tolerance."
    failed = "Ours is not what a faithful run gives: look into this."
    return [
        [row.experiment, row.setting, row.quantity, row.published, row.ours,
         sentence(row.note) or (usual if row.ok else failed)]
        for row in rows
    ]  # fmt: skip


def sentence(note: str) -> str:
    """Write a note as a sentence."""
    return f"{note[0].upper()}{note[1:]}{'' if note.endswith('.') else '.'}" if note else ""


def side_by_side(rows: Sequence[PaperRow]) -> Any:
    """Draw published and ours, in units of the published figure."""
    import altair

    points = [
        {"figure": f"{row.quantity}: {row.setting}",
         "who": who, "value": value, "in units of the published": float(value) / float(given)}
        for row in rows[:MOST]
        for given in [float(row.published or 0)]
        if given and float(row.ours or 0) / given > 0
        for who, value in (("published", given), ("ours", float(row.ours or 0)))
    ]  # fmt: skip
    encoded = altair.Chart({"values": points}).mark_point(filled=True, size=55, opacity=0.8)
    return encoded.encode(
        altair.X("in units of the published:Q", scale=altair.Scale(type="log")),
        altair.Y("figure:N", title=None, sort=None, axis=altair.Axis(labelLimit=420)),
        altair.Color("who:N", title=None),
        altair.Shape("who:N", title=None),
        tooltip=["figure:N", "who:N", "value:Q"],
    ).properties(height={"step": 15})
