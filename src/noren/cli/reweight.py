"""`noren reweight`: a public table that speaks for a private one."""

from __future__ import annotations

import click

from noren.cli.reweight_fit import fit, plan, refit, schema
from noren.cli.reweight_query import query


@click.group()
def reweight() -> None:
    """Weigh the rows of a public table so that they speak for a private one.

    The private table is read once, for one release. What follows is free and needs no private file.
    """


for command in (schema, plan, fit, refit, query):
    reweight.add_command(command)
