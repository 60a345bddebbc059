"""Plans from public facts, the trial that is secret, files of randomized records, the walk."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from noren.errors import FileProblem, ParameterError
from noren.ledger import Ledger
from noren.similarity import (
    NoisyScores,
    Published,
    Records,
    Session,
    plan,
    publish_randomised,
    stand_in,
    top_one_cap,
)
from noren.similarity.laws import crossover, needed_gap
from noren.similarity.planning import most_shared, named_first
from noren.similarity.published_files import beside
from noren.similarity.published_prior import truncated
from noren.similarity.trials import random_queries, try_rules
from noren.similarity.walk import Members
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
LN4 = 2 * math.log(2)


# 1. oracle


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(1, [2, 3, 6, 11]), (LN4, [2, 3, 6, 11]), (4, [2, 2, 4, 7])]
)
def test_randomized_records_are_advised_from_the_crossover_on(epsilon, expected):
    assert [crossover(q, epsilon) for q in (4, 16, 64, 256)] == expected
    for q, first in zip((4, 16, 64, 256), expected, strict=True):
        assert plan(1000, 2048, q, epsilon, first).advised == "randomized-records"
        assert plan(1000, 2048, q, epsilon, first - 1).advised == "noisy-scores"


@pytest.mark.parametrize(("lead", "flip"), [(6, 0.3697), (7, 0.6562), (8, 0.8497), (10, 0.9777)])
def test_the_best_record_is_named_as_often_as_the_table_says_and_below_the_cap(lead, flip):
    assert named_first(1000, 1, lead) == pytest.approx(flip, abs=5e-5)
    assert named_first(1000, 1, lead) < top_one_cap(1000, 1, lead)


def test_the_needed_lead_is_where_the_cap_reaches_one_half_however_small_the_price():
    for n, epsilon in ((1, 1), (2, 0.3), (1000, 1), (1000, 0.05), (50, 5), (10**6, 0.3)):
        gap = needed_gap(n, epsilon)
        assert top_one_cap(n, epsilon, gap) >= 0.5
        assert gap == 0 or top_one_cap(n, epsilon, gap - 1) < 0.5
    tiny = plan(10**6, 2048, 64, "0.000001", 10**6)  # once an endless loop
    assert tiny.needed_lead == pytest.approx(math.log(10**6 / 2) * 10**12, rel=1e-6)


def test_one_query_of_two_columns_is_as_noisy_either_way_and_stays_with_scores():
    for epsilon in (0.1, 0.7, 1, LN4, 3, 4):
        assert crossover(2, epsilon) == 2
        assert crossover(1, epsilon) == 1


def test_a_plan_says_prices_errors_and_caps():
    made = plan(1000, 2048, 64, 1, 1)
    ways = {way.name: way for way in made.ways}
    assert ways["noisy-scores"].deviation == pytest.approx(1.3569, abs=1e-4)
    assert ways["score-histogram"].deviation == pytest.approx(2.7992, abs=1e-4)
    assert ways["noisy-scores"].record_epsilon == 64
    assert ways["randomized-records"].record_epsilon == ways["score-pairs"].record_epsilon == 2048
    assert ways["similar-count"].record_epsilon == 1
    assert made.needed_lead == 7
    assert {lead: most for lead, most, _ in made.caps()}[7] == pytest.approx(0.780533717931)
    assert made.naming_odds(10) == pytest.approx((10 * math.e / 990, 10 * math.e**2 / 990))
    json.dumps(made.to_dict(), allow_nan=False)
    assert "leads by 7 bits" in str(made)
    assert made.chart().to_dict()


# 2. what a workload that is known beforehand gains


@pytest.mark.parametrize(("epsilon", "count", "shared"), [(LN4, 10, (2, 5)), (4, 100, (8, 15))])
def test_charging_columns_beats_splitting_the_budget_by_all_queries(epsilon, count, shared):
    queries = random_queries(stand_in(), 64, count, seed=4)
    most = most_shared([asked.columns for asked in queries])
    assert shared[0] <= most <= shared[1]
    split = try_rules(stand_in(), queries, epsilon / count, rules=["geometric"], seed=5)
    column = try_rules(stand_in(), queries, epsilon / most, rules=["geometric"], seed=5)
    assert split["geometric"].precision < 0.2
    assert column["geometric"].precision > split["geometric"].precision + 0.25
    made = plan(943, 1682, 64, epsilon, [asked.columns for asked in queries])
    assert made.queries == most


def test_a_trial_on_the_records_is_secret():
    records = Records.of(np.random.default_rng(2).integers(0, 2, (60, 20)))
    found = plan(60, 20, 4, 2, 2, k=5).tried(records, count=10)
    assert "SECRET" in repr(found)
    assert "0." not in repr(found)
    made = found.to_dict()
    assert made["secret"].startswith("SECRET")
    assert made["simulated"] is True
    assert set(made["uses"]) == {
        "geometric", "top-set", "peeled", "random-order", "randomized", "shrunk"
    }  # fmt: skip
    assert found.chart().to_dict()


@pytest.mark.parametrize(
    "wrong",
    [(0, 5, 2, 1, 1), (9, 0, 1, 1, 1), (9, 5, 6, 1, 1), (9, 5, 0, 1, 1), (9, 5, 2, 0, 1),
     (9, 5, 2, 1, 0), (9, 5, 2, math.inf, 1)],
)  # fmt: skip
def test_plans_of_nothing_are_refused(wrong):
    with pytest.raises(ParameterError):
        plan(*wrong, k=1)
    with pytest.raises(ParameterError):
        plan(9, 5, 2, 1, 1, k=10)


# 3. files


def test_a_file_of_randomized_records_carries_its_price_and_its_receipt(tmp_path):
    records = Records.of(["110", "011"], ids=["ann", "bob"], names=list("abc"))
    with Ledger.open("sqlite://") as ledger:
        session = Session.open(records, ledger, "clinic", 2, "bit")
        answer = session.publish("1.5")
    made = answer.published(records.ids, records.names)
    again = Published.read(made.save(tmp_path / "out.npz"))
    assert again.manifest == made.manifest
    assert again.epsilon == Fraction(3, 2)
    assert again.guarantee == answer.guarantee
    assert again.receipts[0]["request_id"] == answer.receipt.request_id
    assert again.records.ids == ("ann", "bob")
    assert json.loads(beside(tmp_path / "out.npz").read_text()) == made.manifest
    assert (again.records.words == answer.words).all()


def test_the_prior_is_the_truncated_decomposition_by_every_way():
    public = np.random.default_rng(3)
    for shape in ((90, 70), (40, 130), (6, 300)):
        records = Records.of(public.integers(0, 2, shape))
        dense = (records.bits() - 0.2) / 0.6
        left, sizes, right = np.linalg.svd(dense, full_matrices=False)
        expected = (left[:, :5] * sizes[:5]) @ right[:5]
        for most in (4096, 0):  # by products of all pairs, and by iteration
            found = truncated(records, 0.2, most)
            assert found[0] @ found[1] == pytest.approx(expected, abs=1e-9)


def test_the_prior_is_kept_in_the_file_and_checked(tmp_path):
    records = Records.of(np.random.default_rng(3).integers(0, 2, (50, 30)))
    made = publish_randomised(records, 2, noise=seeded_noise(1)).published()
    again = Published.read(made.save(tmp_path / "p.npz"))
    query = list(range(0, 30, 4))
    assert (again.scores(query) == made.scores(query)).all()
    with np.load(tmp_path / "p.npz") as held:
        arrays = dict(held)
    arrays["left"][0, 0] += 1
    np.savez(tmp_path / "q.npz", **arrays)
    with pytest.raises(FileProblem):
        Published.read(tmp_path / "q.npz")


def test_a_price_that_nobody_paid_is_not_claimed(tmp_path):
    records = Records.of(["110", "011"])
    seeded = publish_randomised(records, 1, noise=seeded_noise(1)).published()
    assert seeded.guarantee is None
    assert Published(records, 1).guarantee is None
    assert Published.read(seeded.save(tmp_path / "s.npz")).marks[0].startswith("NOT PRIVATE")
    (tmp_path / "x.npz").write_bytes(b"PK")
    with pytest.raises(FileProblem, match="noren similar publish"):
        Published.read(tmp_path / "x.npz")
    with pytest.raises(ParameterError):
        Published.join([])


# 4. the walk and the window


def test_members_that_are_tried_are_uniform_and_never_repeated():
    """Where many records share a score they are found by trying rows, not by listing them."""
    scores = np.zeros(8000, np.int32)
    scores[::2] = 1
    members, noise = Members.of(scores, np.bincount(scores)), seeded_noise(5)
    assert members.least == 2
    taken = np.arange(0, 2000, 2)  # a quarter of those of score 1
    counts = np.zeros(4)
    for _ in range(600):
        some = members.some(1, 4000, 5, taken, noise)
        assert len(set(some.tolist())) == 5
        assert (scores[some] == 1).all()
        counts += np.bincount(some // 2000, minlength=4)
    assert counts[0] == 0
    expected = counts.sum() / 3
    statistic = ((counts[1:] - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, 2) > FALSE_ALARM


def test_the_highest_scores_are_listed_in_one_pass():
    scores = np.zeros(8000, np.int32)
    scores[[5, 17]], scores[99] = 7, 9
    members = Members.of(scores, np.bincount(scores))
    assert members.least == 1
    assert members.of_score(7).tolist() == [5, 17]
    assert members.some(9, 1, 1, np.empty(0, np.int64), seeded_noise(1)).tolist() == [99]
    assert len(members.of_score(0)) == 7997


def test_a_window_lowers_the_noise_that_protects_a_record():
    whole = NoisyScores(query=tuple("abcdefgh"), epsilon=1, adjacency="substitute")
    part = NoisyScores(query=tuple("abcdefgh"), epsilon=1, adjacency="substitute", window=(5, 8))
    bits = NoisyScores(query=tuple("abcdefgh"), epsilon=1, adjacency="bit", window=(5, 8))
    assert (whole.scale, part.scale, bits.scale) == (8, 3, 1)
    assert bits.record_loss == 3
    records = Records.of([[0] * 8, [1] * 8], names=list("abcdefgh"))
    sure = NoisyScores(query=part.query, epsilon=300, adjacency="substitute", window=(5, 99))
    assert sure.answer(records, seeded_noise(1)).scores().tolist() == [5, 8]
    for window in ((3, 3), (5, 2), (8, 9), (-1, 3), (1,), "ab"):
        with pytest.raises(ParameterError):
            NoisyScores(query=whole.query, epsilon=1, adjacency="substitute", window=window)


def test_a_session_takes_a_window_and_a_fingerprint():
    class Fingerprint:
        def __init__(self, on, size):
            self.on, self.size = on, size

        def GetOnBits(self):  # noqa: N802
            return self.on

        def GetNumBits(self):  # noqa: N802
            return self.size

    records = Records.of(["1111", "0000"])
    with Ledger.open("sqlite://") as ledger:
        session = Session.open(records, ledger, "clinic", 500, "substitute")
        found = session.search("1111", epsilon=100, k=2, window=(2, 4))
        assert [hit.score for hit in found.hits] == [4, 2]
        assert session.search(Fingerprint([0, 1], 4), epsilon=100, k=1).hits[0].score == 2
        with pytest.raises(ParameterError):
            session.search(Fingerprint([0], 5), epsilon=1, k=1)
        with pytest.raises(ParameterError, match="window"):
            session.search("1111", epsilon=1, k=1, similarity="dice", window=(2, 4))


def test_a_price_beyond_any_promise_is_refused_in_words():
    with pytest.raises(ParameterError, match="at most 100"):
        plan(50, 8, 3, "9" * 30, 4)


def test_more_queries_than_anybody_asks_are_refused_in_words():
    with pytest.raises(ParameterError, match="at most 1,000,000"):
        plan(100, 8, 3, 1, 10**30)
