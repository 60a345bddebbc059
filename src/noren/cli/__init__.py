"""One command, `noren`: it reads, asks and shows, and holds no mathematics.

`noren --help` imports nothing scientific: the commands are a table (`noren.cli.commands`) and
each is imported when called. Data goes to standard output, all else to standard error.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, cast

import click

from noren import __version__
from noren.cli.commands import COMMANDS, SECTIONS
from noren.cli.failures import ReaderGone, exit_code_of, quiet_machinery


class Root(click.Group):
    """A group whose commands come from a table and are imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].home.split(":")
        return cast("click.Command", getattr(import_module(module), attribute))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was named, or say which one may have been meant."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1, cutoff=0.5)
            advice = f"Did you mean 'noren {near[0]}'?" if near else "See 'noren --help'."
            ctx.fail(f"There is no command '{args[0]}'. {advice}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, from the table alone."""
        for title, entries in SECTIONS.items():
            if entries:
                with formatter.section(title):
                    formatter.write_dl([(name, entry.help) for name, entry in entries.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and notice when the reader of its output has left."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGone from None

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run, and end with the exit code that the outcome has."""
        settings["standalone_mode"] = False
        with quiet_machinery():
            sys.exit(exit_code_of(lambda: super(Root, self).main(*args, **settings)))


@click.command(
    cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="noren", message="%(prog)s %(version)s")
def noren() -> None:
    """Ask questions about private data, and know what each answer costs.

    Every command takes --json (one object on standard output). Exit codes: 0 done, 1 a bug or a
    failed check, 2 wrong usage, 3 a bad setting, schema or file, 4 budget refused, 5 a stored
    record is damaged.
    """


def main() -> None:
    """Run the `noren` command."""
    noren(prog_name="noren")
