"""Exchange of private weak learners and their aggregation: the paper's two experiments.

5.1  100 organizations with 50 points each on a sphere in ten dimensions: how many gain, by epsilon.
5.2  Breast cancer (scikit-learn's copy, 10 x 40 rows) and diabetes (the reader's own file,
     `--pima FILE`, 10 x 60 rows).

The published baseline is a local model with an inverse strength of 0.01 that predicts little but
the majority; beside each of its figures stands the honest baseline, a local model that is fitted
properly. Everything is simulated from public generators; the errata follow as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noren.collaboration.learners import signs
from noren.noise.public import generator
from noren.papers.collaboration_charts import charts as charts
from noren.papers.collaboration_errata import errata
from noren.papers.collaboration_nodes import (
    FREE,
    accuracies,
    aggregates,
    balanced,
    fit_nodes,
    labelled,
    proper_local,
    published_learners,
    sphere,
    tight_learners,
    weak_local,
    with_intercept,
)
from noren.papers.collaboration_tables import small_data
from noren.papers.collaboration_terms import (
    AGGREGATE,
    EPSILONS,
    FIFTH,
    GAIN_HONEST,
    GAINS,
    PUBLISHED_GAINS,
    SCORE_ACCURACY,
    SCORE_GAINS,
    SIGN_GAINS,
    TIGHT_AGGREGATE,
    TIGHT_SCORE,
    TIGHT_UNIT,
    TIGHT_WEAK,
    WEAK,
    WEAK_ACCURACY,
    row,
)
from noren.papers.rows import PaperRow

WIDTH, NODES, EACH, TESTS = 10, 100, 50, 500
DRAWS_QUICK, DRAWS = 4, 8
FEW = "tolerance for the mean of 4 draws; the known figures rest on fewer draws"


def rows(
    quick: bool, progress: Callable[[int, int | None], None], pima: Path | None = None
) -> Iterator[PaperRow]:
    """Give both experiments and the errata."""
    draws = DRAWS_QUICK if quick else DRAWS
    found = []
    for draw in range(draws):
        progress(draw, draws + 2)
        found.append(one_draw(draw))
    yield from baselines(found)
    yield from by_epsilon(found)
    progress(draws, draws + 2)
    yield from small_data(quick, pima)
    progress(draws + 1, draws + 2)
    yield from errata(found)


def one_draw(draw: int) -> dict[str, Any]:
    """Make the data of 5.1 once, and measure everything on it."""
    rng = generator([51, draw])
    w = sphere(rng, 1, WIDTH)[0]
    points, labels = labelled(rng, NODES * EACH, w)
    test, truth = balanced(rng, TESTS, w)
    own, sides = points.reshape(NODES, EACH, WIDTH), labels.reshape(NODES, EACH)
    weak, proper = weak_local(own, sides), proper_local(own, sides)
    found: dict[str, Any] = {
        "local": accuracies(weak, with_intercept(test), truth),
        "proper": accuracies(proper, test, truth),
        "proper half": float(accuracies(proper_local(own, sides, 0.5), test, truth).mean()),
        "pooled": float(accuracies(fit_nodes(points[None], labels[None], 1.0), test, truth)[0]),
    }
    ones = np.concatenate([own, np.ones((NODES, EACH, 1))], axis=2)
    bordered = with_intercept(test)
    for name, intercept in (("free", FREE), ("regularized", 100.0)):
        models = weak_local(own, sides, intercept=intercept)
        for form in ("sign", "score"):
            combined = signs(aggregates(ones, sides, models, form, bordered))
            found[f"plain {name} {form}"] = float((combined == truth).mean())
    combined = signs(aggregates(own, sides, proper, "score", test))
    found["plain proper"] = float((combined == truth).mean())
    found["epsilons"] = [measured(rng, own, sides, test, truth, epsilon) for epsilon in EPSILONS]
    return found


def measured(
    rng: Any, own: Any, sides: Any, test: Any, truth: Any, epsilon: float
) -> dict[str, Any]:
    """Train all at one epsilon, as published and by the exact calibration, and aggregate."""
    models = published_learners(rng, own, sides, epsilon)
    found: dict[str, Any] = {"weak": float(accuracies(models, test, truth).mean())}
    for form in ("sign", "score"):
        scores = aggregates(own, sides, models, form, test)
        found[form] = (signs(scores) == truth).mean(axis=1)
    tight = tight_learners(rng, own, sides, epsilon)
    found["tight weak"] = float(accuracies(tight, test, truth).mean())
    for form in ("score", "unit"):
        scores = aggregates(own, sides, tight, form, test)
        found[f"tight {form}"] = float((signs(scores) == truth).mean())
    return found


def baselines(draws: list[dict[str, Any]]) -> Iterator[PaperRow]:
    """State what does not depend on epsilon."""

    def mean(name: str) -> float:
        return float(np.mean([np.mean(draw[name]) for draw in draws]))

    weak, good = "inverse strength 0.01, free intercept", "ridge 1"
    yield row(FIFTH, "all 5000 points together", "accuracy", 0.999, mean("pooled"), 0.9975, 0.0025)
    yield row(FIFTH, f"local, {weak}", "accuracy", 0.559, mean("local"), 0.547, 0.02)
    spread = float(np.mean([draw["local"].std() for draw in draws]))
    yield row(FIFTH, f"local, {weak}", "spread over nodes", None, spread, 0.127, 0.03)
    note = "the published .559 is not that of a local model that is fitted properly (E2)"
    yield row(FIFTH, f"local, honest: {good}", "accuracy", 0.559, mean("proper"), 0.916, 0.01, note)
    known = {
        "plain free sign": (f"not private, {weak}, signs", 0.955),
        "plain free score": (f"not private, {weak}, scores", 0.656),
        "plain regularized sign": ("not private, intercept regularized as much, signs", 0.969),
        "plain proper": (f"not private, honest: {good}", 1.0),
    }
    for name, (setting, expected) in known.items():
        yield row(FIFTH, setting, "accuracy of the aggregate", 0.973, mean(name), expected, 0.03)


def by_epsilon(draws: list[dict[str, Any]]) -> Iterator[PaperRow]:
    """State Table 2 and the curves."""
    for place, epsilon in enumerate(EPSILONS):
        at = [draw["epsilons"][place] for draw in draws]
        setting = f"epsilon {epsilon}"

        def mean(name: str, at: list[dict[str, Any]] = at) -> float:
            return float(np.mean([np.mean(one[name]) for one in at]))

        def gains(form: str, than: str, at: list[dict[str, Any]] = at) -> float:
            pairs = zip(at, draws, strict=True)
            return float(np.mean([np.sum(one[form] > draw[than]) for one, draw in pairs]))

        printed = PUBLISHED_GAINS[place]
        for form, known in (("sign", SIGN_GAINS), ("score", SCORE_GAINS)):
            yield row(FIFTH, f"{setting}, {form}s", GAINS, printed, gains(form, "local"),
                      known[place], 4)  # fmt: skip
            honest = gains(form, "proper")
            yield row(
                FIFTH,
                f"{setting}, {form}s",
                GAIN_HONEST,
                printed,
                honest,
                None,
                None,
                "beside the honest baseline; ours differs from draw to draw by some 18",
            )
        yield row(FIFTH, setting, WEAK_ACCURACY, "below local", mean("weak"), WEAK[place], 0.02)
        yield row(FIFTH, setting, AGGREGATE, "rising curve", mean("score"),
                  SCORE_ACCURACY[place], 0.03)  # fmt: skip
        yield row(FIFTH, setting, TIGHT_WEAK[0], None, mean("tight weak"),
                  TIGHT_WEAK[1][place], 0.02)  # fmt: skip
        for form, expected in (("score", TIGHT_SCORE), ("unit", TIGHT_UNIT)):
            yield row(FIFTH, setting, f"{TIGHT_AGGREGATE}, {form}s", None, mean(f"tight {form}"),
                      expected[place], 0.08 if epsilon < 0.5 else 0.05, FEW)  # fmt: skip
