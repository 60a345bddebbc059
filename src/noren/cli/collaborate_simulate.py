"""`noren collaborate simulate`: what joining would bring, on one table that is cut up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.collaborate_combine import own_rows
from noren.cli.collaborate_files import consortium_option
from noren.cli.options import TableFile
from noren.cli.output import Output, owner_only, table, with_output

if TYPE_CHECKING:
    from noren.collaboration import Task

EPSILONS = "0.1,0.3,1,3"


@click.command()
@click.argument("rows", type=TableFile(exists=True))
@consortium_option
@click.option("--organizations", type=int, required=True, help="Into how many to cut the table.")
@click.option("--epsilons", default=EPSILONS, help=f"Prices to look at; {EPSILONS} unless given.")
@click.option("--delta", default="0", help="Their delta; 0 unless given.")
@click.option(
    "--adjacency", type=click.Choice(["add-remove", "substitute"]), required=True,
    help="Who would be protected.",
)  # fmt: skip
@click.option("--receivers", type=int, default=5, help="How many receivers to average over.")
@click.option("--repeats", type=int, default=1, help="How often to repeat with another cut.")
@click.option("--data-seed", type=int, required=True, help="Decides cut and noise: public.")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML page."
)
@with_output
def simulate(
    output: Output, rows: Path | str, consortium: Path, epsilons: str, delta: str, adjacency: str,
    data_seed: int, report: Path | None, **settings: Any,
) -> None:  # fmt: skip
    """Cut ROWS into organizations, run the whole exchange, and show accuracy by epsilon.

    The result is computed from the table without protection: it is SECRET and simulated. The
    consortium's file may leave out [members].
    """
    import warnings

    from noren.collaboration.consortium import read_task
    from noren.collaboration.simulation import SIMULATED
    from noren.collaboration.simulation import simulate as run
    from noren.errors import NotPrivateWarning
    from noren.testing import seeded_noise

    task = read_task(consortium)
    own, labels = own_rows(task, rows)
    with warnings.catch_warnings(), output.progress("Simulating") as progress:
        warnings.simplefilter("ignore", NotPrivateWarning)
        found = run(
            own, labels, trainer(task, delta, adjacency), task, epsilons=epsilons.split(","),
            noise=seeded_noise(data_seed), seed=data_seed, progress=progress, **settings,
        )  # fmt: skip
    if report is not None:
        from noren.page import Chart, Page

        chart = Chart(found.chart(), "Accuracy on held-out rows, averaged over receivers.")
        page = Page(title="What joining would bring", parts=[chart], banner=SIMULATED)
        page.write(owner_only(report))
        output.remark(f"The report is {report}")
    columns = ("epsilon", "way", "accuracy", "standard error")
    lines = [(p.epsilon, p.way, p.accuracy, p.standard_error) for p in found.points]
    people: list[Any] = [f"! {SIMULATED}", table("Accuracy by epsilon", columns, lines)]
    output.show("secret-simulation", found.to_dict(), people=people)


def trainer(task: Task, delta: str, adjacency: str) -> Any:
    """Train as `noren collaborate train` would."""
    from noren.collaboration.choice import choose_training

    asked: dict[str, Any] = {"task": task, "delta": delta, "adjacency": adjacency}

    def train(own: Any, epsilon: Any, noise: Any) -> Any:
        question = choose_training(**asked, epsilon=epsilon, size=own.records)
        return question.answer(own, noise).model.coefficients

    return train
