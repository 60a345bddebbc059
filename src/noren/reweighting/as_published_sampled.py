"""Method A of the paper: noisy centres from sampled private rows, then noisy moments on them.

Maths
    b rows are drawn from the private table without replacement, clipped to a public box, kept in
    the order of drawing, and each coordinate gets Laplace noise of scale (sum of the box's
    widths) / e', e' = log(1 + (exp(e) - 1) n / b); then ~h on these centres, as in `as_published`.
    The paper fixes neither the box nor how the price is split: half and half unless said.
    On the grid: rows are moved to whole steps of the box, and noise is discrete Laplace.

Privacy (SUBSTITUTE, n public)
    e for the centres plus what the moments cost. Two rows in the box lie at most the sum of its
    widths apart, so one drawn row costs e'; drawing b of n without replacement multiplies
    exp(e') - 1 by b / n while it stays secret which rows were drawn and the order tells nothing.
    In the order of drawing a replaced row stays at its place. Sorted by row number the claim is
    false: for 3 bits, 2 drawn, e' = 1, the log ratio reaches 0.8562 where 0.7634 is claimed.
    Without a box there is no bound at all, which the paper leaves out.

Accuracy
    Worse than B's at the same price: the moments get the half that the centres leave, and a centre
    is off by a large part of the box unless many rows stand behind each that is drawn.
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
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.numbers import not_negative, read_epsilon
from noren.question import Answer, Forecast, was_secure
from noren.reweighting.amplification import amplified_centre_epsilon
from noren.reweighting.as_published import PublishedRatio, PublishedRelease, require_rows
from noren.reweighting.basis import read_width
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.moments import read_records
from noren.reweighting.rows import Floats, Integers, frozen, public_matrix


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PublishedCentresRatio:
    """Ask by method A: noisy centres from sampled private rows, then moments on them.

    Parameters
    ----------
    box : array
        The public box, one (low, high) a coordinate.
    centres : int
        How many rows are drawn.
    sigma, ridge, adjacency, records : as for `PublishedRatio`
        The same.
    epsilon : number
        The price of everything.
    centre_share : number
        The part of the price that the centres get.
    """

    kind: ClassVar[str] = "published-centres-ratio"
    notes: ClassVar[tuple[str, ...]] = ()

    box: Floats
    centres: int
    sigma: float
    ridge: float
    adjacency: Adjacency
    epsilon: Fraction
    records: int
    centre_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        put = object.__setattr__
        box = public_matrix("box", self.box, 2)
        share = Fraction(self.centre_share)
        if not (box[:, 0] < box[:, 1]).all() or not 0 < share < 1:
            raise ParameterError("box or centre_share", "out of order", "low < high, 0 < share < 1")
        put(self, "box", frozen(box))
        put(self, "centre_share", share)
        put(self, "sigma", read_width("sigma", self.sigma))
        put(self, "ridge", float(not_negative("ridge", self.ridge)))
        put(self, "adjacency", neighbours(self.adjacency, SUBSTITUTE))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "records", read_records(self.records, self.adjacency))
        if not 1 <= self.centres <= self.records:
            raise ParameterError("centres", self.centres, "at least 1, at most `records`")

    @property
    def guarantee(self) -> Guarantee:
        """State the price: both parts, added."""
        rho = pure_to_zcdp_charge(self.epsilon)
        return Guarantee(self.adjacency, epsilon=self.epsilon, rho=rho)

    @property
    def centre_law(self) -> IntegerNoise:
        """Give the noise of one drawn row's coordinates, in steps of the box's grid."""
        share = float(self.centre_share * self.epsilon)
        inner = Fraction(amplified(share, self.centres / self.records))
        widths = (self.highest - self.lowest).sum()
        return IntegerNoise(self.adjacency, (int(widths),), inner, None)

    @property
    def grid(self) -> Fraction:
        """The public grid of the centres: the widest side in 2^20 steps or more."""
        widest = float((self.box[:, 1] - self.box[:, 0]).max())
        return Fraction(2) ** (int(np.ceil(np.log2(widest))) - 20)

    @property
    def lowest(self) -> Integers:
        """The box's lower corner, in steps."""
        return np.floor(self.box[:, 0] / float(self.grid)).astype(np.int64)

    @property
    def highest(self) -> Integers:
        """The box's upper corner, in steps."""
        return np.ceil(self.box[:, 1] / float(self.grid)).astype(np.int64)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        secret = "that nobody learns which rows were drawn"
        return ("box, width and ridge", "the number of rows", secret, *public_rows(self.adjacency))

    def forecast(self, facts: None = None) -> Forecast:
        """Say how far off each coordinate of a centre may be."""
        margin = self.centre_law.margin(0.95) * float(self.grid)
        return Forecast(
            sentence=f"each coordinate of {self.centres} centres within +-{margin:.3g} with "
            "probability 0.95",
            margin_95=margin,
        )

    def check(self, statistic: EncodedRows) -> None:
        """Refuse rows of another width, or of another public number."""
        require_rows(statistic, len(self.box), self.records)

    def answer(self, statistic: EncodedRows, noise: Noise) -> PublishedCentresRelease:
        """Draw rows, blur them, then ask for the moments on them."""
        self.check(statistic)
        order = require_noise(noise).permutation(self.records)[: self.centres]
        rows = np.concatenate(statistic.blocks)[order]  # in the order of drawing
        steps = np.clip(np.floor(rows / float(self.grid)), self.lowest, self.highest)
        steps = np.where(np.isnan(steps), self.lowest, steps).astype(np.int64)
        steps += self.centre_law.draw(noise, steps.size).reshape(steps.shape)
        moments = self.inner(steps).answer(statistic, noise).steps
        return PublishedCentresRelease(
            question=self, secure=noise.secure, centre_steps=steps, steps=moments
        )

    def inner(self, centre_steps: Integers) -> PublishedRatio:
        """Ask for the moments on noisy centres, with what is left of the price."""
        return PublishedRatio(
            centres=centre_steps * np.float64(self.grid),
            sigma=self.sigma,
            ridge=self.ridge,
            adjacency=self.adjacency,
            epsilon=(1 - self.centre_share) * self.epsilon,
            records=self.records,
        )

    def restore(self, record: dict[str, Any]) -> PublishedCentresRelease:
        """Give back the answer that a ledger stored."""
        centres, steps = (np.asarray(record[name], np.int64) for name in ("centre_steps", "steps"))
        return PublishedCentresRelease(
            question=self, secure=was_secure(record), centre_steps=centres, steps=steps
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedCentresRelease(Answer):
    """Noisy centres and noisy moments on them."""

    centre_steps: Integers
    steps: Integers

    @property
    def moments(self) -> PublishedRelease:
        """The second part, as a release on these centres; its price is part of this one's."""
        inner = self.question.inner(self.centre_steps)
        return PublishedRelease(question=inner, secure=self.secure, steps=self.steps)

    def weights(self, public: ArrayLike, *, of: ArrayLike | None = None) -> Floats:
        """Give the raw weights of the public rows (or of other rows)."""
        return self.moments.weights(public, of=of)

    @property
    def headline(self) -> str:
        """Say how many centres and moments were released."""
        return f"{len(self.centre_steps)} noisy centres and their moments, as published (method A)"


def amplified(epsilon: float, rate: float) -> float:
    """Give what sampled rows may be spent at, a hair less than the exact value."""
    return amplified_centre_epsilon(epsilon, rate) * (1 - 1e-12)
