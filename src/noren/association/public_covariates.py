"""Which covariates may be taken for public, by their names.

A covariate that was computed from the study's genotypes (a principal component, kinship, a genetic
score) moves when one person's row is replaced, and takes everybody's weights with it: no promise
is left. Nobody can see from a column of numbers where it came from, so such columns are known by
the names that common programs give them. Who has in fact published them declares them by name,
with a reason; then the promise covers only rows with the same values of these columns, and every
answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from noren.errors import NotPrivate, ParameterError

FROM_GENOTYPES = re.compile(
    r"(c|svd|principal[ _.-]?components?|comp(onent)?)[ _.-]?\d+"
    r"|(.*[^a-z])?(pca?|mds|ev|evec|eigen(vec(tor)?)?|dim)[ _.-]?\d+([^0-9].*)?"
    r"|.*(kinship|relatedness|pi_?hat|eigenvec|admixture|genetic|polygenic|principal[ _.-]?comp).*"
    r"|.*(inbreeding|heterozygosity|haplogroup|call[ _.-]?rate).*"
    r"|(.*[^a-z])?(grm|ibd|prs|roh|f[ _.-]?miss)([^a-z].*)?",
    re.IGNORECASE,
)


def declared_public(names: Sequence[str], declared: Mapping[str, str]) -> dict[str, str]:
    """Refuse covariates that are named like something computed from genotypes, unless declared.

    Examples
    --------
    >>> declared_public(["age", "PC1"], {"PC1": "published with the cohort profile"})
    {'PC1': 'published with the cohort profile'}
    >>> declared_public(["age", "PC1"], {})
    Traceback (most recent call last):
    ...
    noren.errors.NotPrivate: The covariate 'PC1' is named like one computed from genotypes...
    """
    named = [covariate_of(name) for name in names]
    unknown = sorted(set(declared) - set(named))
    if unknown:
        raise ParameterError(
            "the covariates declared public", repr(unknown[0]), f"among {', '.join(names)}"
        )
    for name, why in declared.items():
        if not str(why).strip():
            raise ParameterError(
                f"the reason why {name} is public", "empty", "said in words",
                "It is written into every answer.",
            )  # fmt: skip
    for name in named:
        if FROM_GENOTYPES.fullmatch(name.strip()) and name not in declared:
            raise NotPrivate(
                f"The covariate {name!r} is named like one computed from genotypes. Principal "
                "components and kinship of the study's own genotypes depend on everybody's rows, "
                "so no answer that uses them is private. Use self-reported ancestry, site or "
                f"batch; or, if {name} is in fact published, declare it public with the reason: "
                f'--public-covariate {name}="why" (declared= in Python). Every answer then says so.'
            )
    return {name: str(why) for name, why in declared.items()}


def refuse_strata_from_genotypes(names: Sequence[str]) -> None:
    """Refuse strata that are named like something computed from genotypes; none is declared."""
    for name in names:
        if FROM_GENOTYPES.fullmatch(name.strip()):
            raise NotPrivate(
                f"The strata column {name!r} is named like one computed from genotypes: one "
                "person's row would then change the size of a stratum, and no promise is left. "
                "Use self-reported ancestry, site or batch; what is in fact published can be "
                "declared public as a covariate (--covariates FILE --public-covariate)."
            )


def covariate_of(name: str) -> str:
    """Give the covariate that a column belongs to: "site" for its level "site=north"."""
    return name.split("=", 1)[0]
