"""The published decisions, one bit for each variant: faithful laws, honest guarantees.

Maths
    A statistic (chi-squared, or the norm ||T|| of the unit circle) plus Laplace noise of scale
    Delta/epsilon is compared with a public threshold, and the bit is released. With
    z = (statistic - threshold) epsilon/Delta it is 1 with probability 1 - exp(-z)/2 if z > 0, else
    exp(z)/2. So no noise is drawn: the bit is turned by (fair coin) and (coin of exp(-|z|)), both
    exact. The constants Delta are in `sensitivities`:
        fienberg, yu          chi-squared; groups of one size, or any
        yu-controls-public    chi-squared, the controls' carrier counts being public
        unit-circle           ||T||, the published constant
        unit-circle-tight     ||T||, the exact sensitivity (up to sqrt(2) less noise)

Privacy (pure for each variant, as published; for all of them it adds up)
    The constants bound the change of the statistic when one person's genotype changes and the
    status stays, so each bit is epsilon-private, and M of them cost M epsilon, or less with a
    delta. z is computed in doubles and taken as the rational it is; so that its rounding (|z| is at
    most epsilon N and carries at most 8 roundings) costs nothing, Delta is enlarged by the factor
    1 + 1e-9 + 2^-49 N in the draw.
    "yu-controls-public" protects the cases only: whoever is a control gets no promise. A real
    number released with its noise would not be private at all (its scale depends on b).

Accuracy
    A bit is wrong with probability exp(-|z|)/2. None of these decisions is ever better than
    `Decisions` by more than the factor 2/(1 + e^-epsilon) on a single table; typically they are far
    worse. They are here for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.association.composition import total_epsilon
from noren.association.geometry import read_tau
from noren.association.modes import AGREEMENT, MODES
from noren.association.scoring import CaseControl
from noren.association.sensitivities import fienberg_sensitivity
from noren.association.significance import METHODS, laplace_margin
from noren.association.statistic import Flags, Floats, Tables
from noren.association.variants import Variants, described, how_many, read_variants
from noren.errors import ParameterError
from noren.mechanisms.additive import require_noise
from noren.noise import Noise
from noren.privacy import SUBSTITUTE, Adjacency, Guarantee
from noren.privacy.charges import pure_to_zcdp_charge
from noren.privacy.numbers import read_delta, read_epsilon
from noren.question import Answer, Forecast, Mechanism, as_json, was_secure

PUBLISHED = tuple(method for method in METHODS if method != "distance")
CONTROLS_PUBLIC = "yu-controls-public"
CASES_ONLY = Adjacency(SUBSTITUTE, within="the cases; the controls' carrier counts are public")
ROUNDING = 1e-9
ROUNDING_EACH = 2.0**-49  # for each person; see the module's text


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDecisions:
    """Ask for the bits of a published mechanism.

    Parameters
    ----------
    design : CaseControl
        The public side of the study.
    variants : Sites or int
        The public list of variants, or how many there are.
    epsilon_per_test : number
        The price of each bit by itself, as published; the guarantee states the total.
    delta : number
        A delta at which the total is stated; 0 for the plain sum.
    tau : number
        The threshold of chi-squared.
    method : str
        "unit-circle", "unit-circle-tight", "fienberg", "yu" or "yu-controls-public".

    Examples
    --------
    >>> question = PublishedDecisions(
    ...     design=CaseControl(cases=200, controls=200), variants=311, epsilon_per_test="0.5",
    ...     tau="3.84", method="unit-circle",
    ... )
    >>> float(question.guarantee.epsilon)
    155.5
    """

    kind: ClassVar[str] = "published-decisions"

    design: CaseControl
    variants: Variants
    epsilon_per_test: Fraction
    tau: Fraction
    method: str
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "variants", read_variants(self.variants))
        put(self, "epsilon_per_test", read_epsilon(self.epsilon_per_test))
        put(self, "tau", read_tau(self.tau))
        put(self, "delta", read_delta(self.delta))
        if self.method not in PUBLISHED:
            advice = "For the distance, ask Decisions or DistanceScores."
            raise ParameterError("method", repr(self.method), f"one of {PUBLISHED}", advice)
        if self.method == "fienberg":
            fienberg_sensitivity(self.design.cases, self.design.controls)

    @property
    def tests(self) -> int:
        """How many variants there are, M."""
        return how_many(self.variants)

    @property
    def guarantee(self) -> Guarantee:
        """State the price of all bits together."""
        adjacency = CASES_ONLY if self.method == CONTROLS_PUBLIC else self.design.adjacency
        total = total_epsilon(self.epsilon_per_test, self.delta, self.tests)
        rho = self.tests * pure_to_zcdp_charge(self.epsilon_per_test)
        return Guarantee(adjacency, total, self.delta, rho)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Say the law and its own price."""
        law = f"randomized decision ({self.method})"
        price, many = self.epsilon_per_test, self.tests
        found = Mechanism(law=law, sensitivity=Fraction(1), epsilon=price, draws=many, rounds=many)
        return (found,)

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """Name what the proof takes to be public."""
        more = ("the carrier counts of the controls",) if self.method == CONTROLS_PUBLIC else ()
        return (*self.design.assumed_public, "the threshold tau", *more)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what the bits mean, and that the published price is that of one."""
        each = f"as published, at epsilon {float(self.epsilon_per_test):g} for each variant"
        return (*self.design.notes, f"mode: {MODES[AGREEMENT]}", each)

    def forecast(self, facts: None = None) -> Forecast:
        """Say what all bits cost together, which the published price does not."""
        total = float(self.guarantee.epsilon or 0)
        return Forecast(
            sentence=f"{self.tests} bits by {self.method} cost epsilon {total:.4g} in all; where "
            "few people carry a variant nearly half of them may be wrong",
            figures={"epsilon_total": total, "delta_total": float(self.delta)},
        )

    def check(self, tables: Tables) -> None:
        """Refuse tables of other groups, or of another number of variants."""
        self.design.check(tables, self.tests)

    def answer(self, tables: Tables, noise: Noise) -> PublishedDecisionsAnswer:
        """Turn each exact decision by two coins."""
        self.check(tables)
        z = self.margins(tables)
        turned = np.array(require_noise(noise).integers_below(2, z.size), dtype=bool)
        size = np.abs(z)
        for value in np.unique(size[turned]):
            places = np.flatnonzero(turned & (size == value))
            turned[places] = noise.bernoulli_exp(Fraction(float(value)), places.size)
        return PublishedDecisionsAnswer(question=self, secure=noise.secure, bits=(z > 0) ^ turned)

    def margins(self, tables: Tables) -> Floats:
        """Give z of the module's text, Delta enlarged for its rounding; secret."""
        z = laplace_margin(tables, self.tau, self.epsilon_per_test, self.method)
        return np.atleast_1d(z / (1 + ROUNDING + ROUNDING_EACH * tables.people))

    def restore(self, record: dict[str, Any]) -> PublishedDecisionsAnswer:
        """Give back the answer that a ledger stored."""
        bits = np.asarray(record["bits"], dtype=bool)
        return PublishedDecisionsAnswer(question=self, secure=was_secure(record), bits=bits)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedDecisionsAnswer(Answer):
    """One bit for each variant."""

    bits: Flags

    def decisions(self) -> Flags:
        """Give the bits, as every scan names them."""
        return self.bits

    def columns(self) -> dict[str, Any]:
        """Give the result table: name, place and decision."""
        return described(self.question.variants) | {"significant": self.bits}

    @property
    def headline(self) -> str:
        """Count what was called."""
        called = f"{int(self.bits.sum())} of {self.bits.size} variants"
        return f"{called} called significant at tau {float(self.question.tau):g} by {self.method}"

    @property
    def method(self) -> str:
        """Name the mechanism."""
        return str(self.question.method)

    def chart(self) -> Any:
        """Draw the decisions along the genome."""
        from noren.association.charts import manhattan

        return manhattan(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, the public settings beside the value."""
        asked = self.question
        settings = {"method": asked.method, "tau": float(asked.tau), "design": asked.design}
        settings["epsilon_per_test"] = float(asked.epsilon_per_test)
        return {**super().to_dict(), "settings": as_json(settings | {"mode": AGREEMENT})}
