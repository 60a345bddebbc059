"""The paper's own estimators, with the guarantee they truly have (A: `as_published_sampled`).

Maths (Gaussian bumps K_l of one width, b centres, H and h as in `least_squares`)
    ~h = h + Laplace noise of scale b / (n epsilon) each, alpha = max(0, (H + ridge I)^-1 ~h).
    parametric, B   centres fixed in public, or taken from the public table
    C               b private rows as they are; then ~h on these
    On the grid: K is rounded down to multiples of 2^-20, noise is discrete Laplace.

Privacy (SUBSTITUTE, n public)
    parametric, B   epsilon. K lies in [0, 1], so a row moves h by at most b / n in L1 (K >= 0).
    C               no epsilon: private rows are printed. It is (epsilon, b/n)-private in the letter
                    and that delta is attained: offered only where the caller says so by name.
    chosen on the private rows (widths and ridge by `leave_one_out_grid`): none. The winner is a
    deterministic function of the rows, so some change of one row is seen with certainty.

Accuracy
    max(0, .) of noisy coefficients is biased (by half a noise scale where there is nothing but
    noise); the weights need not have mean one and should be divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.mechanisms.additive import IntegerNoise, require_noise
from noren.mechanisms.wording import neighbours, public_rows
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import not_negative, read_epsilon
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.reweighting.basis import gaussian_basis, read_width
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.least_squares import ridge_solution
from noren.reweighting.moments import read_records
from noren.reweighting.rows import Floats, Integers, frozen, public_matrix

UNIT = 1 << 20
NOT_PRIVATE_SELECTION = "width and ridge were chosen on the private rows: no guarantee"
PRIVATE_ROWS = "private rows are published as centres: not a privacy mechanism"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishedRatio:
    """Ask for the paper's moments on public centres: the parametric variant, and method B.

    Parameters
    ----------
    centres : array
        Public centres (for B, rows of the public table).
    sigma, ridge : number
        The width of the bumps and the strength of the penalty.
    adjacency : Adjacency or str
        "substitute": the number of private rows is public.
    epsilon : number
        The price.
    records : int
        The public number of private rows.
    selected_on_private_rows : bool
        Whether `sigma` or `ridge` was chosen by looking at the private rows. Then there is no
        guarantee, and no ledger takes the question.
    publishes_private_rows : bool
        Whether the centres are private rows (method C). No guarantee either.

    Examples
    --------
    >>> from noren import Noise
    >>> question = PublishedRatio(centres=[0.0, 1.0, 2.0], sigma=1, ridge=0.1,
    ...                           adjacency="substitute", epsilon=1, records=4000)
    >>> found = question.answer(EncodedRows.of([[2.0]] * 4000), Noise())
    >>> weights = found.weights([0.0, 1.0, 2.0], of=[0.0, 2.0])
    >>> bool(weights[1] > weights[0])
    True
    """

    kind: ClassVar[str] = "published-ratio"

    centres: Floats
    sigma: float
    ridge: float
    adjacency: Adjacency
    epsilon: Fraction
    records: int
    selected_on_private_rows: bool = False
    publishes_private_rows: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "centres", frozen(public_matrix("centres", self.centres)))
        put(self, "sigma", read_width("sigma", self.sigma))
        put(self, "ridge", float(not_negative("ridge", self.ridge)))
        put(self, "adjacency", neighbours(self.adjacency, SUBSTITUTE))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "records", read_records(self.records, self.adjacency))

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that there is no guarantee where there is none."""
        selected = (NOT_PRIVATE_SELECTION,) if self.selected_on_private_rows else ()
        return selected + ((PRIVATE_ROWS,) if self.publishes_private_rows else ())

    @property
    def law(self) -> IntegerNoise:
        """Give the law of the noise, in steps: every bump may move by its whole height."""
        worst = (UNIT,) * len(self.centres)
        return IntegerNoise(self.adjacency, worst, self.epsilon, None)

    @property
    def guarantee(self) -> Guarantee:
        """State the price, unless something was chosen on the private rows."""
        if self.notes:
            raise ParameterError(
                "the question",
                f"without a guarantee ({'; '.join(self.notes)})",
                "one whose every setting is public",
                "Choose width, ridge and centres from the public table.",
            )
        return self.law.guarantee

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in steps."""
        return (self.law.mechanism(len(self.centres)),)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        return ("centres, width and ridge", "the number of rows", *public_rows(self.adjacency))

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off each moment may be."""
        per = UNIT * self.records
        margin, spread = self.law.margin(0.95) / per, float(np.sqrt(self.law.variance)) / per
        return Forecast(
            sentence=f"each of {len(self.centres)} moments within +-{margin:.3g} with "
            "probability 0.95",
            variance=spread**2,
            margin_95=margin,
        )

    def check(self, statistic: EncodedRows) -> None:
        """Refuse rows of another width, or of another public number."""
        require_rows(statistic, self.centres.shape[1], self.records)

    def answer(self, statistic: EncodedRows, noise: Noise) -> PublishedRelease:
        """Add the noise to the moments, in steps."""
        self.check(statistic)
        exact = np.zeros(len(self.centres), np.int64)
        for block in statistic.blocks:
            exact += gaussian_steps(block, self.centres, self.sigma).sum(axis=0)
        drawn = self.law.draw(require_noise(noise), len(exact))
        return PublishedRelease(question=self, secure=noise.secure, steps=exact + drawn)

    def restore(self, record: dict[str, Any]) -> PublishedRelease:
        """Give back the answer that a ledger stored."""
        steps = np.asarray(record["steps"], np.int64)
        return PublishedRelease(question=self, secure=was_secure(record), steps=steps)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedRelease(Answer):
    """Noisy moments of the paper's basis, and the coefficients that follow for free."""

    steps: Integers

    @property
    def guarantee(self) -> Guarantee | None:
        """The price; None where there is no guarantee."""
        return self.question.guarantee if self.secure and not self.question.notes else None

    @property
    def centres(self) -> Floats:
        """Where the bumps stand."""
        return self.question.centres  # type: ignore[no-any-return]

    def coefficients(self, public: ArrayLike) -> Floats:
        """Give the clipped coefficients, with H from the public table."""
        question = self.question
        phi = gaussian_basis(public_matrix("public", public), self.centres, question.sigma)
        noisy = self.steps / (UNIT * question.records)
        solved = ridge_solution(phi.T @ phi / len(phi), noisy, question.ridge)
        return np.maximum(solved, 0)

    def weights(self, public: ArrayLike, *, of: ArrayLike | None = None) -> Floats:
        """Give the raw weights of the public rows (or of other rows); their mean need not be 1."""
        rows = public if of is None else of
        phi = gaussian_basis(rows, self.centres, self.question.sigma)
        found: Floats = phi @ self.coefficients(public)
        return found

    @property
    def headline(self) -> str:
        """Say how many moments were released."""
        return f"{len(self.steps)} moments of the published basis"


def with_private_rows_as_centres(
    private: ArrayLike,
    *,
    centres: int,
    sigma: float,
    ridge: float,
    epsilon: Any,
    noise: Noise,
    publish_real_private_records: bool = False,
) -> PublishedRelease:
    """Run method C, which publishes private rows. It is not a privacy mechanism.

    Parameters
    ----------
    private : array
        The private rows, some of which are published as they are.
    centres : int
        How many of them.
    sigma, ridge : number
        The width of the bumps, and the strength of the penalty.
    epsilon : number
        The price of the moments alone.
    noise : Noise
        The noise.
    publish_real_private_records : bool
        Must be True: real records of the private table are part of the result.
    """
    if publish_real_private_records is not True:
        raise ParameterError(
            "publish_real_private_records",
            publish_real_private_records,
            "True, said by name",
            "Method C prints real private rows. Use `reweight`, which prints none.",
        )
    rows = EncodedRows.of(private)
    drawn = require_noise(noise).permutation(rows.records)[:centres]
    question = PublishedRatio(
        centres=rows.blocks[0][drawn],
        sigma=sigma,
        ridge=ridge,
        adjacency="substitute",  # type: ignore[arg-type]
        epsilon=epsilon,
        records=rows.records,
        publishes_private_rows=True,
    )
    return question.answer(rows, noise)


def gaussian_steps(rows: Floats, centres: Floats, sigma: float) -> Integers:
    """Give the bumps of some rows, rounded down to steps of 2^-20; no bump reaches anything far."""
    squares = np.zeros((len(rows), len(centres)))
    for k in range(centres.shape[1]):  # element by element: a function of the row alone
        gap = rows[:, k : k + 1] - centres[:, k]
        squares += gap * gap
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.floor(np.exp(squares / (-2 * sigma * sigma)) * UNIT)
    return np.where(np.isnan(steps), 0, steps).astype(np.int64)


def require_rows(statistic: EncodedRows, width: int, records: int) -> None:
    """Refuse rows of another width, or of another public number."""
    if statistic.width != width or statistic.records != records:
        raise ParameterError(
            "the statistic",
            "not of the width and number of rows that the question takes to be public",
            "rows as wide as a centre, and as many as stated",
        )
