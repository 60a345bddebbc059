"""`noren associate`: which variants go with a disease, from PLINK files or a table of counts."""

from __future__ import annotations

import click

from noren.cli.associate_files import convert, simulate
from noren.cli.associate_scan import scan, table


@click.group()
def associate() -> None:
    """Find the variants that go with a disease, privately.

    One person's genotypes are protected; who is a case and who a control is public.
    """


for command in (scan, table, convert, simulate):
    associate.add_command(command)
