"""`noren collaborate publish` and `draw`: give the others something back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from noren.cli.collaborate_files import consortium_option, seeded_option, shares_argument
from noren.cli.collaborate_train import adjacency_options, counted, neighbours_of
from noren.cli.options import TableFile
from noren.cli.output import Output, answer_lines, table, with_output
from noren.cli.spending import Spending, spending_options

DATA_FREE = (
    "geometric-median", "sums", "precision", "mean", "clipped-mean", "coordinate-median",
    "uniform-vote",
)  # fmt: skip
NO_DROPPING = (
    "All verified files entered. Leaving one out because of how it does on your rows would be a "
    "release of those rows."
)


@click.command()
@shares_argument
@consortium_option
@click.option(
    "--method", type=click.Choice(DATA_FREE), default="geometric-median",
    show_default=True,
    help="A rule that looks at the files alone; sums: where all released sums.",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write it (JSON).")
@seeded_option
@with_output
def publish(
    output: Output, shares: tuple[Path, ...], consortium: Path, method: str, out: Path | None,
    allow_seeded: bool,
) -> None:  # fmt: skip
    """Combine SHARES by the files alone: free to publish, each organization keeps its price.

    To let your own rows count, train a private model of your own and add its share. Your rows are
    not read here.
    """
    from noren.collaboration import Consortium, read_share, verify_shares
    from noren.collaboration import publish as run

    members = Consortium.read(consortium)
    read = [read_share(path) for path in shares]
    made = run(verify_shares(read, members, allow_seeded=allow_seeded), members, method)
    if out is not None:
        text = json.dumps(made.combination.to_dict(), indent=1)
        out.write_text(text + "\n", encoding="ascii")
    prices = [(name, str(price or "no guarantee")) for name, price in made.prices.items()]
    people: list[Any] = [
        table(f"Published by {method}", ("organization", "price of its people"), prices),
        f"A person in up to {made.max_overlap} of them: {made.guarantee or 'unknown'}",
        NO_DROPPING,
    ]
    output.show("publication", made.to_dict(), guarantee=made.guarantee, people=people)


@click.command()
@shares_argument
@consortium_option
@click.option("--rows", type=TableFile(exists=True), required=True, help="Your own rows.")
@click.option("--epsilon", required=True, help="The price of all draws.")
@adjacency_options
@click.option("--draws", type=click.IntRange(min=1), default=1, help="How many; 1 unless given.")
@click.option(
    "--weights", type=click.Choice(["ewa", "mirror"]), default="ewa",
    help="By all rows, or by beginnings of them (mirror, with substitute).",
)  # fmt: skip
@click.option(
    "--form", type=click.Choice(["unit", "sign", "score"]), default="unit",
    help="How a learner scores; score needs --bound.",
)  # fmt: skip
@click.option("--bound", help="For score: a public B; scores are moved into -B to B.")
@seeded_option
@spending_options
@with_output
def draw(
    output: Output, spending: Spending, shares: tuple[Path, ...], consortium: Path,
    rows: Path | str, allow_seeded: bool, max_records: int, **settings: Any,
) -> None:  # fmt: skip
    """Draw one of SHARES that does well on your rows; the drawn one may be named in public.

    Spends budget of your own people: it is a private choice by the exponential mechanism.
    """
    from noren.collaboration import Consortium, GibbsLearner, read_share, verify_shares

    members = Consortium.read(consortium)
    read = [read_share(path) for path in shares]
    verified = verify_shares(read, members, allow_seeded=allow_seeded)
    adjacency = neighbours_of(settings.pop("adjacency"), max_records)
    settings |= {"learners": verified.shares, "adjacency": adjacency}
    question = GibbsLearner(task=members.task, **settings)
    answer = spending.ask(output, question, lambda: counted(members.task, rows))
    if answer is None:
        return
    named = [verified.shares[place] for place in answer.chosen.tolist()]
    drawn = [{"organization": one.organization, "release": one.release} for one in named]
    made = answer.to_dict()
    result = {key: made[key] for key in made if key not in ("kind", "guarantee")}
    people = [*answer_lines(answer), *(f"Drawn: {one.organization}" for one in named)]
    output.show(question.kind, result | {"drawn": drawn}, guarantee=answer.guarantee, people=people)
