"""What an adaptive question released: the columns it chose, and the moments of each stage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noren.privacy.marks import was_secure
from noren.question import Answer
from noren.reweighting.adaptive_columns import Derivation
from noren.reweighting.moments import MomentRelease
from noren.reweighting.reading import Reading
from noren.reweighting.rows import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One release: the names of its columns, their coordinates, and its noisy moments."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    release: MomentRelease


@dataclass(frozen=True, kw_only=True, eq=False)
class AdaptiveRelease(Answer):
    """Noisy moments of the columns that differ most, then of all; weights follow for free.

    `count` is the noisy number of rows (None where it is public), `derivation` says how the columns
    on offer follow from an encoded row, `stages` are the releases in order.
    """

    count: int | None
    derivation: Derivation
    stages: tuple[Stage, ...]

    @property
    def basis(self) -> Any:
        """The basis of the last stage."""
        return self.stages[-1].release.basis

    @property
    def reading(self) -> Reading:
        """What the last stage says."""
        return self.stages[-1].release.reading

    @property
    def moments(self) -> Floats:
        """The noisy moments of the last stage."""
        return self.reading.moments

    @property
    def covariance(self) -> Floats:
        """The covariance of their noise."""
        return self.reading.covariance

    @property
    def records(self) -> float:
        """The number of private rows: public, or as released."""
        if self.count is None:
            return float(self.question.records)
        return max(1.0, float(self.count))

    @property
    def differing(self) -> tuple[tuple[str, ...], ...]:
        """The columns found to differ most, first found first; noisy at a small epsilon."""
        return tuple(stage.names for stage in self.stages if len(stage.names) > 1)

    @property
    def has_intervals(self) -> bool:
        """Intervals would ignore the choices and the earlier stages: there are none."""
        return False

    @property
    def notices(self) -> tuple[str, ...]:
        """What to mind in this release."""
        found = ["which columns differ most was chosen with noise; there are no intervals"]
        if self.count is not None and self.count < 1:
            found.append("the noisy number of rows lies below 1; it reads 1")
        return tuple(found)

    @property
    def headline(self) -> str:
        """Name the columns that were chosen."""
        pairs = "; ".join(" and ".join(names) for names in self.differing)
        return f"moments in {len(self.stages)} stages; columns that differ most: {pairs}"

    def chart(self) -> Any:
        """Draw the noisy moments of the last stage."""
        from noren.reweighting.charts import moment_chart

        return moment_chart(self)

    def record(self) -> dict[str, Any]:
        """Give what a ledger stores, as plain values."""
        from noren.reweighting.saving import moments_form

        return {
            "count": self.count,
            "derivation": self.derivation.form(),
            "stages": [
                {
                    "names": list(stage.names),
                    "places": list(stage.places),
                    "release": moments_form(stage.release),
                }
                for stage in self.stages
            ],
            "secure": self.secure,
        }

    def save(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        """Write the release as JSON: weights are fitted again from it, the private table unread."""
        from noren.reweighting.saving import write_release

        write_release(path, self, about)


def read_adaptive(question: Any, record: dict[str, Any]) -> AdaptiveRelease:
    """Read what `record` gave."""
    from noren.reweighting.saving import moments_of

    stages = tuple(
        Stage(tuple(form["names"]), tuple(int(at) for at in form["places"]),
              moments_of(form["release"]))
        for form in record["stages"]
    )  # fmt: skip
    count = record["count"]
    return AdaptiveRelease(
        question=question,
        secure=was_secure(record),
        count=None if count is None else int(count),
        derivation=Derivation.read(record["derivation"]),
        stages=stages,
    )


def public_columns(release: AdaptiveRelease, public: Floats, stage: Stage) -> Floats:
    """Give the coordinates of a stage at some encoded rows."""
    found: Floats = np.ascontiguousarray(release.derivation.rows(public)[:, stage.places])
    return found
