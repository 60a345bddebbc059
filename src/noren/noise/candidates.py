"""Select among private candidates, at three times the price of one.

Maths
    Draw the number of runs K, before the first and whatever the data, with
    P(K = n) = gamma (1 - gamma)**(n - 1), n >= 1. Each run draws its candidate uniformly, with
    replacement, and gives a result and a score. Only the best run is released.

Privacy
    If each run gives (result, score) jointly with epsilon-DP (delta 0), the release is
    3 epsilon-DP for every public gamma, and this is approached as gamma falls to 0 (Liu and
    Talwar 2019; Papernot and Steinke 2022). It holds because K is random and secret: a fixed number
    of runs, or a stop that looks at the scores, costs up to K epsilon. Ties go to the candidate
    listed first, then to the earlier run (runs are exchangeable, so this is a tie broken at
    random). Neither K nor any losing run may be shown. Charge 3 epsilon once, before the first.

Accuracy
    On average 1 / gamma runs; each of m candidates is tried at least once with probability
    1 / (1 + gamma (m - 1)).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from noren.errors import ParameterError
from noren.noise.noise import Noise
from noren.privacy.numbers import Number, probability, read_epsilon, whole

PRICE = 3
Result = TypeVar("Result")


def candidate_epsilon(epsilon: Number) -> Fraction:
    """Give the price of a selection whose single run costs epsilon."""
    return PRICE * read_epsilon(epsilon)


def number_of_runs(gamma: Number, noise: Noise) -> int:
    """Draw K with P(K = n) = gamma (1 - gamma)**(n - 1), n >= 1."""
    chance = probability("gamma", gamma)
    if chance == 0:
        raise ParameterError("gamma", gamma, "above 0", "About 1 / gamma runs are made.")
    runs = 0
    while True:
        hits = np.flatnonzero(noise.bernoulli(chance, 64))
        if hits.size:
            return runs + int(hits[0]) + 1
        runs += 64


def select_candidate(
    run: Callable[[int], tuple[float, Result]], candidates: int, gamma: Number, noise: Noise
) -> tuple[int, float, Result]:
    """Run random candidates a random number of times, and give the best candidate, score, result.

    Parameters
    ----------
    run : callable
        From the index of a candidate to (score, result), epsilon-DP jointly, with fresh noise.
    candidates : int
        How many there are.
    gamma : number
        The chance to stop after each run, public; decided before anything is seen.
    noise : Noise
        Where the number of runs and the candidates are drawn.
    """
    among = whole("candidates", candidates, 1)
    tried = noise.integers_below(among, number_of_runs(gamma, noise))
    best: tuple[int, float, Result] | None = None
    for candidate in tried.tolist():
        score, result = run(candidate)
        if best is None or (score, -candidate) > (best[1], -best[0]):
            best = candidate, score, result
    assert best is not None  # at least one run is made
    return best
