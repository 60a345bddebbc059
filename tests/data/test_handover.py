"""A statistic file says what it holds, is checked before it is believed, and quotes nothing."""

import json
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noren.data.handover import KEY, Kind, kind_of, open_statistic, write_statistic
from noren.errors import FileProblem, SchemaError

KIND = Kind("counts", {"name": pa.string(), "count": pa.int64()}, {"place": pa.int64()})
ROWS = Kind("rows", {"y": pa.float64()}, numbered="x")
CANARY = 918273


def written(path, **changed):
    about = {"format": 1, "kind": "counts", "public": {}} | changed
    table = pa.table({"name": ["a", "b"], "count": pa.array([CANARY, 2], pa.int64())})
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(about)}), path)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "counted.parquet"


def test_what_is_written_is_read_in_its_types_and_is_the_owners_only(path):
    write_statistic(path, KIND, {"size": 7}, [{"name": ["a", "b"], "count": [1, 2]}])
    file = open_statistic(path, KIND)
    assert (file.public, file.columns) == ({"size": 7}, ("name", "count"))
    assert file.whole()["count"].to_pylist() == [1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kind_of(path) == "counts"
    assert "2" not in repr(file)


def test_further_and_numbered_columns_are_of_the_kind(path):
    write_statistic(path, KIND, {}, [{"name": ["a"], "count": [1], "place": [5]}],
                    ["name", "count", "place"])  # fmt: skip
    assert open_statistic(path, KIND).whole()["place"].to_pylist() == [5]
    write_statistic(path, ROWS, {}, [{"y": [1.0], "x0": [0.5], "x1": [0.25]}], ["y", "x0", "x1"])
    assert open_statistic(path, ROWS).whole()["x1"].to_pylist() == [0.25]


def test_a_table_that_a_warehouse_wrote_may_have_smaller_integers(path):
    table = pa.table({"name": pa.array(["a"], pa.large_string()), "count": pa.array([3], "int16")})
    about = json.dumps({"format": 1, "kind": "counts", "public": {}})
    pq.write_table(table.replace_schema_metadata({KEY: about}), path)
    assert open_statistic(path, KIND).whole()["count"].type == pa.int64()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"format": 2}, "version 2"),
        ({"format": "1"}, "does not say"),
        ({"kind": "sums"}, "'sums'"),
        ({"public": []}, "does not say"),
    ],
)
def test_another_version_or_kind_is_refused_in_words(path, changed, words):
    with pytest.raises((FileProblem, SchemaError), match=words):
        open_statistic(written(path, **changed), KIND)


def test_a_file_without_the_metadata_is_no_statistic(path):
    pq.write_table(pa.table({"name": ["a"], "count": [1]}), path)
    with pytest.raises(FileProblem, match="does not say which"):
        open_statistic(path, KIND)
    assert kind_of(path) is None


@pytest.mark.parametrize(
    "columns",
    [
        {"name": ["a"]},
        {"name": ["a"], "count": [float(CANARY)]},
        {"name": [1], "count": [CANARY]},
        {"name": ["a"], "count": [CANARY], "person": ["x"]},
        {"name": ["a"], "count": pa.array([None], pa.int64())},
    ],
)
def test_other_columns_types_or_gaps_are_refused_and_no_value_is_quoted(path, columns):
    about = json.dumps({"format": 1, "kind": "counts", "public": {}})
    pq.write_table(pa.table(columns).replace_schema_metadata({KEY: about}), path)
    with pytest.raises(SchemaError) as caught:
        open_statistic(path, KIND).whole()
    assert str(CANARY) not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_changed_byte_is_noticed(path):
    rows = {"name": [f"v{i}" for i in range(5000)], "count": list(range(5000))}
    write_statistic(path, KIND, {}, [rows])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileProblem) as caught:
        open_statistic(path, KIND).whole()
    assert caught.value.__context__ is None


def test_nothing_is_left_where_writing_fails(path):
    def parts():
        yield {"name": ["a"], "count": [1]}
        raise SchemaError("stop")

    with pytest.raises(SchemaError):
        write_statistic(path, KIND, {}, parts())
    assert list(path.parent.iterdir()) == []
    with pytest.raises(FileProblem, match="cannot be written"):
        write_statistic(path.parent / "absent" / "f", KIND, {}, [])
