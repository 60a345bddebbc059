"""Draw from a law on the integers by inversion, exactly, at the price of one word a draw.

Maths
    With distribution function F and thresholds T_k = floor(2**64 F(k)), draw a word u; the true
    uniform U lies in [u, u + 1) / 2**64. If u < T_k then U < F(k); if u > T_k then U > F(k).
    So X = lo + #{k : T_k <= u}, unless u is itself a threshold. Then, and only then, another
    word v is appended and compared with the next 64 bits of each F(k) that tied, and so on.

    An open tail needs thresholds beyond the table when u is all ones (or, below, all zeros): the
    ties are then extended outwards until the next bits of F are all ones (or zeros) too. Nothing
    is ever clamped, so the law is exact: its support is unbounded and no total mass is lost.

Speed
    A guide holds the answer for each value of the top 16 bits, where no threshold lies in that
    bucket; only the other draws search the table.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from noren.errors import DrawRefused
from noren.noise.reals import FULL, WORD, certain_floors
from noren.noise.sources import BitSource, Words, one_word
from noren.noise.tails import TailLaw

FEW = 64  # draws that the guide is not worth
BLOCK = 1 << 15  # words drawn at once: two such arrays and a guide fit in a second-level cache
GUIDE_BITS = 16
UNDECIDED = np.iinfo(np.int32).min
LARGEST = 1 << 62

Integers = npt.NDArray[np.int64]


class Table:
    """The thresholds of one law, and how to draw with them."""

    def __init__(self, law: TailLaw) -> None:
        self.law = law
        tails = self._tail_floors(0, law.reach, WORD)
        if law.size is None:
            tails = tails[: tails.index(0) + 1]  # the first that is zero ends an open table
        lower = tails[::-1] if law.symmetric else []
        self.lo = -len(lower)
        self.thresholds = np.array(lower + [FULL - tail for tail in tails], np.uint64)

    def _tail_floors(self, first: int, count: int, bits: int) -> list[int]:
        """Give the whole parts of 2**bits P(X > k)."""
        return certain_floors(lambda digits: self.law.tails(first, count, digits), bits)

    def edges(self, first: int, last: int, bits: int) -> list[int]:
        """Give floor(2**bits F(k)) for k = first..last: the lower half, and its complement."""
        below = min(last, -1)
        lower = self._tail_floors(-below - 1, below - first + 1, bits)[::-1] if first < 0 else []
        above = max(first, 0)
        upper = self._tail_floors(above, last - above + 1, bits) if last >= 0 else []
        return lower + [(1 << bits) - 1 - tail for tail in upper]

    @cached_property
    def guide(self) -> npt.NDArray[np.int32]:
        """The answer for each top 16 bits, or UNDECIDED where a threshold lies in the bucket."""
        buckets = (self.thresholds >> np.uint64(WORD - GUIDE_BITS)).view(np.int64)
        held = np.bincount(buckets, minlength=1 << GUIDE_BITS)
        return np.where(held, UNDECIDED, self.lo + np.cumsum(held)).astype(np.int32)

    def draw(self, source: BitSource, count: int) -> Integers:
        """Draw independently, block by block."""
        if count <= FEW:
            return self._search(source.words(count), source)
        drawn = np.empty(count, np.int64)
        for start in range(0, count, BLOCK):
            part = drawn[start : start + BLOCK]
            words = source.words(part.size)
            part[:] = self._lookup(words)
            open_ = np.flatnonzero(part == UNDECIDED)
            part[open_] = self._search(words[open_], source)
        return drawn

    def _lookup(self, words: Words) -> npt.NDArray[np.int32]:
        buckets = (words >> np.uint64(WORD - GUIDE_BITS)).view(np.int64)
        return self.guide.take(buckets, mode="clip")

    def _search(self, words: Words, source: BitSource) -> Integers:
        """Count the thresholds at or below each word, and settle the ties one by one."""
        found = np.searchsorted(self.thresholds, words, side="right")
        last = self.thresholds[np.maximum(found - 1, 0)]
        drawn = found + self.lo
        for i in np.flatnonzero((found > 0) & (last == words)):
            drawn[i] = self.refine(int(words[i]), source)
        return drawn

    def refine(self, word: int, source: BitSource) -> int:
        """Append words until the uniform is told from every threshold."""
        first = self.lo + int(np.searchsorted(self.thresholds, np.uint64(word), side="left"))
        last = self.lo + int(np.searchsorted(self.thresholds, np.uint64(word), side="right")) - 1
        bits = WORD
        while True:
            first, last = self._extend(first, last, word, bits)
            word, bits = word << WORD | one_word(source), bits + WORD
            edges = self.edges(first, last, bits)
            below = sum(edge < word for edge in edges)
            ties = edges.count(word)
            if not ties:
                return in_range(first + below)
            first, last = first + below, first + below + ties - 1

    def _extend(self, first: int, last: int, word: int, bits: int) -> tuple[int, int]:
        """Take in the k beyond an open end that could be told apart by one more word."""
        bits += WORD
        if word == (1 << (bits - WORD)) - 1 and self.law.size is None:
            last = self._tail_end(last, bits)
        if word == 0 and self.law.symmetric:
            first = -1 - self._tail_end(-1 - first, bits)
        return first, last

    def _tail_end(self, k: int, bits: int) -> int:
        """Give the first k, from this one on, whose tail shows nothing in so many bits."""
        while all(floors := self._tail_floors(k, self.law.reach, bits)):
            k += self.law.reach
        return k + floors.index(0)


def in_range(value: int) -> int:
    """Refuse a draw that 64-bit arithmetic could not hold (a chance below e**-1000)."""
    if abs(value) > LARGEST:
        raise DrawRefused("A draw left the range of 64-bit integers. Choose a coarser grid.")
    return value


@lru_cache(maxsize=64)
def table_of(law: TailLaw) -> Table:
    """Give the law's table, from the cache if it was used lately."""
    return Table(law)
