"""What every command that reads big data shares: where it counts, and a statistic counted before.

    @click.command()
    @engine_options
    @with_output
    def scan(output: Output, engine: Engine | None, ...) -> None:

`engine` is None for this process, else a cluster. Both run the same partitions through the same
code; noise is drawn here afterwards, once the ledger was charged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from noren.engine import Engine

FILE = click.Path(path_type=Path, dir_okay=False)

statistic_option = click.option(
    "--statistic",
    type=FILE,
    help="Take what was counted before from this file (noren statistic write), and read no data.",
)


def engine_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--engine` and `--scheduler`, and hand the command `engine`."""

    @functools.wraps(function)
    def run(*args: Any, engine: str, scheduler: str | None, **settings: Any) -> None:
        function(*args, engine=chosen(engine, scheduler), **settings)

    command: Callable[..., None] = run
    for add in (
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="The Dask scheduler, such as tcp://host:8786; without one, processes of this "
            "machine.",
        ),
        click.option(
            "--engine",
            type=click.Choice(["local", "dask"]),
            default="local",
            show_default=True,
            help="Where data is counted: in this process, or by the workers of a Dask cluster.",
        ),
    ):
        command = add(command)
    return command


def chosen(engine: str, scheduler: str | None) -> Engine | None:
    """Give the engine; None is this process."""
    if engine == "dask":
        from noren.engine import DaskEngine

        return DaskEngine(scheduler)
    if scheduler is not None:
        raise click.UsageError("--scheduler belongs to --engine dask.")
    return None


def one_source(data: object, statistic: Path | None, name: str) -> None:
    """Refuse a command that was given both data and a statistic, or neither."""
    if (not data) == (statistic is None):
        raise click.UsageError(f"Name either {name} or --statistic FILE.")


def only_with(name: str, *options: str) -> None:
    """Refuse options that say how data is counted, where it was counted before."""
    context = click.get_current_context()
    for option in options:
        if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{option.replace('_', '-')} says how {name} is counted: leave it out with "
                "--statistic."
            )
