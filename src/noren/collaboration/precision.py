"""Weights from manifests alone: the less noise a model carries, the more it counts.

Maths
    A fit with the linear term b, E|b|^2 = v d, moves by about b / (ridge + N / (4 d)): the
    curvature of N rows of norm 1 spread evenly, at most 1/4 each, N the declared size. With
        v = (d + 1) / rate^2            Gamma-sphere of that rate
        v = sigma^2                     Gaussian
    the weight is proportional to (ridge + N / (4 d))^2 / v. For released sums and descents, v is
    the variance of their integer noise in units of the grid, and there is no curvature to divide
    by: weights are proportional to 1 / v. Weights of one mechanism only are comparable.

Privacy
    Manifests are public: this is post-processing. N is declared, never counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noren.collaboration.learners import Floats
from noren.errors import ParameterError
from noren.mechanisms.additive import LAPLACE


def precision_weights(shares: Sequence[Any]) -> Floats:
    """Weigh shares by how little noise their manifests state; they add up to 1."""
    models = [getattr(share, "model", share) for share in shares]
    if any(not hasattr(model, "parameters") for model in models):
        raise ParameterError(
            "shares",
            "bare arrays",
            "shares or models, which state their noise",
            "Pass what read_share or make_share gave.",
        )
    if len({model.mechanism for model in models}) > 1:
        raise ParameterError(
            "shares", "of several mechanisms", "of one, for precision weights",
            "Choose geometric-median.",
        )  # fmt: skip
    raw = np.array([precision(model.parameters) for model in models])
    weights: Floats = raw / raw.sum()
    return weights


def precision(stated: Mapping[str, Any]) -> float:
    """Give one over the variance that the parameters state, up to a common factor."""
    if "noise" in stated:
        return float(1 / noise_variance(stated))
    width = float(stated["dimension"])
    curvature = float(stated["ridge"]) + float(stated["size"]) / (4 * width)
    if "rate" in stated:
        return float(curvature**2 * float(stated["rate"]) ** 2 / (width + 1))
    return float(curvature**2 / float(stated["sigma"]) ** 2)


def noise_variance(stated: Mapping[str, Any]) -> float:
    """Give the variance of integer noise, in the units of what it was added to."""
    size = float(stated["noise"])
    in_steps = 2 * size**2 if stated["law"] == LAPLACE else size
    return float(in_steps * 4.0 ** float(stated["exponent"]))
