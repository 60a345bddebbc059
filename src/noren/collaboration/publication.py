"""Publish a combination that nobody's rows decided: each organization keeps its own price.

Maths
    The geometric median of the shortened models, a mean, or precision weights from manifests:
    a function of the verified files alone.

Privacy
    Post-processing of released models: a person has the price of their own organization; someone
    in up to `max_overlap` of them the sum of as many largest prices. All verified files enter:
    choosing among them by one's own rows would be a release. A receiver whose rows should count
    trains a private model too and is one more provider. No rows are accepted here.
    Proof: docs/proofs/collaboration/publication.md

Accuracy
    That of the rule: the median stands a few broken files, and loses to `auto` where models are
    noisy or disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noren.collaboration.combined import Combination
from noren.collaboration.combining import DATA_FREE, combine
from noren.collaboration.consortium import Consortium
from noren.collaboration.merging import SUMS, Merged, merge
from noren.collaboration.verifying import Verified
from noren.errors import ParameterError
from noren.privacy import Guarantee

GEOMETRIC_MEDIAN = "geometric-median"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A published combination with everybody's price.

    Attributes
    ----------
    combination : Combination
        The model.
    prices : mapping
        By organization; None where its model has no guarantee.
    guarantee : Guarantee or None
        The price of a person in up to `max_overlap` organizations; None if some price is unknown.
    max_overlap : int
        As the consortium declares it.
    """

    combination: Combination | Merged
    prices: dict[str, Guarantee | None]
    guarantee: Guarantee | None
    max_overlap: int

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        stated = {name: price and price.to_dict() for name, price in self.prices.items()}
        return self.combination.to_dict() | {"prices": stated, "max_overlap": self.max_overlap}


def publish(
    verified: Verified, consortium: Consortium, method: str = GEOMETRIC_MEDIAN
) -> Publication:
    """Combine all verified files by a data-free rule.

    Parameters
    ----------
    verified
        From `verify_shares`: all that was received, chosen by nobody's rows.
    consortium
        What the members agreed on.
    method
        "geometric-median" (default), "precision", "mean", "clipped-mean", "coordinate-median",
        "uniform-vote", or "sums" where all released sums. A task that has not two classes takes
        sums and averages.
    """
    if method not in (SUMS, *DATA_FREE):
        raise ParameterError(
            "method", repr(method), f"data-free: one of {', '.join((SUMS, *DATA_FREE))}",
            "Whatever looks at the receiver's rows may not be published; a Gibbs draw may.",
        )  # fmt: skip
    made: Combination | Merged
    if method == SUMS or consortium.task.kind != "binary":
        made = merge(verified.shares, method)
    else:
        made = combine(verified.shares, method=method)  # type: ignore[assignment]
    names = [share.organization for share in verified.shares]
    prices = dict(zip(names, verified.prices, strict=True))
    known = [price for price in prices.values() if price is not None]
    total = consortium.total(known) if len(known) == len(prices) else None
    return Publication(
        combination=made, prices=prices, guarantee=total, max_overlap=consortium.max_overlap
    )
