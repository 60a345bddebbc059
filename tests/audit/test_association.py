"""The audit of association scans: every method has a row, every erratum and fault is caught."""

from collections import Counter

import pytest

from noren.association.as_published import PUBLISHED
from noren.audit import names, run
from noren.testing import seeded_noise


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noren.audit.association.Noise", lambda: seeded_noise(83))
        return run("association", quick=True)


def test_a_healthy_audit_has_no_row_that_is_not_ok(rows):
    assert [row for row in rows if not row.ok] == []
    assert "association" in names()


def test_every_method_has_an_exact_row(rows):
    found = {row.mechanism.removeprefix("association: ") for row in rows if row.method == "exact"}
    for name in ("distance-scores, people", "noisy-counts, alleles", "decisions"):
        assert name in found
    assert {f"published-decisions, {method}" for method in PUBLISHED} <= found
    assert {f"top-snps, {way}" for way in ("set", "peel", "tau+set", "tau+peel")} <= found


def test_what_is_claimed_tight_is_tight(rows):
    tight = ("distance-scores", "noisy-counts", "decisions", "total with delta")
    found = [
        row for row in rows
        if row.method == "exact" and row.expected == "holds"
        and any(word in row.mechanism for word in tight) and "published" not in row.mechanism
    ]  # fmt: skip
    assert len(found) == 16
    assert all(row.measured == pytest.approx(row.claimed, rel=1e-8) for row in found)


def test_the_known_worst_cases_are_found(rows):
    measured = {row.mechanism: row.measured for row in rows if row.method == "exact"}
    assert measured["association: top-snps, a set by its scores"] == pytest.approx(
        0.61766, abs=1e-5
    )
    circle = measured["association: published-decisions, unit-circle"]
    assert circle < measured["association: published-decisions, unit-circle-tight"]
    assert measured["association: published-decisions, unit-circle-tight"] > 1 - 1e-8


def test_every_mutant_is_caught(rows):
    mutants = [row for row in rows if row.method == "mutant"]
    assert all(row.expected == "fails" and row.measured > row.claimed for row in mutants)
    adjusted = [row for row in mutants if "score test" in row.mechanism]
    assert len(adjusted) == 11
    mutants = [row for row in mutants if row not in adjusted]
    assert Counter(row.mechanism.split("fault: ")[1] for row in mutants) == {
        "half the noise": 1,
        "fresh noise on retry": 1,
        "the total spent on every test": 1,
        "the factor 2 of alleles dropped": 1,
        "alleles measured as people": 1,
        "missing genotypes shrink the groups": 1,
        "a uniform compared with a float": 1,
        "scores taken as monotone": 2,
        "the total spent in every round": 1,
        "a locus scored by its sum": 1,
        "joint utility of sensitivity 2 taken as 1": 1,
        "the largest constant of a single stratum": 1,
        "a chord that begins at 0, in doubles": 1,
        "a stratum chosen by genotype": 1,
        "the score of public status": 2,
        "the bound only where the distance is large": 1,
    }


def test_the_paper_s_errata_fail_as_expected(rows):
    errata = [row for row in rows if "as published:" in row.mechanism]
    assert len(errata) == 9
    assert all(row.expected == "fails" and row.ok for row in errata)
    by_name = {row.mechanism.split("as published: ")[1]: row.measured for row in errata}
    assert by_name["theorem 4.4 at table (6, 0), N = 10^6"] == pytest.approx(0.499766, abs=1e-6)
    density = by_name["Y2 released as a number, its controls private"]
    assert density == pytest.approx(1.6974, abs=5e-5)


def test_rounding_of_large_groups_stays_within_the_claim(rows):
    rounded = [row for row in rows if "rounding" in row.mechanism]
    assert len(rounded) == 2
    assert all(1 - 1e-6 < row.measured <= 1 for row in rounded)


@pytest.mark.slow
def test_the_whole_audit_is_healthy_and_finds_the_worst_set():
    found = run("association")
    assert [row for row in found if not row.ok] == []
    measured = {row.mechanism: row.measured for row in found if row.method == "exact"}
    assert measured["association: top-snps, a set by its scores"] == pytest.approx(0.8106, abs=1e-4)


def test_scores_within_strata_and_with_private_status_are_enumerated(rows):
    found = {row.mechanism: row.measured for row in rows if row.method == "exact"}
    kinds = ("stratified", "swapped status", "any record", "any record (bound alone)")
    for kind in kinds:
        assert found[f"association: {kind} scores, change by one move"] == 1
        assert found[f"association: {kind} scores, distance above the true one"] == 0
    assert 0.5 < found["association: sensitivity of the CMH statistic"] <= 1


def test_the_adjusted_score_keeps_its_contract_in_every_small_study(rows):
    found = [
        row for row in rows
        if "score test" in row.mechanism and row.method == "exact" and row.quantity == "epsilon"
    ]  # fmt: skip
    assert len(found) == 9
    assert all(row.measured == pytest.approx(1, rel=1e-9) for row in found)
