"""What a Gibbs draw released: which learners were drawn, and nothing of how well they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noren.collaboration.charts import drawn_learners
from noren.collaboration.learners import Floats
from noren.collaboration.model import numbers_to_text
from noren.question import Answer


@dataclass(frozen=True, kw_only=True, eq=False)
class GibbsAnswer(Answer):
    """The drawn learners by their places, in the order of drawing."""

    chosen: npt.NDArray[np.int64]

    @property
    def learners(self) -> Floats:
        """The drawn learners, one a row; they may be published."""
        drawn: Floats = self.question.learners[self.chosen]
        return drawn

    @property
    def headline(self) -> str:
        """Say which were drawn."""
        named = ", ".join(str(place + 1) for place in self.chosen.tolist())
        return f"drawn: learner {named} of {len(self.question.learners)}"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, with the drawn learners themselves."""
        return super().to_dict() | {"learners": numbers_to_text(self.learners)}

    def chart(self) -> Any:
        """Draw how often each learner was drawn."""
        return drawn_learners(np.bincount(self.chosen, minlength=len(self.question.learners)))
