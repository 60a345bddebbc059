"""The K variants, or loci, that go with the disease most strongly.

Maths
    Each variant has a score s at a threshold tau (`noren.association.scoring`); a locus has the
    largest score of its variants. From the scores K are chosen by one of
        SET     one exponential mechanism over all sets of K (`noren.association.set_draw`)
        PEEL    K rounds, one after the other, in order (`noren.association.peel_draw`)
    at the public threshold 29.716785 (or another), or at one that is chosen first, with a tenth of
    the price (TAU, `noren.association.cut_choice`). Which of these is best depends on the public
        r = 2 ln C(M, K) / (epsilon sqrt(4 m1 m2 / N)),
    the gap between scores that a set must overcome in units of what one z is worth:
        r <= 1.8          TAU then SET
        1.8 < r <= 2.4    SET
        r > 2.4           PEEL, far better with delta > 0
    and, where an order is asked for, TAU then PEEL up to 1.8, PEEL above. On request the scores of
    the chosen are released too, y = s + Z with two-sided geometric Z, for a part of the price.

Privacy (pure, or (epsilon, delta); one total for all draws, fixed before the first)
    One person moves every score by at most 1. SET costs its epsilon whatever K is; PEEL with e0 for
    each round costs K e0, or with delta the bound for adaptive choices of bounded range
    (`noren.privacy.bounded_range`); TAU its tenth; K released scores what `pricing` says of K
    tests. The parts add up: SET then needs no delta, and none is charged. In rho every choice costs
    z - 1 - ln z, z = e / (1 - e^-e), every released score e1 tanh(e1 / 2).
    Proof of each part: docs/proofs/association/top_snps.md.

Accuracy
    With 20 planted hits of |z| from 5.5 to 12, at least 0.9 of the true top K was found for
    r <= 1.8; above 2.4 about half or more with delta, little without. (r was fitted on balanced
    groups; a bad fit costs accuracy, never privacy.)
    The chosen were picked from all M on the same people, so their p-values are corrected for all M.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.cut_choice import candidates, choose_cut
from noren.association.loci import Groups
from noren.association.peel_draw import peel
from noren.association.pricing import per_test
from noren.association.scoring import Scoring
from noren.association.set_draw import draw_set
from noren.association.statistic import Counts
from noren.association.top_answer import TopSnpsAnswer
from noren.association.top_rule import (
    PEEL,
    difficulty,
    outlook,
    read_loci,
    read_method,
    read_part,
    read_top,
)
from noren.association.variants import Variants, how_many, read_variants
from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.privacy import Guarantee, share_bounded_range
from noren.privacy.charges import exponential_mechanism_rho_charge, pure_to_zcdp_charge
from noren.privacy.numbers import read_delta, read_epsilon
from noren.question import Forecast, Mechanism, was_secure

GENOME_WIDE = Fraction("29.716785")  # chi-squared at level 5e-8
CUT_SHARE = Fraction(1, 10)
SELECTION = "exponential mechanism"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopSnps:
    """Ask which variants, or loci, score highest.

    Parameters
    ----------
    design : Scoring
        The public side of the study: `CaseControl`.
    variants : Sites or int
        The public list of variants, or how many there are.
    top : int
        How many to choose, K.
    epsilon, delta : number
        The total price of everything that is released.
    loci : Loci, optional
        A public map: choose loci instead of variants (advised: neighbors tell the same story).
    ordered : bool
        Whether the chosen must come in order, the best first.
    method : str, optional
        "tau+set", "set", "peel" or "tau+peel"; the public rule decides unless given.
    tau : number, optional
        The threshold of the scores where none is chosen, and of the scores that are released;
        29.716785 (level 5e-8) unless given.
    scores_epsilon : number, optional
        How much of the total pays for the scores of the chosen; without it none are released.

    Examples
    --------
    >>> from noren.association import CaseControl, Tables
    >>> study = CaseControl(cases=500, controls=500)
    >>> question = TopSnps(design=study, variants=3, top=1, epsilon=2)
    >>> question.method, print(question.guarantee)
    epsilon 2, rho 0.3929895193 (one record is replaced by any other (within: same status))
    ('tau+set', None)
    >>> from noren import Noise
    >>> answer = question.answer(Tables([100, 250, 90], [100, 90, 95], 500, 500), Noise())
    >>> answer.chosen.tolist()
    [1]
    """

    kind: ClassVar[str] = "top-snps"

    design: Scoring
    variants: Variants
    top: int
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    loci: Groups = None
    ordered: bool = False
    method: str | None = None
    tau: Fraction = GENOME_WIDE
    scores_epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "variants", read_variants(self.variants))
        put(self, "loci", read_loci(self.loci, how_many(self.variants)))
        put(self, "top", read_top(self.top, self.units))
        put(self, "epsilon", read_epsilon(self.epsilon))
        put(self, "delta", read_delta(self.delta))
        put(self, "scores_epsilon", read_part(self.scores_epsilon, self.epsilon))
        put(self, "tau", self.design.read_tau(self.tau))
        if self.scores_epsilon is not None and self.design.nulls:
            self.design.require_law(self.tau)
        can_cut = bool(candidates(self.design)) and self.top < self.units
        put(self, "method", read_method(self.method, self.r, ordered=self.ordered, can_cut=can_cut))

    @property
    def unit(self) -> str:
        """What is chosen: "snp" or "locus"."""
        return "snp" if self.loci is None else "locus"

    @property
    def units(self) -> int:
        """How many there are to choose from, M."""
        return how_many(self.variants) if self.loci is None else len(self.loci)

    @property
    def r(self) -> float:
        """The public number of the module's text."""
        return difficulty(self.units, self.top, self.selection_epsilon, self.design.gap)

    @property
    def peels(self) -> bool:
        """Whether the choice is made in rounds."""
        return str(self.method).endswith(PEEL)

    @property
    def selection_epsilon(self) -> Fraction:
        """What the choice may spend, the threshold's share included."""
        return self.epsilon - (self.scores_epsilon or 0)

    @property
    def cut_epsilon(self) -> Fraction:
        """What the choice of a threshold spends."""
        chosen = str(self.method).startswith("tau")
        return self.selection_epsilon * CUT_SHARE if chosen else Fraction(0)

    @property
    def deltas(self) -> tuple[Fraction, Fraction]:
        """Give the delta of the rounds and that of the released scores; halves if both need it."""
        if not self.delta or self.top == 1:
            return Fraction(0), Fraction(0)
        rounds, scores = self.peels, self.scores_epsilon is not None
        part = self.delta / max(1, rounds + scores)
        return part * rounds, part * scores

    @property
    def per_round(self) -> Fraction:
        """The epsilon of one exponential mechanism: of each round, or of the one over sets."""
        whole_price = self.selection_epsilon - self.cut_epsilon
        if not self.peels:
            return whole_price
        return share_bounded_range(whole_price, self.top, self.deltas[0])

    @property
    def per_score(self) -> Fraction | None:
        """The epsilon of each released score."""
        if self.scores_epsilon is None:
            return None
        return per_test(self.scores_epsilon, self.deltas[1], self.top)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of everything that is released; no delta where none is needed."""
        choice = exponential_mechanism_rho_charge
        rho = (self.top if self.peels else 1) * choice(self.per_round)
        rho += choice(self.cut_epsilon) if self.cut_epsilon else 0
        rho += self.top * pure_to_zcdp_charge(self.per_score) if self.per_score else 0
        return Guarantee(self.design.adjacency, self.epsilon, sum(self.deltas), rho)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say every law apart."""
        one, rounds = Fraction(1), self.top if self.peels else 1
        made = [
            Mechanism(
                law=SELECTION,
                sensitivity=one,
                norm="Linf",
                epsilon=self.per_round,
                draws=rounds,
                rounds=rounds,
            )
        ]
        if self.cut_epsilon:
            made.append(
                Mechanism(law=SELECTION, sensitivity=one, norm="Linf", epsilon=self.cut_epsilon)
            )
        if self.per_score:
            scale = 1 / self.per_score
            made.append(
                Mechanism(
                    law="discrete Laplace", sensitivity=one, scale=scale, draws=self.top,
                    rounds=self.top,
                )
            )  # fmt: skip
        return tuple(made)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        mapped = () if self.loci is None else ("the map of loci",)
        return (*self.design.assumed_public, *mapped)

    @property
    def notes(self) -> tuple[str, ...]:
        """Pass on what the design marks."""
        return self.design.notes

    @property
    def settings(self) -> dict[str, Any]:
        """Name the public settings and all prices, for the record of an answer."""
        return {
            "method": self.method,
            "unit": self.unit,
            "ordered": self.peels,
            "top": self.top,
            "candidates": self.units,
            "r": self.r,
            "tau": float(self.tau),
            "design": self.design,
            "epsilon_total": float(self.epsilon),
            "delta_total": float(sum(self.deltas)),
            "epsilon_threshold": float(self.cut_epsilon),
            "epsilon_per_choice": float(self.per_round),
            "epsilon_per_score": None if self.per_score is None else float(self.per_score),
        }

    def forecast(self, facts: None = None) -> Forecast:
        """Say which way is taken and how hard the choice is, before anything is spent."""
        found = outlook(self.r, with_delta=bool(sum(self.deltas)))
        what = f"{self.top} of {self.units} {'variants' if self.loci is None else 'loci'}"
        return Forecast(
            sentence=f"{what} by {self.method}, r = {self.r:.2f}: {found}",
            figures={k: v for k, v in self.settings.items() if k not in ("design", "tau")},
        )

    def check(self, statistic: Any) -> None:
        """Refuse a statistic of other groups, or of another number of variants."""
        self.design.check(statistic, how_many(self.variants))

    def answer(self, statistic: Any, noise: Noise) -> TopSnpsAnswer:
        """Choose the threshold if asked, the K, and the noise of their scores if asked."""
        self.check(statistic)
        source, tau = require_noise(noise), None
        if self.cut_epsilon:
            tau = choose_cut(self.design, statistic, self.loci, self.top, self.cut_epsilon, source)
        scores = self._scores(statistic, tau or self.tau)
        draw = peel if self.peels else draw_set
        chosen = np.array(draw(scores, self.top, self.per_round, source), dtype=np.int64)
        released = None
        if self.per_score is not None:
            at_tau = scores if tau is None else self._scores(statistic, self.tau)
            released = at_tau[chosen] + source.discrete_laplace(1 / self.per_score, self.top)
        return TopSnpsAnswer(
            question=self, secure=noise.secure, chosen=chosen, tau=tau, scores=released
        )

    def _scores(self, statistic: Any, tau: Fraction) -> Counts:
        """Score every candidate."""
        scores = self.design.scores(statistic, tau)
        return scores if self.loci is None else self.loci.best(scores)

    def restore(self, record: dict[str, Any]) -> TopSnpsAnswer:
        """Give back the answer that a ledger stored."""
        scores = record["scores"]
        return TopSnpsAnswer(
            question=self,
            secure=was_secure(record),
            chosen=np.asarray(record["chosen"], dtype=np.int64),
            tau=None if record["tau"] is None else Fraction(record["tau"]),
            scores=None if scores is None else np.asarray(scores, dtype=np.int64),
        )
