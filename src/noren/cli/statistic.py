"""`noren statistic`: count now, ask later, perhaps elsewhere. Spends nothing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from noren.cli.output import Output, table, with_output
from noren.cli.statistic_write import SECRET, write
from noren.errors import SchemaError

HOMES = {
    "association-tables": "noren.association.handover",
    "association-swapped": "noren.association.handover",
    "association-any-record": "noren.association.handover",
    "association-strata": "noren.association.handover",
    "report-counts": "noren.monitoring.handover",
    "bit-records": "noren.similarity.handover",
    "basis-sums": "noren.reweighting.handover",
    "encoded-rows": "noren.reweighting.handover",
    "training-rows": "noren.collaboration.handover",
}


@click.group()
def statistic() -> None:
    """Hand over what was counted, as one Parquet file.

    A site counts where its data lie (or lets its warehouse count) and hands over only the table;
    whoever holds the ledger asks its questions with --statistic FILE. A statistic is what the data
    say before any noise: it is as secret as the data.
    """


@statistic.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@with_output
def check(output: Output, file: Path) -> None:
    """Check that FILE is a whole statistic of a known kind, and show what is public of it.

    Reads all of it: version, columns, types, gaps, checksums, ranges. Shows no secret value.
    """
    from noren.data.handover import kind_of

    kind = kind_of(file)
    if kind not in HOMES:
        raise SchemaError(
            f"{file} holds a statistic of the kind {kind!r}, but known are {', '.join(HOMES)}. "
            "Use the version of Noren that wrote it."
        )
    home: Any = import_module(HOMES[kind])
    public = home.checked(file)
    secret = home.KIND.secret
    result = {"file": str(file), "kind": kind, "secret": secret, "public": public}
    mark = f"! {SECRET}" if secret else "Not secret: reports were randomized on their devices."
    rows = [(name.replace("_", " "), value) for name, value in public.items()]
    people = [mark, table(f"{file}: {kind}, format 1", ("public", ""), rows), "All checks passed."]
    output.show("statistic", result, people=people)


statistic.add_command(write)
