"""`noren monitor`: tell, slot by slot, whether a share of people is above a threshold."""

from __future__ import annotations

import click

from noren.cli.monitor_collect import collect
from noren.cli.monitor_device import client
from noren.cli.monitor_plan import plan, simulate
from noren.cli.monitor_show import show


@click.group()
def monitor() -> None:
    """Tell slot by slot whether a share of people is above a threshold.

    Each device reports in few slots, and lies in some of them by a pattern drawn beforehand. Nobody
    needs to trust the collector: one person's whole trajectory of bits is protected within an
    epoch.
    """


for command in (plan, simulate, client, collect, show):
    monitor.add_command(command)
