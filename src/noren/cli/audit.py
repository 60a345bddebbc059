"""`noren audit`: evidence that each mechanism costs what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from noren.cli.output import Output, table, with_output

COLUMNS = ("mechanism", "adjacency", "claimed", "measured", "quantity", "method", "expected", "ok")


@click.command()
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="Use fewer draws: the same rows with less power.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the evidence as one HTML file, too.",
)
@click.option("--for", "target", metavar="MODULE:FUNCTION", help="Audit this function instead.")
@click.option(
    "--neighbours",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --for: a JSON or NPZ file with two datasets, 'data' and 'neighbour'.",
)
@click.option("--epsilon", help="With --for: the epsilon that the function claims.")
@click.option("--delta", default="0", help="With --for: its delta; 0 unless given.")
@click.option(
    "--draws", type=click.IntRange(min=100), default=20_000, help="With --for: runs on each side."
)
@click.option(
    "--values-only",
    is_flag=True,
    help="With --for: leave out the last bits of floats, in which float noise leaks.",
)
@click.option("--alpha", default=0.05, help="With --for: the chance that a true claim fails.")
@with_output
def audit(output: Output, name: str | None, quick: bool, report: Path | None, **asked: Any) -> None:
    """Measure what each mechanism leaks, beside what it claims.

    With NAME, examine one room only ("commands": the commands themselves, from files to files);
    with --for, a function of your own or of another library.
    Counter-examples and faults put in on purpose are expected to fail. Exit code 1 when something
    did not do what was expected, or nothing was examined.
    """
    rows = rows_of_callable(name, asked) if asked["target"] else rows_of(output, name, quick, asked)
    wrong = [row for row in rows if not row["ok"]]
    output.show("audit", {"rows": rows}, people=[picture(rows), verdict(rows, wrong)])
    if report is not None:
        from noren.cli.audit_report import write_report

        write_report(report, rows)
        output.remark(f"The report is {report}")
    if wrong or not rows:
        raise click.exceptions.Exit(1)


def rows_of(
    output: Output, name: str | None, quick: bool, asked: dict[str, Any]
) -> list[dict[str, Any]]:
    """Examine our own mechanisms."""
    from noren.audit import names, run
    from noren.cli import audit_commands

    rooms = [*names(), audit_commands.ROOM]
    if name is not None and name not in rooms:
        known = ", ".join(rooms)
        raise click.BadParameter(f"'{name}' cannot be audited; one of: {known}.", param_hint="NAME")
    if asked["neighbours"] or asked["epsilon"] or asked["values_only"]:
        raise click.UsageError("--neighbours, --epsilon, --values-only belong to --for.")
    seen = 0
    with output.progress("Auditing") as progress:

        def count(row: object) -> None:
            nonlocal seen
            seen += 1
            progress(seen, None)

        found = [] if name == audit_commands.ROOM else run(name, quick, count)
        if name in (None, audit_commands.ROOM):
            for row in audit_commands.rows(quick):
                count(row)
                found.append(row)
        return [row.to_dict() for row in found]


def rows_of_callable(name: str | None, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Examine one function that is not ours."""
    from noren.cli.audit_callable import audited

    if name is not None:
        raise click.UsageError("NAME is one of our rooms; --for names a function. Use one of them.")
    if asked["neighbours"] is None or asked["epsilon"] is None:
        raise click.UsageError("--for needs --neighbours FILE and the claim, --epsilon.")
    return [audited(**asked)]


def picture(rows: list[dict[str, Any]]) -> Any:
    """Show one row per finding."""
    return table("Audit", COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


def verdict(rows: list[dict[str, Any]], wrong: list[dict[str, Any]]) -> str:
    """Say in one line whether everything did what was expected."""
    if not rows:
        return "Nothing was examined, so nothing was shown."
    if not wrong:
        return f"All {len(rows)} rows did what was expected."
    notes = (f"{row['mechanism']}: {row['note'] or 'not as expected'}" for row in wrong)
    return "\n".join([f"{len(wrong)} of {len(rows)} rows did not do what was expected.", *notes])
