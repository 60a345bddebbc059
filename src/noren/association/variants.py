"""The public list of variants in a question: a `Sites` list, or only how many there are."""

from __future__ import annotations

from typing import Any, TypeAlias

from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.privacy.numbers import whole

Variants: TypeAlias = "Sites | int"


def read_variants(given: Any) -> Variants:
    """Take a list of variants, or their number, at least one.

    Examples
    --------
    >>> read_variants(311)
    311
    """
    if isinstance(given, Sites):
        whole("the number of variants", len(given), 1)
        return given
    if isinstance(given, (list, tuple)):
        raise ParameterError(
            "variants",
            f"a {type(given).__name__}",
            "a Sites list or a number",
            "Put the names into one: Sites(names).",
        )
    return whole("variants", given, 1)


def how_many(variants: Variants) -> int:
    """Count the variants."""
    return len(variants) if isinstance(variants, Sites) else variants


def described(variants: Variants, which: Any = None) -> dict[str, list[Any]]:
    """Give name, chromosome and position of some variants (all unless told), where known.

    Examples
    --------
    >>> described(Sites(("rs1", "rs2"), positions=(10, 20)), [1])
    {'snp': ['rs2'], 'position': [20]}
    >>> described(3, [0, 2])
    {'snp': ['1', '3']}
    """
    if not isinstance(variants, Sites):
        places = range(variants) if which is None else which
        return {"snp": [str(int(place) + 1) for place in places]}
    chosen = variants if which is None else variants.select(which)
    found = {"snp": list(chosen.names)}
    columns: dict[str, list[Any]] = {
        "chromosome": list(chosen.chromosomes),
        "position": list(chosen.positions),
    }
    return found | {name: values for name, values in columns.items() if values}
