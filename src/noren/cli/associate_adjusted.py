"""Options of `noren associate scan` that adjust for covariates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from noren.association.study import Study

BESIDE = (  # options that mean nothing without --covariates
    "covariate_columns", "categorical", "missing_covariates", "public_covariate", "family",
    "residual_cap", "variance_floor",
)  # fmt: skip


def adjusted_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the covariate-adjusted score test."""
    for add in reversed(
        (
            click.option(
                "--covariates",
                type=click.Path(path_type=Path, dir_okay=False, exists=True),
                help="Adjust for the public covariates of this file (FID IID and their names).",
            ),
            click.option(
                "--covariate-columns",
                metavar="NAMES",
                help="Use only these covariates, separated by commas.",
            ),
            click.option(
                "--categorical", metavar="NAMES", help="Covariates that are categories, not sizes."
            ),
            click.option(
                "--missing-covariates",
                type=click.Choice(["drop", "category"]),
                help="People with a missing covariate: leave them out, or give them a category.",
            ),
            click.option(
                "--public-covariate",
                multiple=True,
                metavar='NAME="WHY"',
                help="Declare a principal component or the like public: it is, because WHY.",
            ),
            click.option(
                "--family",
                type=click.Choice(["logistic", "linear"]),
                help="The null model of status; logistic unless given.",
            ),
            click.option(
                "--residual-cap", help="The largest residual; 0.5 is advised for a small epsilon."
            ),
            click.option("--variance-floor", help="The floor v0 of the variance; 1 unless given."),
        )
    ):
        command = add(command)
    return command


def check_adjusted(settings: dict[str, Any]) -> None:
    """Refuse options that do not go together with an adjusted test, or without one."""
    if settings["covariates"] is None:
        for name in BESIDE:
            if settings[name]:
                raise click.UsageError(f"--{name.replace('_', '-')} belongs to --covariates FILE.")
        return
    from noren.association.score_test import refuse_private_status

    refuse_private_status(settings.get("private_status"))
    if settings.get("strata") is not None:
        raise click.UsageError("--strata and --covariates are two tests: use one.")
    for name in ("cases", "controls"):
        if settings[name] is not None:
            raise click.UsageError(f"--{name} belongs to a table of counts, not to --covariates.")
    if settings["counts"]:
        raise click.UsageError("--counts are of the plain tables; leave --covariates out.")
    scores_all = not settings["top"] and not settings["bits"]
    if scores_all and settings["mode"] != "agreement":
        raise click.UsageError(
            "With --covariates no p-value is proved: use --mode agreement with --tau, --bits with "
            "--tau, or --top K."
        )


def opened_adjusted(cohort: Path, settings: dict[str, Any], common: dict[str, Any]) -> Study:
    """Open the files of an adjusted study; `common` are the options of every study."""
    from noren.association.adjusted_study import open_adjusted

    given = {
        "family": settings["family"],
        "cap": settings["residual_cap"],
        "floor": settings["variance_floor"],
        "missing": settings["missing_covariates"],
    }
    columns = settings["covariate_columns"]
    return open_adjusted(
        cohort,
        settings["covariates"],
        use=None if columns is None else names_of(columns),
        categorical=names_of(settings["categorical"] or ""),
        declared=dict(declaration(one) for one in settings["public_covariate"]),
        **{name: value for name, value in given.items() if value is not None},
        **common,
    )


def names_of(text: str) -> list[str]:
    """Read names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def declaration(text: str) -> tuple[str, str]:
    """Read NAME=WHY."""
    name, sign, why = text.partition("=")
    if not (name.strip() and sign and why.strip()):
        raise click.UsageError('--public-covariate needs NAME="why it is public".')
    return name.strip(), why.strip()
