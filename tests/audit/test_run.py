"""The whole audit: every row did what was expected, and every fault was caught."""

import json
from collections import Counter

import pytest

from noren.audit import AuditRow, names, run
from noren.audit.row import finding
from noren.errors import ParameterError
from noren.testing import seeded_noise

METHODS = {"exact", "law", "statistical", "mutant"}


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        for room in ("noise", "mechanisms", "faults"):
            patch.setattr(f"noren.audit.{room}.Noise", lambda: seeded_noise(81))
        return [row for name in ("noise", "mechanisms") for row in run(name, quick=True)]


def test_a_healthy_audit_has_no_row_that_is_not_ok(rows):
    assert [row for row in rows if not row.ok] == []
    assert {row.method for row in rows} == METHODS


def test_every_mutant_is_caught(rows):
    mutants = [row for row in rows if row.method == "mutant"]
    assert all(row.expected == "fails" and row.measured > row.claimed for row in mutants)
    faults = Counter(row.mechanism.split("fault: ")[1].split(",")[0] for row in mutants)
    assert faults == {
        "half the noise": 2,
        "the factor 2 dropped": 2,
        "one bound forgotten": 1,
        "scale from the private n": 2,
        "divided by the private n": 1,
        "noise forgotten in one cell": 1,
        "scores taken as monotone": 1,
        "twice the epsilon": 1,
        "a fixed number of runs": 1,
    }


def test_what_is_claimed_tight_is_tight(rows):
    exact = [row for row in rows if row.method == "exact" and "cells" not in row.mechanism]
    tight = ("cell-counts", "bounded-sum", "bounded-mean", "randomized-response")
    found = [row for row in exact if any(word in row.mechanism for word in tight)]
    assert len(found) > 30
    assert all(row.measured == pytest.approx(row.claimed, rel=1e-3) for row in found)
    flips = [row for row in exact if "permute-and-flip" in row.mechanism]
    assert all(row.measured == 1.0 for row in flips if row.quantity == "epsilon")


def test_the_only_other_failure_expected_is_the_counter_example(rows):
    failing = [row for row in rows if row.expected == "fails" and row.method != "mutant"]
    assert ["NumPy" in row.mechanism for row in failing] == [True]


def test_statistical_rows_say_what_they_could_see(rows):
    seen = [row.detects for row in rows if row.method == "statistical"]
    assert len(seen) == 8
    assert all(detects > 1 for detects in seen)
    assert sum(detects < 2 for detects in seen) >= 7


def test_rows_are_plain_json(rows):
    made = [row.to_dict() for row in rows]
    json.dumps(made, allow_nan=False)
    contract = {"mechanism", "adjacency", "claimed", "measured", "method", "ok", "expected"}
    assert all(contract <= row.keys() for row in made)
    assert any(row["measured"] == "infinite" for row in made)


def test_one_room_can_be_audited_and_progress_followed(monkeypatch):
    monkeypatch.setattr("noren.audit.noise.Noise", lambda: seeded_noise(82))
    seen = []
    found = run("noise", quick=True, progress=seen.append)
    assert seen == found
    assert all(isinstance(row, AuditRow) for row in found)
    assert {"noise", "mechanisms"} <= set(names())


def test_an_unknown_room_is_refused_by_name():
    with pytest.raises(ParameterError, match="one of questions, noise, mechanisms"):
        run("kitchen")


def test_ok_means_that_the_expected_happened():
    settings = {"claimed": 1, "method": "exact"}
    assert finding("m", "a", measured=1, **settings).ok
    assert not finding("m", "a", measured=1.1, **settings).ok
    assert finding("m", "a", measured=1.1, expected="fails", **settings).ok
    assert not finding("m", "a", measured=1, expected="fails", **settings).ok
