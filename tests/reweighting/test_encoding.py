"""Points from declared tables: each cell by itself, by public bounds and levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data import (
    DROP,
    OWN,
    Boolean,
    Categorical,
    Integer,
    Numeric,
    Ordered,
    Schema,
    Text,
    block_of,
    fill,
)
from noren.errors import ParameterError, SchemaError
from noren.reweighting.encoding import Encoding
from noren.reweighting.public_table import PublicTable

SCHEMA = Schema(
    [
        Numeric(name="income", lower=0, upper=100, missing=OWN),
        Integer(name="age", lower=0, upper=80, missing=fill(40)),
        Ordered(name="school", categories=("none", "some", "much"), missing=OWN),
        Boolean(name="smokes", missing=OWN),
        Categorical(name="town", categories=("Nara", "Uji"), other="else", missing=OWN),
        Text(name="note", missing=fill("")),
    ]
)
PUBLIC = {
    "income": [0, 50, 100, None],
    "age": [20, 40, 60, 80],
    "school": ["none", "some", "much", ""],
    "smokes": ["yes", "no", "", "no"],
    "town": ["Nara", "Uji", "Osaka", ""],
    "note": ["a", "b", "c", "d"],
}


def encoding() -> Encoding:
    return Encoding.of(SCHEMA, block_of(PUBLIC, SCHEMA))


def test_numbers_and_ranks_lie_between_minus_one_and_one_with_a_flag_for_what_is_missing():
    points = encoding().encode(block_of(PUBLIC, SCHEMA))
    assert points[:, 0].tolist() == [-1, 0, 1, 0]
    assert points[:, 1].tolist() == [0, 0, 0, 1]
    assert points[:, 2].tolist() == [-0.5, 0, 0.5, 1]
    assert points[:, 3].tolist() == [-1, 0, 1, 0]


def test_two_levels_lie_at_distance_one_and_so_do_yes_and_no():
    found = encoding()
    points = found.encode(block_of(PUBLIC, SCHEMA))
    town = next(column for column in found.columns if column.name == "town")
    levels = points[:, town.start : town.stop]
    assert np.linalg.norm(levels[0] - levels[1]) == pytest.approx(1, abs=1e-12)
    smokes = next(column for column in found.columns if column.name == "smokes")
    assert points[0, smokes.start] - points[1, smokes.start] == 1


def test_columns_share_out_the_coordinates_and_text_has_none():
    found = encoding()
    assert [column.name for column in found.columns] == [
        "income",
        "age",
        "school",
        "smokes",
        "town",
    ]
    assert found.columns[-1].stop == len(found.coordinates)
    assert [column.kind for column in found.columns][-2:] == ["ordered", "categorical"]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.floats(), st.text(max_size=4), st.none()),
            st.one_of(st.integers(), st.text(max_size=4)),
            st.text(max_size=5),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_private_row_is_encoded_by_itself_whatever_it_holds(rows):
    found = encoding()

    def encoded(cells):
        income, age, town = zip(*cells, strict=True)
        table = {"income": [str(cell) for cell in income], "age": [str(cell) for cell in age]}
        table |= {"town": list(town), "school": [""] * len(cells), "smokes": ["?"] * len(cells)}
        return found.encode(block_of(table, found.schema))

    together = encoded(rows)
    assert np.abs(together).max() <= 1
    for place, row in enumerate(rows):
        assert (encoded([row]) == together[place]).all()


def test_a_column_that_is_constant_in_public_is_left_out_with_a_notice():
    table = PUBLIC | {"town": ["Uji"] * 4}
    found = Encoding.of(SCHEMA, block_of(table, SCHEMA))
    assert "town" not in [column.name for column in found.columns]
    assert any("town" in notice and "constant" in notice for notice in found.notices)


def test_levels_that_no_public_row_has_are_named():
    table = PUBLIC | {"town": ["Nara", "Uji", "Uji", "Nara"]}
    notices = Encoding.of(SCHEMA, block_of(table, SCHEMA)).notices
    assert any("town = else" in notice and "town = missing" in notice for notice in notices)


def test_a_rule_that_drops_records_is_refused():
    schema = Schema([Integer(name="age", lower=0, upper=9, missing=DROP)])
    with pytest.raises(SchemaError, match="keeps every row"):
        Encoding.of(schema, block_of({"age": [1, 2]}, schema))


def test_public_tables_that_cannot_speak_are_refused():
    schema = Schema([Integer(name="age", lower=0, upper=9, missing=OWN)])
    with pytest.raises(ParameterError, match="two rows"):
        Encoding.of(schema, block_of({"age": [1]}, schema))
    with pytest.raises(SchemaError, match="one single value"):
        Encoding.of(schema, block_of({"age": [1, 1]}, schema))
    with pytest.raises(SchemaError, match="text columns only"):
        PublicTable.of(PUBLIC, Schema([Text(name="note", missing=fill(""))]))


def test_marginals_add_up_and_follow_the_weights():
    public = PublicTable.of(PUBLIC, SCHEMA)
    shares = dict(public.marginals([4, 0, 0, 0]))
    assert set(shares) == {"income", "age", "school", "smokes", "town"}
    for levels in shares.values():
        assert sum(even for _, even, _ in levels) == pytest.approx(1)
        assert sum(told for _, _, told in levels) == pytest.approx(1)
    assert ("Nara", 0.25, 1.0) in shares["town"]
    assert ("missing", 0.25, 0.0) in shares["income"]


def test_the_table_comes_back_as_it_was_with_one_column_more(tmp_path):
    path = tmp_path / "public.csv"
    path.write_text("id,age\n007,1\n008,2\n")
    schema = Schema([Integer(name="age", lower=0, upper=9, missing=OWN)])
    table = PublicTable.of(path, schema).weighted([0.5, 1.5])
    assert table.to_pydict() == {"id": ["007", "008"], "age": ["1", "2"], "weight": [0.5, 1.5]}
    with pytest.raises(ParameterError, match="does not have yet"):
        PublicTable.of(path, schema).weighted([1, 1], "age")
