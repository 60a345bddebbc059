"""S3: what hiding status costs, by distances and by wrong decisions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from noren.association import StatusTables, Tables, private_status_distance, signed_distance
from noren.association.status_scores import any_distances
from noren.noise.public import generator
from noren.papers.association_tables import stand_in
from noren.papers.rows import PaperRow

STATUS = "S3: the price of status privacy"
STAND_IN_TOLERANCE, SIMULATED_TOLERANCE = 1e-3, 0.02
EXACT_FIGURES = 6e-5  # errors of the stand-in are stated to four digits
EPSILONS = (0.1, 0.5)
VARIANTS, QUICK_VARIANTS = 8_000, 2_000
NOTE = "simulated: of the variants only sizes, rates and tau were stated"


class Study(NamedTuple):
    """Sizes, rates among controls, threshold; then ratios and errors as stated."""

    name: str
    cases: int
    controls: int
    rates: tuple[float, float] | None  # None: the stand-in
    tau: str
    ratios: tuple[float | None, ...]  # swap, any by its bound, any truly
    errors: dict[float, tuple[float | None, ...]]  # plain, then these three


STUDIES = (
    Study("stand-in", 200, 200, None, "3.84", (0.585, 0.756, 0.782),
          {0.1: (0.2255, 0.3173, 0.2740, 0.2681), 0.5: (0.0497, 0.0934, 0.0732, 0.0701)}),
    Study("N = 2,000, rates .1-.5", 1000, 1000, (0.1, 0.5), "3.84", (0.536, 0.768, 0.784),
          {0.1: (0.1294, 0.2183, 0.1693, 0.1665), 0.5: (0.0245, 0.0516, 0.0343, 0.0329)}),
    Study("N = 2,000, rates .005-.05", 1000, 1000, (0.005, 0.05), "3.84", (0.637, 0.622, 0.653),
          {0.1: (0.2873, 0.3581, 0.3611, 0.3542), 0.5: (0.0868, 0.1425, 0.1466, 0.1387)}),
    Study("N = 2,000, rates .005-.05, tau 29.7", 1000, 1000, (0.005, 0.05), "29.7",
          (0.669, 0.620, 0.692),
          {0.1: (0.1745, 0.2358, 0.2489, 0.2303), 0.5: (0.0419, 0.0645, 0.0682, 0.0626)}),
    Study("N = 2,000, 10 % cases, rates .1-.5", 200, 1800, (0.1, 0.5), "3.84",
          (0.919, 0.974, 1.000),
          {0.1: (0.2685, 0.2833, 0.2733, 0.2685), 0.5: (0.0717, 0.0784, 0.0734, 0.0717)}),
    Study("N = 20,000, rates .1-.5, tau 29.7", 10_000, 10_000, (0.1, 0.5), "29.7",
          (0.511, 0.771, None), {0.1: (0.0104, 0.0243, 0.0148, None)}),
    Study("N = 20,000, 5 % cases, rates .1-.5, tau 29.7", 1000, 19_000, (0.1, 0.5), "29.7",
          (0.946, 0.956, None), {0.1: (0.0578, 0.0618, 0.0609, None)}),
)  # fmt: skip
WAYS = ("swap", "any, the bound", "any, truly")


def status_rows(quick: bool) -> Iterator[PaperRow]:
    """Set every stated figure beside ours."""
    for place, study in enumerate(STUDIES):
        tables = tables_of(study, QUICK_VARIANTS if quick else VARIANTS, place)
        plain, *others = distances(tables, study.tau, truly=study.ratios[2] is not None)
        simulated = study.rates is not None
        for way, stated, own in zip(WAYS, study.ratios, others, strict=False):
            ratio = float(np.mean(own / plain))
            within = SIMULATED_TOLERANCE if simulated else STAND_IN_TOLERANCE
            yield row(study, f"mean distance relative to plain, {way}", stated, ratio, within)
        for epsilon, figures in study.errors.items():
            for way, stated, own in zip(("plain", *WAYS), figures, [plain, *others], strict=False):
                quantity = f"mean error of a decision at epsilon {epsilon}, {way}"
                within = SIMULATED_TOLERANCE if simulated else EXACT_FIGURES
                yield row(study, quantity, stated, mean_error(own, epsilon), within)


def row(study: Study, quantity: str, stated: float | None, ours: float, within: float) -> PaperRow:
    """Set one figure beside ours."""
    assert stated is not None
    return PaperRow(
        experiment=STATUS, setting=study.name, quantity=quantity, published=stated, ours=ours,
        tolerance=within, ok=abs(ours - stated) <= within, note=NOTE if study.rates else "",
    )  # fmt: skip


def tables_of(study: Study, variants: int, seed: int) -> Tables:
    """Give the stand-in, or simulate."""
    if study.rates is None:
        return stand_in()
    random = generator(40 + seed)
    rates = random.uniform(*study.rates, variants)
    z = random.uniform(0, 2 * float(study.tau) ** 0.5, variants)
    raised = z * np.sqrt(rates * (1 - rates) * (1 / study.cases + 1 / study.controls))
    a = random.binomial(study.cases, np.clip(rates + raised, 0, 1))
    return Tables(a, random.binomial(study.controls, rates), study.cases, study.controls)


def distances(tables: Tables, tau: str, *, truly: bool) -> list[Any]:
    """Measure every variant: plain, swapped, any by its bound and, if wanted, truly."""
    hidden, threshold = StatusTables.of(tables), Fraction(tau)
    people, m = hidden.people, hidden.cases
    carriers = hidden.a + hidden.b
    found = [
        signed_distance(tables, tau),
        private_status_distance(tables, tau, "swap"),
        any_distances(hidden.a, carriers, m, people, threshold, 1),
    ]
    if truly:
        found.append(any_distances(hidden.a, carriers, m, people, threshold, people + 1))
    return [np.abs(np.asarray(signed, dtype=np.float64)) for signed in found]


def mean_error(distance: Any, epsilon: float) -> float:
    """Give the mean chance that a decision is wrong."""
    return float(np.mean(np.exp(-epsilon * (distance - 1)))) / (1 + float(np.exp(epsilon)))
