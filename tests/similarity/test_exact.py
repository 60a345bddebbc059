"""Scores, confidences, attacks and laws against numbers from outside."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.similarity import (
    Records,
    attacks,
    clamped_geometric,
    confidence,
    dense_ranks,
    detecting_matrix,
    determined_columns,
    formulas,
    laws,
    published_loss,
    rank_confidence,
    revealed_columns,
    score_confidence,
    scores,
    stand_in,
    top_one_cap,
    top_set_inclusion,
)
from noren.similarity import as_published as published
from noren.similarity.scoring import score_batch
from noren.similarity.standin import SHA256, digest

EXAMPLE = Records.of(["10001", "11100", "01100", "00011"])
LN2 = math.log(2)


def test_the_example_has_its_scores_and_ranks():
    found = scores(EXAMPLE, "01110")
    assert found.tolist() == [0, 2, 2, 1]
    assert dense_ranks(found).tolist() == [3, 1, 1, 2]


@pytest.mark.parametrize(
    ("sizes", "q", "expected"),
    [
        ([2, 1, 1], 3, ["11/14", "3/7", "1/14"]),
        ([1, 3], 2, ["10/11", "4/11"]),
        ([2, 2, 3], 4, ["8853/11281", "11737/22562", "2944/11281"]),
        ([1, 1, 1, 1, 1], 4, ["1", "3/4", "1/2", "1/4", "0"]),
        ([4], 2, ["1/2"]),
    ],
)
def test_rank_confidence_matches_the_oracle_table(sizes, q, expected):
    exact = [Fraction(text) for text in expected]
    assert confidence.rank_confidence_exact(sizes, q) == exact
    assert rank_confidence(sizes, q) == pytest.approx([float(x) for x in exact], abs=1e-14)


def test_rank_confidence_of_more_records_and_of_a_product_prior():
    expected = [0.781119243711, 0.621513589887, 0.496334534185]
    assert rank_confidence([1, 10, 30], 8) == pytest.approx(expected, rel=1e-11)
    found = rank_confidence([1, 4, 20], 4, prior=[0.2, 0.1, 0.1, 0.05])
    assert found == pytest.approx([0.517552637558, 0.250016706984, 4.20400877196e-11], rel=1e-10)


def test_rank_confidence_keeps_its_digits_with_many_records():
    sizes = [1, 2, 7, 40, 200, 400, 200, 80, 13]
    exact = [float(x) for x in confidence.rank_confidence_exact(sizes, 64)]
    assert rank_confidence(sizes, 64) == pytest.approx(exact, abs=1e-14)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(6, 12))
def test_rank_confidence_lies_within_its_bounds_and_falls(sizes, q):
    found, b = rank_confidence(sizes, q), len(sizes)
    for j, g in enumerate(found, start=1):
        assert (b - j) / q - 1e-12 <= g <= (q - j + 1) / q + 1e-12
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize(("n", "width"), [(2, 2), (2, 3), (3, 2), (4, 2), (3, 4), (2, 6)])
def test_confidence_is_the_posterior_over_all_databases(n, width):
    """All 2**(n l) databases, at most 4096: the definition itself, for scores and for ranks."""
    query = [h for h in range(width) if h != 1 or width == 2]
    p = np.linspace(0.2, 0.7, width)
    weight, by_scores, by_ranks, seen = {}, {}, {}, {}
    for bits in product((0, 1), repeat=n * width):
        data = np.array(bits).reshape(n, width)
        u = data[:, query].sum(axis=1)
        key = tuple(dense_ranks(u).tolist())
        even = seen.setdefault(key, [0, np.zeros((n, width))])
        even[0] += 1
        even[1] += data
        mass = float(np.where(data, p, 1 - p).prod())
        for table, name in ((by_scores, tuple(u.tolist())), (by_ranks, key)):
            held = table.setdefault(name, [0.0, np.zeros((n, width))])
            held[0] += mass
            held[1] += mass * data
        weight[key] = True
    for u, (mass, ones) in by_scores.items():
        for i in range(n):
            expected = (ones / mass)[i, query]
            assert score_confidence(u[i], p[query]) == pytest.approx(expected, abs=1e-12)
    for key in weight:
        sizes = np.bincount(key)[1:]
        cells = confidence.rank_cell_confidence(sizes, p[query])
        even = rank_confidence(sizes, len(query))
        prior = rank_confidence(sizes, len(query), prior=p[query])
        for i in range(n):
            found = (by_ranks[key][1] / by_ranks[key][0])[i, query]
            assert cells[key[i] - 1] == pytest.approx(found, abs=1e-12)
            assert prior[key[i] - 1] == pytest.approx(found.mean(), abs=1e-12)
            uniform = (seen[key][1] / seen[key][0])[i, query]
            assert even[key[i] - 1] == pytest.approx(uniform.mean(), abs=1e-12)


def test_score_confidence_matches_the_oracle_table():
    expected = [0.812244897959, 0.6, 0.395918367347, 0.191836734694]
    assert score_confidence(2, [0.5, 0.3, 0.2, 0.1]) == pytest.approx(expected, rel=1e-11)
    assert score_confidence(1, [0.99, 0.01]) == pytest.approx(
        [0.999897980004, 0.000102019995919], rel=1e-11
    )


def test_what_is_impossible_under_the_prior_is_refused():
    with pytest.raises(ValueError, match="possible under this prior"):
        score_confidence(2, [1.0, 0.0])
    with pytest.raises(ValueError, match="at most q"):
        rank_confidence([1, 1, 1], 1)
    with pytest.raises(ValueError, match="at least 1"):
        rank_confidence([1, 0], 3)
    with pytest.raises(ValueError, match="possible under this prior"):
        rank_confidence([1, 1], 1, prior=[0.0])


@pytest.mark.parametrize(
    ("counts", "answers", "classes"),
    [((2, 2, 2), (1, 3), (0, 0.5, 1)), ((3, 1, 3), (1, 2), (0.25, 0.25, 7 / 12))],
)
def test_two_queries_have_an_exact_posterior(counts, answers, classes):
    first, both, second = counts
    queries = [[1] * first + [1] * both + [0] * second, [0] * first + [1] * both + [1] * second]
    expected = np.repeat(classes, counts)
    assert attacks.exact_posterior(queries, answers) == pytest.approx(expected, abs=1e-12)


def test_the_published_loss_is_exact():
    expected = {2: 0.82667857318447, 4: 0.89674613580118, 64: 0.91629073187416}
    for q, loss in expected.items():
        assert published_loss(q, LN2) == pytest.approx(loss, rel=1e-12)
        law = np.log(published.published_law(q + 1, LN2))
        assert np.abs(np.diff(law, axis=0)).max() == pytest.approx(loss, rel=1e-12)
        assert published_loss(q, published.published_epsilon(q, "0.9")) == pytest.approx(0.9)
    assert published_loss(8, 1) == pytest.approx(1.2089316637266, rel=1e-12)
    assert published_loss(1, LN2) == pytest.approx(LN2)


def test_clamped_geometric_and_published_laws_match_the_oracle_table():
    expected = [0.26894142137, 0.46211715726, 0.170003401569, 0.0625407563663, 0.0363972634352]
    assert clamped_geometric(4, 1, 1) == pytest.approx(expected, rel=1e-11)
    assert clamped_geometric(0, 1, 0).tolist() == [1.0]
    theirs = [0.191515974372, 0.520594392994, 0.191515974372, 0.0704547896272, 0.0259188686359]
    assert published.published_law(5, 1)[1] == pytest.approx(theirs, rel=1e-11)
    counts = np.array([700, 180, 50, 12, 1])
    clamped = np.array([clamped_geometric(4, 2 * LN2, u) for u in range(5)])
    assert counts @ clamped == pytest.approx([598.653125, 220.959375, 85.0875, 28.1625, 10.1375])
    noisy = counts @ published.published_law(5, LN2)
    assert noisy == pytest.approx(
        [404.8488964346, 267.7623089983, 150.8726655348, 79.4193548387, 40.0967741935], rel=1e-11
    )


@pytest.mark.parametrize(("n", "expected"), [(4, 2.6902384074036), (943, 844.73485992472)])
def test_published_ranks_lose_without_bound_as_records_grow(n, expected):
    second, first = [1] * n, [1] + [2] * (n - 1)
    assert published.rank_log_ratio(LN2, 5, second, first, [1] * n) == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_one_bit_moves_dense_ranks_by_n_less_one(n):
    assert published.rank_sensitivity(n, 2 if n < 6 else 1) == n - 1


def test_published_ranks_carry_no_guarantee():
    ranks = published.published_rank([1, 0, 0, 0], 1, seed=3)
    assert ranks.guarantee is None
    assert "NOT PRIVATE" in str(ranks)


def test_published_scores_say_their_true_price_and_that_they_are_simulated():
    found = published.published_scores([4, 0, 2] * 4000, 4, LN2, seed=3)
    assert found.guarantee is None
    assert found.loss == pytest.approx(0.89674613580118)
    assert float(found.claimed) == pytest.approx(2 * LN2)
    assert "NOT PRIVATE" in str(found)
    law = published.published_law(5, LN2)
    for place, u in enumerate((4, 0, 2)):
        seen = np.bincount(found.values[place::3], minlength=5) / 4000
        assert seen == pytest.approx(law[u], abs=6 * math.sqrt(0.25 / 4000))
    with pytest.raises(ValueError, match="outside"):
        published.published_scores([5], 4, 1, seed=1)


def test_nothing_published_can_be_asked_of_a_ledger():
    from noren import Guarantee
    from noren.cli.topics import TOPICS
    from noren.ledger import Ledger

    assert not [home for home in TOPICS.values() if home.startswith("noren.similarity.as_pub")]
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("all", Guarantee("bit", epsilon=9), columns=["0"])
        for made in (published.published_rank([1, 0], 1, seed=1),
                     published.published_scores([1, 0], 1, 1, seed=1)):  # fmt: skip
            with pytest.raises((TypeError, AttributeError, ValueError)):
                ledger.ask("all", made, EXAMPLE)
        assert ledger.balance("all").spent.epsilon == 0


def test_inclusion_in_the_top_set_matches_the_oracle_table():
    expected = [0.820402805281, 0.544672113326, 0.544672113326, 0.0902529680679]
    assert top_set_inclusion([3, 2, 2, 0], 2, 1) == pytest.approx(expected, rel=1e-11)


def test_noisy_top_one_matches_the_oracle_table():
    expected = [0.711908895685, 0.258201638381, 0.0298894659341]
    assert laws.noisy_top_one([3, 2, 0], 1) == pytest.approx(expected, rel=1e-10)


def test_the_cap_on_naming_the_best_matches_the_oracle_table():
    assert top_one_cap(1000, 1, 6) == pytest.approx(0.40342879349274, rel=1e-12)
    assert top_one_cap(1000, 1, 7) == pytest.approx(0.78053371793113, rel=1e-12)
    assert laws.needed_gap(1000, 1, 0.5) == 7


def test_publishing_once_wins_after_a_handful_of_queries():
    assert [laws.crossover(q, 1) for q in (4, 16, 64, 256)] == [2, 3, 6, 11]
    assert [laws.crossover(q, 2 * LN2) for q in (4, 16, 64, 256)] == [2, 3, 6, 11]
    assert [laws.crossover(q, 4) for q in (4, 16, 64, 256)] == [2, 2, 4, 7]
    assert laws.flip_probability(2 * LN2) == pytest.approx(0.2)
    assert laws.randomized_deviation(64, 2 * LN2) == pytest.approx(5.3333333333333)


def test_ratios_and_their_sensitivities():
    found = [formulas.bit_sensitivity(name, 4, 5) for name in ("cosine", "jaccard", "dice")]
    assert found == pytest.approx([0.204124145232, 1 / 6, 0.2], rel=1e-11)
    for name in ("cosine", "jaccard", "dice"):
        assert worst_ratio(name, 9, 4, 5) == pytest.approx(formulas.bit_sensitivity(name, 4, 5))


def worst_ratio(name, width, q, least):
    """Give the largest change of a ratio over all pairs of counts, both weights kept."""
    worst = 0.0
    for inside, outside in product(range(q + 1), range(width - q + 1)):
        for more in ((1, 0), (0, 1)):
            a, b = inside + more[0], outside + more[1]
            if a <= q and b <= width - q and inside + outside >= least:
                pair = formulas.similarity(name, [inside, a], [outside, b], q)
                worst = max(worst, abs(float(pair[0] - pair[1])))
    return worst


def test_similarities_by_hand():
    records = Records.of(["1100", "0000", "1111"])
    for name, expected in {
        "common": [2, 0, 3],
        "jaccard": [2 / 3, 0, 3 / 4],
        "cosine": [2 / math.sqrt(6), 0, 3 / math.sqrt(12)],
        "dice": [4 / 5, 0, 6 / 7],
        "containment": [2 / 3, 0, 1],
        "hamming": [1, 3, 1],
        "tversky": [2 / 3, 0, 3 / 4],
    }.items():
        assert formulas.exact_similarity(records, "1110", name) == pytest.approx(expected)


def test_revealed_and_determined_columns():
    assert revealed_columns([[1, 1, 1, 1]]) == set()
    assert revealed_columns([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0]]) == {0, 1, 2}
    three = [[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    assert revealed_columns(three) == set()
    assert determined_columns(three) == {0, 1, 2, 3}
    assert revealed_columns(detecting_matrix(3)) == set()
    assert determined_columns(detecting_matrix(3)) == set(range(12))


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**20 - 1))
def test_determined_columns_agree_with_trying_everything(rows, width, bits):
    matrix = np.array([[bits >> (r * width + h) & 1 for h in range(width)] for r in range(rows)])
    exact = {h for h in range(width) if not attacks.ambiguity_exhaustive(matrix, h)}
    assert determined_columns(matrix) == exact
    assert revealed_columns(matrix) <= exact


@given(st.integers(1, 5), st.integers(0, 10**9))
def test_detecting_queries_decode_any_records(k, seed):
    matrix = detecting_matrix(k)
    assert matrix.shape == (1 << k, k << (k - 1))
    data = np.random.default_rng(seed).integers(0, 2, (7, matrix.shape[1]))
    assert (attacks.decode(k, matrix @ data.T) == data).all()


@given(st.integers(0, 10**9), st.integers(1, 9))
def test_propagation_proves_only_what_is_true(seed, asked):
    public = np.random.default_rng(seed)
    data, queries = public.integers(0, 2, (6, 8)), public.integers(0, 2, (asked, 8))
    ones, zeros = attacks.propagate(queries, queries @ data.T)
    assert data[ones].all()
    assert not data[zeros].any()
    assert not (ones & zeros).any()


def test_propagation_proves_a_chain():
    data = np.array([[1, 0, 1, 1]])
    queries = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    ones, zeros = attacks.propagate(queries, queries @ data.T)
    assert ones.tolist() == [[True, False, True, True]]
    assert zeros.tolist() == [[False, True, False, False]]


def test_exact_answers_give_the_whole_stand_in_for_512_queries():
    records = stand_in()
    bits, asked = attacks.reconstruct(lambda matrix: scores(records, matrix), records.n_columns)
    assert asked <= 512
    assert (bits == records.bits()).all()


def test_the_stand_in_is_the_published_one():
    records = stand_in()
    assert digest(records) == SHA256
    rows, columns = np.sort(records.weights())[::-1], np.sort(records.column_counts())[::-1]
    assert rows[[0, 94, 471, 848, 942]].tolist() == [696, 228, 72, 28, 16]
    assert columns[[0, 168, 841, 1513, 1681]].tolist() == [479, 185, 20, 3, 0]


@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 10**9))
def test_every_layout_gives_the_same_scores(n, width, seed):
    public = np.random.default_rng(seed)
    data = public.random((n, width)) < 0.2
    queries = public.random((9, width)) < 0.3
    records = Records.of(data)
    expected = queries.astype(int) @ data.T.astype(int)
    assert (scores(records, queries) == expected).all()
    for layout in ("rows", "postings"):
        assert (scores(records, queries, layout=layout) == expected).all()
        assert (scores(records, queries[0], layout=layout) == expected[0]).all()


@pytest.mark.parametrize(("n", "width"), [(21_003, 900), (8_301, 2_048), (70_001, 200)])
def test_compiled_scoring_agrees_with_numpy(n, width):
    data = np.random.default_rng(5).random((n, width)) < 0.1  # enough words to be compiled
    queries = np.random.default_rng(6).random((10, width)) < 0.1
    records = Records.of(data)
    assert records.words.size >= 1 << 18
    expected = queries.astype(np.int32) @ data.T.astype(np.int32)
    columns = [np.flatnonzero(query).tolist() for query in queries]
    for layout in ("rows", "postings"):
        assert (score_batch(records, columns, layout) == expected).all()
        assert (scores(records, queries[3], layout=layout) == expected[3]).all()
