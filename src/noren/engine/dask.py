"""Count partitions on a Dask cluster: names and ranges go out, statistics come back.

A task is a few partitions (file names and ranges) and the counting function; no row is ever
shipped. Each task costs the scheduler some milliseconds, however short it is, so neighbors travel
together; their statistics come back apart. A worker only counts. Dask runs a task again when its
worker is lost, and may run one twice: the statistic is pure, so the copies are equal, and each
partition id is merged once, in the same order and the same tree as in process. Noise is drawn
afterwards, by whoever called, after its charge.

What a worker raises may quote a record, and Dask would log it and send it about. So the task
catches it there and sends the name of its class only; errors meant for users travel whole.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, TypeVar

from noren.engine.local import Progress, Rounds, addable
from noren.engine.merging import Part, distinct, merged
from noren.errors import FileProblem, MissingExtra, NorenError, PartitionFailed

B = TypeVar("B")
S = TypeVar("S")
AHEAD = (
    4  # tasks in flight for each thread of the cluster: workers never wait, results never pile up
)
SHARES, TOGETHER = 6, 8  # tasks for each thread, for balance; at most so many partitions in one
CONNECT_SECONDS = 10
LOOK_SECONDS, PATIENCE = 5, 12  # how often workers are looked for, and how often in vain


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task sends back: a statistic, an error for users, or the name of any other error.

    An error travels as its class and its text: exceptions with fields of their own do not.
    """

    statistic: Any = None
    error: tuple[type[NorenError], str] | None = None
    problem: str = ""

    def result(self) -> Any:
        """Give the statistic, or raise."""
        if self.error is not None:
            kind, text = self.error
            made = kind.__new__(kind)
            Exception.__init__(made, text)
            raise made
        if self.problem:
            raise PartitionFailed(self.problem)
        return addable(self.statistic)


def counted(partition: Part[B], count: Callable[[Iterable[B]], S]) -> Outcome:
    """Count one partition, on a worker, and let nothing escape."""
    try:
        return Outcome(count(partition.read()))
    except NorenError as error:
        return Outcome(error=(type(error), str(error)))
    except Exception as error:
        return Outcome(problem=type(error).__name__)


def all_counted(partitions: list[Part[B]], count: Callable[[Iterable[B]], S]) -> list[Outcome]:
    """Count the partitions of a task one by one, on a worker."""
    return [counted(partition, count) for partition in partitions]


@dataclass(frozen=True, slots=True, repr=False)
class Kept:
    """The blocks of a partition in a worker's memory, or what went wrong. Secret."""

    blocks: list[Any]
    problem: Outcome | None = None

    def __repr__(self) -> str:
        return "Kept()"


def blocks_of(partition: Part[Any]) -> Kept:
    """Read a partition's blocks, on a worker, to be kept there."""
    outcome = counted(partition, list)
    return Kept([], outcome) if outcome.statistic is None else Kept(outcome.statistic)


def all_blocks(partitions: list[Part[Any]]) -> list[Kept]:
    """Read the blocks of a task's partitions, on a worker, to be kept there."""
    return [blocks_of(partition) for partition in partitions]


def all_again(kept: list[Kept], count: Callable[[Iterable[Any]], Any]) -> list[Outcome]:
    """Count what a worker keeps, partition by partition."""
    return [counted_again(blocks, count) for blocks in kept]


def counted_again(kept: Kept, count: Callable[[Iterable[Any]], Any]) -> Outcome:
    """Count blocks that a worker keeps."""
    if kept.problem is not None:
        return kept.problem
    return counted(Again(kept.blocks), count)


@dataclass(frozen=True, slots=True, repr=False)
class Again:
    """Blocks in memory, as a partition."""

    blocks: list[Any]
    id: str = ""

    def read(self) -> Iterator[Any]:
        """Yield them."""
        return iter(self.blocks)


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """Count on a Dask cluster.

    Parameters
    ----------
    scheduler : str, optional
        Its address, such as "tcp://host:8786". Without one, `workers` processes of this machine
        are started for the run and ended after it.
    workers : int, optional
        How many processes to start where there is no scheduler; by default one a core.
    """

    scheduler: str | None = None
    workers: int | None = None

    def run(
        self,
        partitions: Iterable[Part[B]],
        count: Callable[[Iterable[B]], S],
        *,
        progress: Progress | None = None,
    ) -> S:
        """Give the merged statistic."""
        todo = distinct(partitions)
        with self.client() as client, closing(in_order(client, todo, count)) as outcomes:
            found: S = merged(told(outcomes, len(todo), progress))
        return found

    @contextmanager
    def rounds(self, partitions: Iterable[Part[B]]) -> Iterator[Rounds]:
        """Keep the partitions' blocks in the workers' memory until all rounds are over.

        In each round only the function goes out. A lost worker's blocks are read again elsewhere.
        """
        todo = distinct(partitions)
        with self.client() as client:
            kept = [
                client.submit(all_blocks, some, pure=False) for some in tasks(todo, threads(client))
            ]

            def one(count: Callable[[Iterable[Any]], Any]) -> Any:
                found = [client.submit(all_again, blocks, count, pure=False) for blocks in kept]
                try:
                    outcomes = (one for future in found for one in arrived(client, future))
                    return merged(outcome.result() for outcome in outcomes)
                finally:
                    client.cancel(found)

            yield one

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Connect, and leave the cluster as it was found."""
        try:
            import distributed
        except ImportError:
            raise MissingExtra("Counting on a cluster", "dask") from None
        start: Any = distributed  # it ships types for parts of itself only
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a busy port for a dashboard that nobody asked for
            if self.scheduler is not None:
                with connected(start.Client, self.scheduler) as client:
                    check_workers(client, self.scheduler)
                    yield client
                return
            with (
                start.LocalCluster(
                    n_workers=self.workers, threads_per_worker=1, dashboard_address=None
                ) as cluster,
                start.Client(cluster, set_as_default=False) as client,
            ):
                yield client


def connected(client: Any, scheduler: str) -> Any:
    """Connect to a scheduler, or say that there is none."""
    try:
        return client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        problem = type(error).__name__
    raise FileProblem(
        f"No Dask scheduler answers at {scheduler} ({problem}). Start one (dask scheduler) or "
        "check the address; it looks like tcp://host:8786."
    )


def check_workers(client: Any, scheduler: str) -> None:
    """Refuse workers that have another Noren or none: they could not read their tasks."""
    own = own_version()
    answers = client.run(version, "noren", on_error="return").values()  # one may be restarting
    found = {answer for answer in answers if isinstance(answer, str)}
    if any(isinstance(answer, PackageNotFoundError) for answer in answers):
        found.add("none")
    if not found <= {own}:
        raise FileProblem(
            f"The workers at {scheduler} have Noren {', '.join(sorted(found))}, but all must have "
            f"{own}, as here. Install it there."
        )


def own_version() -> str:
    """Give the version that is installed here."""
    return version("noren")


def told(outcomes: Iterator[Outcome], total: int, progress: Progress | None) -> Iterator[Any]:
    """Give each statistic in turn, and say how far the run is."""
    tell = progress or (lambda done, total: None)
    tell(0, total)
    for done, outcome in enumerate(outcomes, 1):
        yield outcome.result()
        tell(done, total)


def same(count: Any) -> Any:
    """Give what was sent, on a worker; should it be lost, Dask sends it again."""
    return count


def threads(client: Any) -> int:
    """Say how many tasks the cluster runs at once."""
    return max(1, sum(map(int, client.nthreads().values())))


def tasks(todo: list[Part[B]], threads: int) -> list[list[Part[B]]]:
    """Put neighboring partitions into one task where there are many for each thread."""
    size = min(TOGETHER, -(-len(todo) // (SHARES * threads)))
    return [todo[start : start + size] for start in range(0, len(todo), size)]


def in_order(
    client: Any, todo: list[Part[B]], count: Callable[[Iterable[B]], S]
) -> Generator[Outcome, None, None]:
    """Keep some tasks running, and hand over what they send in the order of merging."""
    at_once = threads(client)
    waiting, running = iter(tasks(todo, at_once)), deque[Any]()
    sent = client.submit(same, count, pure=False)  # once: it may hold large public lists
    ahead = AHEAD * at_once
    try:
        while True:
            for some in islice(waiting, ahead - len(running)):
                running.append(client.submit(all_counted, some, sent, pure=False))
            if not running:
                return
            yield from arrived(client, running.popleft())
    finally:  # also after an error or Ctrl-C: nothing more is begun
        client.cancel(list(running))


def arrived(client: Any, task: Any) -> list[Outcome]:
    """Wait for a task; give up where the cluster has had no worker for a minute."""
    missing = 0
    while missing < PATIENCE:
        try:
            outcomes: list[Outcome] = task.result(timeout=LOOK_SECONDS)
            return outcomes
        except TimeoutError:
            missing = 0 if client.nthreads() else missing + 1
        except Exception as error:  # the task took several workers with it
            return [Outcome(problem=type(error).__name__)]
    raise FileProblem(
        "The cluster has no worker left, so counting cannot go on. Look at the workers' own logs, "
        "start new ones and ask again; nothing was released."
    )
