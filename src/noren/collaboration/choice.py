"""Which way to train, by a public rule: no look at the data, so it costs nothing.

    task         delta = 0                          delta > 0
    2 classes    objective perturbation             descent where N epsilon > 300 and d < 50,
                                                    else objective perturbation
    more         softmax objective perturbation     descent
    a number     Gram sums                          Gram sums

N is the declared size. Trying several ways on the same rows and keeping the best would be a
release of its own: the choice alone can turn two fits at 1/2 each into e^1.794.
"""

from __future__ import annotations

from typing import Any

from noren.collaboration.descent import GradientDescent
from noren.collaboration.logistic import LogisticTraining
from noren.collaboration.regression import GramRegression
from noren.collaboration.softmax import SoftmaxTraining
from noren.collaboration.task import Task
from noren.collaboration.training import Training
from noren.privacy import Adjacency
from noren.privacy.numbers import Number, read_delta, read_epsilon, whole

MANY, FEW_FEATURES = 300, 50


def choose_training(
    task: Task,
    *,
    epsilon: Number,
    adjacency: Adjacency | str,
    size: int,
    delta: Number = 0,
    **settings: Any,
) -> Training:
    """Give the question that trains this task by the public rule.

    Examples
    --------
    >>> task = Task.of_bounds([0], [100], classes=("well", "ill"))
    >>> choose_training(task, epsilon=1, delta="1e-6", adjacency="add-remove", size=200).kind
    'logistic-training'
    >>> choose_training(task, epsilon=1, delta="1e-6", adjacency="add-remove", size=9000).kind
    'descent-training'
    """
    price = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "size": size}
    way = chosen_way(task, read_epsilon(epsilon) * whole("size", size, 1), bool(read_delta(delta)))
    chosen: Training = way(task=task, **price, **settings)
    return chosen


def chosen_way(task: Task, strength: Any, approximate: bool) -> type[Any]:
    """Apply the table of the module's text."""
    if task.kind == "regression":
        return GramRegression
    if task.kind == "multiclass":
        return GradientDescent if approximate else SoftmaxTraining
    weak = strength > MANY and task.dimension < FEW_FEATURES
    return GradientDescent if approximate and weak else LogisticTraining
