"""The reweighting paper's experiment: one dimension, 50 public points, 2000 private ones.

    public E ~ N(1, 1), N = 50; private D ~ N(2, 1/4), n = 2000; w*(x) = 2 exp(-1.5 x^2 + 7x - 7.5)
    b = 100 bumps (the paper does not say; B has the 50 points of E), box [-3, 5], width and ridge
    from 10^-3, 10^-2.5, .., 10 by leave-one-out with private centres. Errors are on the points
    of E: sum (w - w*)^2 / sum w*^2, raw, and with w clipped at zero and both w and w* divided by
    their means; and the mean error of nine values of the distribution function at 1, 1.25, .., 3.

Everything is simulated: data by a public generator, noise by seeded questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noren.noise import Noise
from noren.noise.public import generator
from noren.reweighting import (
    BasisSums,
    Moments,
    NormalizedBasis,
    effective_sample_size,
    kriging_weights,
    leave_one_out_grid,
    ulsif,
)
from noren.reweighting.as_published import PublishedRatio, with_private_rows_as_centres
from noren.reweighting.as_published_sampled import PublishedCentresRatio
from noren.reweighting.calibration import calibrate
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.rows import Floats
from noren.testing import seeded_noise

PUBLIC_ROWS, PRIVATE_ROWS, CENTRES = 50, 2000, 100
GRID = tuple(10 ** (k / 2) for k in range(-6, 3))
BOX = [[-3.0, 5.0]]
EPSILONS = ("0.1", "1", "10")
THRESHOLDS = np.arange(1, 3.01, 0.25)
KRIGE_CENTRES = np.linspace(-1.5, 3.5, 32)
KRIGE_WIDTH = 0.2
ADJACENCY = "substitute"


def true_ratio(x: Floats) -> Floats:
    """Give p_D / p_E."""
    found: Floats = 2 * np.exp(-1.5 * x * x + 7 * x - 7.5)
    return found


@dataclass
class Draw:
    """One draw of both tables, with what is tuned on them once."""

    seed: int
    public: Floats = field(init=False)
    private: Floats = field(init=False)
    noise: Noise = field(init=False)

    def __post_init__(self) -> None:
        self.random = generator([2024, self.seed])
        self.public = self.random.normal(1, 1, PUBLIC_ROWS)
        self.private = self.random.normal(2, 0.5, PRIVATE_ROWS)
        self.noise = seeded_noise(f"reweighting {self.seed}")
        self.own = self.random.choice(self.private, CENTRES, replace=False)
        self.tuned = self.best(self.own)

    def best(self, centres: Floats) -> tuple[float, float]:
        """Choose width and ridge by leave-one-out on the private rows, as the paper does."""
        scores = leave_one_out_grid(self.private, self.public, centres, GRID, GRID)
        i, j = np.unravel_index(int(scores.argmin()), scores.shape)
        return GRID[i], GRID[j]


def plain(draw: Draw, centres: Floats, tuned: tuple[float, float]) -> Floats:
    """Give the weights without noise."""
    return ulsif(draw.private, draw.public, centres, *tuned).weights(draw.public)


def sampled(draw: Draw, epsilon: str, factor: int) -> Floats:
    """Run method A at a total of `factor` times epsilon."""
    question = PublishedCentresRatio(
        box=np.array(BOX),
        centres=CENTRES,
        sigma=draw.tuned[0],
        ridge=draw.tuned[1],
        adjacency=ADJACENCY,  # type: ignore[arg-type]
        epsilon=factor * read(epsilon),
        records=PRIVATE_ROWS,
    )
    return question.answer(EncodedRows.of(draw.private), draw.noise).weights(draw.public)


def public_centres(draw: Draw, epsilon: str) -> Floats:
    """Run method B on the points of E, tuned as the paper does."""
    question = PublishedRatio(
        centres=draw.public,
        sigma=draw.tuned[0],
        ridge=draw.tuned[1],
        adjacency=ADJACENCY,  # type: ignore[arg-type]
        epsilon=read(epsilon),
        records=PRIVATE_ROWS,
        selected_on_private_rows=True,
    )
    return question.answer(EncodedRows.of(draw.private), draw.noise).weights(draw.public)


def private_centres(draw: Draw, epsilon: str) -> Floats:
    """Run method C, which prints private rows."""
    release = with_private_rows_as_centres(
        draw.private,
        centres=CENTRES,
        sigma=draw.tuned[0],
        ridge=draw.tuned[1],
        epsilon=epsilon,
        noise=draw.noise,
        publish_real_private_records=True,
    )
    return release.weights(draw.public)


def kriged(draw: Draw, epsilon: str, target: str) -> Floats:
    """Run what Noren recommends, on 32 equally spaced centres."""
    basis = NormalizedBasis(KRIGE_CENTRES, KRIGE_WIDTH)
    question = Moments(
        basis=basis,
        adjacency=ADJACENCY,  # type: ignore[arg-type]
        epsilon=read(epsilon),
        records=PRIVATE_ROWS,
    )
    release = question.answer(BasisSums.of(draw.private, basis), draw.noise)
    return kriging_weights(release, draw.public, target=target).raw


def calibrated(draw: Draw, epsilon: str) -> Floats:
    """Calibrate to (u, u^2), u = (x - 1)/4 clipped to [-1, 1], with Laplace noise (simulated)."""
    scale = 3 / (PRIVATE_ROWS * float(epsilon))

    def features(x: Floats) -> Floats:
        u = (np.clip(x, -3.0, 5.0) - 1) / 4
        return np.column_stack([u, u * u])

    noisy = features(draw.private).mean(axis=0) + draw.random.laplace(0, scale, 2)
    public = features(draw.public)
    spread = np.cov(public, rowvar=False) / PRIVATE_ROWS
    return calibrate(public, noisy, 2 * scale**2 * np.eye(2) + spread, 1.0).raw


def read(epsilon: str) -> Any:
    """Read an epsilon exactly."""
    from noren.privacy.numbers import read_epsilon

    return read_epsilon(epsilon)


METHODS: dict[str, Callable[[Draw, str], Floats]] = {
    "A, total 2 epsilon": lambda draw, epsilon: sampled(draw, epsilon, 2),
    "A, total epsilon": lambda draw, epsilon: sampled(draw, epsilon, 1),
    "B": public_centres,
    "C": private_centres,
    "kriging": lambda draw, epsilon: kriged(draw, epsilon, "population"),
    "kriging, table": lambda draw, epsilon: kriged(draw, epsilon, "table"),
    "calibration": calibrated,
}
PLAIN: dict[str, Callable[[Draw], Floats]] = {
    "none": lambda draw: np.ones(PUBLIC_ROWS),
    "exact ratio": lambda draw: true_ratio(draw.public),
    "uLSIF, private centres": lambda draw: plain(draw, draw.own, draw.tuned),
    "uLSIF, public centres": lambda draw: plain(draw, draw.public, draw.best(draw.public)),
}


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors of one column of weights."""

    raw: float
    normalized: float
    mean: float
    effective: float
    query: float


def errors_of(draw: Draw, weights: Floats) -> Errors:
    """Measure one column of weights."""
    truth = true_ratio(draw.public)
    size, even = float((truth**2).sum()), truth / truth.mean()
    kept = np.maximum(weights, 0)
    scaled = kept / kept.mean() if kept.any() else np.ones_like(kept)
    queries = [
        abs(float(np.mean(scaled * (draw.public <= t))) - normal_cdf((t - 2) / 0.5))
        for t in THRESHOLDS
    ]
    return Errors(
        float(((weights - truth) ** 2).sum()) / size,
        float(((scaled - even) ** 2).sum() / (even**2).sum()),
        float(weights.mean()),
        effective_sample_size(scaled),
        float(np.mean(queries)),
    )


def normal_cdf(x: float) -> float:
    """Give Phi(x)."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


def measured(draws: int) -> Iterator[tuple[int, dict[tuple[str, str], Errors]]]:
    """Measure every method on some draws, one after the other."""
    for seed in range(draws):
        draw = Draw(seed)
        found = {(name, ""): errors_of(draw, run(draw)) for name, run in PLAIN.items()}
        for name, method in METHODS.items():
            for epsilon in EPSILONS:
                found[name, epsilon] = errors_of(draw, method(draw, epsilon))
        yield seed, found
