"""The paper's figures, what a faithful run is known to give, and the names of both."""

from __future__ import annotations

from noren.papers.rows import PaperRow

FIFTH = "5.1: 100 organizations of 50 points"
CANCER, DIABETES = "5.2: breast cancer", "5.2: diabetes (Pima)"
EPSILONS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7, 1.9)
PUBLISHED_GAINS = (88, 88, 92, 97, 97, 97, 97, 99, 99, 100)
SIGN_GAINS = (89, 89, 88.5, 91, 93.5, 94.8, 96.5, 98, 98.3, 98.3)
SCORE_GAINS = (89, 89, 89, 90, 93, 93, 95, 97, 98, 98)
WEAK = (0.50, 0.53, 0.51, 0.54, 0.55, 0.57, 0.60, 0.62, 0.63, 0.64)
SCORE_ACCURACY = (0.78, 0.80, 0.79, 0.82, 0.84, 0.86, 0.90, 0.91, 0.91, 0.93)
GAINS = "organizations that gain, of 100"
GAIN_HONEST = "organizations that gain on a proper local model, of 100"
WEAK_ACCURACY = "accuracy of a private learner"
AGGREGATE = "accuracy of the aggregate"
TIGHT_WEAK = (
    "accuracy of an exactly calibrated learner",
    (0.51, 0.54, 0.56, 0.57, 0.60, 0.61, 0.64, 0.65, 0.67, 0.69),
)
TIGHT_AGGREGATE = "accuracy of the aggregate of exactly calibrated learners"
TIGHT_SCORE = (0.84, 0.84, 0.88, 0.88, 0.90, 0.92, 0.93, 0.94, 0.94, 0.95)
TIGHT_UNIT = (0.82, 0.87, 0.92, 0.90, 0.93, 0.96, 0.95, 0.96, 0.97, 0.96)
SMALL_EPSILONS = (0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


def row(
    experiment: str, setting: str, quantity: str, published: float | str | None, ours: float,
    expected: float | None, tolerance: float | None, note: str = "",
) -> PaperRow:  # fmt: skip
    """Set a figure beside what a faithful run gives; without an expected one it is only shown."""
    fits = expected is None or tolerance is None or abs(ours - expected) <= tolerance
    return PaperRow(
        experiment=experiment,
        setting=setting,
        quantity=quantity,
        published=published,
        ours=ours,
        tolerance=tolerance,
        ok=fits,
        note=note,
    )
