"""`noren demo`: questions about generated data, asked for real, and a report of the answers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from noren.cli.options import insecure_seed_option, noise_from
from noren.cli.output import Output, with_output
from noren.cli.stories import STORIES

LEAD = (
    "Made-up data, asked for real: every answer below was charged to an account before its noise "
    "was drawn, by a secure generator. Your own answers will look like these."
)
SEEDED_LEAD = "Made-up data and predictable noise, for tests and teaching only."


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("noren-demo"),
    help="The folder of the ledger and the report; noren-demo unless given.",
)
@click.option(
    "--data-seed",
    type=click.IntRange(min=0),
    default=1,
    help="Generate other data. The noise has no seed.",
)
@insecure_seed_option
@with_output
def demo(output: Output, out: Path, data_seed: int, insecure_seed: int | None) -> None:
    """Ask questions of generated data, show each price, and write a report that opens offline.

    With --insecure-seed the ledger is kept in memory only: a real one refuses such noise.
    """
    from noren.cli.stories.stage import Stage
    from noren.ledger import Ledger
    from noren.page import Page

    out.mkdir(parents=True, exist_ok=True)
    seeded = insecure_seed is not None
    place, report = "sqlite://" if seeded else out / "ledger.sqlite", out / "report.html"
    with Ledger.open(place, testing=seeded) as ledger:
        stage = Stage(output, ledger, data_seed, noise_from(insecure_seed))
        for story in STORIES:
            module, name = story.split(":")
            getattr(import_module(module), name)(stage)
        balances = stage.close()
    title = "Noren: questions asked behind the curtain"
    Page(title=title, lead=SEEDED_LEAD if seeded else LEAD, parts=stage.parts).write(report)
    result = {
        "simulated": True,
        "data_seed": data_seed,
        "answers": stage.answers,
        "accounts": balances,
        "ledger": None if seeded else str(place),
        "report": str(report),
    }
    output.show("demo", result, people=["", f"The report, which opens offline, is {report}"])
