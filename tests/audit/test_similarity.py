"""The audit of private search: every question has a row, every erratum and fault is caught."""

import math
from collections import Counter

import pytest

from noren.audit import names, run
from noren.testing import seeded_noise

QUESTIONS = (
    "noisy-scores", "best-record", "top-set", "randomized-records", "score-pairs", "row-weights",
    "similar-count", "score-histogram",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        for room in ("similarity", "similarity_faults"):
            patch.setattr(f"noren.audit.{room}.Noise", lambda: seeded_noise(85))
        return run("similarity", quick=True)


def test_a_healthy_audit_has_no_row_that_is_not_ok(rows):
    assert [row for row in rows if not row.ok] == []
    assert "similarity" in names()
    assert {row.method for row in rows} == {"exact", "law", "statistical", "mutant"}


def test_every_question_is_enumerated_and_audited_from_outside(rows):
    for method in ("exact", "statistical"):
        examined = " ".join(row.mechanism for row in rows if row.method == method)
        assert all(name in examined for name in QUESTIONS), method


def test_what_is_claimed_tight_is_tight(rows):
    loose = ("top-set", "published", "Gumbel", "walk")
    found = [
        row for row in rows
        if row.method == "exact" and not any(word in row.mechanism for word in loose)
    ]  # fmt: skip
    assert len(found) > 15
    assert all(row.measured == pytest.approx(row.claimed, rel=2e-6) for row in found)
    sets = [row.measured for row in rows if row.method == "exact" and "top-set" in row.mechanism]
    assert all(0.7 < measured < 1 for measured in sets)


def test_the_papers_randomizers_lose_what_the_formulas_say(rows):
    measured = {row.mechanism: row for row in rows if "published" in row.mechanism}
    assert measured["similarity: published scores, 64 columns"].measured == pytest.approx(
        math.log(2.5), rel=1e-12
    )
    assert measured["similarity: published ranks"].measured == math.inf
    assert "0.197531" in measured["similarity: published ranks"].note
    ranks = "similarity: published ranks in a public range, "
    assert measured[f"{ranks}4 records"].measured == pytest.approx(2.6902384074036)
    assert measured[f"{ranks}943 records"].measured == pytest.approx(844.73485992472)
    assert all(row.expected == "fails" for name, row in measured.items() if "ranks" in name)


def test_every_mutant_is_caught_and_by_as_much_as_is_known(rows):
    found = [row for row in rows if row.method == "mutant"]
    assert len(found) == 14
    assert all(row.expected == "fails" and row.measured > row.claimed for row in found)
    mutants = {row.mechanism.split("fault: ")[1]: row for row in found}
    assert mutants["the walk stops inside a value"].measured == pytest.approx(2.62, abs=0.01)
    assert mutants["fresh noise on retry"].measured == pytest.approx(1.0)
    assert mutants["charges not added up"].measured == pytest.approx(1.9)
    assert mutants["a query by example"].measured == pytest.approx(2, rel=1e-6)
    once = next(row for row in rows if "Gumbel" in row.mechanism)
    assert once.measured == pytest.approx(1.99998, abs=1e-5)


def test_statistical_rows_say_what_they_could_see(rows):
    found = Counter(row.detects is not None for row in rows if row.method == "statistical")
    assert found == {True: 9}
