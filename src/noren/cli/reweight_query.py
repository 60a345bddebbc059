"""`noren reweight query`: means and shares over the private population, from what was released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from noren.cli.options import TableFile
from noren.cli.output import Output, with_output
from noren.cli.reweight_fit import a_file, fit_options, opened


@click.command()
@click.argument("release", type=a_file)
@click.argument("public", type=TableFile())
@click.option("--mean", metavar="COLUMN", help="Estimate the mean of this column.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help='Such as "age >= 65"; several must all hold. Without --mean, their share is estimated.',
)
@fit_options
@with_output
def query(
    output: Output,
    release: Path,
    public: Path | str,
    mean: str | None,
    where: tuple[str, ...],
    cap: float | None,
    target: str,
) -> None:
    """Estimate a mean or a share over the private population: free, from the saved RELEASE.

    Intervals are approximate and model-based; they exist for kriging weights of the population.
    """
    from noren.reweighting.table_queries import estimate

    if mean is None and not where:
        raise click.UsageError("Say what to estimate: --mean COLUMN, or --where CONDITION.")
    found = opened(release, public, estimator=None, target=target, cap=cap)
    told = estimate(found.public.table, found.weights, mean=mean, where=where)
    result: dict[str, Any] = {
        "asked": told.asked,
        "estimate": told.estimate,
        "without_weights": told.unweighted,
        "interval": list(told.interval.interval) if told.interval else None,
        "notices": list(found.notices),
    }
    people = [str(told), *(f"! {notice}" for notice in found.notices)]
    output.show("reweight-query", result, guarantee=found.release.guarantee, people=people)
