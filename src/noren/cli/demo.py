"""`noren demo`: five stories about generated data, asked for real, and a report of the answers."""

from __future__ import annotations

from contextlib import chdir
from importlib import import_module
from pathlib import Path

import click

from noren.cli.output import Output, with_output
from noren.cli.stories import STORIES

TITLE = "Noren: questions asked behind the curtain"
LEAD = (
    "Made-up data, asked for real: every answer below was charged to an account before its noise "
    "was drawn, by a secure generator. Your own answers will look like these. The commands are "
    "those that were run; type them in the folder of this report to see more."
)


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("noren-demo"),
    help="The folder of data, ledger and report; noren-demo unless given.",
)
@click.option(
    "--data-seed",
    type=click.IntRange(min=0),
    default=1,
    help="Generate other data. The noise has no seed.",
)
@with_output
def demo(output: Output, out: Path, data_seed: int) -> None:
    """Tell five stories with generated data: question, forecast, answer, picture, price.

    Each runs the commands that you would type, and shows them. It ends with a report that opens
    offline.
    """
    from noren.cli.stories.stage import LEDGER, Stage
    from noren.page import Page

    out.mkdir(parents=True, exist_ok=True)
    stage = Stage(output, data_seed, next_run(out))
    with chdir(out):
        for story in STORIES:
            module, name = story.split(":")
            getattr(import_module(module), name)(stage)
        accounts = stage.close()
    report = Page(title=TITLE, lead=LEAD, parts=stage.parts).write(out / "report.html")
    result = {
        "simulated": True,
        "data_seed": data_seed,
        "answers": stage.answers,
        "commands": stage.commands,
        "accounts": accounts,
        "ledger": str(out / LEDGER),
        "files": str(out / stage.folder),
        "report": str(report),
    }
    output.show("demo", result, people=["", f"The report, which opens offline, is {report}"])


def next_run(out: Path) -> int:
    """Make the folder of a new run beside those of earlier ones, and give its number."""
    number = 1
    while (out / f"run-{number}").exists():
        number += 1
    (out / f"run-{number}").mkdir()
    return number
