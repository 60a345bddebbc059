"""Counting partitions on threads: the same statistic, bit for bit, however it is run."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.data import DROP, Integer, Partition, Schema, partitions
from noren.engine import Engine, LocalEngine, distinct, merged, run
from noren.engine.merging import natural
from noren.errors import NorenError, ParameterError, PartitionFailed, SchemaError

CANARY = "PRIVATE-7731"


def part(name, *blocks):
    """Make a partition of some blocks in memory."""
    return Partition(name, lambda: iter(blocks))


@dataclass(frozen=True)
class Path:
    """A statistic that remembers how it was merged."""

    tree: object

    def __add__(self, other):
        return Path((self.tree, other.tree))


def leaves(tree):
    return [leaf for side in tree for leaf in leaves(side)] if isinstance(tree, tuple) else [tree]


# 1. oracle


def test_four_partitions_merge_as_a_balanced_tree_and_three_as_its_beginning():
    assert merged(map(Path, "abcd")).tree == (("a", "b"), ("c", "d"))
    assert merged(map(Path, "abc")).tree == (("a", "b"), "c")
    assert merged(map(Path, "a")).tree == "a"


def test_ids_are_ordered_as_people_order_them():
    names = ["f10#bytes=0-9", "f9#bytes=100-200", "f9#bytes=20-100", "f9", "g", "f09", ""]
    assert sorted(names, key=natural) == [
        "",
        "f09",
        "f9",
        "f9#bytes=20-100",
        "f9#bytes=100-200",
        "f10#bytes=0-9",
        "g",
    ]
    pieces = [part(name) for name in names]
    assert [piece.id for piece in distinct(pieces)] == sorted(names, key=natural)
    assert natural("7" * 10_000) > natural("6" * 10_000)


def test_counts_from_files_equal_the_plain_count(tmp_path):
    ages = np.arange(5000) * 7 % 97
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    schema = Schema([Integer(name="age", lower=0, upper=96, missing=DROP)])

    def histogram(blocks):
        return sum((np.bincount(b["age"], minlength=97) for b in blocks), np.zeros(97, int))

    pieces = partitions(path, schema, piece_bytes=999, rows=100)
    assert len(pieces) > 9
    assert (run(pieces, histogram, workers=3) == np.bincount(ages)).all()


# 2. property

floats = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40)


@settings(max_examples=60)
@given(values=floats, workers=st.integers(1, 4), data=st.data())
def test_float_sums_repeat_bit_for_bit_in_any_order_and_with_repetitions(values, workers, data):
    pieces = [part(f"p{i}", value) for i, value in enumerate(values)]
    again = data.draw(st.lists(st.sampled_from(pieces), max_size=5))
    listed = data.draw(st.permutations([*pieces, *again]))
    assert run(listed, sum, workers=workers) == run(pieces, sum, workers=1)


@given(st.lists(st.integers(), min_size=1, max_size=70))
def test_the_merge_keeps_the_order_and_takes_each_statistic_once(values):
    tree = merged(map(Path, values)).tree
    assert leaves(tree) == values


@given(st.integers(1, 300))
def test_the_merge_holds_few_statistics_at_a_time(n):
    alive = most = 0

    class Counted:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

        def __add__(self, other):
            return Counted()

    merged(Counted() for _ in range(n))
    assert most <= n.bit_length() + 3


def test_a_partition_listed_twice_is_read_once():
    read = []
    pieces = [Partition(name, lambda name=name: iter([read.append(name)])) for name in "abab"]
    assert run(pieces, lambda blocks: len(list(blocks))) == 2
    assert sorted(read) == ["a", "b"]


def test_few_partitions_are_in_flight_however_many_there_are():
    begun, most = [0], [0]
    finished = [0]

    def count(blocks):
        begun[0] += 1
        return len(list(blocks))

    def progress(done, total):
        finished[0] = done
        most[0] = max(most[0], begun[0] - done)

    assert run([part(f"{i}", 1) for i in range(200)], count, workers=2, progress=progress) == 200
    assert most[0] <= 2 * 2 + 1


def test_progress_tells_every_step_once_and_in_order():
    told = []
    pieces = [part(f"{i}", i) for i in range(7)] + [part("3", 3)]
    run(pieces, sum, workers=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 7) for done in range(8)]


def test_another_engine_takes_the_same_partitions_and_count():
    class Serial:
        def run(self, partitions, count, *, progress=None):
            return merged(count(piece.read()) for piece in distinct(partitions))

    engine: Engine = Serial()
    pieces = [part(f"{i}", 0.1 * i) for i in range(30)]
    assert run(pieces, sum, engine=engine) == run(pieces, sum)


# 4. misuse


def test_a_partition_that_fails_stops_the_run_and_its_text_is_held_back():
    def count(blocks):
        for block in blocks:
            if block == 5:
                raise KeyError(CANARY)
        return 1

    with pytest.raises(PartitionFailed, match="KeyError") as caught:
        run([part(f"{CANARY}-{i}", i) for i in range(50)], count, workers=2)
    error = caught.value
    assert CANARY not in str(error)
    assert error.__context__ is None
    assert error.__cause__ is None
    assert error.exit_code == 1


def test_an_error_raised_on_purpose_comes_through_without_what_it_was_made_from():
    def count(blocks):
        list(blocks)
        try:
            raise ValueError(CANARY)
        except ValueError as error:
            raise SchemaError("Column 'age' is declared integer.") from error

    with pytest.raises(SchemaError, match="'age'") as caught:
        run([part("a", 1)], count)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_merge_that_fails_is_held_back_too():
    class Odd:
        def __add__(self, other):
            raise ValueError(CANARY)

    with pytest.raises(PartitionFailed, match="ValueError") as caught:
        run([part("a", 1), part("b", 1)], lambda blocks: Odd())
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_run_ends_its_threads_soon_and_begins_nothing_more(interruption):
    begun = []
    first_done = threading.Event()

    def endless():
        begun.append(1)
        while True:
            yield first_done.wait(0.001)

    def interrupt(done, total):
        if done == 1:
            raise interruption

    pieces = [part("0", 1), *(Partition(f"{i}", endless) for i in range(1, 50))]
    with pytest.raises(interruption):
        run(pieces, lambda blocks: sum(1 for _ in blocks), workers=2, progress=interrupt)
    assert len(begun) <= 4
    assert not [t for t in threading.enumerate() if t.name.startswith("noren")]


def test_what_is_being_read_is_closed_when_a_run_is_called_off():
    opened, closed = threading.Event(), threading.Event()

    def blocks():
        opened.set()
        try:
            while True:
                yield 1
        finally:
            closed.set()

    kept = blocks()  # kept here, so that it is not closed by being forgotten

    def fail():
        opened.wait(5)
        raise ZeroDivisionError

    with pytest.raises(PartitionFailed):
        run([Partition("0", fail), Partition("1", lambda: kept)], sum, workers=2)
    assert closed.is_set()


def test_what_cannot_be_run_is_refused_in_words():
    with pytest.raises(ParameterError, match="at least one partition"):
        run([], sum)
    with pytest.raises(ParameterError, match="an object with an id"):
        run(["t.csv"], sum)
    with pytest.raises(ParameterError, match="merged with"):
        run([part("a", 1)], lambda blocks: None)
    for workers in (0, -1, 1.5, "many", True):
        with pytest.raises(ParameterError, match="workers"):
            LocalEngine(workers=workers)


def test_no_error_of_the_engine_names_a_range_or_a_count(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "3\n" * 7731)
    pieces = partitions(
        path, Schema([Integer(name="age", lower=0, upper=9, missing=DROP)]), piece_bytes=5000
    )

    def count(blocks):
        raise RuntimeError(f"{sum(len(block) for block in blocks)}")

    with pytest.raises(NorenError) as caught:
        run(pieces, count)
    assert not any(digit in str(caught.value) for digit in "0123456789")
