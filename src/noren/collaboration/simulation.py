"""Split one table into organizations, and see what joining would bring by epsilon. Simulated.

Maths
    Rows are put into a public random order; a part is held out for testing, the rest is cut into
    equal organizations. At each epsilon every organization trains one private model. Then some of
    them, as receivers, combine the others' models with their own rows. Averaged over receivers
    and repetitions: accuracy on the held-out part of the local model, of `auto`, of mirror
    averaging as published, of the geometric median; and of one model of all rows without privacy.

Privacy
    None: everything is computed from the table directly. `SecretSimulation` stays with its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from noren.collaboration import baselines, charts
from noren.collaboration.auto import auto_fit, local_auto_fit
from noren.collaboration.learners import Floats, losses_of, signs
from noren.collaboration.predictor import Predictor
from noren.collaboration.statistic import TrainingRows
from noren.collaboration.task import Task
from noren.collaboration.weights import mirror_weights
from noren.errors import ParameterError
from noren.noise import Noise
from noren.noise.public import generator
from noren.privacy.numbers import whole

LOCAL, AUTO, MIRROR, MEDIAN, POOLED = WAYS = (
    "local", "auto", "mirror averaging as published", "geometric median", "pooled, not private",
)  # fmt: skip
SIMULATED = "SECRET and simulated: computed from the table without protection. It stays with you."
TESTED = 0.25
Train = Callable[[TrainingRows, Any, Noise], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPoint:
    """One way at one epsilon: mean accuracy over receivers, and its standard error."""

    epsilon: float
    way: str
    accuracy: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SecretSimulation:
    """The curve over epsilon. It stays with the table's owner."""

    points: tuple[SimulatedPoint, ...]
    organizations: int
    receivers: int

    def __repr__(self) -> str:
        return "SecretSimulation(stays with the table's owner)"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"secret": SIMULATED, "simulated": True, **asdict(self)}

    def chart(self) -> Any:
        """Draw one line for each way."""
        rows = [{"epsilon": p.epsilon, "value": p.accuracy, "way": p.way} for p in self.points]
        return charts.by_epsilon(rows, "accuracy on held-out rows")


def simulate(
    rows: Floats,
    labels: Floats,
    train: Train,
    task: Task,
    *,
    organizations: int,
    epsilons: Sequence[Any],
    noise: Noise,
    seed: int,
    receivers: int = 5,
    repeats: int = 1,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> SecretSimulation:
    """Run the whole exchange on one table.

    Parameters
    ----------
    rows, labels
        Encoded rows; labels are -1 and 1.
    train
        Takes an organization's rows, an epsilon and noise; gives coefficients.
    task
        What is predicted from what.
    organizations, epsilons
        How many, and at which prices.
    noise
        For training; seeded noise makes a run repeatable.
    seed
        Of the public order of the rows.
    receivers, repeats
        How many organizations are looked at as receivers, and how often all is repeated.
    """
    many = whole("organizations", organizations, 2)
    seen = min(whole("receivers", receivers, 1), many)
    if len(rows) < 4 * many:
        raise ParameterError(
            "organizations",
            many,
            "few enough for three rows each, and a part for testing",
            "Cut the table into fewer.",
        )
    found: dict[tuple[float, str], list[float]] = {}
    for repeat in range(whole("repeats", repeats, 1)):
        split = Split.of(rows, labels, many, [seed, repeat])
        for place, epsilon in enumerate(epsilons):
            models = [train(split.statistic(task, m), epsilon, noise) for m in range(many)]
            for way, accuracy in split.compare(np.stack(models), seen):
                found.setdefault((float(epsilon), way), []).append(accuracy)
            progress(repeat * len(epsilons) + place + 1, repeats * len(epsilons))
    points = tuple(point(epsilon, way, values) for (epsilon, way), values in found.items())
    return SecretSimulation(points=points, organizations=many, receivers=seen * repeats)


def point(epsilon: float, way: str, values: Sequence[float]) -> SimulatedPoint:
    """Average over receivers."""
    alike = all(value == values[0] for value in values)  # whose mean may be off by a last bit
    error = 0.0 if alike else float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return SimulatedPoint(
        epsilon=epsilon, way=way, accuracy=float(np.mean(values)), standard_error=error
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split:
    """A table cut into organizations and a held-out part."""

    rows: Floats
    labels: Floats
    cuts: Sequence[Any]
    test: Any

    @classmethod
    def of(cls, rows: Floats, labels: Floats, many: int, seed: Sequence[int]) -> Split:
        """Order the rows at random, hold some out, and cut the rest."""
        order = generator(seed).permutation(len(rows))
        held = int(TESTED * len(rows))
        return cls(rows, labels, np.array_split(order[held:], many), order[:held])

    def statistic(self, task: Task, place: int) -> TrainingRows:
        """Give one organization's rows."""
        own = self.cuts[place]
        return TrainingRows(task, ((self.rows[own], self.labels[own], None),))

    def compare(self, models: Floats, receivers: int) -> list[tuple[str, float]]:
        """Let some organizations combine the others' models; give the accuracy of each way."""
        everything = np.concatenate(self.cuts)
        pooled = baselines.local_fit(self.rows[everything], self.labels[everything], 1)
        found = []
        for receiver in range(receivers):
            X, y = self.rows[self.cuts[receiver]], self.labels[self.cuts[receiver]]
            others = np.delete(models, receiver, axis=0)
            mirror = mirror_weights(losses_of(X, y, others), 3)
            made = {
                LOCAL: Predictor.of(local_auto_fit(X, y).coefficients),
                AUTO: Predictor.of(auto_fit(X, y, others).coefficients),
                MIRROR: Predictor(others, mirror),
                MEDIAN: Predictor.of(baselines.geometric_median(others)),
                POOLED: Predictor.of(pooled),
            }
            found += [(way, self.accuracy(one)) for way, one in made.items()]
        return found

    def accuracy(self, made: Predictor) -> float:
        """Give the share of right decisions on the held-out part."""
        return float(np.mean(signs(made.scores(self.rows[self.test])) == self.labels[self.test]))
