"""Time several ways of doing the same work in turns, and print ratios.

One round runs every way once, in a random order; the ratio of two ways is taken within a round and
the median over the rounds is shown with its spread. So a neighbor that slows the machine for a
while slows both sides of a ratio.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping

Seconds = dict[str, list[float]]


def in_turns(ways: Mapping[str, Callable[[], object]], rounds: int = 7) -> Seconds:
    """Time every way once in each round, after one run of each that is not counted."""
    seconds: Seconds = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(rounds):
        for name in random.sample(list(ways), len(ways)):
            begun = time.perf_counter()
            ways[name]()
            seconds[name].append(time.perf_counter() - begun)
    return seconds


def rate_ratios(seconds: Seconds, ours: str, other: str) -> list[float]:
    """Give, round by round, how many times faster `ours` is than `other`."""
    return [b / a for a, b in zip(seconds[ours], seconds[other], strict=True)]


def show(title: str, seconds: Seconds, ours: str, work: int = 1, unit: str = "runs") -> None:
    """Print one table: rates, and the speed of `ours` relative to each other way."""
    print(f"\n{title}")
    print(f"{'':34}{unit + '/s':>14}  {ours} is so many times faster (median, least to most)")
    for name, took in seconds.items():
        ratios = rate_ratios(seconds, ours, name)
        spread = f"{statistics.median(ratios):8.2f}  {min(ratios):.2f} to {max(ratios):.2f}"
        rate = work / statistics.median(took)
        print(f"{name:34}{rate:14.3g}  {'' if name == ours else spread}")
