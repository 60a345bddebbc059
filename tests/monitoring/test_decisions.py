"""Estimates, intervals and decisions: oracles, exact error chances, bad input."""

from itertools import product
from math import tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from noren.monitoring import critical_count, estimate, interval
from noren.monitoring.decisions import (
    Channel,
    Verdict,
    clopper_pearson,
    combined_verdict,
    critical_counts,
    false_reports_to_flip,
    p_value,
    plain_verdict,
    possible_shares,
    read_slot,
    wide_margin,
)

HALF = tanh(0.5)


def test_estimate_and_interval_match_the_oracles():
    assert estimate(640, 1000, HALF) == pytest.approx(0.8029534779234, abs=1e-13)
    assert clopper_pearson(640, 1000, 0.95) == pytest.approx(
        (0.6093720676206, 0.6698008169558), abs=1e-12
    )
    assert interval(640, 1000, HALF, 0.95) == pytest.approx(
        (0.7366760590952, 0.8674410575071), abs=1e-12
    )
    assert p_value(640, 1000, HALF, 0.7) == pytest.approx(0.00115097456692883, rel=1e-10)


def test_critical_counts_match_the_oracles():
    assert critical_count(1000, HALF, 0.8, 0.01) == 675
    assert critical_count(1000, HALF, 0.7, 0.01) == 629


@given(
    reports=st.integers(1, 300), c=st.floats(0.01, 0.999), theta=st.floats(0.02, 0.98),
    alpha=st.floats(1e-6, 0.6),
)  # fmt: skip
def test_down_is_the_mirror_of_up(reports, c, theta, alpha):
    up, down = critical_counts(reports, Channel.symmetric(c), theta, alpha)
    _, other_down = critical_counts(reports, Channel.symmetric(c), 1 - theta, alpha)
    slack = 1e-9
    rate = Channel.symmetric(c).rate(theta)
    assert up is None or (binom.sf(up - 1, reports, rate) <= alpha + slack)
    assert down is None or (binom.cdf(down, reports, rate) <= alpha + slack)
    if up is not None and other_down is not None:
        assert abs((reports - up) - other_down) <= 1


def true_law(people, ones, reports, c):
    """The exact law of S: people drawn without replacement, then lies."""
    found = np.zeros(reports + 1)
    for h in range(max(0, reports - people + ones), min(ones, reports) + 1):
        truths = binom.pmf(np.arange(h + 1), h, (1 + c) / 2)
        lies = binom.pmf(np.arange(reports - h + 1), reports - h, (1 - c) / 2)
        found += hypergeom.pmf(h, people, ones, reports) * np.convolve(truths, lies)
    return found


@pytest.mark.parametrize(
    ("people", "reports", "c", "theta", "alpha"),
    [(100, 10, 0.99999, 0.01, 0.097), (100, 10, 0.99999, 0.99, 0.097), (50, 20, 0.6, 0.4, 0.05),
     (30, 12, 0.3, 0.5, 0.4), (40, 40, 0.8, 0.25, 0.01), (20, 5, 0.95, 0.1, 0.45)],
)  # fmt: skip
def test_a_wrong_up_or_down_has_at_most_its_chance(people, reports, c, theta, alpha):
    up, down = critical_counts(reports, Channel.symmetric(c), theta, alpha)
    for ones in range(people + 1):
        law = true_law(people, ones, reports, c)
        if up is not None and ones / people <= theta + 1e-12:
            assert law[up:].sum() <= alpha + 1e-12
        if down is not None and ones / people >= theta - 1e-12:
            assert law[: down + 1].sum() <= alpha + 1e-12


def test_without_the_raise_the_chance_would_be_passed():
    assert true_law(100, 1, 10, 0.99999)[1:].sum() > 0.097
    assert binom.sf(0, 10, Channel.symmetric(0.99999).rate(0.01)) < 0.097


def test_a_slot_without_reports_says_so():
    reading = read_slot(0, 0, Channel.symmetric(0.5), 0.8, scheduled=10)
    assert (reading.share, reading.low, reading.verdict) == (None, None, Verdict.NO_DATA)
    assert reading.missing == 1
    assert estimate(0, 0, 0.5) is None
    assert interval(0, 0, 0.5, 0.95) is None
    assert critical_count(0, 0.5, 0.5, 0.05) is None


def test_rules_differ_where_they_should():
    channel = Channel.symmetric(HALF)
    assert plain_verdict(0.8, 0.8) is Verdict.UP
    for ones, expected in ((675, "up"), (640, "undecided"), (550, "down")):
        found = read_slot(ones, 1000, channel, 0.8, rule="confident", alpha=0.01)
        assert found.verdict.value == expected
    assert read_slot(640, 1000, channel, 0.8).verdict is Verdict.UP


def test_an_interval_beyond_the_edge_is_marked_and_not_taken_for_certainty():
    found = read_slot(1000, 1000, Channel.symmetric(0.1), 0.8)
    assert found.at_edge
    assert (found.low, found.high) == (1, 1)
    assert not read_slot(640, 1000, Channel.symmetric(HALF), 0.8).at_edge


@given(ones=st.integers(0, 200), c=st.floats(0.05, 1), theta=st.floats(0.05, 0.95))
def test_exactly_that_many_false_reports_turn_the_verdict(ones, c, theta):
    channel, reports = Channel.symmetric(c), 200
    share = channel.share(ones / reports)
    flips = false_reports_to_flip(share, reports, c, theta)
    before = plain_verdict(share, theta)
    step = 1 if before is Verdict.DOWN else -1

    def after(n):
        return plain_verdict(channel.share((ones + step * n) / reports), theta)

    close = abs((theta - share) * c * reports - round((theta - share) * c * reports)) < 1e-9
    assert after(flips + close) is not before
    assert after(max(0, flips - 1 - close)) is before


def test_missing_reports_widen_what_is_possible():
    assert possible_shares(0.5, 0.2) == pytest.approx((0.4, 0.6))
    assert read_slot(40, 80, Channel.symmetric(0.5), 0.5, scheduled=100).missing == pytest.approx(
        0.2
    )


def test_the_interval_covers_the_share_at_least_as_often_as_said():
    people, reports, c = 400, 60, 0.5
    for ones in (0, 40, 200, 320, 400):
        law = true_law(people, ones, reports, c)
        held = [low <= ones / people <= high for low, high in
                (interval(s, reports, c, 0.95) for s in range(reports + 1))]  # fmt: skip
        assert law[np.array(held)].sum() >= 0.95


def test_several_classes_are_decided_with_a_margin_that_holds():
    """Two classes, each share of the error enumerated."""
    parts = [(0.5, 12, 0.9), (0.5, 8, 0.4)]
    margin = wide_margin(parts, 0.05)
    first, second = true_law(40, 20, 12, 0.9), true_law(40, 20, 8, 0.4)
    wrong = sum(
        first[a] * second[b]
        for a, b in product(range(13), range(9))
        if combined_verdict(0.5 * estimate(a, 12, 0.9) + 0.5 * estimate(b, 8, 0.4), 0.5, margin)
        is Verdict.UP
    )
    assert 0 < wrong <= 0.05


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: estimate(5, 4, 0.5), "ones"), (lambda: estimate(-1, 4, 0.5), "ones"),
        (lambda: estimate(1, -4, 0.5), "reports"), (lambda: estimate(1, 4, 0), "contrast"),
        (lambda: estimate(float("nan"), 4, 0.5), "ones"),
        (lambda: interval(1, 4, 0.5, 1), "confidence"),
        (lambda: critical_count(4, 0.5, 1, 0.05), "threshold"),
        (lambda: critical_count(4, 0.5, 0.5, 0), "alpha"),
        (lambda: read_slot(1, 4, Channel.symmetric(0.5), 0.5, rule="best"), "rule"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=f"^{name} is"):
        call()
