"""The moments of a private table on a public basis: one release, from which all weights follow.

Maths
    u = basis.unit steps to 1, q a row's basis values in whole steps. S = sum of q over the rows, an
    integer vector. Release S + Z, Z discrete Laplace of scale
    D / epsilon, or discrete Gaussian at a given rho (`noren.mechanisms.additive`). From it
    SUBSTITUTE    ~h = (S + Z) / (u n), n public;     Cov = Var Z / (u n)**2 I
    ADD_REMOVE    ~n = max(sum(S + Z) / (u t), 1), t the total of one row, ~h = (S + Z) / (u ~n);
                  Cov = Var Z / (u ~n)**2 Q Q', Q = I - ~h 1' / t (first order)

Privacy (pure with Laplace noise, zCDP with Gaussian; steps: docs/proofs/reweighting/moments.md)
    For a normalized basis q >= 0 and sum(q) <= u for every row. One row added or removed moves S
    by its q: L1 at most u. One row replaced moves it by q - q', whose positive and negative parts
    are at most u each: L1 at most 2u, no coordinate by more than u. Both are attained up to
    rounding, for any number of centres and any width. For tables of counts each column moves one,
    or two. Under ADD_REMOVE the number of rows is secret: it is not released, divided by or
    compared, and an empty table is answered like any other; ~n is read off the noisy sums.
    The basis must be public: centres, widths, bounds and levels from the public table or the
    schema alone. The public table is taken as given; rows of it are not protected.

Accuracy
    Per moment the noise has the standard deviation sqrt(2) D / (epsilon u n). Under ADD_REMOVE the
    stated covariance is good while c = sqrt(2 b) D / (epsilon u ~n) <= 0.1; above 0.2 a notice says
    so and no interval is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from noren.errors import ParameterError
from noren.mechanisms.additive import read_price, require_noise
from noren.mechanisms.wording import neighbours, public_rows
from noren.noise import Noise
from noren.privacy import ADD_REMOVE, SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.numbers import whole
from noren.question import Answer, Forecast, Mechanism, was_secure
from noren.reweighting.reading import Reading
from noren.reweighting.rows import Floats, Integers, frozen
from noren.reweighting.statistic import BasisSums, require_basis

WHITENED = "whitened"
FEW_RECORDS = 0.2  # noise of the total, relative to it, above which no interval is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Ask for the moments of a private table on a public basis.

    Parameters
    ----------
    basis : NormalizedBasis or LevelBasis
        Public functions of a row.
    adjacency : Adjacency or str
        "add-remove" (the number of rows is secret) or "substitute" (it is public).
    epsilon, rho : number
        The price: epsilon for discrete Laplace noise, or rho for discrete Gaussian noise.
    records : int
        The public number of rows; with "substitute" only.

    Examples
    --------
    >>> from noren import Noise
    >>> from noren.reweighting import BasisSums, NormalizedBasis
    >>> basis = NormalizedBasis([0.0, 1.0], 1)
    >>> question = Moments(basis=basis, adjacency="add-remove", epsilon="0.5")
    >>> print(question.guarantee)
    epsilon 0.5, rho 0.1065306597 (one record is added or removed)
    >>> release = question.answer(BasisSums.of([0.2, 0.4, 0.9], basis), Noise())
    >>> release.moments.shape
    (2,)
    """

    kind: ClassVar[str] = "basis-moments"
    notes: ClassVar[tuple[str, ...]] = ()

    basis: Any
    adjacency: Adjacency
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    records: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        epsilon, rho = read_price(self.epsilon, self.rho)
        put(self, "adjacency", neighbours(self.adjacency, ADD_REMOVE, SUBSTITUTE))
        put(self, "epsilon", epsilon)
        put(self, "rho", rho)
        put(self, "records", read_records(self.records, self.adjacency))

    @property
    def law(self) -> Any:
        """Give the law of the noise, with its price."""
        return self.basis.law(self.adjacency, self.epsilon, self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of one asking."""
        return self.law.guarantee  # type: ignore[no-any-return]

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say sensitivity and scale apart, in steps."""
        return self.basis.mechanisms(self.law)  # type: ignore[no-any-return]

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        count = ("the number of private rows",) if self.records is not None else ()
        table = "the public table, and the basis, bounds and levels made from it or the schema"
        return (table, *count, *public_rows(self.adjacency))

    def forecast(self, facts: int | None = None) -> Forecast:
        """Say how far off each moment may be; `facts` is a public order of magnitude of the rows.

        Without it, under add-remove, the error is that of the sums.
        """
        rows = self.records or facts or 1
        per = rows * self.basis.unit
        margin, spread = self.law.margin(0.95) / per, math.sqrt(self.law.variance) / per
        what = "moment" if self.records or facts else "sum"
        kind = self.basis.kind
        which = (
            f"all {self.basis.size} {what}s, as one vector,"
            if kind == WHITENED
            else (f"each of {self.basis.size} {what}s")
        )
        figures = {"standard deviation of a moment's noise": spread}
        if kind == WHITENED:
            figures["pv, the squared noise beside a public spread of 1"] = (
                self.basis.size * spread**2
            )
        return Forecast(
            sentence=f"{which} within +-{margin:.3g} with probability 0.95, before sampling error",
            variance=spread**2,
            margin_95=margin,
            figures=figures,
        )

    def check(self, statistic: BasisSums) -> None:
        """Refuse sums over another basis, or of another number of rows where that is public."""
        require_basis(statistic.basis, self.basis)
        if self.records is not None and statistic.records != self.records:
            raise ParameterError(
                "the number of private rows",
                "not the one that the question takes to be public",
                "that number exactly",
                "State the table's own number, or ask under 'add-remove', where it stays secret.",
            )

    def answer(self, statistic: BasisSums, noise: Noise) -> MomentRelease:
        """Add the noise, in steps."""
        self.check(statistic)
        drawn = self.law.draw(require_noise(noise), self.basis.size)
        exact = self.basis.exact(statistic, self.adjacency)
        return MomentRelease(question=self, secure=noise.secure, steps=exact + drawn)

    def restore(self, record: dict[str, Any]) -> MomentRelease:
        """Give back the answer that a ledger stored."""
        steps = np.asarray(record["steps"], np.int64)
        return MomentRelease(question=self, secure=was_secure(record), steps=steps)


def read_records(given: Any, adjacency: Adjacency) -> int | None:
    """Take the public number of rows where it is public, and only there."""
    if adjacency.relation is SUBSTITUTE:
        if adjacency.max_records > 1:
            raise ParameterError(
                "adjacency",
                f"'{adjacency}'",
                "about one record, or 'add-remove'",
                "Replacing a person by one with another number of rows changes the public number.",
            )
        if given is None:
            raise ParameterError(
                "records", None, "the public number of private rows", "Or ask under 'add-remove'."
            )
        return whole("records", given, 1)
    if given is not None:
        raise ParameterError(
            "records", given, "left out under 'add-remove'", "There the number of rows is secret."
        )
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class MomentRelease(Answer):
    """Noisy sums of a public basis, in whole steps; all else is computed from them, for free."""

    steps: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", frozen(np.asarray(self.steps, np.int64)))

    @property
    def basis(self) -> Any:
        """The public basis."""
        return self.question.basis

    @property
    def reading(self) -> Reading:
        """What the release says."""
        asked = self.question
        return self.basis.read(self.steps, asked.records, asked.law)  # type: ignore[no-any-return]

    @property
    def records(self) -> float:
        """The number of private rows: public, or read off the release (at least 1)."""
        return self.reading.records

    @property
    def moments(self) -> Floats:
        """The noisy mean of each basis function."""
        return self.reading.moments

    @property
    def covariance(self) -> Floats:
        """The covariance of the noise in the moments."""
        return self.reading.covariance

    @property
    def noise_share(self) -> float:
        """How large the noise of the total is beside the total; 0 where the total is public."""
        return self.reading.noise_share

    @property
    def has_intervals(self) -> bool:
        """Whether the stated covariance is good enough for intervals."""
        return self.noise_share <= FEW_RECORDS

    @property
    def notices(self) -> tuple[str, ...]:
        """What to mind in this release."""
        found = []
        if self.reading.empty:
            found.append("the noisy sums allow for no private rows at all; their number reads 1")
        if not self.has_intervals:
            found.append("too few rows for this price: the noise's size is uncertain, no intervals")
        return tuple(found)

    @property
    def uncertainty(self) -> Forecast:
        """The error to expect of each moment, with the number of rows as public or released."""
        rows = None if self.question.records else round(self.records)
        return self.question.forecast(rows)  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """Say how many moments were released."""
        spread = math.sqrt(float(np.mean(np.diag(self.covariance))))
        return f"{self.basis.size} moments, noise sd {spread:.3g} each"

    def chart(self) -> Any:
        """Draw the noisy moments with their noise."""
        from noren.reweighting.charts import moment_chart

        return moment_chart(self)

    def save(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        """Write the release as JSON: weights are fitted again from it, the private table unread."""
        from noren.reweighting.saving import write_release

        write_release(path, self, about)

    @classmethod
    def load(cls, path: str | Path) -> MomentRelease:
        """Read saved moments."""
        from noren.reweighting.saving import load_release

        found = load_release(path)
        if not isinstance(found, cls):
            raise ParameterError("path", str(path), "saved moments", "Use load_release.")
        return found
