"""One line of a reproduction: what the paper prints, what we find, and whether that is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ERRATA = "errata"
RIGHT = "what was found right"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    """Set one published figure beside ours.

    Attributes
    ----------
    experiment, setting, quantity : str
        Which experiment of the paper, under which setting, and what was measured.
    published : float, str or None
        The paper's own figure, always as printed; None where the paper gives none.
    ours : float, str or None
        What this run found; None where the figure cannot be reproduced (the note says why).
    tolerance : float or None
        How far ours may lie from what a faithful run is known to give.
    ok : bool
        Ours lies within `tolerance` of what a faithful run gives. That is not always what was
        published: where the two differ, the note says so.
    note : str
        Why ours and the published figure differ, or why there is none.

    Examples
    --------
    >>> row = PaperRow(experiment="E1", setting="epsilon 1", quantity="recall", published=0.71,
    ...                ours=0.705, tolerance=0.02, ok=True)
    >>> row.to_dict()["published"]
    0.71
    """

    experiment: str
    setting: str
    quantity: str
    published: float | str | None
    ours: float | str | None
    tolerance: float | None
    ok: bool
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return asdict(self)


def claim(
    setting: str,
    quantity: str,
    published: float | str | None,
    ours: float,
    expected: float,
    tolerance: float,
    note: str,
    experiment: str = ERRATA,
) -> PaperRow:
    """Set a claim beside what is found; ok if ours is what a faithful run gives."""
    return PaperRow(
        experiment=experiment,
        setting=setting,
        quantity=quantity,
        published=published,
        ours=ours,
        tolerance=tolerance,
        ok=abs(ours - expected) <= tolerance,
        note=note,
    )
