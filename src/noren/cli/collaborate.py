"""`noren collaborate`: learn together without pooling rows, by files."""

from __future__ import annotations

import click

from noren.cli.collaborate_combine import combine, predict
from noren.cli.collaborate_export import export
from noren.cli.collaborate_files import inspect, keygen, verify
from noren.cli.collaborate_publish import draw, publish
from noren.cli.collaborate_simulate import simulate
from noren.cli.collaborate_train import train


@click.group()
def collaborate() -> None:
    """Learn together without pooling rows: each trains one private model and sends a file.

    A provider trains and sends; a receiver verifies, combines with its own rows, and is told
    whether joining helps. No server, no open port; files by any way.
    """


for command in (
    keygen, train, inspect, verify, combine, predict, publish, draw, export, simulate,
):  # fmt: skip
    collaborate.add_command(command)
