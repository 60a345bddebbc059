"""Tables of counts made elsewhere."""

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from noren.association.summary import read_tables
from noren.errors import FileProblem, NorenError, ParameterError, SchemaError


def test_a_table_is_read_whatever_its_form(tmp_path):
    (tmp_path / "t.csv").write_text("SNP,b,a,chrom,pos\nrs1,1,2,1,7\nrs2,3,4,X,9\n")
    (tmp_path / "t.tsv").write_text("snp\ta\tb\nrs1\t2\t1\nrs2\t4\t3\n")
    columns = {"snp": ["rs1", "rs2"], "a": [2, 4], "b": [1, 3], "position": [7, 9]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    for name in ("t.csv", "t.tsv", "t.parquet"):
        tables = read_tables(tmp_path / name, 10, 20)
        assert (tables.a.tolist(), tables.b.tolist()) == ([2, 4], [1, 3])
        assert tables.sites.names == ("rs1", "rs2")
        assert (tables.cases, tables.controls, tables.step) == (10, 20, 1)
    assert read_tables(tmp_path / "t.csv", 10, 20).sites.chromosomes == ("1", "X")
    assert read_tables(tmp_path / "t.parquet", 10, 20, 2).sites.positions == (7, 9)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("snp,a\nrs1,17\n", FileProblem), ("snp,a,b\nrs1,17,\n", FileProblem),
        ("snp,a,b\nrs1,17,1\nrs1,17,1\n", SchemaError),
        ("snp,a,b\nrs1,17,1\nrs2,17\n", FileProblem),
        ("snp,a,b\nrs1,17.5,1\n", ParameterError), ("snp,a,b\nrs1,many 17,1\n", ParameterError),
        ("snp,a,b\nrs1,17,1\n", ParameterError), ("snp,a,b,pos\nrs1,7,1,1.5\n", SchemaError),
        ("", FileProblem),
    ],
)  # fmt: skip
def test_a_table_that_is_none_is_refused_without_quoting_counts(tmp_path, text, error):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(error) as caught:
        read_tables(path, 10, 20)
    assert isinstance(caught.value, NorenError)
    assert "17" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FileProblem, match="does not exist"):
        read_tables(tmp_path / "t.csv", 10, 20)
