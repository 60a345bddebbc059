"""Compute a model's guarantee anew from its mechanism and parameters.

A signature says who sent a model, not that its numbers add up. Whoever receives one recomputes the
price from the parameters alone, including the solver's share, the rows of a person and the
neighbors, and compares it with the price that is claimed. (Nothing can show that the noise was
really drawn: that is trust in the sender.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from noren.collaboration.approximate_minimum import read_minimum
from noren.collaboration.as_published import published_claim
from noren.collaboration.descent import gradient_bounds
from noren.collaboration.gaussian_calibration import tight_gaussian_delta
from noren.collaboration.moments import moment_bounds
from noren.collaboration.output import output_claim
from noren.collaboration.parameters import require_parameters
from noren.collaboration.pure_calibration import tight_pure_epsilon
from noren.collaboration.regression import gram_bounds
from noren.collaboration.softmax import softmax_gaussian_claim, softmax_pure_claim
from noren.collaboration.step_price import adjacency_of, steps_of, total_of_steps
from noren.collaboration.summed import read_summed
from noren.collaboration.tuned import tuned_claim
from noren.errors import NorenError, NotPrivate
from noren.noise.grid import STEEPEST
from noren.privacy import Guarantee


def recompute_claim(mechanism: str, parameters: Mapping[str, Any]) -> Guarantee:
    """Give the guarantee that these parameters prove, whatever the sender claims.

    Where a curve belongs to the mechanism, it is evaluated at the parameters' own epsilon.

    Examples
    --------
    >>> from noren.collaboration import Task
    >>> from noren.collaboration.logistic import LogisticTraining
    >>> task = Task.of_bounds([0], [100])
    >>> asked = LogisticTraining(task=task, epsilon=1, adjacency="substitute", size=50)
    >>> found = recompute_claim(asked.mechanism, asked.parameters)
    >>> found.adjacency == asked.adjacency, 0.99999 < found.epsilon <= 1
    (True, True)
    """
    require_parameters(mechanism, parameters)
    try:
        require_sensible(parameters)
        return CLAIMS[mechanism](parameters)
    except (ArithmeticError, KeyError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, NorenError):
            raise
        raise NotPrivate(
            "The claim's parameters are not those of any run of its mechanism, so nothing is "
            "proved. Ask the sender for a new file."
        ) from None


def require_sensible(given: Mapping[str, Any]) -> None:
    """Refuse parameters that no question has, before anything is computed with them."""
    smallest = [given["dimension"], given["size"], given["max_records"]]
    if min(*smallest, given.get("classes", 2) - 1) < 1:
        raise ValueError
    if given["epsilon"] <= 0 or not 0 <= given["delta"] < 1:
        raise ValueError
    if abs(given.get("exponent", 0)) > STEEPEST:
        raise ValueError


def objective_pure(given: Mapping[str, Any]) -> Guarantee:
    """Recompute objective perturbation at delta 0."""
    adjacency = adjacency_of(given)
    plan, size = read_minimum(given, given["dimension"]), given["weight"]
    epsilon = tight_pure_epsilon(given["rate"] * size, plan.ridge / size, adjacency)
    steps = steps_of(adjacency, only_add_remove=False)
    return total_of_steps(adjacency, Fraction(epsilon) + plan.solver_epsilon, 0, steps)


def objective_gaussian(given: Mapping[str, Any]) -> Guarantee:
    """Recompute objective perturbation at delta above 0."""
    adjacency = adjacency_of(given)
    plan, size = read_minimum(given, given["dimension"]), given["weight"]
    steps = steps_of(adjacency, only_add_remove=True)
    step = given["epsilon"] / steps
    delta = tight_gaussian_delta(
        step - plan.solver_epsilon, given["sigma"] / size, plan.ridge / size
    )
    return total_of_steps(adjacency, step, delta, steps)


def descent_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute noisy gradient descent."""
    groups = 1 if given["classes"] == 2 else given["classes"]
    bounds = gradient_bounds(given["dimension"], groups, Fraction(given["weight"]))
    return read_summed(given, bounds, given["steps"]).guarantee(given["delta"])


def moment_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute the moment learner."""
    bounds = moment_bounds(given["dimension"], Fraction(given["weight"]))
    return read_summed(given, bounds, 1).guarantee(given["delta"])


def gram_claim(given: Mapping[str, Any]) -> Guarantee:
    """Recompute noisy Gram sums."""
    bounds = gram_bounds(given["dimension"], Fraction(given["weight"]))
    return read_summed(given, bounds, 1).guarantee(given["delta"])


CLAIMS: dict[str, Callable[[Mapping[str, Any]], Guarantee]] = {
    "objective-pure": objective_pure,
    "objective-gaussian": objective_gaussian,
    "softmax-pure": softmax_pure_claim,
    "softmax-gaussian": softmax_gaussian_claim,
    "published-cms": published_claim,
    "published-kst-pure": published_claim,
    "published-kst-gaussian": published_claim,
    "output": output_claim,
    "gradient-descent": descent_claim,
    "moments": moment_claim,
    "gram": gram_claim,
    "tuned": lambda given: tuned_claim(given, recompute_claim),
}
