"""Does joining help? The receiver's own model against the combined one, on the receiver's rows.

Maths
    Rows are split into 5 folds (row i in fold i mod 5; below 10 rows each is its own). For each
    fold both sides are made anew from the other rows alone, all their choices included: the local
    side by exponential weights over ridge fits (`local_auto_fit`), the combined side by the way
    asked about. d_i is the local loss on held-out row i minus the combined one. With the mean and
    its standard error s / sqrt(n) of the n paired differences, and t the 97.5 % point of
    Student's law with n - 1 degrees of freedom,

        joining helps    mean > t * standard error        joining hurts    mean < -t * that
        no evidence      otherwise

    Held-out rows of different folds share training rows, so the standard error is a good guide,
    not a proof; the tests measure how often it cries wolf.

Privacy
    None: every number here, the verdict included, is a function of the receiver's rows. Telling
    the others that "joining did not help", or dropping a file for its loss and showing it, is a
    release. `SecretJoining` stays with the receiver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from noren.collaboration.auto import local_auto_fit, masks_of
from noren.collaboration.learners import Floats, log_losses, losses_of, unit_rows
from noren.collaboration.predictor import Predictor
from noren.collaboration.signing import SIGNATURE_SAYS
from noren.collaboration.weights import ewa_weights

HELPS, NO_EVIDENCE, HURTS = VERDICTS = ("joining helps", "no evidence", "joining hurts")
SECRET = "SECRET: computed from the receiver's rows without noise. It stays with the receiver."
COVERAGE = 0.95
CHANCE_LOSS = math.log(2)

Make = Callable[[Floats, Floats], Predictor]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHealth:
    """How one received file does; secret, for its loss is taken on the receiver's rows.

    Attributes
    ----------
    source, organization : str
        Which file.
    price : str
        What its organization spent.
    cosine : float
        With the combined model: about 0 is a stranger, below 0 points away.
    loss : float
        Its mean logistic loss alone; a model that knows nothing has ln 2 = 0.693.
    weight : float
        Its exponential weight among the files, as unit learners at temperature e.
    remark : str
        What to look at, if anything.
    """

    source: str
    organization: str
    price: str
    cosine: float
    loss: float
    weight: float
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SecretJoining:
    """Whether joining helps the receiver. It must stay with the receiver.

    Attributes
    ----------
    verdict : str
        "joining helps", "no evidence" or "joining hurts".
    local_loss, combined_loss : float
        Mean held-out logistic losses.
    difference, standard_error, low, high : float
        Local minus combined, and its 95 % interval.
    local_accuracy, combined_accuracy : float
        On the same held-out rows.
    rows : int
        How many rows the receiver has.
    files : tuple of FileHealth
        One for each combined file.
    """

    verdict: str
    local_loss: float
    combined_loss: float
    difference: float
    standard_error: float
    low: float
    high: float
    local_accuracy: float
    combined_accuracy: float
    rows: int
    method: str
    files: tuple[FileHealth, ...] = ()

    def __repr__(self) -> str:
        return "SecretJoining(stays with the receiver)"

    @property
    def sentence(self) -> str:
        """Say the verdict with its figures."""
        return (
            f"{self.verdict}: held-out loss {self.local_loss:.4f} alone, {self.combined_loss:.4f} "
            f"combined, difference {self.difference:+.4f} (95 % from {self.low:+.4f} to "
            f"{self.high:+.4f}); accuracy {self.local_accuracy:.3f} alone, "
            f"{self.combined_accuracy:.3f} combined"
        )

    def chart(self) -> Any:
        """Draw the difference with its interval."""
        from noren.collaboration.joining_page import joining_charts

        return joining_charts(self)[0][1]

    def page(self) -> Any:
        """Put the report on one HTML page that opens offline (`noren.page.Page`)."""
        from noren.collaboration.joining_page import joining_page

        return joining_page(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return asdict(self) | {"secret": SECRET, "signature_proves": SIGNATURE_SAYS}


def does_joining_help(
    rows: Floats, labels: Floats, make: Make, method: str, files: tuple[FileHealth, ...] = ()
) -> SecretJoining:
    """Compare the local model with a combined one on held-out rows, pair by pair.

    `make(rows, labels)` gives the combined predictor from some of the rows.
    """
    masks = masks_of(len(rows), None)[:-1] > 0
    margins = np.zeros((2, len(rows)))
    for training in masks:
        held = ~training
        combined = make(rows[training], labels[training])
        margins[1, held] = labels[held] * combined.scores(rows[held])
        if training.any():
            local = local_auto_fit(rows[training], labels[training]).coefficients
            margins[0, held] = labels[held] * (rows[held] @ local)
    losses = log_losses(margins)
    signed = np.where(labels > 0, margins, -margins) >= 0  # decided as 1
    right = (signed == (labels > 0)).mean(axis=1)
    difference, error, half = paired(losses[0] - losses[1])
    verdict = HELPS if difference > half else HURTS if difference < -half else NO_EVIDENCE
    return SecretJoining(
        verdict=verdict,
        local_loss=float(losses[0].mean()),
        combined_loss=float(losses[1].mean()),
        difference=difference,
        standard_error=error,
        low=difference - half,
        high=difference + half,
        local_accuracy=float(right[0]),
        combined_accuracy=float(right[1]),
        rows=len(rows),
        method=method,
        files=files,
    )


def paired(differences: Floats) -> tuple[float, float, float]:
    """Give mean, standard error, and the half width of the 95 % interval (one row: infinite)."""
    many = differences.size
    mean = float(differences.mean())
    if many < 2:
        return mean, math.inf, math.inf
    error = float(differences.std(ddof=1)) / math.sqrt(many)
    return mean, error, error * float(student.ppf((1 + COVERAGE) / 2, many - 1))


def health(
    rows: Floats, labels: Floats, learners: Floats, combined: Floats | None,
    named: Sequence[tuple[str, str, str]],
) -> tuple[FileHealth, ...]:  # fmt: skip
    """Look at each file: its direction, its loss alone, its weight. `named`: file, who, price."""
    units = unit_rows(learners)
    losses = losses_of(rows, labels, learners).mean(axis=1)
    weights = ewa_weights(losses_of(rows, labels, units), math.e)
    toward = np.zeros(units.shape[1]) if combined is None else unit_rows(combined[None])[0]
    cosines = units @ toward
    return tuple(
        FileHealth(
            source=source,
            organization=who,
            price=price,
            cosine=float(cosine),
            loss=float(loss),
            weight=float(weight),
            remark=remark_on(float(cosine), float(loss), knows_direction=combined is not None),
        )
        for (source, who, price), cosine, loss, weight in zip(
            named, cosines, losses, weights, strict=True
        )
    )


def remark_on(cosine: float, loss: float, *, knows_direction: bool) -> str:
    """Say what is odd about a file."""
    remarks = []
    if knows_direction and cosine < 0:
        remarks.append("points away from the combined model")
    if loss > CHANCE_LOSS:
        remarks.append("alone worse than knowing nothing")
    return "; ".join(remarks)
