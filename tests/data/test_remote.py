"""Tables in an object store are read as files are, range by range."""

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noren.data import OWN, Integer, Numeric, Schema, partitions, read
from noren.errors import FileProblem, ParameterError

SCHEMA = Schema(
    [
        Integer(name="k", lower=0, upper=9, missing=OWN),
        Numeric(name="x", lower=-1, upper=1, missing=OWN),
    ]
)


@pytest.fixture
def table():
    draw = np.random.default_rng(7)
    return pa.table({"k": draw.integers(0, 10, 5000), "x": draw.uniform(-1, 1, 5000).round(6)})


@pytest.fixture
def store():
    fs = fsspec.filesystem("memory")
    yield fs
    fs.rm("/noren-test", recursive=True)


def blocks_of(paths):
    found = list(read(paths, SCHEMA))
    return [np.concatenate([block[name] for block in found]).tolist() for name in ("k", "x")]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_in_memory_is_read_as_the_file_is(tmp_path, store, table, form):
    path = tmp_path / f"table.{form}"
    if form == "csv":
        lines = ["k,x", *(f"{k},{x}" for k, x in zip(*table.to_pydict().values(), strict=True))]
        path.write_text("\n".join(lines) + "\n")
    else:
        pq.write_table(table, path, row_group_size=500)
    url = f"memory://noren-test/table.{form}"
    store.pipe("/noren-test/" + path.name, path.read_bytes())
    assert blocks_of(url) == blocks_of(path)
    parts = partitions(url, SCHEMA, piece_bytes=9000)
    assert len(parts) > 3
    together = [block["k"] for part in parts for block in part.read()]
    assert np.concatenate(together).tolist() == table["k"].to_pylist()
    assert parts[0].id.startswith(url)


def test_a_url_of_nothing_or_with_credentials_is_refused(store):
    store.pipe("/noren-test/a.npz", b"1")
    with pytest.raises(FileProblem, match="cannot be opened"):
        partitions("memory://noren-test/absent.csv", SCHEMA)
    with pytest.raises(FileProblem, match="cannot be opened"):
        partitions("nowhere://noren-test/absent.csv", SCHEMA)
    with pytest.raises(FileProblem, match="Copy it first"):
        partitions("memory://noren-test/a.npz", SCHEMA)
    with pytest.raises(ParameterError) as caught:
        partitions("ftp://me:PRIVATE-7731@host/a.csv", SCHEMA)
    assert "PRIVATE-7731" not in str(caught.value)
