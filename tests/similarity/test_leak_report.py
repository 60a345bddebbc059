"""What a leak report says is what an attacker would know: against enumeration and by its marks."""

import json
import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.similarity import (
    RandomQueries,
    Records,
    attacks,
    dense_ranks,
    leak_report,
    revealed_columns,
    scores,
    stand_in,
)
from noren.similarity.leak_answers import classes_of
from noren.similarity.leak_beliefs import summarize
from noren.similarity.leak_posterior import posteriors, states_of
from noren.similarity.leak_proofs import AnswerReader, prove_all, revealed_when

EXAMPLE = Records.of(["10001", "11100", "01100", "00011"], ids=["ann", "bob", "cy", "di"])


def answers_to(row_scores, kind, k):
    """Give every form that an exact answer can take, each with its chance."""
    if kind == "scores":
        return [(tuple(row_scores), 1.0)]
    if kind == "ranks":
        return [(tuple(dense_ranks(row_scores).tolist()), 1.0)]
    kth = sorted(row_scores)[-k]
    above = [i for i, u in enumerate(row_scores) if u > kth]
    tied = [i for i, u in enumerate(row_scores) if u == kth]
    lists = list(combinations(tied, k - len(above)))
    return [
        (tuple(sorted((i, row_scores[i]) for i in (*above, *chosen))), 1 / len(lists))
        for chosen in lists
    ]


def class_of_record(answer, kind, i, classes):
    """Find the class of a record in an answer."""
    if kind == "ranks":
        return answer[i] - 1
    shown = dict(answer) if kind == "top-k" else dict(enumerate(answer))
    if i not in shown:
        return len(classes.low) - 1
    return int(np.flatnonzero((classes.low == shown[i]) & (classes.high == shown[i]))[0])


@pytest.mark.parametrize("kind", ["scores", "ranks", "top-k"])
@pytest.mark.parametrize("p", [None, [0.2, 0.5, 0.7], [0.3, 0.0, 1.0]])
def test_beliefs_are_the_posterior_over_all_databases(kind, p):
    """n = 3 or 4, q = 3, k = 2, ties at random: all 512 or 4096 databases, by definition."""
    n, q, k = (4, 3, 2) if kind == "top-k" else (3, 3, 2)
    chances = np.full(q, 0.5) if p is None else np.array(p)
    seen = {}
    for bits in product((0, 1), repeat=n * q):
        data = np.array(bits).reshape(n, q)
        mass = float(np.where(data, chances, 1 - chances).prod())
        u = data.sum(axis=1)
        for answer, share in answers_to(u.tolist(), kind, k):
            held = seen.setdefault(answer, [0.0, np.zeros((n, q)), np.bincount(u, minlength=q + 1)])
            held[0] += mass * share
            held[1] += mass * share * data
    checked = 0
    for answer, (mass, ones, counts) in seen.items():
        if not mass > 0:
            continue
        expected = ones / mass
        classes = classes_of(counts, kind, k if kind == "top-k" else None)
        found = beliefs(classes, p)
        own = [class_of_record(answer, kind, i, classes) for i in range(n)]
        assert found[own] == pytest.approx(expected, abs=1e-12)
        open_ = (chances > 0) & (chances < 1)
        summary = summarize("x", None if p is None else chances, classes, np.zeros((q + 1, q)))
        assert summary.max_confidence == pytest.approx(expected[:, open_].max(), abs=1e-12)
        assert summary.min_confidence == pytest.approx(expected[:, open_].min(), abs=1e-12)
        assert summary.certain_ones == (expected[:, open_] == 1).sum()
        assert summary.certain_zeros == (expected[:, open_] == 0).sum()
        checked += 1
    assert checked > 5


def beliefs(classes, p):
    """Give Pr(bit = 1) for each class and column."""
    from noren.similarity.confidence import beliefs_by_score
    from noren.similarity.leak_beliefs import even_beliefs

    one = even_beliefs(classes.q)[0] if p is None else np.nan_to_num(beliefs_by_score(p)[0])
    made = np.exp(classes.log_chances(p)) @ one
    return np.broadcast_to(made, (len(made), classes.q))


def test_errors_and_gains_are_those_of_the_cells():
    data = (np.random.default_rng(4).random((30, 6)) < 0.4).astype(int)
    report = leak_report(Records.of(data), [[0, 2, 3, 5]])
    p = data.mean(axis=0)[[0, 2, 3, 5]]
    u = data[:, [0, 2, 3, 5]].sum(axis=1)
    from noren.similarity import score_confidence

    cells = np.array([score_confidence(int(v), p) for v in u])
    found = report.queries[0].headline
    assert found.prior == "marginals"
    assert found.mean_error == pytest.approx(np.abs(cells - data[:, [0, 2, 3, 5]]).mean())
    assert found.calibration_error == pytest.approx(0, abs=1e-12)
    assert found.certain_zeros == 4 * (u == 0).sum()
    assert found.largest_gain == math.inf
    even = report.queries[0].beliefs[1]
    wrong = np.abs((u / 4)[:, None] - data[:, [0, 2, 3, 5]]).mean()
    assert (even.prior, even.mean_error) == ("uniform", pytest.approx(wrong))


def test_a_gain_in_log_odds_is_finite_where_nothing_is_certain():
    data = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    found = leak_report(Records.of(data), [[0, 1, 2]]).queries[0]
    even = found.beliefs[1]  # scores 1 and 2 of 3: odds 1:2 and 2:1 against even ones
    assert even.largest_gain == pytest.approx(math.log(2))
    assert even.certain_ones == even.certain_zeros == 0


def test_scores_that_no_float_holds_are_believed_rightly_and_fast():
    """400 rare columns, and one record that has them all: log f(400) = -2763."""
    p = np.full(400, 1e-3)
    p[0] = 0.5
    counts = np.zeros(401, int)
    counts[[0, 1, 400]] = 10_000, 1000, 1
    for kind in ("scores", "ranks"):
        found = summarize("given", p, classes_of(counts, kind, None), np.zeros((401, 400)))
        if kind == "scores":
            assert (found.max_confidence, found.certain_ones) == (1, 400)
        assert 0 <= found.min_confidence <= found.max_confidence <= 1
    from noren.similarity.confidence import score_confidence

    near = score_confidence(399, p)  # one column is missing: column 0 with the least odds
    odds = p / (1 - p)
    missing = (1 / odds) / (1 / odds).sum()
    assert near == pytest.approx(1 - missing, rel=1e-9)


def test_what_a_rank_pins_down_is_not_called_certain():
    """A million records at one rank decide it beyond any float, yet nothing is proven."""
    classes = classes_of(np.array([500_000, 499_000, 0, 999, 1]), "ranks", None)
    found = summarize("marginals", np.array([0.5, 0.01, 0.01, 0.001]), classes, np.zeros((5, 4)))
    assert found.certain_ones == found.certain_zeros == 0
    assert 500 < found.largest_gain < math.inf


@given(st.integers(0, 10**9), st.integers(1, 8), st.sampled_from(["scores", "ranks", "top-k"]))
def test_proofs_hold_whatever_the_data_and_agree_with_propagation(seed, asked, kind):
    public = np.random.default_rng(seed)
    data = public.integers(0, 2, (5, 7))
    records = Records.of(data)
    matrix = public.random((asked, 7)) < 0.4
    matrix[~matrix.any(axis=1), 0] = True
    queries = [tuple(np.flatnonzero(row).tolist()) for row in matrix]
    found = scores(records, matrix)
    k = 2 if kind == "top-k" else None
    said = [classes_of(np.bincount(u, minlength=len(q) + 1), kind, k)
            for u, q in zip(found, queries, strict=True)]  # fmt: skip
    proofs = prove_all(records, queries, said, 3, lambda done: None)
    low, high = AnswerReader(queries, said, 3).read(records)
    assert ((low <= found) & (found <= high)).all()
    for i in range(len(records)):
        assert proofs.proven[i] <= len(
            forced(matrix, low[:, i], high[:, i], proofs.linear, data[i])
        )
    if kind == "scores":
        ones, zeros = attacks.propagate(matrix.astype(int), found)
        linear = proofs.linear >= 0
        assert proofs.growth[-1, 0] >= (ones | zeros | linear).sum()
        if not linear.any():
            assert proofs.growth[-1].tolist() == [(ones | zeros).sum(), ones.sum()]


def forced(matrix, low, high, linear, truth):
    """Give the cells on which every vector agrees that fits (with what linear algebra tells)."""
    vectors = np.array(list(product((0, 1), repeat=matrix.shape[1])))
    got = vectors @ matrix.T.astype(int)
    fits = ((got >= low) & (got <= high)).all(axis=1)
    fits &= (vectors[:, linear >= 0] == truth[linear >= 0]).all(axis=1)
    kept = vectors[fits]
    return np.flatnonzero((kept == kept[0]).all(axis=0))


@given(st.integers(0, 10**9), st.integers(1, 7))
def test_linear_algebra_is_run_query_by_query(seed, asked):
    matrix = np.random.default_rng(seed).random((asked, 6)) < 0.5
    queries = [tuple(np.flatnonzero(row).tolist()) for row in matrix]
    when = revealed_when(queries, 6, [True] * asked)
    for t in range(asked):
        known = set(np.flatnonzero((when >= 0) & (when <= t)).tolist())
        assert known == revealed_columns(matrix[: t + 1].astype(int))
    assert (revealed_when(queries, 6, [False] * asked) == -1).all()


def test_a_record_is_complete_with_the_query_that_proves_its_last_bit():
    records = Records.of([[1, 1, 0], [1, 0, 1]], ids=["both", "first"])
    report = leak_report(records, [[0, 1], [2]])
    assert [(one.record, one.proven, one.completed) for one in report.top] == [
        ("both", 3, 2), ("first", 1, None),
    ]  # fmt: skip
    assert report.recovered == 1
    assert report.growth == ((1, 2 / 6, 2 / 4), (2, 4 / 6, 3 / 4))
    assert report.linear == ("2",)
    assert report.exact == ("2",)


def test_the_exact_test_finds_what_linear_algebra_misses():
    report = leak_report(Records.of(["1010", "0110"]), ["1110", "0101", "0011"])
    assert report.linear == ()
    assert set(report.exact) == {"0", "1", "2", "3"}
    wide = leak_report(Records.of(np.eye(40, dtype=int)), [[h, h + 1] for h in range(39)])
    assert wide.exact is None


@pytest.mark.parametrize("p", [None, [0.3, 0.6, 0.2, 0.5, 0.9, 0.4]])
def test_posteriors_of_all_answers_are_those_of_all_vectors(p):
    chances = np.full(6, 0.5) if p is None else np.array(p)
    queries = [(0, 1, 2, 3), (2, 3, 4), (0, 4)]
    matrix = np.zeros((3, 6), int)
    for t, columns in enumerate(queries):
        matrix[t, list(columns)] = 1
    vectors = np.array(list(product((0, 1), repeat=6)))
    mass = np.where(vectors, chances, 1 - chances).prod(axis=1)
    data = np.random.default_rng(8).integers(0, 2, (9, 6))
    cells = []
    for row in data:
        same = (vectors @ matrix.T == matrix @ row).all(axis=1)
        cells.append((mass[same] @ vectors[same] / mass[same].sum())[:5])
    (found,) = posteriors(Records.of(data), queries, {"x": None if p is None else chances})
    assert found.states == 2**5 // 4 * 3  # columns 2 and 3 are one class: 2 * 2 * 3 * 2 states
    assert found.max_confidence == pytest.approx(np.max(cells), abs=1e-12)
    assert found.min_confidence == pytest.approx(np.min(cells), abs=1e-12)
    assert found.certain_ones == (np.array(cells) > 1 - 1e-12).sum()
    assert found.certain_zeros == (np.array(cells) < 1e-12).sum()


def test_too_many_states_are_not_listed_and_the_report_says_so():
    assert states_of([tuple(range(h, h + 3)) for h in range(30)], 40) is None
    report = leak_report(stand_in(), RandomQueries(size=16, count=30, seed=1))
    assert report.posteriors == ()
    assert any("not computed" in note for note in report.notes)
    assert len(leak_report(stand_in(), RandomQueries(size=16, count=2, seed=1)).posteriors) == 2


def test_ranks_of_every_score_prove_what_scores_prove():
    """Some record has every score 0..q of every query, so b = q + 1, and ranks are scores."""
    data = np.vstack(
        [np.tri(6, 5, -1, dtype=int), np.random.default_rng(1).integers(0, 2, (20, 5))]
    )
    queries = [[0, 1, 2, 3, 4], [0, 1, 2], [0, 1]]
    by_scores = leak_report(Records.of(data), queries)
    by_ranks = leak_report(Records.of(data), queries, answers="ranks")
    assert all(query.levels == query.size + 1 for query in by_ranks.queries)
    assert by_ranks.growth == by_scores.growth
    assert by_ranks.linear == by_scores.linear
    assert by_ranks.queries[0].beliefs == by_scores.queries[0].beliefs


@pytest.mark.parametrize("answers", ["ranks", "top-k"])
def test_worst_cases_are_what_unit_queries_prove(answers):
    data = np.random.default_rng(6).random((40, 9)) < np.linspace(0, 1, 9)
    records = Records.of(data)
    k = 12 if answers == "top-k" else None
    report = leak_report(records, [[h] for h in range(9)], answers=answers, k=k)
    assert report.proven == pytest.approx(report.worst[0].share)
    assert 0 < report.proven < 1
    assert report.worst[0].queries == 9


def test_worst_cases_of_scores_are_the_known_attacks():
    worst = leak_report(stand_in(), [[1, 2]]).worst
    assert [(one.attack, one.queries) for one in worst] == [
        ("coin weighing", 512), ("unit queries", 1682), ("differencing", 1683),
    ]  # fmt: skip
    assert "512 queries recover everything" in leak_report(stand_in(), [[1, 2]]).headline


def test_the_uniform_attacker_is_misled_and_the_other_is_not():
    report = leak_report(stand_in(), RandomQueries(size=16, count=60, seed=7), answers="ranks")
    rows = {row["prior"]: row for row in report.by_size()}
    assert rows["uniform"]["calibration_error"] > 0.4
    assert rows["marginals"]["calibration_error"] < 0.001
    assert rows["uniform"]["top_confidence"] > rows["uniform"]["published_bound"] + 0.3
    assert rows["marginals"]["top_confidence"] == pytest.approx(
        rows["marginals"]["published_bound"], abs=0.02
    )


def test_scores_of_the_whole_stand_in_are_proven_by_unit_queries():
    records = stand_in().select(np.arange(50))
    report = leak_report(records, [[h] for h in range(50)])
    assert (report.proven, report.proven_ones, report.recovered) == (1, 1, 943)
    assert all(one.completed == 50 for one in report.top)
    assert len(report.linear) == 50


def test_a_third_attacker_leads_the_report():
    report = leak_report(EXAMPLE, ["01110"], prior=[0.5, 0.1, 0.2, 0.3, 0.4])
    assert [belief.prior for belief in report.queries[0].beliefs] == [
        "given", "marginals", "uniform",
    ]  # fmt: skip


def test_a_report_says_that_it_is_secret_wherever_it_goes(tmp_path):
    report = leak_report(EXAMPLE, RandomQueries(size=2, count=5, seed=1))
    assert str(report).startswith("SECRET")
    assert repr(report) == "LeakReport(5 queries, SECRET)"
    made = json.loads(report.write(tmp_path / "leak.json").read_text("utf-8"))
    assert made["secret"] is True
    assert made["mark"].startswith("SECRET")
    assert len(made["queries"]) == 5
    gains = [b["largest_gain"] for query in made["queries"] for b in query["beliefs"]]
    assert "infinite" in gains
    page = report.write(tmp_path / "leak.html").read_text("utf-8")
    assert page.index("SECRET") < page.index("<h1>")
    assert "ann" in page
    assert "src=" not in page.partition("<script>")[0]
    drawn = [sum(map(len, chart.to_dict()["datasets"].values())) for _, chart in report.charts()]
    assert drawn == [5 * 4, 5 * 2]  # queries by curves
    sizes = leak_report(EXAMPLE, [[0], [0, 1], [1, 2]]).charts()[0][1]
    assert [len(rows) for rows in sizes.to_dict()["datasets"].values()] == [2 * 4]
    with pytest.raises(ParameterError, match=r"\.html or \.json"):
        report.write(tmp_path / "leak.txt")


def test_progress_reaches_its_end():
    calls = []
    leak_report(
        EXAMPLE, ["01110", "11000"], progress=lambda done, total: calls.append((done, total))
    )
    assert calls[0] == (0, 4)
    assert calls[-1] == (4, 4)
    assert calls == sorted(calls)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"answers": "words"}, "answers"),
        ({"answers": "top-k"}, "k is"),
        ({"k": 3}, "k is"),
        ({"answers": "top-k", "k": 9}, "number of records"),
        ({"prior": [0.5]}, "one for each of 5"),
        ({"prior": [2, 0, 0, 0, 0]}, "between 0 and 1"),
        ({"workload": []}, "at least one query"),
        ({"workload": ["00000"]}, "at least one query"),
        ({"workload": "01110"}, "a list of queries"),
        ({"workload": [["nothing"]]}, "no column"),
        ({"workload": RandomQueries(size=6, count=1, seed=1)}, "at most the 5 columns"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, said):
    given_ = {"workload": ["01110"]} | settings
    with pytest.raises(ParameterError, match=said):
        leak_report(EXAMPLE, given_.pop("workload"), **given_)


def test_a_query_without_columns_says_nothing_and_is_left_out():
    assert len(leak_report(EXAMPLE, ["00000", "01110"]).queries) == 1


def test_one_record_alone_leaks_nothing_by_its_rank():
    report = leak_report(Records.of(["0110"]), ["1111"], answers="ranks")
    assert report.queries[0].beliefs[1].max_confidence == pytest.approx(0.5)
    assert report.proven == 0


@pytest.mark.slow
def test_a_million_records_take_minutes():
    import time

    public = np.random.default_rng(1)
    words = public.integers(0, 2**64, (1_000_000, 32), dtype=np.uint64)
    for _ in range(3):  # one bit in 16 is a one
        words &= public.integers(0, 2**64, words.shape, dtype=np.uint64)
    begun = time.process_time()
    report = leak_report(Records(words, 2048), RandomQueries(size=16, count=100, seed=2))
    assert time.process_time() - begun < 300
    assert 0 < report.proven < 1
