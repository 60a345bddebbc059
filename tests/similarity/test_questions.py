"""Every question: its exact law over all neighbours, its pattern, and its misuse."""

import dataclasses
import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from noren import Guarantee, Noise
from noren.audit.enumerated import law_of
from noren.audit.exact import log_ratio
from noren.errors import NotPrivate, ParameterError
from noren.ledger import Ledger
from noren.question import Question, identity
from noren.similarity import (
    BestRecord,
    NoisyScores,
    Published,
    RandomizedRecords,
    Records,
    RowWeights,
    ScoreHistogram,
    ScorePairs,
    SimilarCount,
    TopSet,
    about,
    clamped_geometric,
    publish_randomised,
    stand_in,
    top_set_inclusion,
)
from noren.similarity.laws import noisy_top_one
from noren.similarity.set_counts import tossed, weighed
from noren.similarity.walk import full_draw, lazy_walk
from noren.testing import seeded_noise

FALSE_ALARM = 1e-9
EXAMPLE = Records.of(["10001", "11100", "01100", "00011"])
BIT = {"epsilon": 1, "adjacency": "bit"}
ONE = {"epsilon": 1, "adjacency": "substitute"}
QUERY = ("1", "2", "3")
ASKED = {
    "scores": NoisyScores(query=QUERY, **BIT),
    "scores to a depth": NoisyScores(query=QUERY, depth=2, **BIT),
    "scores of records": NoisyScores(query=QUERY, **ONE),
    "best": BestRecord(query=QUERY, **BIT),
    "set": TopSet(query=QUERY, k=2, **BIT),
    "published": RandomizedRecords(**BIT),
    "pairs": ScorePairs(query=QUERY, n_columns=5, **BIT),
    "weights": RowWeights(n_columns=5, **BIT),
    "count": SimilarCount(query=QUERY, threshold=2, **ONE),
    "histogram": ScoreHistogram(query=QUERY, **ONE),
}
every = pytest.mark.parametrize("question", ASKED.values(), ids=list(ASKED))


@every
def test_it_keeps_the_pattern_of_a_question(question):
    assert isinstance(question, Question)
    assert type(question).__dataclass_params__.frozen
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.epsilon = None
    assert len(identity(question)) == 64
    assert question.guarantee.epsilon == 1
    assert question.assumed_public
    json.dumps(question.forecast().to_dict(), allow_nan=False)
    text = __import__(type(question).__module__, fromlist=["x"]).__doc__
    assert all(f"\n{part}" in text for part in ("Maths", "Privacy", "Accuracy"))
    with pytest.raises(ValueError, match="Noise"):
        question.answer(EXAMPLE, np.random.default_rng(1))


@every
def test_a_ledger_charges_it_once_and_gives_the_same_answer_again(question):
    with Ledger.open("sqlite://") as ledger:
        ledger.create_account("records", Guarantee(question.guarantee.adjacency, epsilon=2))
        first = ledger.ask("records", question, EXAMPLE, request_id="one")
        again = ledger.ask("records", question, EXAMPLE, request_id="one")
        assert again.to_dict() == first.to_dict()
        assert ledger.balance("records").spent.epsilon == 1
    made = json.loads(json.dumps(first.to_dict(), allow_nan=False))
    assert made["guarantee"]["adjacency"] == str(question.guarantee.adjacency)
    assert first.headline in str(first)
    assert first.chart().to_dict()


def test_only_the_columns_of_the_query_are_charged_where_only_scores_are_read():
    assert ASKED["scores"].columns == ASKED["best"].columns == ASKED["set"].columns == QUERY
    for name in ("scores of records", "published", "pairs", "weights", "count"):
        assert ASKED[name].columns is None


def test_the_price_of_a_whole_record_is_said():
    assert ASKED["scores"].notes == ("for a whole record: epsilon 3",)
    assert ASKED["pairs"].notes == ("for a whole record: epsilon 5",)
    assert ASKED["count"].notes == ()


# Exact laws. The records are n vectors of l bits, all of them, and all neighbours.


def worst(question, n, width, window=0, floor=0.0, moved="bit"):
    laws = {}
    for bits in product((0, 1), repeat=n * width):
        records = Records.of(np.array(bits).reshape(n, width))
        key = tuple(records.bits().reshape(-1).tolist())
        laws[key] = law_of(lambda noise, r=records: question.answer(r, noise), window=window)[0]
    found = 0.0
    for one, other in product(laws, repeat=2):
        differs = np.flatnonzero(np.array(one) != np.array(other))
        rows = set((differs // width).tolist())
        if (moved == "bit" and len(differs) == 1) or (moved == "record" and len(rows) == 1):
            found = max(found, log_ratio(laws[one], laws[other], floor))
    return found


@pytest.mark.parametrize(("n", "width"), [(2, 2), (3, 1), (1, 3)])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_the_best_record_costs_exactly_epsilon(n, width, epsilon):
    query = tuple(map(str, range(width)))
    question = BestRecord(query=query, epsilon=epsilon, adjacency="bit")
    expected = float(Fraction(epsilon)) if n > 1 else 0
    found = worst(question, n, width)
    assert found <= expected * (1 + 1e-12)
    if width == 2:  # both directions and the gap that attains it are in this universe
        assert found > 0.7 * expected
    by_record = BestRecord(query=query, epsilon=epsilon, adjacency="substitute")
    assert worst(by_record, n, width, moved="record") <= float(Fraction(epsilon)) * (1 + 1e-12)


def test_permute_and_flip_matches_the_oracle():
    question = BestRecord(query=("0",), epsilon=1, adjacency="bit")
    law = law_of(lambda noise: question.answer(Records.of([[1], [0]]), noise))[0]
    found = sorted(map(float, law.values()), reverse=True)
    assert found == pytest.approx([0.816060279414, 0.183939720586], rel=1e-11)


@pytest.mark.parametrize("k", [1, 2])
def test_the_top_set_costs_at_most_epsilon(k):
    question = TopSet(query=("0", "1"), k=k, epsilon=1, adjacency="bit")
    found = worst(question, 3, 2)
    assert 0.5 < found <= float(question.loss) <= 1
    record = TopSet(query=("0", "1"), k=k, epsilon=1, adjacency="substitute")
    assert worst(record, 3, 2, moved="record") <= 1


def test_the_top_set_is_drawn_by_its_law():
    records = Records.of(["111", "110", "011", "000"])
    question = TopSet(query=("0", "1", "2"), k=2, epsilon=1, adjacency="bit")
    law = law_of(lambda noise: question.answer(records, noise))[0]
    inclusion = np.zeros(4)
    for outcome, mass in law.items():
        inclusion[json.loads(outcome)["rows"]] += float(mass)
    assert inclusion == pytest.approx(top_set_inclusion([3, 2, 2, 0], 2, 1), abs=2e-6)


@pytest.mark.parametrize(
    ("steps", "sizes", "k"), [((2, 1, 0), (3, 2, 2), 4), ((5, 0), (40, 3), 3), ((0,), (5,), 2)]
)
def test_either_way_of_counting_by_levels_has_the_law_of_the_set(steps, sizes, k):
    base, noise, draws = Fraction(385_751, 1 << 20), seeded_noise(6), 800  # about 1/e
    choices = [m for m in product(*(range(size + 1) for size in sizes)) if sum(m) == k]
    masses = np.array([
        math.prod(math.comb(size, own) * float(base) ** (step * own)
                  for step, size, own in zip(steps, sizes, m, strict=True))
        for m in choices
    ])  # fmt: skip
    masses /= masses.sum()
    weights = [base.numerator**step << (20 * (max(steps) - step)) for step in steps]
    for draw in (
        lambda: weighed(weights, sizes, k, noise), lambda: tossed(base, steps, sizes, k, noise),
    ):  # fmt: skip
        found = Counter(tuple(draw()) for _ in range(draws))
        assert set(found) <= set(choices)
        seen = np.array([found[m] for m in choices])
        common = masses > 5 / draws
        if common.sum() > 1:
            parts = [np.append(x[common], x[~common].sum() + 1e-9) for x in (seen, masses)]
            assert p_value(parts[0], parts[1] / parts[1].sum()) > FALSE_ALARM
            wrong = np.append(np.roll(parts[1][:-1], 1), parts[1][-1])
            assert p_value(parts[0], wrong / wrong.sum()) < FALSE_ALARM


def test_a_large_set_is_drawn_soon_and_holds_the_best():
    records = Records.of(np.tri(600, 64, -1, dtype=int)[np.arange(600) // 9])
    question = TopSet(query=about(records, list(range(64))), k=300, epsilon=3, adjacency="bit")
    found = question.answer(records, Noise())
    assert len(set(found.rows.tolist())) == 300
    assert found.rows.min() > 200  # rows are sorted by score; 300 to 599 are the best
    whole = TopSet(query=about(records, list(range(64))), k=600, epsilon=3, adjacency="bit")
    assert whole.answer(records, Noise()).rows.tolist() == list(range(600))


@pytest.mark.parametrize("depth", [None, 1])
def test_noisy_scores_cost_exactly_epsilon(depth):
    question = NoisyScores(query=("0",), epsilon=1, adjacency="bit", depth=depth)
    found = worst(question, 2, 1, window=24, floor=Fraction(1, 10**4))
    assert found == pytest.approx(1, rel=1e-6)


def test_row_weights_and_pairs_cost_exactly_epsilon():
    pairs = ScorePairs(query=("0",), n_columns=2, epsilon=1, adjacency="bit")
    assert worst(pairs, 1, 2, window=20, floor=Fraction(1, 10**4)) == pytest.approx(1, rel=1e-6)
    assert worst(pairs, 1, 2, 20, Fraction(1, 10**4), "record") <= 2 + 1e-6
    weights = RowWeights(n_columns=2, epsilon=1, adjacency="bit")
    assert worst(weights, 1, 2, window=20, floor=Fraction(1, 10**4)) == pytest.approx(1, rel=1e-6)


def test_counts_and_histograms_cost_a_record_exactly_epsilon():
    floor = Fraction(1, 10**4)
    count = SimilarCount(query=("0", "1"), threshold=1, epsilon=1, adjacency="substitute")
    assert worst(count, 2, 2, 14, floor, "record") == pytest.approx(1, rel=1e-6)
    histogram = ScoreHistogram(query=("0",), epsilon=2, adjacency="substitute")
    assert worst(histogram, 2, 1, 10, floor, "record") == pytest.approx(2, rel=1e-6)


def as_lists(found):
    return [found.rows.tolist(), found.values.tolist(), found.reach]


@pytest.mark.parametrize("begin", [3, 1])
@pytest.mark.parametrize("depth", [1, 2])
def test_the_lazy_walk_has_the_law_of_full_noise_wherever_it_begins(depth, begin):
    scores = [2, 1, 1]
    lazy, _ = bounded_walk(scores, depth, begin)
    full, _ = law_of(
        lambda noise: as_lists(full_draw(np.array(scores), Fraction(1), depth, noise)), window=12
    )
    seen = 0
    for outcome, mass in full.items():
        if float(mass) > 3e-4 and json.loads(outcome)[2] >= 0:
            assert float(lazy.get(outcome, 0)) == pytest.approx(float(mass), rel=2e-3), outcome
            seen += 1
    assert seen > 20


class TooLow(Exception):
    """The walk went below what is compared."""


def bounded_walk(scores, depth, begin):
    """Enumerate the walk, leaving out what goes far down: its tree has no end."""

    def ask(noise):
        try:
            return as_lists(lazy_walk(np.array(scores), 2, Fraction(1), depth, Stop(noise), begin))
        except TooLow:
            return "too low"

    class Stop:
        def __init__(self, noise):
            self.noise, self.steps = noise, 0

        def __getattr__(self, name):
            return getattr(self.noise, name)

        def binomial(self, n, p):
            self.steps += 1
            if self.steps > 8:
                raise TooLow
            return self.noise.binomial(n, p)

    return law_of(ask, window=9)


def test_ties_are_uniform_over_all_members_whatever_their_level():
    """Top-1 among equal noisy scores: a record of the lower level wins as often as it should."""
    noise, scores = seeded_noise(4), np.array([2, 1, 1])
    first = Counter()
    for _ in range(3000):
        found = lazy_walk(scores, 2, Fraction(2), 1, noise)
        tied = found.rows[found.values == found.values[0]]
        if len(tied) == 2 and 0 in tied:
            first[int(found.rows[0] == 0)] += 1
    assert first.total() > 150
    assert abs(first[1] - first[0]) < 6.2 * math.sqrt(first.total())


def p_value(counts, masses):
    expected = np.asarray(masses) * np.sum(counts)
    statistic = ((np.asarray(counts) - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(masses) - 1))


def test_noise_follows_its_law_and_the_test_can_tell():
    records = Records.of([[1, 0, 0, 0]] * 20_000)
    question = NoisyScores(query=("0", "1", "2", "3"), **BIT)
    clamped = question.answer(records, seeded_noise(1)).clamped
    counts = np.bincount(clamped, minlength=5)
    assert p_value(counts, clamped_geometric(4, 1, 1)) > FALSE_ALARM
    assert p_value(counts, clamped_geometric(4, "1.25", 1)) < FALSE_ALARM
    assert p_value(counts, clamped_geometric(4, "0.75", 1)) < FALSE_ALARM


def test_the_first_record_follows_its_law_by_either_draw():
    scores, noise = np.array([3, 2, 0]), seeded_noise(8)
    law = noisy_top_one([3, 2, 0], 1)
    for draw in (
        lambda: lazy_walk(scores, 3, Fraction(1), 1, noise),
        lambda: full_draw(scores, Fraction(1), 1, noise),
    ):
        wins = np.bincount([int(draw().rows[0]) for _ in range(4000)], minlength=3)
        assert p_value(wins, law) > FALSE_ALARM
        assert p_value(wins, noisy_top_one([3, 2, 0], 2)) < FALSE_ALARM


def test_flips_follow_their_law_bit_by_bit():
    records = Records.of(np.zeros((3000, 70), int))
    answer = publish_randomised(records, 1, noise=seeded_noise(2))
    ones = answer.published().records.bits().sum()
    f = 1 / (1 + math.e)
    assert p_value([ones, 210_000 - ones], [f, 1 - f]) > FALSE_ALARM
    assert p_value([ones, 210_000 - ones], [f * 1.05, 1 - f * 1.05]) < FALSE_ALARM
    assert not (answer.words[:, -1] >> np.uint64(6)).any()
    same = publish_randomised(Records.of(np.ones((3000, 70), int)), 1, noise=seeded_noise(2))
    assert (same.words ^ answer.words == Records.of(np.ones((3000, 70), int)).words).all()


def test_estimates_from_published_records_are_unbiased_and_shrinking_helps(tmp_path):
    records = stand_in()
    public = np.random.default_rng(3)
    found = publish_randomised(records, 2 * math.log(2), noise=seeded_noise(5)).published()
    again = Published.read(found.save(tmp_path / "published.npz"))
    hits = {True: [], False: []}
    weights = records.weights()
    for person in public.choice(np.flatnonzero(weights >= 64), 30, replace=False):
        query = public.choice(np.flatnonzero(records.bits()[person]), 64, replace=False).tolist()
        truth = records.bits()[:, query].sum(axis=1)
        plain = again.scores(query, shrunk=False)
        assert abs((plain - truth).mean()) < 6 * 5.3333 / math.sqrt(943)
        least = np.sort(truth)[-10]
        for shrunk in hits:
            rows = [int(name) for name, _ in again.top(query, 10, shrunk=shrunk)]
            hits[shrunk].append((truth[rows] >= least).mean())
    # the table for the stand-in (its own row left out there): 0.670 plain, 0.832 shrunk
    assert np.mean(hits[False]) == pytest.approx(0.670, abs=0.1)
    assert np.mean(hits[True]) == pytest.approx(0.832, abs=0.1)
    assert np.mean(hits[True]) > np.mean(hits[False])


def test_views_of_an_answer_are_free_and_within_what_was_drawn():
    records = Records.of(np.random.default_rng(1).integers(0, 2, (500, 8)))
    question = NoisyScores(query=about(records, "11110000"), depth=20, **BIT)
    answer = question.answer(records, Noise())
    assert answer.top(5) == answer.top(20)[:5]
    assert len(answer.above(answer.reach)) == len(answer.rows) >= 20
    assert answer.ranks[0] == 1
    assert answer.clamped.max() <= 4
    with pytest.raises(ParameterError, match="deeper"):
        answer.top(21)
    with pytest.raises(ParameterError, match="deeper"):
        answer.above(answer.reach - 1)
    with pytest.raises(ParameterError):
        answer.top(0)
    full = NoisyScores(query=question.query, **BIT).answer(records, Noise())
    assert len(full.scores()) == 500
    assert full.top(500)


def test_weights_and_scores_give_similarities_for_nothing():
    weights = RowWeights(n_columns=5, epsilon=50, adjacency="bit").answer(EXAMPLE, Noise())
    scores = NoisyScores(query=QUERY, epsilon=50, adjacency="bit").answer(EXAMPLE, Noise())
    found = dict(zip(scores.rows.tolist(), weights.similarity(scores, "jaccard"), strict=True))
    assert found == pytest.approx({0: 0, 1: 2 / 4, 2: 2 / 3, 3: 1 / 4})
    pairs = ScorePairs(query=QUERY, n_columns=5, epsilon=50, adjacency="bit")
    assert pairs.answer(EXAMPLE, Noise()).top(1) == [(2, pytest.approx(2 / 3))]


@pytest.mark.parametrize(
    "settings",
    [{"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.inf}, {"epsilon": math.nan},
     {"adjacency": "add-remove"}, {"adjacency": None}, {"query": "abc"}, {"depth": 0}],
)  # fmt: skip
def test_bad_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        NoisyScores(**{"query": QUERY, **BIT, **settings})


def test_bad_askings_are_refused():
    for question in (
        NoisyScores(query=("nothing",), **BIT),
        NoisyScores(query=QUERY, depth=5, **BIT),
        TopSet(query=QUERY, k=5, **BIT),
        ScorePairs(query=QUERY, n_columns=6, **BIT),
    ):
        with pytest.raises(ParameterError):
            question.answer(EXAMPLE, Noise())
    with pytest.raises(ParameterError):
        TopSet(query=QUERY, k=0, **BIT)
    with pytest.raises(ParameterError):
        RandomizedRecords(epsilon=1, adjacency="substitute")
    with pytest.raises(NotPrivate):
        about(EXAMPLE, EXAMPLE)


def test_seeded_noise_can_never_pass_for_private():
    for question in ASKED.values():
        answer = question.answer(EXAMPLE, seeded_noise(0))
        assert "NOT PRIVATE" in str(answer)
        assert answer.guarantee is None


def test_the_empty_query_tells_nothing_and_a_single_record_is_allowed():
    question = NoisyScores(query=(), **BIT)
    assert question.columns == ()
    assert len(question.answer(EXAMPLE, Noise()).top(4)) == 4
    assert BestRecord(query=("0",), **BIT).answer(Records.of([[1]]), Noise()).row == 0
