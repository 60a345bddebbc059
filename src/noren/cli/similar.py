"""`noren similar`: what a similarity search leaks, and how to run a private one."""

from __future__ import annotations

import click

from noren.cli.similar_leak import attack, leaks
from noren.cli.similar_plan import plan
from noren.cli.similar_publish import gather, lookup, publish
from noren.cli.similar_search import open_account, search, status, weights


@click.group()
def similar() -> None:
    """See what a similarity search over private bits leaks, and run a private one.

    Records are rows of 0 and 1: diagnoses, fingerprints, interests. A query is a public set of
    columns. A query copied from a protected record (query by example) is outside every guarantee
    and is refused by where it comes from.
    """


for command in (
    leaks,
    attack,
    plan,
    open_account,
    search,
    weights,
    status,
    publish,
    gather,
    lookup,
):
    similar.add_command(command)
