"""How useful each way is: the tables of the stand-in, tried with public randomness."""

import math

import numpy as np
import pytest

from noren.errors import ParameterError
from noren.similarity import stand_in
from noren.similarity.trials import (
    quality,
    queries_of_records,
    random_queries,
    try_naming,
    try_randomized,
    try_rules,
    try_similarity,
)

PRICE = 2 * math.log(2)
SOME = 150  # queries: a standard error of about 0.01, beside a tolerance of 0.03

# (published, recalibrated, geometric, peeled, random order), P@10 then NDCG@10
BY_RULE = {
    "random 4": ((0.104, 0.212, 0.295, 0.062, 0.056), (0.185, 0.298, 0.382, 0.127, 0.113)),
    "random 64": ((0.864, 0.936, 0.945, 0.135, 0.012), (0.978, 0.994, 0.995, 0.361, 0.164)),
    "16 of a user": ((0.597, 0.813, 0.866, 0.058, 0.015), (0.872, 0.964, 0.976, 0.363, 0.246)),
}
RULES = ("published", "recalibrated", "geometric", "peeled", "random-order")


def queries_like(words):
    if words.startswith("random"):
        return random_queries(stand_in(), int(words.split()[1]), SOME, seed=3)
    return queries_of_records(stand_in(), 16, SOME, seed=3)


@pytest.mark.parametrize("words", list(BY_RULE))
def test_each_way_is_as_good_as_the_table_of_the_stand_in_says(words):
    found = try_rules(stand_in(), queries_like(words), PRICE, rules=RULES, seed=4)
    precisions, gains = BY_RULE[words]
    assert [found[name].precision for name in RULES] == pytest.approx(precisions, abs=0.06)
    assert [found[name].ndcg for name in RULES] == pytest.approx(gains, abs=0.06)


@pytest.mark.parametrize(
    ("size", "split", "plain", "shrunk"),
    [(16, 0.015, 0.500, 0.766), (64, 0.016, 0.670, 0.832)],
)
def test_publishing_once_beats_a_split_budget_for_a_hundred_queries(size, split, plain, shrunk):
    queries = queries_of_records(stand_in(), size, 100, seed=7)
    once = try_randomized(stand_in(), queries, PRICE, seed=6)
    each = try_rules(stand_in(), queries, PRICE / 100, rules=["geometric"], seed=8)
    assert once["randomized"].precision == pytest.approx(plain, abs=0.06)
    assert once["shrunk"].precision == pytest.approx(shrunk, abs=0.06)
    assert each["geometric"].precision == pytest.approx(split, abs=0.03)


def test_two_counts_beat_noise_on_the_ratio():
    queries = queries_of_records(stand_in(), 32, 60, seed=3)
    for name in ("jaccard", "cosine"):
        found = try_similarity(stand_in(), queries, PRICE, name, min_weight=16, seed=4)
        assert found["pair"].precision > found["ratio"].precision + 0.3


def test_naming_under_record_privacy_needs_a_large_epsilon():
    queries = random_queries(stand_in(), 16, 100, seed=3)
    found = [try_naming(stand_in(), queries, epsilon, seed=1) for epsilon in (1, 4, 8)]
    assert [precision for precision, _ in found] == pytest.approx([0.043, 0.453, 0.980], abs=0.05)
    assert [recall for _, recall in found] == pytest.approx([0.74, 0.98, 1.00], abs=0.03)


def test_quality_counts_ties_and_weighs_places():
    u = np.array([3, 2, 2, 0])
    assert quality(u, np.array([0, 2]), 2) == (1.0, 1.0)
    precision, gain = quality(u, np.array([1, 0]), 2)
    assert precision == 1.0
    assert gain == pytest.approx((2 + 3 / math.log2(3)) / (3 + 2 / math.log2(3)))
    assert quality(np.zeros(3, int), np.array([0]), 1) == (1.0, 1.0)


def test_queries_that_cannot_be_made_are_refused():
    with pytest.raises(ParameterError):
        random_queries(stand_in(), 2000, 1, seed=1)
    with pytest.raises(ParameterError):
        queries_of_records(stand_in(), 1600, 1, seed=1)
