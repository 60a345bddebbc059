"""Tables: what is a table, what can be merged, and what must not be told."""

import pickle

import numpy as np
import pytest

from noren.association.statistic import Tables, concatenate
from noren.data.sites import Sites
from noren.errors import ParameterError, SchemaError


def test_people_of_other_sites_are_added_at_the_same_variants():
    names = Sites(("x", "y"))
    merged = Tables([1, 2], [3, 4], 5, 6, sites=names) + Tables([5, 0], [0, 7], 8, 9, sites=names)
    assert merged.a.tolist() == [6, 2]
    assert merged.b.tolist() == [3, 11]
    assert (merged.cases, merged.controls, merged.people) == (13, 15, 28)
    assert merged.sites == names


def test_variants_are_put_side_by_side():
    first = Tables([1], [2], 5, 6, sites=Sites(("x",)))
    second = Tables([3, 4], [0, 1], 5, 6, sites=Sites(("y", "z")))
    both = concatenate([first, second])
    assert both.a.tolist() == [1, 3, 4]
    assert both.sites.names == ("x", "y", "z")
    assert both.select([2, 0]).sites.names == ("z", "x")
    assert both.select(np.array([False, True, True])).a.tolist() == [3, 4]
    assert both.select(slice(1, None)).b.tolist() == [0, 1]


def test_a_variant_cannot_be_listed_twice():
    with pytest.raises(SchemaError, match="listed twice"):
        concatenate([Tables([1], [2], 5, 6, sites=Sites(("x",)))] * 2)


@pytest.mark.parametrize(
    "other",
    [
        Tables([1, 2, 3], [0, 0, 0], 5, 5),
        Tables([2, 2], [0, 0], 6, 6, step=2),
        Tables([1, 2], [0, 0], 5, 5, sites=Sites(("x", "y"))),
    ],
)
def test_tables_at_other_variants_are_not_added(other):
    with pytest.raises(ParameterError, match="same variants"):
        Tables([1, 2], [0, 0], 5, 5) + other


def test_tables_of_other_groups_are_not_put_side_by_side():
    with pytest.raises(ParameterError, match="same people"):
        concatenate([Tables([1], [2], 5, 6), Tables([1], [2], 6, 5)])
    with pytest.raises(ParameterError, match="at least one"):
        concatenate([])


def test_whole_numbers_are_taken_in_any_form():
    for a in (3, np.int8(3), 3.0, np.float32(3)):
        assert Tables(a, 0, 5, 5).a == 3
    assert Tables([3.0, 4.0], np.array([0, 1], np.uint8), 5, 5).a.tolist() == [3, 4]


@pytest.mark.parametrize(
    "a",
    [True, [True, False], 3.7, [1.0, float("nan")], -7, 777, [0, 777], None, "7", [[1], [2, 3]],
     10**30],
)  # fmt: skip
def test_what_is_not_a_count_is_refused_and_not_quoted(a):
    with pytest.raises(ParameterError) as caught:
        Tables(a, [0, 1] if isinstance(a, list) else 0, 5, 5)
    assert caught.value.name == "a"
    assert "7" not in str(caught.value)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None, float("inf"), 2**62])
@pytest.mark.parametrize("group", ["cases", "controls"])
def test_both_groups_need_somebody(group, size):
    with pytest.raises(ParameterError, match=group):
        Tables(0, 0, **{"cases": 5, "controls": 5, group: size})


def test_alleles_come_in_twos():
    with pytest.raises(ParameterError, match="even"):
        Tables(1, 1, 5, 6, step=2)
    for step in (0, 3, True, "1", None):
        with pytest.raises(ParameterError, match="step"):
            Tables(1, 1, 6, 6, step=step)


def test_shapes_must_agree():
    with pytest.raises(ParameterError, match="shape"):
        Tables([1, 2], [1], 5, 5)
    with pytest.raises(ParameterError, match="shape"):
        Tables([[1, 2]], [[1, 2]], 5, 5)
    with pytest.raises(ParameterError, match="sites"):
        Tables([1, 2], [1, 2], 5, 5, sites=Sites(("x",)))


def test_a_table_shows_its_shape_only():
    shown = repr(Tables([41, 3], [17, 0], 200, 300)) + str(Tables([41, 3], [17, 0], 200, 300))
    assert "200 cases" in shown
    assert "41" not in shown
    assert "17" not in shown


def test_tables_cannot_be_changed_and_can_be_sent():
    given = np.array([1, 2])
    tables = Tables(given, [0, 1], 5, 5)
    given[0] = 4
    assert tables.a.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        tables.a[0] = 4
    assert pickle.loads(pickle.dumps(tables)).a.tolist() == [1, 2]
