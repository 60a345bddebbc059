"""`noren audit`: evidence that each mechanism costs what it says."""

from __future__ import annotations

from typing import Any

import click

from noren.cli.output import Output, table, with_output

COLUMNS = ("mechanism", "adjacency", "claimed", "measured", "quantity", "method", "expected", "ok")


@click.command()
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="Use fewer draws: the same rows with less power.")
@with_output
def audit(output: Output, name: str | None, quick: bool) -> None:
    """Measure what each mechanism leaks, beside what it claims.

    With NAME, examine one room only. Counter-examples and faults put in on purpose are expected to
    fail. Exit code 1 when something did not do what was expected, or nothing was examined.
    """
    from noren.audit import names, run

    if name is not None and name not in names():
        known = ", ".join(names())
        raise click.BadParameter(f"'{name}' cannot be audited; one of: {known}.", param_hint="NAME")
    seen = 0
    with output.progress("Auditing") as progress:

        def count(row: object) -> None:
            nonlocal seen
            seen += 1
            progress(seen, None)

        rows = [row.to_dict() for row in run(name, quick, count)]
    wrong = [row for row in rows if not row["ok"]]
    output.show("audit", {"rows": rows}, people=[picture(rows), verdict(rows, wrong)])
    if wrong or not rows:
        raise click.exceptions.Exit(1)


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
