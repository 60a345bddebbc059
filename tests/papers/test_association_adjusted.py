"""The tables of adjusting and of hiding status come out as they were measured."""

from __future__ import annotations

import pytest

from noren.papers import PAPERS
from noren.papers.association_adjusted import charts, rows
from noren.papers.association_adjusted_price import STATUS
from noren.papers.association_adjusted_structure import POPULATIONS


def silent(done: int, total: int | None) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def quick():
    return list(rows(quick=True, progress=silent))


def test_a_quick_run_finds_what_was_measured(quick):
    assert [row for row in quick if not row.ok] == []
    assert len(quick) > 120
    assert {row.experiment for row in quick} == {STATUS, POPULATIONS["smaller"].experiment}
    assert "association-adjusted" in PAPERS


def test_the_stand_in_needs_no_simulation_and_is_met_to_its_digits(quick):
    found = [row for row in quick if row.setting == "stand-in"]
    assert len(found) == 11
    assert all(row.tolerance <= 1e-3 and not row.note for row in found)


def test_adjusting_keeps_the_power_and_loses_the_false_positives(quick):
    at = {(row.setting, row.quantity): row.ours for row in quick}
    for test in ("4 strata", "24 strata", "score test", "score test, cap .5"):
        assert at[f"{test}, epsilon 0.2", "false positives"] < 0.05
        assert at["plain, epsilon 0.2", "false positives"] > 0.15
        assert at[f"{test}, epsilon 0.2", "power"] > at["Laplace, 4 strata, epsilon 0.2", "power"]


def test_power_is_drawn_against_false_positives(quick):
    ((caption, chart),) = charts(quick)
    assert caption == POPULATIONS["smaller"].experiment
    (points,) = chart.to_dict()["datasets"].values()
    assert len(points) == 35


@pytest.mark.slow
def test_the_full_run_finds_what_was_measured():
    found = list(rows(quick=False, progress=silent))
    assert [row for row in found if not row.ok] == []
    assert len({row.experiment for row in found}) == 3
