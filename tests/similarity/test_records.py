"""Records from every kind of file, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from scipy import sparse

from noren.errors import FileProblem, NotPrivate, ParameterError, SchemaError
from noren.similarity import Records, scores
from noren.testing import seeded_noise

BITS = np.array([[1, 0, 0, 0, 1], [1, 1, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
IDS = ("ann", "bob", "cy", "di")
NAMES = ("flu", "cold", "cough", "fever", "rash")


def pairs():
    return [(IDS[i], NAMES[h]) for i, h in np.argwhere(BITS)]


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def wide(rows=BITS):
    lines = [",".join(("id", *NAMES))]
    return "\n".join(
        lines + [",".join(map(str, (i, *row))) for i, row in zip(IDS, rows.tolist(), strict=True)]
    )


def test_wide_and_long_csv_and_parquet_hold_the_same_records(tmp_path):
    csv = write(tmp_path, "wide.csv", wide())
    long = write(tmp_path, "long.csv", "id,item\n" + "\n".join(f"{i},{h}" for i, h in pairs()))
    table = pa.table({"id": IDS} | {n: BITS[:, h].astype(bool) for h, n in enumerate(NAMES)})
    parquet.write_table(table, tmp_path / "wide.parquet")
    rows, items = zip(*pairs(), strict=True)
    parquet.write_table(pa.table({"id": rows, "item": items}), tmp_path / "long.parquet")
    for path in (csv, tmp_path / "wide.parquet"):
        records = Records.read(path)
        assert (records.bits() == BITS).all()
        assert (records.ids, records.names) == (IDS, NAMES)
    for path in (long, tmp_path / "long.parquet"):
        records = Records.read(path, names=NAMES, ids=IDS)
        assert (records.bits() == BITS).all()
        assert set(Records.read(path).names) == set(NAMES)


def test_npz_in_three_forms(tmp_path):
    sparse.save_npz(tmp_path / "csr.npz", sparse.csr_matrix(BITS))
    np.savez(tmp_path / "bits.npz", bits=BITS, ids=IDS, names=NAMES)
    np.savez(tmp_path / "words.npz", words=Records.of(BITS).words, n_columns=5)
    for name in ("csr.npz", "bits.npz", "words.npz"):
        assert (Records.read(tmp_path / name).bits() == BITS).all()
    assert Records.read(tmp_path / "bits.npz").ids == IDS


def test_stored_zeros_of_a_sparse_matrix_are_zeros(tmp_path):
    matrix = sparse.csr_matrix(BITS)
    matrix.data[0] = 0
    sparse.save_npz(tmp_path / "csr.npz", matrix)
    assert (Records.read(tmp_path / "csr.npz").bits() == matrix.toarray()).all()


def test_fingerprints_keep_their_bits_and_ids(tmp_path):
    text = "#FPS1\n#num_bits=16\n0180\tfirst\nff00\tsecond\n"
    records = Records.read(write(tmp_path, "some.fps", text))
    assert records.ids == ("first", "second")
    assert np.flatnonzero(records.bits()[0]).tolist() == [0, 15]
    assert np.flatnonzero(records.bits()[1]).tolist() == list(range(8))


def test_watched_films_need_no_later_fields(tmp_path):
    records = Records.read(write(tmp_path, "u.data", "2\t10\t5\t881\n10\t2\n2\t2\n"))
    assert (records.ids, records.names) == (("2", "10"), ("2", "10"))
    assert records.bits().tolist() == [[1, 1], [1, 0]]


def test_objects_that_list_their_on_bits_are_read():
    class Fingerprint:
        def GetOnBits(self):  # noqa: N802
            return [0, 4]

        def GetNumBits(self):  # noqa: N802
            return 5

    assert Records.of([Fingerprint()]).bits().tolist() == [[1, 0, 0, 0, 1]]


@pytest.mark.parametrize("cell", ["2", "", "nan", "-1", "x"])
def test_a_cell_that_is_no_bit_is_refused_by_its_column_alone(tmp_path, cell):
    path = write(tmp_path, "bad.csv", wide().replace("bob,1", f"bob,{cell}"))
    with pytest.raises(SchemaError, match="Column 'flu'") as refused:
        Records.read(path)
    assert "bob" not in str(refused.value)


def test_bad_matrices_are_refused():
    for rows in ([[0.5, 1]], [[2, 1]], [[float("nan"), 1]]):
        with pytest.raises(SchemaError, match="Column 0"):
            Records.of(rows)
    for rows in ([[1, 0], [1]], [1, 0], [], [[]]):
        with pytest.raises(ParameterError):
            Records.of(rows)


def test_public_names_must_fit_and_differ():
    with pytest.raises(ParameterError, match="twice"):
        Records.of(BITS, ids=["a", "b", "a", "c"])
    with pytest.raises(ParameterError, match="one name for each"):
        Records.of(BITS, names=["a"])


def test_a_promise_that_the_data_does_not_keep_is_refused():
    assert Records.of(BITS, min_weight=2).min_weight == 2
    with pytest.raises(SchemaError, match="promise"):
        Records.of(BITS, min_weight=3)


def test_a_damaged_file_is_refused_without_quoting_it(tmp_path):
    path = write(tmp_path, "some.npz", "secret words")
    with pytest.raises(FileProblem) as refused:
        Records.read(path)
    assert "secret" not in str(refused.value)
    with pytest.raises(FileProblem, match="does not exist"):
        Records.read(tmp_path / "none.npz")


def test_partitions_are_put_one_below_the_other():
    records = Records.of(BITS[:1], ids=IDS[:1]) + Records.of(BITS[1:], ids=IDS[1:])
    assert (records.bits() == BITS).all()
    assert records.ids == IDS
    with pytest.raises(ParameterError):
        records + Records.of([[1, 0]])


def test_a_query_is_a_set_of_columns_however_it_is_written():
    records = Records.of(BITS, names=NAMES)
    for query in (
        ["cold", "cough", "fever"], ["fever", "cold", "cough", "cold"], "cold, cough,fever",
        [1, 2, 3], [0, 1, 1, 1, 0], "01110", np.array([0, 1, 1, 1, 0]), {"cold", "cough", "fever"},
    ):  # fmt: skip
        assert scores(records, query).tolist() == [0, 2, 2, 1]
    assert scores(records, [0, 0, 0, 0, 0]).tolist() == [0, 0, 0, 0]


def test_a_query_by_example_is_refused_by_its_origin():
    records = Records.of(BITS, names=NAMES, ids=IDS)
    for query in (records, records.words[0], ["bob"], "bob"):
        with pytest.raises(NotPrivate, match="query by example"):
            scores(records, query)
    assert scores(records, BITS[1]).max() == 3  # the same bits from elsewhere are not compared


@pytest.mark.parametrize("query", [["nothing"], [5], [-1], np.array([1, 0]), [0.5], [True]])
def test_a_query_about_other_columns_is_refused(query):
    with pytest.raises(ParameterError, match="query"):
        scores(Records.of(BITS, names=NAMES), query)


def test_records_show_their_sizes_only():
    assert repr(Records.of(BITS)) == "Records(4 records, 5 columns)"
    assert "Postings(5 columns)" in repr(Records.of(BITS).prepare().postings)


def test_packed_bytes_and_plain_arrays_are_read(tmp_path):
    packed = np.packbits(BITS, axis=1, bitorder="little")
    np.savez(tmp_path / "bytes.npz", words=packed, n_columns=5)
    np.save(tmp_path / "bits.npy", BITS)
    for made in (
        Records.read(tmp_path / "bytes.npz"),
        Records.read(tmp_path / "bits.npy"),
        Records.of_packed(packed, 5),
        Records.of_packed(Records.of(BITS).words, 5),
    ):
        assert (made.bits() == BITS).all()


def test_packed_rows_that_do_not_fit_are_refused():
    words = Records.of(BITS).words
    for rows, width in ((words, 70), (words.astype(np.int64), 5), (np.zeros((2, 3), np.uint8), 5)):
        with pytest.raises(ParameterError):
            Records.of_packed(rows, width)
    with pytest.raises(SchemaError, match="past their last column"):
        Records.of_packed(words, 4)


@pytest.mark.parametrize("line", ["01\tshort", "018000\tlong", "0g80\tno hex"])
def test_fingerprints_of_another_length_are_refused(tmp_path, line):
    path = write(tmp_path, "some.fps", f"#num_bits=16\n0180\tfirst\n{line}\n")
    with pytest.raises(FileProblem) as refused:
        Records.read(path)
    assert "0180" not in str(refused.value)


def test_a_pair_without_an_item_is_refused(tmp_path):
    with pytest.raises(SchemaError, match="missing"):
        Records.read(write(tmp_path, "long.csv", "id,item\nann,flu\nbob,\n"))


def test_public_names_are_given_to_a_file_that_has_none_and_to_no_other(tmp_path):
    sparse.save_npz(tmp_path / "csr.npz", sparse.csr_matrix(BITS))
    records = Records.read(tmp_path / "csr.npz", names=NAMES, ids=IDS)
    assert (records.names, records.ids) == (NAMES, IDS)
    with pytest.raises(ParameterError, match="has its own"):
        Records.read(write(tmp_path, "wide.csv", wide()), names=NAMES)


def test_a_record_without_items_is_one_where_the_public_list_says_so(tmp_path):
    path = write(tmp_path, "long.csv", "id,item\nann,flu\nxx,flu\nann,yy\n")
    records = Records.read(path, ids=IDS, names=NAMES)
    assert len(records) == 4
    assert records.weights().tolist() == [1, 0, 0, 0]


def test_shuffled_records_keep_their_ids_and_nothing_of_their_order():
    records = Records.of(BITS, ids=IDS, names=NAMES, min_weight=2).prepare()
    places = set()
    for seed in range(40):
        mixed, order = records.shuffled(seeded_noise(seed))
        assert (mixed.bits() == BITS[order]).all()
        assert mixed.ids == tuple(IDS[row] for row in order)
        assert (mixed.names, mixed.min_weight, mixed.postings) == (NAMES, 2, None)
        places.add(mixed.ids.index("ann"))
    assert places == {0, 1, 2, 3}
    bare, order = Records.of(BITS).shuffled(seeded_noise(3))
    assert bare.ids is None
    assert (bare.bits() == BITS[order]).all()


def test_a_header_that_names_a_column_twice_is_refused_by_name(tmp_path):
    (tmp_path / "twice.csv").write_text("id,a,a\nx,1,0\n")
    with pytest.raises(ParameterError, match="'a' twice"):
        Records.read(tmp_path / "twice.csv")
