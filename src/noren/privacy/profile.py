"""How delta falls with epsilon: the whole curve of one mechanism.

A profile is for analysis and for plans, never a ledger entry: a curve is not an amount that can
be added up while questions are still being chosen. Where it also knows the privacy losses behind
the curve, one for each direction that differs, the accountant can compose it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noren.errors import AdjacencyMismatch
from noren.privacy.adjacency import ADD_REMOVE, Adjacency
from noren.privacy.conversion import group_adjacency
from noren.privacy.gaussian import bracketed
from noren.privacy.guarantee import legal_conversions
from noren.privacy.numbers import Number, positive, probability, read_delta, read_epsilon, whole

if TYPE_CHECKING:
    from noren.privacy.accountant import Composition
    from noren.privacy.losses import Loss

SPLITS = 64
FARTHEST = 700.0  # e^700 is nearly the largest float


@dataclass(frozen=True, slots=True)
class Profile:
    """Delta as a function of epsilon, under one adjacency.

    Examples
    --------
    >>> from noren.privacy import ADD_REMOVE, Adjacency, discrete_laplace_profile
    >>> profile = discrete_laplace_profile(Adjacency(ADD_REMOVE), epsilon=1)
    >>> round(profile.delta_of_eps(0.5), 10)
    0.2876491366
    """

    adjacency: Adjacency
    delta_of_eps: Callable[[float], float]
    losses: tuple[Loss, ...] = ()

    @classmethod
    def of(cls, adjacency: Adjacency, *losses: Loss) -> Profile:
        """Build the curve of one loss, or of the two directions where they differ."""
        return cls(adjacency, lambda epsilon: max(one.delta(epsilon) for one in losses), losses)

    def epsilon(self, delta: Number) -> float:
        """Give the smallest epsilon at a delta; infinite where none up to 700 reaches it."""
        target = float(read_delta(delta))
        if self.delta_of_eps(0.0) <= target:
            return 0.0
        if self.delta_of_eps(FARTHEST) > target:
            return math.inf
        return bracketed(lambda size: self.delta_of_eps(size) > target)[1]

    def as_group(self, size: int) -> Profile:
        """Give a curve for groups: delta_2(e1 + e2) <= delta(e1) + e^e1 delta(e2), repeated."""
        steps = whole("size", size, 1)
        adjacency = group_adjacency(self.adjacency, steps)
        return Profile(adjacency, lambda epsilon: group_curve(self.delta_of_eps, steps, epsilon))


def group_curve(delta_of_eps: Callable[[float], float], size: int, epsilon: float) -> float:
    """Minimize over how epsilon is split among the steps of a group, on a grid of splits."""
    parts = size * math.ceil(SPLITS / size)
    grid = [epsilon * i / parts for i in range(parts + 1)]
    single = [delta_of_eps(point) for point in grid]
    group = single
    for _ in range(size - 1):
        group = [
            min(single[i] + math.exp(grid[i]) * group[j - i] for i in range(j + 1))
            for j in range(parts + 1)
        ]
    return min(1.0, group[-1])


def compose_profiles(profiles: Iterable[Profile], *, step: float | None = None) -> Composition:
    """Compose the profiles of questions that are all fixed in advance, in both directions."""
    from noren.privacy.accountant import compose

    given = list(profiles)
    for profile in given[1:]:
        if profile.adjacency != given[0].adjacency:
            raise AdjacencyMismatch(
                given[0].adjacency, profile.adjacency, legal_conversions(profile.adjacency)
            )
    forward = [(profile.losses[0], 1) for profile in given]
    backward = [(profile.losses[-1], 1) for profile in given]
    return compose(forward, backward, step=step)


def discrete_laplace_profile(
    adjacency: Adjacency, epsilon: Number, sensitivity: int = 1
) -> Profile:
    """Give the exact curve of discrete Laplace noise of scale sensitivity / epsilon, one number."""
    from noren.privacy.lattice import DiscreteLaplaceLoss

    steps = whole("sensitivity", sensitivity, 1)
    return Profile.of(adjacency, DiscreteLaplaceLoss(read_epsilon(epsilon), steps))


def discrete_gaussian_profile(
    adjacency: Adjacency, variance: Number, sensitivity: int = 1
) -> Profile:
    """Give the exact curve of discrete Gaussian noise on one number; vectors have none here."""
    from noren.privacy.lattice import DiscreteGaussianLoss

    steps = whole("sensitivity", sensitivity, 1)
    return Profile.of(adjacency, DiscreteGaussianLoss(positive("variance", variance), steps))


def randomized_response_profile(adjacency: Adjacency, epsilon: Number, k: int = 2) -> Profile:
    """Give the exact curve of k-ary randomized response."""
    from noren.privacy.lattice import ResponseLoss

    return Profile.of(adjacency, ResponseLoss(read_epsilon(epsilon), whole("k", k, 2)))


def laplace_profile(adjacency: Adjacency, epsilon: Number) -> Profile:
    """Give the exact curve of continuous Laplace noise: forecasts and mechanisms outside Noren."""
    from noren.privacy.losses import LaplaceLoss

    return Profile.of(adjacency, LaplaceLoss(read_epsilon(epsilon)))


def gaussian_profile(adjacency: Adjacency, sigma: Number) -> Profile:
    """Give the exact curve of continuous Gaussian noise: forecasts, mechanisms outside Noren."""
    from noren.privacy.losses import GaussianLoss

    return Profile.of(adjacency, GaussianLoss(float(1 / positive("sigma", sigma))))


def sampled_gaussian_profile(adjacency: Adjacency, sigma: Number, rate: Number) -> Profile:
    """Give the curve of Gaussian noise on a secret Poisson sample, under add-remove only."""
    from noren.privacy.losses import sampled_gaussian

    if adjacency.relation is not ADD_REMOVE:
        raise AdjacencyMismatch(
            adjacency,
            Adjacency(ADD_REMOVE),
            "The curve of a Poisson sample is known for 'add-remove' neighbors only.",
        )
    part = positive("rate", probability("rate", rate))
    if part == 1:
        return gaussian_profile(adjacency, sigma)
    return Profile.of(adjacency, *sampled_gaussian(positive("sigma", sigma), part))


def finite_profile(
    adjacency: Adjacency, pairs: Iterable[tuple[Iterable[float], Iterable[float]]]
) -> Profile:
    """Give the curve of a mechanism with finitely many outputs.

    `pairs` holds the two laws for each ordered pair of neighbors; their largest delta counts. One
    pair, in both orders, can be composed; more than one has a curve only.
    """
    from noren.privacy.losses import FiniteLoss

    found = tuple(FiniteLoss(tuple(map(float, p)), tuple(map(float, q))) for p, q in pairs)
    both_ways = len(found) == 2 and found[0] == FiniteLoss(found[1].q, found[1].p)
    profile = Profile.of(adjacency, *found)
    return profile if both_ways else Profile(adjacency, profile.delta_of_eps)
