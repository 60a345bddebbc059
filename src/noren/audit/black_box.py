"""Audit anything that can be called, ours or not, on two datasets of the caller's choice.

A pass says that no violation large enough to be seen was seen: `detects` is the smallest true
epsilon that would have been, with 90 % probability, for the event that was found. A fail is a proof
at the stated confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.audit.heldout import held_out
from noren.audit.row import HOLDS, AuditRow, finding
from noren.privacy.numbers import Number, probability, read_delta, read_epsilon, whole
from noren.question import Answer


def audit_callable(
    mechanism: Callable[[Any], Any],
    data: Any,
    neighbour: Any,
    epsilon: Number,
    delta: Number = 0,
    *,
    draws: int = 20_000,
    alpha: float = 0.05,
    name: str = "",
    adjacency: object = "the two datasets given",
    expected: str = HOLDS,
    note: str = "",
    bits: bool = True,
) -> AuditRow:
    """Bound from below the epsilon that a mechanism really has between two datasets.

    Parameters
    ----------
    mechanism : callable
        Takes a dataset, returns one random output: a number, an array of numbers, an answer, or
        anything with a `repr` that names it.
    data, neighbour : object
        Two datasets that the claim calls neighbours. The farther apart their outputs, the better
        the audit.
    epsilon, delta : number
        The claim.
    draws : int
        Outputs drawn from each; half of them choose the event, half count it.
    alpha : float
        The chance that a true claim fails.
    name, adjacency, expected, note
        Passed on to the row.
    bits : bool
        Look at the last bits of floats, too: float noise added to a float leaks there, whatever
        its scale. Without, only values are compared.

    Returns
    -------
    AuditRow
        Its `measured` is the lower bound (0 when nothing was shown).

    Examples
    --------
    >>> from noren import Noise
    >>> noise = Noise()
    >>> row = audit_callable(
    ...     lambda count: count + noise.discrete_laplace(2), 0, 1, epsilon="0.1"
    ... )
    >>> row.ok, row.measured > 0.2
    (False, True)
    """
    claim, slack = read_epsilon(epsilon), read_delta(delta)
    level, count = float(probability("alpha", alpha)), whole("draws", draws, 100)
    outputs = [[mechanism(given) for _ in range(count)] for given in (data, neighbour)]
    first, second = coordinates(outputs[0], outputs[1])
    found = held_out(
        first, second, epsilon=float(claim), delta=float(slack), alpha=level, bits=bits
    )
    return finding(
        name or getattr(mechanism, "__name__", "callable"),
        adjacency,
        claimed=float(claim),
        measured=max(0.0, found.epsilon_lower),
        method="statistical",
        expected=expected,
        detects=found.detects,
        note="; ".join(part for part in (note, f"delta {float(slack):g}" if slack else "") if part),
    )


def coordinates(
    first: list[Any], second: list[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn outputs into rows of numbers; what is not numeric becomes one coordinate, its name."""
    try:
        rows = np.array([numbers_of(output) for output in (*first, *second)], dtype=np.float64)
    except (TypeError, ValueError):
        names = [repr(output) for output in (*first, *second)]
        rows = np.unique(names, return_inverse=True)[1].astype(np.float64)[:, None]
    np.nan_to_num(rows, copy=False, nan=NOT_A_NUMBER)
    return rows[: len(first)], rows[len(first) :]


def numbers_of(output: Any) -> list[float]:
    """Flatten one output to numbers."""
    if isinstance(output, Answer):
        output = output.record()
    if isinstance(output, Mapping):
        output = [number for part in output.values() for number in numbers_of(part)]
    return np.asarray(output, dtype=np.float64).ravel().tolist()


NOT_A_NUMBER = -9.87e300  # nan compares with nothing; as a value it can be an event like any other
