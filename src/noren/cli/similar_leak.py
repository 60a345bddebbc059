"""`noren similar leaks` and `attack`: what exact answers would give away. Spends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from noren.cli.options import insecure_seed_option, noise_from
from noren.cli.output import Output, with_output

if TYPE_CHECKING:
    from noren.similarity import Records

SECRET = "SECRET: this was computed from the records without noise. It stays with their owner."
FILE = click.Path(path_type=Path, dir_okay=False)
FORMS = ("npz", "wide", "long", "movielens", "fps")
form_option = click.option(
    "--form", type=click.Choice(FORMS), help="What the file holds; told from its name if left out."
)


def read(records: Path, form: str | None) -> Records:
    """Read the owner's file."""
    from noren.similarity import Records

    return Records.read(records, form)


@click.command()
@click.argument("records", type=FILE)
@form_option
@click.option(
    "--method",
    type=click.Choice(["detecting", "unit", "differencing"]),
    default="detecting",
    show_default=True,
    help="Coin weighing (fewest queries), one query a column, or differences of large queries.",
)
@click.option(
    "--answers",
    type=click.Choice(["scores", "ranks"]),
    default="scores",
    show_default=True,
    help="What the service would answer; ranks only with --method unit.",
)
@click.option(
    "--min-size", type=click.IntRange(min=1), default=1, help="The least query it would answer."
)
@click.option(
    "--epsilon", help="Answer privately instead: what all queries together may cost one bit."
)
@insecure_seed_option
@with_output
def attack(
    output: Output,
    records: Path,
    form: str | None,
    method: str,
    answers: str,
    min_size: int,
    epsilon: str | None,
    insecure_seed: int | None,
) -> None:
    """Recover RECORDS from answers alone: your own data, to see how few queries it takes.

    The result is secret. With --epsilon the same attack is tried on private answers, and fails.
    """
    from noren.similarity.leak_attack import attack as run

    held = read(records, form)
    noise = noise_from(insecure_seed) if epsilon is not None else None
    with output.progress("Attacking") as progress:
        found = run(
            held, method, answers=answers, min_size=min_size, epsilon=epsilon, noise=noise,
            progress=progress,
        )  # fmt: skip
    output.show("similar-attack", found.to_dict(), people=[f"! {SECRET}", str(found)])
