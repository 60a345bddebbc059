"""Weights by a noisy logistic fit: the importance weighting mechanism, on a grid.

Maths (z the whitened moments of a row, |z| <= r; x = (1, z), R = sqrt(1 + r^2))
    theta minimizes the logistic loss that tells the tables apart, plus ridge/2 |theta|^2
    (`logistic_fit`); it is moved to the nearest points of a grid of step g = 2^j, noise is added,
    and w is proportional to exp(theta'x).

Privacy (SUBSTITUTE, n public; pure with the lattice law, zCDP with discrete Gaussian noise)
    theta moves by at most D = 2R/(n ridge) + 2 TAU/ridge in Euclid's norm, its p rounded
    coordinates by at most D/g + sqrt(p) steps: the reach of `noren.mechanisms.ball`. g is at most
    1/1024 of D and of D/epsilon, so rounding costs next to nothing. ridge must be public.
    Derived here; the constants of the 2013 paper that proposed it were not at hand.

Accuracy
    The ridge decides: from 0.001 to 0.1 the error changes by orders of magnitude, and nothing
    private may choose it. That is this mechanism's weak point; it is offered as a baseline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noren.errors import ParameterError
from noren.mechanisms.additive import read_price, require_noise
from noren.mechanisms.ball import BallNoise
from noren.mechanisms.wording import neighbours, public_rows
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import positive
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.logistic_fit import TAU, separating_theta
from noren.reweighting.moments import read_records
from noren.reweighting.rows import Floats, Integers, frozen, public_matrix
from noren.reweighting.weights import Weights
from noren.reweighting.whitened_basis import WhitenedBasis

FINE = 1024


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LogisticRatio:
    """Ask for the coefficients of a logistic fit between the private and the public table.

    Parameters
    ----------
    public : array
        The encoded public rows.
    ridge : number
        The public strength of the penalty.
    order : int
        1 for the coordinates, 2 with their squares, 3 with products of pairs.
    adjacency : Adjacency or str
        "substitute" only: the number of private rows is public.
    epsilon, rho : number
        The price, exactly one of them.
    records : int
        The public number of private rows.

    Examples
    --------
    >>> from noren import Noise
    >>> question = LogisticRatio(public=[[0.0], [1.0], [2.0]], ridge=0.1, adjacency="substitute",
    ...                          epsilon=1, records=2000)
    >>> release = question.answer(EncodedRows.of([[1.8]] * 2000), Noise())
    >>> release.weights([[0.0], [1.0], [2.0]]).values.argmax()
    np.int64(2)
    """

    kind: ClassVar[str] = "logistic-ratio"
    notes: ClassVar[tuple[str, ...]] = ()

    public: Floats
    ridge: Fraction
    order: int = 1
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    records: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "public", frozen(public_matrix("public", self.public)))
        put(self, "ridge", positive("ridge", self.ridge, "It is public; 0.01 to 0.1 is usual."))
        epsilon, rho = read_price(self.epsilon, self.rho)
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)
        put(self, "adjacency", neighbours(self.adjacency, SUBSTITUTE))
        put(self, "records", read_records(self.records, self.adjacency))
        put(self, "_basis", WhitenedBasis.of(self.public, self.order))

    @property
    def basis(self) -> WhitenedBasis:
        """The public whitening of the rows."""
        return self._basis  # type: ignore[attr-defined,no-any-return]

    @property
    def size(self) -> int:
        """How many coefficients there are, p."""
        return self.basis.size + 1

    @property
    def moves(self) -> Fraction:
        """Give D, how far theta moves between neighbours, rounded up."""
        longest = math.sqrt(1 + (self.basis.reach / self.basis.unit) ** 2) * (1 + 1e-12)
        assert self.records is not None
        return (2 * Fraction(longest) / self.records + 2 * Fraction(TAU)) / self.ridge

    @property
    def step(self) -> Fraction:
        """Give g, the public grid."""
        price = self.epsilon if self.epsilon is not None else Fraction(1)
        finest = min(self.moves, self.moves / price) / FINE
        return Fraction(2) ** math.floor(math.log2(finest))

    @property
    def law(self) -> BallNoise:
        """Give the law of the noise, in steps of the grid."""
        root = Fraction(math.isqrt(self.size << 40) + 1, 1 << 20)
        reach = self.moves / self.step + root
        return BallNoise(self.adjacency, self.size, reach, self.epsilon, self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return self.law.guarantee

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in steps."""
        return (self.law.mechanism,)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        table = "the public table, its schema and bounds, and the ridge"
        return (table, "the number of private rows", *public_rows(self.adjacency))

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off the coefficients may be."""
        margin = self.law.margin(0.95) * float(self.step)
        return Forecast(
            sentence=f"all {self.size} coefficients, as one vector, within +-{margin:.3g} with "
            "probability 0.95",
            variance=self.law.variance * float(self.step) ** 2,
            margin_95=margin,
        )

    def check(self, statistic: EncodedRows) -> None:
        """Refuse rows of another width, or of another public number."""
        if statistic.width != self.public.shape[1] or statistic.records != self.records:
            raise ParameterError(
                "the statistic",
                "not of the width and number of rows that the question takes to be public",
                "encoded as the public rows, and as many as stated",
            )

    def features(self, rows: ArrayLike) -> Floats:
        """Give (1, z) of some rows."""
        z = self.basis.steps(rows) / self.basis.unit
        return np.column_stack([np.ones(len(z)), z])

    def answer(self, statistic: EncodedRows, noise: Noise) -> LogisticRelease:
        """Fit, round, and add the noise."""
        self.check(statistic)
        private = np.concatenate([self.features(block) for block in statistic.blocks])
        theta = separating_theta(private, self.features(self.public), float(self.ridge))
        steps = theta / np.float64(self.step)  # a power of two: exact
        whole = np.floor(steps)
        rounded = whole.astype(np.int64) + (steps - whole >= 0.5)
        drawn = self.law.draw(require_noise(noise))
        return LogisticRelease(question=self, secure=noise.secure, steps=rounded + drawn)

    def restore(self, record: dict[str, Any]) -> LogisticRelease:
        """Give back the answer that a ledger stored."""
        steps = np.asarray(record["steps"], np.int64)
        return LogisticRelease(question=self, secure=was_secure(record), steps=steps)

    def __repr__(self) -> str:
        return f"LogisticRatio({self.size} coefficients, {self.guarantee})"


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticRelease(Answer):
    """Noisy coefficients on the grid; weights follow for free."""

    steps: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", frozen(np.asarray(self.steps, np.int64)))

    @property
    def theta(self) -> Floats:
        """The noisy coefficients, the intercept first."""
        found: Floats = self.steps * np.float64(self.question.step)
        return found

    @property
    def basis(self) -> WhitenedBasis:
        """The public whitening of the rows."""
        return self.question.basis  # type: ignore[no-any-return]

    @property
    def moments(self) -> Floats:
        """There are no moments in this release."""
        return np.zeros(0)

    @property
    def covariance(self) -> Floats:
        """There are no moments in this release."""
        return np.zeros((0, 0))

    @property
    def has_intervals(self) -> bool:
        """There is no model of the error of a query."""
        return False

    @property
    def notices(self) -> tuple[str, ...]:
        """What to mind in this release."""
        return ("the public ridge decides the error, and nothing private may choose it",)

    def weights(self, public: ArrayLike) -> Weights:
        """Give the weights of the public rows: proportional to exp(theta'x), of mean one."""
        inner = self.question.features(public_matrix("public", public)) @ self.theta
        level = float(inner.max()) + math.log(float(np.mean(np.exp(inner - inner.max()))))
        nothing = np.zeros((len(inner), 0))
        return Weights(
            "logistic",
            np.exp(inner - level),
            self,
            nothing,
            np.zeros(0),
            {"ridge": float(self.question.ridge)},
            lambda rows: np.exp(self.question.features(rows) @ self.theta - level),
        )

    @property
    def headline(self) -> str:
        """Say how many coefficients were released."""
        spread = math.sqrt(self.question.law.variance) * float(self.question.step)
        return f"{len(self.steps)} coefficients, noise sd {spread:.3g} each"

    def chart(self) -> Any:
        """Draw the noisy coefficients."""
        import altair

        rows = [{"coefficient": i, "value": float(v)} for i, v in enumerate(self.theta)]
        base = altair.Chart({"values": rows}).mark_bar()
        return base.encode(altair.X("coefficient:O"), altair.Y("value:Q"))
