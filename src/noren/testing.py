"""Help for tests and reproductions. Nothing drawn with it protects anybody."""

from __future__ import annotations

from noren.noise import Noise
from noren.noise.sources import SeededTestSource


def seeded_noise(seed: int | str) -> Noise:
    """Give noise that a seed decides, so that a run can be repeated.

    It warns with `NotPrivateWarning`, its `secure` is False, and so every answer drawn with it
    prints NOT PRIVATE, has no guarantee and is refused by a real ledger.

    Examples
    --------
    >>> one, two = seeded_noise(7), seeded_noise(7)
    >>> list(one.integers_below(10, 4)) == list(two.integers_below(10, 4))
    True
    >>> one
    Noise(seeded-test, NOT PRIVATE)
    """
    return Noise(SeededTestSource(seed))
