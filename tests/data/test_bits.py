"""Packed bits: the layout, and that packing never depends on what it should not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from noren.data import bits, column_counts, pack, pack_indices, row_counts, unpack, words_for
from noren.errors import ParameterError

shapes = st.tuples(st.integers(0, 9), st.integers(1, 200))
matrices = shapes.flatmap(lambda shape: arrays(np.bool_, shape))

# 1. oracle


@pytest.mark.parametrize(("columns", "words"), [(1, 1), (63, 1), (64, 1), (65, 2), (2048, 32)])
def test_a_record_takes_one_word_for_64_columns(columns, words):
    assert words_for(columns) == words


def test_column_h_is_bit_h_mod_64_of_word_h_div_64():
    dense = np.zeros((3, 130), int)
    dense[0, [0, 63]] = dense[1, 64] = dense[2, 129] = 1
    assert pack(dense).tolist() == [[1 + 2**63, 0, 0], [0, 1, 0], [0, 0, 2]]


# 2. property


@given(matrices)
def test_packing_agrees_with_python_integers_and_comes_back(dense):
    words = pack(dense)
    assert words.dtype == np.uint64
    for row, packed in zip(dense, words, strict=True):
        number = sum(1 << h for h in np.flatnonzero(row).tolist())
        assert sum(int(word) << 64 * i for i, word in enumerate(packed)) == number
    assert (unpack(words, dense.shape[1]) == dense).all()
    assert row_counts(words).tolist() == dense.sum(axis=1).tolist()
    assert column_counts(words, dense.shape[1]).tolist() == dense.sum(axis=0).tolist()


@given(matrices, st.integers(1, 64))
def test_sparse_and_dense_records_pack_alike_in_stretches_of_any_size(dense, stretch):
    columns = np.nonzero(dense)[1]
    indptr = np.concatenate([[0], np.cumsum(dense.sum(axis=1))]).astype(np.int64)
    whole = pack(dense)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "STRETCH", stretch)
        assert (pack(dense) == whole).all()
        assert (pack_indices(indptr, columns, dense.shape[1]) == whole).all()
        assert (column_counts(whole, dense.shape[1]) == dense.sum(axis=0)).all()


@given(arrays(np.int8, shapes))
def test_any_value_but_zero_is_a_one(dense):
    assert (unpack(pack(dense), dense.shape[1]) == (dense != 0)).all()


def test_repeated_indices_count_once_and_undeclared_ones_not_at_all():
    assert pack_indices([0, 5], [1, 1, 9, -1, 2**40], n_columns=4).tolist() == [[2]]


# 4. misuse


@pytest.mark.parametrize(
    "dense", [np.zeros(3, bool), np.zeros((2, 2)), np.zeros((2, 0), bool), np.array([["a"]])]
)
def test_what_is_no_matrix_of_bits_is_refused(dense):
    with pytest.raises(ParameterError, match="two-dimensional"):
        pack(dense)


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([], []), ([1, 2], [7731, 7731]), ([0, 1], []), ([0, 2, 1], [7731]), ([0.0, 1.0], [7731])],
)
def test_a_broken_row_index_is_refused_without_quoting_it(indptr, indices):
    with pytest.raises(ParameterError, match="row index") as caught:
        pack_indices(indptr, indices, n_columns=9)
    assert "7731" not in str(caught.value)


def test_words_of_another_width_are_refused():
    for call in (unpack, column_counts):
        with pytest.raises(ParameterError, match="n_columns is 65"):
            call(np.zeros((2, 1), np.uint64), 65)
