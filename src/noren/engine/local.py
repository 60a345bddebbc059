"""Count partitions in this process, on a few threads.

Threads suffice, because reading and counting run in libraries that release the interpreter. Only
a few partitions are in flight at a time, so memory does not grow with their number. A worker only
counts: it never draws noise, because a piece that is run again would draw it twice.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Any, Protocol, TypeAlias, TypeVar

from noren.engine.merging import Part, distinct, merged
from noren.errors import NorenError, ParameterError, PartitionFailed
from noren.privacy.numbers import whole

B = TypeVar("B")
S = TypeVar("S")
Progress: TypeAlias = Callable[[int, int], None]


class Engine(Protocol):
    """Whoever counts partitions and merges what was counted."""

    def run(
        self,
        partitions: Iterable[Part[B]],
        count: Callable[[Iterable[B]], S],
        *,
        progress: Progress | None = None,
    ) -> S:
        """Give the merged statistic."""

    def rounds(self, partitions: Iterable[Part[B]]) -> AbstractContextManager[Rounds]:
        """Open partitions that are counted again and again, each time by another function."""


class Rounds(Protocol):
    """Partitions that can be counted again."""

    def __call__(self, count: Callable[[Iterable[Any]], S]) -> S:
        """Give the merged statistic of one round."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Count on threads of this process (`workers`; by default one a core).

    Examples
    --------
    >>> from noren.data import Partition
    >>> parts = [Partition("a", lambda: iter([1, 2])), Partition("b", lambda: iter([3]))]
    >>> LocalEngine(workers=2).run(parts, sum)
    6
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            object.__setattr__(self, "workers", whole("workers", self.workers, 1))

    def run(
        self,
        partitions: Iterable[Part[B]],
        count: Callable[[Iterable[B]], S],
        *,
        progress: Progress | None = None,
    ) -> S:
        """Give the merged statistic."""
        todo = distinct(partitions)
        workers = min(self.workers or os.cpu_count() or 1, len(todo))
        stop = Event()
        pool = ThreadPoolExecutor(workers, thread_name_prefix="noren")
        try:
            futures = in_flight(pool, todo, count, stop, workers)
            return merged(told(futures, len(todo), progress))
        finally:  # also after an error or Ctrl-C: no piece is begun, and running ones end soon
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    @contextmanager
    def rounds(self, partitions: Iterable[Part[B]]) -> Iterator[Rounds]:
        """Read the partitions anew in each round, so that memory stays that of a few blocks."""
        todo = distinct(partitions)
        yield lambda count: self.run(todo, count)


def run(
    partitions: Iterable[Part[B]],
    count: Callable[[Iterable[B]], S],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> S:
    """Count each partition, and merge the statistics with `+`.

    Parameters
    ----------
    partitions
        Pieces of the data; one of each id is counted.
    count
        Turns the blocks of one partition into a statistic. It must be pure and draw no noise.
    workers
        Threads; by default one a core.
    progress
        Called with (done, total), first with 0 done.
    engine
        Another way to do all this; by default this process.

    Examples
    --------
    >>> from noren.data import Partition
    >>> run([Partition("all", lambda: iter([[1, 2], [3]]))], lambda blocks: sum(map(len, blocks)))
    3
    """
    chosen = LocalEngine(workers) if engine is None else engine
    return chosen.run(partitions, count, progress=progress)


class CalledOff(Exception):
    """Ends a worker whose result nobody waits for any more."""


def in_flight(
    pool: ThreadPoolExecutor,
    todo: list[Part[B]],
    count: Callable[[Iterable[B]], S],
    stop: Event,
    workers: int,
) -> Iterator[Future[S]]:
    """Keep a few partitions running, and hand over their futures in the order of merging."""
    waiting = iter(todo)

    def submit(number: int) -> Iterator[Future[S]]:
        return (pool.submit(counted, part, count, stop) for part in islice(waiting, number))

    running = deque(submit(2 * workers))
    while running:
        yield running.popleft()
        running.extend(submit(1))


def counted(partition: Part[B], count: Callable[[Iterable[B]], S], stop: Event) -> S:
    """Count one partition, in a worker; close what it reads, also after an error."""
    blocks = partition.read()
    try:
        return count(until(stop, blocks))
    finally:
        if isinstance(blocks, Generator):
            blocks.close()


def until(stop: Event, blocks: Iterable[B]) -> Iterator[B]:
    """Pass blocks on until the run is called off."""
    for block in blocks:
        if stop.is_set():
            raise CalledOff
        yield block


def told(futures: Iterator[Future[S]], total: int, progress: Progress | None) -> Iterator[S]:
    """Wait for each statistic in turn, and say how far the run is."""
    tell = progress or (lambda done, total: None)
    tell(0, total)
    for done, future in enumerate(futures, 1):
        yield outcome(future)
        tell(done, total)


def outcome(future: Future[S]) -> S:
    """Give a worker's statistic, or its error without anything that a record could be in."""
    error = future.exception()
    if error is None:
        return addable(future.result())
    if isinstance(error, NorenError) or not isinstance(error, Exception):
        error.__context__ = None  # what it was made from, and the frames below, may hold records
        raise error.with_traceback(None) from None
    raise PartitionFailed(type(error).__name__)


def addable(statistic: S) -> S:
    """Refuse what cannot be merged."""
    if hasattr(statistic, "__add__"):
        return statistic
    raise ParameterError(
        "what count returns",
        f"a {type(statistic).__name__}",
        "a statistic that can be merged with +",
        "Give its class a method __add__ that is associative.",
    )
