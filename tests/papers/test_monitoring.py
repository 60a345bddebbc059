"""The monitoring paper's experiments come out as a faithful run must, and its errata show."""

from __future__ import annotations

import json
from itertools import product

import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.papers.monitoring import charts, rows
from noren.papers.monitoring_errata import published_law
from noren.papers.monitoring_runs import BLOCK, PUBLISHED, f_of, planned, shares


def silent(done: int, total: int | None) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def quick():
    return list(rows(quick=True, progress=silent))


def test_every_figure_is_what_a_faithful_run_gives(quick):
    assert len(quick) > 150
    assert [row for row in quick if not row.ok] == []
    assert {row.experiment[:2] for row in quick} == {"1:", "2:", "im", "er", "wh"}


def test_the_printed_figures_stand_beside_ours(quick):
    printed = {row.setting: row.published for row in quick if type(row.published) is float}
    assert printed["epsilon 1, m = 1"] == 0.71
    assert printed["epsilon 10, m = 6"] == 0.91
    assert printed["epsilon 200, m = 100"] == 0.99
    best = {row.setting: row.published for row in quick if row.quantity == "best m"}
    assert best == {"epsilon 1": 1, "epsilon 10": 6, "epsilon 200": 100}


def test_every_erratum_has_a_row(quick):
    text = " ".join(f"{row.published} {row.note}" for row in quick if row.experiment == "errata")
    for words in ("r = 0 is optimal", "dummies are needed", "m* minimizes a bound", "m* = T takes",
                  "condition on alpha", "proof empty", "needs epsilon bounded below", "argmax",
                  "1/(e^epsilon - 1) is meant", "log(T) / N) is meant", "epsilon / m only",
                  "silence must not depend", "stored bytes", "not offered"):  # fmt: skip
        assert words in text


@pytest.mark.slow
def test_the_full_run_follows_people_too():
    found = list(rows(quick=False, progress=silent))
    assert [row for row in found if not row.ok] == []
    assert sum("every person followed" in row.setting for row in found) == 5


def test_the_data_has_21_slots_that_are_up():
    assert sum(shares(100) >= 0.8 - 1e-12) == 21


def test_the_default_is_better_than_the_paper_and_a_wrong_m_is_worse():
    best = f_of(PUBLISHED, 10_000, 100, 10, 200, 6)
    assert f_of(BLOCK, 10_000, 100, 10, 200) > best + 0.04
    assert f_of(PUBLISHED, 10_000, 100, 10, 200, 100) < best - 0.04
    assert planned(PUBLISHED, 10_000, 100, 10).chosen.reports == 6


def test_the_published_law_adds_up_and_has_the_published_chances():
    law = published_law((1, 0, 1), 2, 2.0, 0.25)
    assert sum(law.values()) == pytest.approx(1)
    first = sum(law[y] for y in product((0, 1), repeat=3) if y[0])
    assert first == pytest.approx(2 / 3 * 0.7310585786300049 + 1 / 3 * 0.25)


def test_six_figures_are_drawn(quick):
    pictures = charts(quick)
    assert [caption[:2] for caption, _ in pictures] == ["1:"] * 3 + ["2:"] * 3
    points = [len(next(iter(chart.to_dict()["datasets"].values()))) for _, chart in pictures]
    assert points == [19] * 3 + [20] * 3


def test_the_command_reproduces_it(tmp_path):
    page = tmp_path / "paper.html"
    done = CliRunner().invoke(
        noren, ["reproduce", "monitoring", "--quick", "--json", "--report", str(page)]
    )
    assert done.exit_code == 0, done.stderr
    assert all(row["ok"] for row in json.loads(done.stdout)["result"]["rows"])
    assert "2: 100,000 people" in page.read_text("utf-8")
