"""`noren associate scan` and `table`: ask which variants go with a disease."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.associate_adjusted import adjusted_options, check_adjusted, opened_adjusted
from noren.cli.engines import engine_options, one_source, only_with, statistic_option
from noren.cli.output import Output, with_output
from noren.cli.scan_output import check_reading, output_options, show_scan
from noren.cli.spending import Spending, spending_options_for

if TYPE_CHECKING:
    from noren.association.study import Study
    from noren.engine import Engine

NEIGHBORS = '--adjacency substitute --within "same status"'
SWAPPED = '--adjacency substitute --within "same number of cases{}"'
COUNTED_BY = (
    "pheno", "pheno_column", "codes", "keep", "coding", "counted", "cases", "controls", "tests",
    "strata", "strata_columns", "private_status", "covariates",
)  # fmt: skip
ENDINGS = {"kb": 1_000, "mb": 1_000_000}


def options(*added: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add several options at once, in the order in which they are read."""

    def add_all(command: Callable[..., None]) -> Callable[..., None]:
        for add in reversed(added):
            command = add(command)
        return command

    return add_all


file_option = click.Path(path_type=Path, dir_okay=False, exists=True)

cohort_options = options(
    click.option("--pheno", type=file_option, help="Phenotypes; the .fam's own unless given."),
    click.option("--pheno-column", metavar="NAME", help="Which column of it: a name or a number."),
    click.option(
        "--codes",
        type=click.Choice(["1/2", "0/1"]),
        default="1/2",
        help="What marks a control and a case; 1/2 unless given.",
    ),
    click.option("--keep", type=file_option, help="Use only the people listed here."),
    click.option(
        "--coding",
        default="carrier",
        help="What is counted: carrier (the default), recessive, heterozygous or allelic; with "
        "--covariates also additive.",
    ),
    click.option(
        "--counted",
        default="A1",
        metavar="A1|A2|FILE",
        help="Which allele: of the .bim, or by a public manifest (advised).",
    ),
    click.option(
        "--strata",
        type=file_option,
        help="Compare within strata (public): a file of people with a column of words.",
    ),
    click.option(
        "--strata-column",
        "strata_columns",
        multiple=True,
        metavar="NAME",
        help="Which column of it; several: what they say together.",
    ),
    click.option(
        "--private-status",
        type=click.Choice(["swap", "any"]),
        help="Hide who is a case. swap: how many are is public. any: not even that.",
    ),
    click.option("--cases", type=int, help="How many cases, where COHORT is a table of counts."),
    click.option("--controls", type=int, help="How many controls, likewise."),
)

price_options = options(
    click.option("--epsilon", required=True, help="The total price of everything released."),
    click.option("--delta", default="0", help="Its delta; 0 unless given. 1e-6 is usual."),
)

reading_options = options(
    click.option(
        "--mode",
        type=click.Choice(["valid", "agreement"]),
        default="valid",
        help="valid: p-values and a level. agreement: the decision of the plain test at --tau.",
    ),
    click.option("--alpha", help="The level of all tests together (valid); 0.05 unless given."),
    click.option("--tau", help="The threshold of chi-squared inside the score."),
)


def neighbors_of(settings: dict[str, Any]) -> str:
    """Say how an account for this scan is opened."""
    status, strata = settings["private_status"], settings["strata"] is not None
    if settings["statistic"] is not None:
        from noren.association.handover import private_status_of

        status, strata = private_status_of(settings["statistic"])
    if status == "any":
        return "--adjacency substitute"
    return SWAPPED.format(" in each stratum" if strata else "") if status else NEIGHBORS


@click.command()
@click.argument("cohort", type=click.Path(path_type=Path), required=False)
@cohort_options
@statistic_option
@engine_options
@price_options
@options(
    click.option(
        "--tests", type=file_option, help="Test only the variants listed here, one a line."
    ),
    click.option(
        "--top", type=click.IntRange(min=1), help="Choose this many instead of scoring all."
    ),
    click.option(
        "--loci",
        metavar="MAP",
        help="With --top, choose loci: a public map, or a length such as 250kb.",
    ),
    click.option("--ordered", is_flag=True, help="With --top, the best first."),
    click.option("--scores-epsilon", help="With --top, the part of epsilon for their scores."),
    click.option("--bits", is_flag=True, help="Ask for decisions alone (at --tau)."),
    click.option("--counts", is_flag=True, help="Ask for noisy counts (for effect sizes)."),
)
@reading_options
@adjusted_options
@output_options
@spending_options_for(neighbors_of)
@with_output
def scan(
    output: Output, spending: Spending, cohort: Path | None, statistic: Path | None,
    engine: Engine | None, shown: dict[str, Any], **settings: Any,
) -> None:  # fmt: skip
    """Scan the variants of COHORT: PLINK files (.bed, .bim, .fam), or a table of counts.

    Without --top every variant gets a noisy score, a p-value and a decision: for lists of up to
    some thousand variants. For a whole genome choose the --top K, best by --loci.
    """
    check_combination(settings)
    study = opened(cohort, settings) if statistic is None else handed(cohort, statistic)
    question = question_of(study, settings)
    check_reading(question, shown)
    with output.progress("Counting variants") as progress:
        answer = spending.ask(output, question, lambda: study.count(progress, engine=engine))
    if answer is not None:
        show_scan(output, answer, shown)


@click.command()
@click.argument("a", type=click.IntRange(min=0))
@click.argument("b", type=click.IntRange(min=0))
@click.argument("cases", type=int)
@click.argument("controls", type=int)
@click.option("--allelic", is_flag=True, help="The numbers count alleles: two for each person.")
@price_options
@reading_options
@spending_options_for(NEIGHBORS)
@with_output
def table(
    output: Output,
    spending: Spending,
    a: int,
    b: int,
    cases: int,
    controls: int,
    allelic: bool,
    **settings: Any,
) -> None:
    """Test a single table: A of the CASES and B of the CONTROLS carry the variant."""
    from noren.association import CaseControl, DistanceScores, Tables

    step = 2 if allelic else 1
    design = CaseControl(cases=cases, controls=controls, step=step)
    question = DistanceScores(design=design, variants=1, **settings)
    tables = Tables([a], [b], cases, controls, step)
    answer = spending.ask(output, question, tables)
    if answer is not None:
        show_scan(output, answer, {})


def check_combination(settings: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    check_adjusted(settings)
    kinds = [name for name in ("top", "bits", "counts") if settings[name]]
    if len(kinds) > 1:
        raise click.UsageError(f"--{kinds[0]} and --{kinds[1]} ask for different things: use one.")
    for name in ("loci", "ordered", "scores_epsilon"):
        if settings[name] and not settings["top"]:
            raise click.UsageError(f"--{name.replace('_', '-')} belongs to --top K.")
    if settings["alpha"] is not None and kinds:
        raise click.UsageError(f"--alpha belongs to scores of all variants, not to --{kinds[0]}.")
    if settings["counts"] and settings["tau"] is not None:
        raise click.UsageError(
            "--counts releases counts; decide with them afterwards, for nothing."
        )
    if settings["strata_columns"] and settings["strata"] is None:
        raise click.UsageError("--strata-column belongs to --strata FILE.")
    if settings["bits"] and settings["tau"] is None:
        raise click.UsageError("--bits are decisions at a threshold: give --tau, such as 3.84.")


def handed(cohort: Path | None, statistic: Path) -> Study:
    """Open a statistic file, which says itself who and what was counted."""
    from noren.association.handover import COVARIATES, open_handed

    one_source(cohort, statistic, "COHORT")
    if click.get_current_context().params["covariates"] is not None:
        raise click.UsageError(COVARIATES)
    only_with("COHORT", *COUNTED_BY)
    return open_handed(statistic)


def opened(cohort: Path | None, settings: dict[str, Any]) -> Study:
    """Open the files: public facts only."""
    from noren.association.study import open_study

    if cohort is None:
        raise click.UsageError("Name either COHORT or --statistic FILE.")
    common = {
        "coding": settings["coding"],
        "phenotype_file": settings["pheno"],
        "column": column_of(settings["pheno_column"]),
        "codes": settings["codes"],
        "keep": settings["keep"],
        "counted": settings["counted"],
        "variants": None if settings["tests"] is None else listed(settings["tests"]),
    }
    if settings.get("covariates") is not None:
        return opened_adjusted(cohort, settings, common)
    return open_study(
        cohort,
        cases=settings["cases"],
        controls=settings["controls"],
        strata=settings["strata"],
        strata_columns=[column_of(name) for name in settings["strata_columns"]],
        private_status=settings["private_status"],
        **common,
    )


def column_of(given: Any) -> Any:
    """Read a column: a number where it is one, else a name."""
    return int(given) if given is not None and given.isdigit() else given


def question_of(study: Study, settings: dict[str, Any]) -> Any:
    """Make the question that the options describe."""
    from noren.association import Decisions, DistanceScores, NoisyCounts, TopSnps

    own: dict[str, Any] = {"design": study.design, "variants": study.variants}
    own |= {"epsilon": settings["epsilon"], "delta": settings["delta"]}
    tau = {} if settings["tau"] is None else {"tau": settings["tau"]}
    if settings["top"]:
        own |= {name: settings[name] for name in ("top", "ordered", "scores_epsilon")}
        return TopSnps(**own, **tau, loci=map_of(settings["loci"], study.variants))
    if settings["bits"]:
        return Decisions(**own, **tau)
    if settings["counts"]:
        return NoisyCounts(**own)
    return DistanceScores(**own, **tau, mode=settings["mode"], alpha=settings["alpha"])


def map_of(given: str | None, variants: Any) -> Any:
    """Read a map of loci, or cut windows of a length such as 250kb."""
    from noren.association import Loci

    if given is None:
        return None
    number, ending = given[:-2], given[-2:].lower()
    if ending in ENDINGS and number.isdigit():
        return Loci.windows(variants, int(number) * ENDINGS[ending])
    return Loci.read(given, variants)


def listed(path: Path) -> list[str]:
    """Read one id a line."""
    from noren.data.sites import public_lines

    return [line.split()[0] for line in public_lines(path)]
