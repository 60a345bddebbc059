"""A cluster counts what this process counts, bit for bit, whatever happens to its workers."""

import os
import signal
import sys
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from noren.data import OWN, Integer, Numeric, Schema, partitions
from noren.engine import run
from noren.engine.dask import TOGETHER, DaskEngine, tasks
from noren.errors import FileProblem, ParameterError, PartitionFailed, SchemaError

CANARY = "PRIVATE-7731"
SCHEMA = Schema(
    [
        Integer(name="k", lower=0, upper=9, missing=OWN),
        Numeric(name="x", lower=-1, upper=1, missing=OWN),
    ]
)


class Sums:
    """Integer counts and a float sum, whose last bits depend on the order of merging."""

    def __init__(self, counts, total):
        self.counts, self.total = counts, total

    def __add__(self, other):
        return Sums(self.counts + other.counts, self.total + other.total)


def sums(blocks):
    counted = Sums(np.zeros(10, np.int64), 0.0)
    for block in blocks:
        counted += Sums(np.bincount(block["k"], minlength=10), float(block["x"].sum()))
    return counted


def sums_after_a_crash(flag, blocks):
    """Kill the worker that counts first: Dask runs its tasks again elsewhere."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return sums(blocks)
    os.kill(os.getpid(), signal.SIGKILL)


def quoting(blocks):
    raise ValueError(CANARY)


def refusing(blocks):
    raise ParameterError("k", "public", "another")


@pytest.fixture(scope="module", autouse=True)
def workers_import_this_file():
    """Workers start with this process's path, and must find what they are sent by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2]), *sys.path])
        yield


@contextmanager
def cluster_of(workers):
    from distributed import LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a busy port for a dashboard
        with LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as started:
            yield started


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(2) as started:
        yield started


@pytest.fixture
def engine(cluster) -> DaskEngine:
    return DaskEngine(cluster.scheduler_address)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    draw = np.random.default_rng(4)
    for name in ("a", "b"):
        rows = zip(draw.integers(0, 10, 5000), draw.normal(0, 1, 5000).round(6), strict=True)
        lines = ["k,x", *(f"{k},{x}" for k, x in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return partitions([folder / "a.csv", folder / "b.csv"], SCHEMA, piece_bytes=9000)


def same(one: Sums, two: Sums) -> bool:
    return one.counts.tolist() == two.counts.tolist() and one.total == two.total


def test_two_workers_count_what_this_process_counts_bit_for_bit(engine, parts):
    assert len(parts) > 10
    assert same(engine.run(parts, sums), run(parts, sums))


def test_a_repeated_partition_counts_once(engine, parts):
    assert same(engine.run([*parts[::-1], *parts], sums), run(parts, sums))


def test_a_worker_that_is_killed_changes_nothing(engine, parts, tmp_path):
    flag = str(tmp_path / "crashed")
    found = engine.run(parts, partial(sums_after_a_crash, flag))
    assert (tmp_path / "crashed").exists()
    assert same(found, run(parts, sums))


def test_a_cluster_without_workers_is_given_up_on(parts, monkeypatch):
    monkeypatch.setattr("noren.engine.dask.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("noren.engine.dask.PATIENCE", 3)
    with cluster_of(0) as empty, pytest.raises(FileProblem, match="no worker left"):
        DaskEngine(empty.scheduler_address).run(parts, sums)


@pytest.mark.parametrize(
    ("many", "threads"), [(1, 1), (12, 2), (13, 2), (60, 2), (1000, 2), (60, 64)]
)
def test_neighbors_travel_together_but_each_thread_has_several_tasks(many, threads):
    made = tasks(list(range(many)), threads)
    assert [part for some in made for part in some] == list(range(many))
    assert max(map(len, made)) <= TOGETHER
    assert len(made) >= min(many, 3 * threads)
    assert len(made) <= max(6 * threads, -(-many // TOGETHER))


def test_progress_is_told_from_none_to_all(engine, parts):
    told = []
    engine.run(parts, sums, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(parts)) for done in range(len(parts) + 1)]


def test_what_a_worker_raises_is_not_quoted(engine, parts):
    with pytest.raises(PartitionFailed) as caught:
        engine.run(parts, quoting)
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


def test_errors_for_users_arrive_whole(engine, parts):
    with pytest.raises(ParameterError, match="k is public"):
        engine.run(parts, refusing)
    with pytest.raises((SchemaError, ParameterError)):
        engine.run([], sums)


def test_a_scheduler_that_is_not_there_is_named(parts):
    with pytest.raises(FileProblem, match=r"127\.0\.0\.1:9"):
        DaskEngine("tcp://127.0.0.1:9").run(parts, sums)


def test_processes_of_this_machine_are_started_where_no_scheduler_is_named(parts):
    assert same(DaskEngine(workers=1).run(parts[:3], sums), run(parts[:3], sums))


def other_version(name):
    return "0.0.7"


def test_workers_with_another_noren_are_refused_before_anything_is_sent(engine, parts, monkeypatch):
    monkeypatch.setattr("noren.engine.dask.version", other_version)
    monkeypatch.setattr("noren.engine.dask.own_version", lambda: "0.1.0")
    with pytest.raises(FileProblem, match=r"have Noren 0\.0\.7, but all must have 0\.1\.0"):
        engine.run(parts, sums)
