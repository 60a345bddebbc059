"""Privacy amplification by drawing records without replacement, turned round.

Maths
    A mechanism that costs e' on a sample of b of n rows, drawn without replacement, costs
    log(1 + rate (exp(e') - 1)) on the table, rate = b/n. So a target e allows
        e' = log(1 + (exp(e) - 1) / rate).

Privacy
    Under substitution, and only while it stays secret which rows were drawn and the order of what
    is published does not tell them: results must stand in the order of drawing, or as a shuffled
    set. Sorted by row number, a replaced row moves the others' places, and the claim fails.
"""

from __future__ import annotations

import math

from noren.errors import ParameterError
from noren.privacy.numbers import Number, exact, read_epsilon


def amplified_centre_epsilon(epsilon: Number, rate: Number) -> float:
    """Give the epsilon that sampled rows may be spent at, so that the table pays `epsilon`.

    Parameters
    ----------
    epsilon : number
        What the whole table pays.
    rate : number
        The share of the rows that is drawn, above 0 and at most 1.

    Examples
    --------
    >>> round(amplified_centre_epsilon(1, 0.05), 6)
    3.565741
    """
    share = exact("rate", rate)
    if not 0 < share <= 1:
        raise ParameterError("rate", rate, "above 0 and at most 1", "It is centres / rows.")
    target = float(read_epsilon(epsilon))
    if target > 700:  # exp overflows; the 1 no longer matters
        return target - math.log(share)
    return math.log1p(math.expm1(target) / float(share))
