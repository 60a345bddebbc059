"""`noren associate convert` and `simulate`: files in the form that a scan reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from noren.cli.output import Output, with_output


@click.command()
@click.argument("vcf", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--sites",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The public list of variants: chromosome, position, snp, counted, other.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="What the new .bed, .bim and .fam have in common.",
)
@with_output
def convert(output: Output, vcf: Path, sites: Path, out: Path) -> None:
    """Convert VCF or BCF to PLINK files, once, against a public list of variants.

    A VCF lists a variant because somebody carries it, so what it lists is secret: the public list
    decides. The new files are as secret as the VCF. Spends nothing.
    """
    from noren.data import convert_vcf

    bed = convert_vcf(vcf, sites, out)
    written = [str(bed.path.with_suffix(ending)) for ending in (".bed", ".bim", ".fam")]
    result = {"files": written, "variants": len(bed.sites), "people": len(bed.people)}
    output.show("converted", result, people=[f"Wrote {name}" for name in written])


@click.command()
@click.argument("stem", type=click.Path(path_type=Path))
@click.option("--cases", type=int, required=True, help="How many cases.")
@click.option("--controls", type=int, required=True, help="How many controls.")
@click.option("--variants", type=int, required=True, help="How many variants.")
@click.option("--hits", type=int, default=20, help="How many go with the disease; 20 unless given.")
@click.option(
    "--block", type=int, default=1, help="Linked variants in a block; 1: none are linked."
)
@click.option("--admixed", is_flag=True, help="Ancestry, sex, batch and age go with the disease.")
@click.option("--data-seed", type=int, required=True, help="Decides everything that is generated.")
@with_output
def simulate(
    output: Output,
    stem: Path,
    cases: int,
    controls: int,
    variants: int,
    hits: int,
    block: int,
    admixed: bool,
    data_seed: int,
) -> None:
    """Write a made-up cohort: STEM.bed, .bim, .fam, a map of loci and the planted hits.

    With --admixed the cohort has structure, and a table of covariates (STEM.covariates, with the
    columns band, sex, batch, age and ancestry) instead of the map.
    """
    from noren.association import simulate as generate
    from noren.association import simulate_admixed

    sizes: dict[str, Any] = {
        "cases": cases,
        "controls": controls,
        "variants": variants,
        "hits": hits,
    }
    made: Any
    if admixed:
        if block != 1:
            raise click.UsageError("--block and --admixed do not go together.")
        made = simulate_admixed(stem, **sizes, seed=data_seed)
    else:
        made = generate(stem, **sizes, block=block, seed=data_seed)
    endings = (".bed", ".bim", ".fam", ".covariates" if admixed else ".loci", ".hits")
    written = [f"{made.path}{ending}" for ending in endings]
    result = {"simulated": True, "files": written, "hits": list(made.hits)}
    output.show("simulated", result, people=[f"Wrote {name} (simulated)" for name in written])
