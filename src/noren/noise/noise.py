"""The only door to secret randomness.

`Noise` holds a source of bits and draws from exact laws with it. A question is handed a `Noise`
and nothing else that is random; no method takes a seed. Each draw is an integer (or one of
finitely many things), so nothing leaks through the rounding of floats: add it to integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from noren.errors import ParameterError
from noren.noise import choice, coins, counts, gaussian, laplace, response, selection, uniform
from noren.noise.reals import Computable, Rational, Real
from noren.noise.sources import BitSource, ChaChaSource, Unshareable
from noren.privacy.numbers import Number, positive, probability, read_epsilon, whole
from noren.privacy.numbers import exact as read_exact

Size: TypeAlias = int | tuple[int, ...] | None
Chance: TypeAlias = Number | Callable[[int], Decimal]
Drawn: TypeAlias = Any  # one Python number where size is None, else an array of that shape


class Noise(Unshareable):
    """Draw from exact laws, with bits that nobody can predict.

    Scales, variances, probabilities and epsilons may be int, Fraction, Decimal, decimal string or
    float (read as its shortest decimal). A probability may also be a function from a number of
    digits to a decimal that is wrong by less than 5 in the last of them. `size` is a number of
    draws, a shape, or None for one Python number.

    Parameters
    ----------
    source : BitSource, optional
        Where the bits come from; ChaCha20 keyed by the operating system unless given.

    Examples
    --------
    >>> noise = Noise()
    >>> counts = np.array([12, 40, 7]) + noise.discrete_laplace(scale=2, size=3)
    >>> noise.secure, noise.name, counts.dtype.name
    (True, 'chacha20', 'int64')
    """

    __slots__ = ("_source",)

    def __init__(self, source: BitSource | None = None) -> None:
        if source is not None and not isinstance(source, BitSource):
            raise ParameterError(
                "source", type(source).__name__, "a BitSource", "Leave it out for ChaCha20."
            )
        self._source = ChaChaSource() if source is None else source

    @property
    def secure(self) -> bool:
        """Whether nobody can predict the draws."""
        return bool(self._source.secure)

    @property
    def name(self) -> str:
        """The name of the bit source."""
        return str(self._source.name)

    @property
    def source(self) -> BitSource:
        """The bit source itself; whoever takes words from it must prove its own law."""
        return self._source

    def __repr__(self) -> str:
        return f"Noise({self.name}{'' if self.secure else ', NOT PRIVATE'})"

    def discrete_laplace(self, scale: Number, size: Size = None) -> Drawn:
        """Draw integers with P(k) proportional to exp(-abs(k) / scale)."""
        t = laplace.small_enough("scale", positive("scale", scale))
        return shaped(size, lambda n: laplace.draw_laplace(t, n, self._source))

    def geometric(self, scale: Number, size: Size = None) -> Drawn:
        """Draw integers k >= 0 with P(k) proportional to exp(-k / scale)."""
        t = laplace.small_enough("scale", positive("scale", scale))
        return shaped(size, lambda n: laplace.draw_geometric(t, n, self._source))

    def discrete_gaussian(self, variance: Number, size: Size = None) -> Drawn:
        """Draw integers with P(k) proportional to exp(-k**2 / (2 variance))."""
        v = positive("variance", variance)
        if v > laplace.LARGEST_SCALE**2:
            raise ParameterError(
                "variance", float(v), "at most 2**104", "Choose a coarser public grid."
            )
        return shaped(size, lambda n: gaussian.draw_gaussian(v, n, self._source))

    def bernoulli(self, p: Chance, size: Size = None) -> Drawn:
        """Toss coins that come up with probability exactly p."""
        number = read_chance(p)
        return shaped(size, lambda n: coins.toss(number, n, self._source))

    def packed_bernoulli(self, p: Chance, size: Size = None) -> Drawn:
        """Toss 64 coins of probability exactly p in each word of uint64."""
        number = read_chance(p)
        return shaped(size, lambda n: coins.toss_packed(number, n, self._source))

    def bernoulli_exp(self, x: Number, size: Size = None) -> Drawn:
        """Toss coins that come up with probability exactly exp(-x), x >= 0."""
        rate = read_exact("x", x)
        if rate < 0:
            raise ParameterError("x", x, "zero or more", "exp(-x) must be a probability.")
        number = coins.exponential(rate)
        return shaped(size, lambda n: coins.toss(number, n, self._source))

    def integers_below(self, n: int, size: Size = None) -> Drawn:
        """Draw integers uniformly from 0..n-1; above 2**63 they are Python's own."""
        top = whole("n", n, 1)
        return shaped(size, lambda count: uniform.draw_below(top, count, self._source))

    def binomial(self, n: int, p: Chance, size: Size = None) -> Drawn:
        """Draw how many of n coins of probability exactly p come up."""
        tosses, number = counted("n", n), read_chance(p)
        return shaped(size, lambda m: counts.draw_binomial(tosses, number, m, self._source))

    def hypergeometric(self, good: int, bad: int, taken: int, size: Size = None) -> Drawn:
        """Draw how many good ones are among those taken, without putting back."""
        ours, others, drawn = counted("good", good), counted("bad", bad), counted("taken", taken)
        if drawn > ours + others:
            raise ParameterError("taken", taken, "at most good + bad", "Nothing is put back.")
        return shaped(
            size, lambda m: counts.draw_hypergeometric(ours, others, drawn, m, self._source)
        )

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        """Order 0..n-1 uniformly at random."""
        return uniform.draw_permutation(whole("n", n, 0), self._source)

    def subset(self, n: int, k: int) -> npt.NDArray[np.int64]:
        """Choose k of 0..n-1 uniformly at random, without order (given increasing)."""
        total, chosen = whole("n", n, 0), whole("k", k, 0)
        if chosen > total:
            raise ParameterError("k", k, "at most n", "A subset repeats nothing.")
        return uniform.draw_subset(total, chosen, self._source)

    def choose(self, weights: Sequence[int] | Callable[[int], Sequence[Decimal]]) -> int:
        """Choose an index with probability exactly proportional to its weight.

        Parameters
        ----------
        weights : sequence of int, or callable
            Whole numbers of any length, or a function from a number of digits to the weights as
            decimals, wrong by less than five units in the last of those digits.
        """
        if callable(weights):
            return choice.choose_real(weights, self._source)
        exact = [whole("a weight", weight, 0) for weight in weights]
        if not any(exact):
            raise ParameterError(
                "weights",
                "none or all zero",
                "not all zero",
                "At least one choice must be possible.",
            )
        return choice.choose_integer(exact, self._source)

    def randomized_response(
        self, values: npt.ArrayLike, k: int, epsilon: Number
    ) -> npt.NDArray[np.int64]:
        """Report each value of 0..k-1 with epsilon-local privacy (k-ary randomised response).

        Values outside 0..k-1 are moved to the nearest end: an error would tell who sent them.
        """
        given = np.asarray(values)
        if given.dtype.kind not in "iub":
            raise ParameterError(
                "values", f"of type {given.dtype}", "whole numbers below k", "Encode them first."
            )
        categories, eps = whole("k", k, 2), read_epsilon(epsilon)
        if categories > 1 << 62:
            raise ParameterError("k", k, "at most 2**62", "Group the values.")
        return response.respond(given.ravel(), categories, eps, self._source).reshape(given.shape)

    def exponential_mechanism(
        self,
        scores: npt.ArrayLike,
        epsilon: Number,
        sensitivity: Number = 1,
        *,
        monotone: bool = False,
    ) -> int:
        """Choose an index r with P(r) proportional to exp(epsilon s_r / (2 sensitivity)).

        With `monotone=True` (all scores move the same way between neighbours) the 2 is dropped.
        """
        rate = selection.selection_rate(epsilon, sensitivity, monotone)
        return selection.exponential_mechanism(selection.read_scores(scores), rate, self._source)

    def permute_and_flip(
        self,
        scores: npt.ArrayLike,
        epsilon: Number,
        sensitivity: Number = 1,
        *,
        monotone: bool = False,
    ) -> int:
        """Choose an index by permute-and-flip: same epsilon, never a worse expected score.

        Under zCDP it costs more than the exponential mechanism: see the price before composing.
        """
        rate = selection.selection_rate(epsilon, sensitivity, monotone)
        return selection.permute_and_flip(selection.read_scores(scores), rate, self._source)


def read_chance(p: Chance) -> Real:
    """Take a probability: a number, or a function from digits to a decimal."""
    return Computable(p) if callable(p) else Rational(probability("p", p))


def counted(name: str, value: int) -> int:
    """Read a number of things, few enough to be counted exactly in floating point sums."""
    number = whole(name, value, 0)
    if number > counts.LARGEST_COUNT:
        raise ParameterError(name, value, "at most 2**32", "Draw it in parts and add them.")
    return number


def shaped(size: Size, draw: Callable[[int], npt.NDArray[Any]]) -> Drawn:
    """Draw as many as the size says, and give them its shape."""
    if size is None:
        return draw(1).tolist()[0]
    shape = size if isinstance(size, tuple) else (size,)
    lengths = tuple(whole("size", length, 0) for length in shape)
    return draw(math.prod(lengths)).reshape(lengths)
