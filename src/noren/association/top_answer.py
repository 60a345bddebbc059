"""What a choice of the top K released, and what can be read from it for free."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noren.association.modes import require_null
from noren.association.statistic import Counts, Floats
from noren.association.variants import described, how_many
from noren.errors import ParameterError
from noren.question import Answer, as_json


@dataclass(frozen=True, kw_only=True, eq=False)
class TopSnpsAnswer(Answer):
    """The chosen variants or loci: in order after rounds, else sorted by place.

    `tau` is the threshold that was chosen (None: the question's own), `scores` the noisy scores of
    the chosen at the question's threshold (None: not asked for).
    """

    chosen: Counts
    tau: Fraction | None
    scores: Counts | None

    @property
    def names(self) -> list[str]:
        """Name the chosen."""
        asked = self.question
        if asked.loci is not None:
            return [asked.loci.names[place] for place in self.chosen]
        return described(asked.variants, self.chosen)["snp"]

    def p_values(self, null: str = "permutation", rate_range: Any = None) -> Floats:
        """Give the guaranteed p-value of each chosen one by itself; a locus counts its variants."""
        alone = self._score_p_values(null, rate_range)
        loci = self.question.loci
        return alone if loci is None else np.minimum(1, alone * loci.sizes[self.chosen])

    def adjusted(self, null: str = "permutation", rate_range: Any = None) -> Floats:
        """Give p-values corrected for all variants that were looked at, not only the chosen."""
        tests = how_many(self.question.variants)
        return np.minimum(1, self._score_p_values(null, rate_range) * tests)

    def _score_p_values(self, null: str, rate_range: Any) -> Floats:
        """Give the p-value that each released score would have for one variant."""
        asked = self.question
        if self.scores is None:
            raise ParameterError(
                "scores_epsilon", None, "stated where p-values are wanted", "Scores cost extra."
            )
        require_null(null, asked.design)
        return asked.design.p_values(  # type: ignore[no-any-return]
            self.scores, asked.tau, asked.per_score, null, rate_range
        )

    def columns(self, null: str = "permutation", rate_range: Any = None) -> dict[str, Any]:
        """Give the result table: rank where there is one, name, place, and scores if released."""
        asked = self.question
        made: dict[str, Any] = {}
        if asked.peels:
            made["rank"] = list(range(1, asked.top + 1))
        if asked.loci is None:
            made |= described(asked.variants, self.chosen)
        else:
            made |= {"locus": self.names, "variants": asked.loci.sizes[self.chosen]}
        if self.scores is None:
            return made
        made["score"] = self.scores
        if not asked.design.nulls:
            return made
        return made | {
            "p": self.p_values(null, rate_range), "p_adjusted": self.adjusted(null, rate_range)
        }  # fmt: skip

    @property
    def headline(self) -> str:
        """Name the chosen."""
        names, shown = self.names, 5
        more = f" and {len(names) - shown} more" if len(names) > shown else ""
        order = " in order" if self.question.peels else ""
        return f"top {len(names)}{order}: {', '.join(names[:shown])}{more}"

    def chart(self) -> Any:
        """Draw where the chosen lie along the genome."""
        from noren.association.charts import chosen_places

        return chosen_places(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the public settings and all prices beside the value."""
        made = {**super().to_dict(), "settings": as_json(self.question.settings)}
        made["value"] |= {"names": self.names}
        return made
