"""Real noise that keeps what was drawn, and noise that is nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from noren.audit.subjects import Subject
from noren.noise import Noise
from noren.privacy.numbers import Number, exact


class Recording(Noise):
    """Real noise that keeps what was drawn, by law and parameter."""

    __slots__ = ("chosen", "drawn")

    def __init__(self) -> None:
        super().__init__()
        self.drawn: dict[tuple[str, Fraction], list[int]] = {}
        self.chosen: list[Fraction] = []

    def discrete_laplace(self, scale: Number, size: Any = None) -> Any:
        """Keep two-sided geometric draws."""
        return self._keep("Laplace", exact("scale", scale), super().discrete_laplace(scale, size))

    def discrete_gaussian(self, variance: Number, size: Any = None) -> Any:
        """Keep discrete Gaussian draws."""
        given = exact("variance", variance)
        return self._keep("Gaussian", given, super().discrete_gaussian(variance, size))

    def exponential_mechanism(
        self, scores: Any, epsilon: Any, sensitivity: Any = 1, *, monotone: bool = False
    ) -> int:
        """Keep the price of a choice."""
        self.chosen.append(exact("epsilon", epsilon))
        return super().exponential_mechanism(scores, epsilon, sensitivity, monotone=monotone)

    def _keep(self, law: str, parameter: Fraction, drawn: Any) -> Any:
        self.drawn.setdefault((law, parameter), []).extend(np.ravel(drawn).tolist())
        return drawn


class Nothing(Recording):
    """Noise that is nothing. It protects nobody."""

    __slots__ = ()

    def discrete_laplace(self, scale: Number, size: Any = None) -> Any:
        """Give zeros."""
        self.drawn[("Laplace", exact("scale", scale))] = []
        return 0 if size is None else np.zeros(size, np.int64)


def coefficient_move(subject: Subject, factor: int = 1) -> float:
    """Price how far one row moves the coefficients of output perturbation."""
    question = subject.costing(factor)
    step = math.ldexp(1.0, question.exponent)
    steps, scales = [], set()
    for data in subject.pair:
        noise = Nothing()
        steps.append(np.rint(question.answer(data, noise).coefficients / step))
        scales |= set(noise.drawn)
    ((_, scale),) = scales
    return float(np.abs(steps[0] - steps[1]).sum() / float(scale))
