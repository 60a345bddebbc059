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

import itertools
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


def sampling_loss(n: int, b: int, inner: float, *, in_order: bool = True) -> float:
    """Give the worst log ratio of b of n private bits, drawn, then randomized at e' each.

    The bits are released in the order of drawing, or sorted by row number. Any two tables that
    differ in one bit are compared, on every output.
    """
    keep = math.exp(inner) / (1 + math.exp(inner))
    draws = list(itertools.permutations(range(n), b) if in_order else
                 itertools.combinations(range(n), b))  # fmt: skip
    outputs = list(itertools.product((0, 1), repeat=b))

    def law(table: tuple[int, ...]) -> list[float]:
        masses = []
        for output in outputs:
            total = 0.0
            for draw in draws:
                same = sum(table[row] == bit for row, bit in zip(draw, output, strict=True))
                total += keep**same * (1 - keep) ** (b - same)
            masses.append(total / len(draws))
        return masses

    worst = 0.0
    for table in itertools.product((0, 1), repeat=n):
        own = law(table)
        for place in range(n):
            if table[place] == 0:
                other = law((*table[:place], 1, *table[place + 1 :]))
                pairs = zip(own, other, strict=True)
                worst = max(worst, *(abs(math.log(p / q)) for p, q in pairs))
    return worst
