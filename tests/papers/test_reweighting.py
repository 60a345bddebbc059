"""The reweighting paper comes out as a faithful run must, its errata show, its laws are right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

from noren.noise.public import generator
from noren.papers import PAPERS
from noren.papers.reweighting import FIGURES, charts, rows
from noren.papers.reweighting_setting import true_ratio
from noren.papers.simulated_shares import laplace_shares
from noren.reweighting.amplification import sampling_loss
from noren.reweighting.noise_shares import epsilon_left

pytestmark = pytest.mark.filterwarnings("ignore::noren.errors.NotPrivateWarning")


def silent(done: int, total: int | None) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def quick():
    return list(rows(quick=True, progress=silent))


@pytest.mark.slow
def test_every_median_and_ordering_is_what_sixty_faithful_draws_give():
    found = list(rows(quick=False, progress=silent))
    assert [row for row in found if not row.ok] == []


def test_the_quick_run_holds_as_well_and_says_that_it_is_simulated(quick):
    assert [row for row in quick if not row.ok] == []
    assert "reweighting" in PAPERS
    figures = [row for row in quick if row.experiment == FIGURES and row.tolerance]
    assert len(figures) == 14
    assert all("simulated" in row.setting for row in figures)
    assert all(row.published is None for row in figures)


def test_each_erratum_is_a_row_with_its_number(quick):
    named = {row.setting.split(":")[0] for row in quick if row.experiment == "errata"}
    assert named >= {f"E{i}" for i in range(1, 9)}


def test_an_ordering_of_the_paper_that_does_not_hold_says_so(quick):
    found = [row for row in quick if row.note.startswith("does not hold")]
    assert [row.setting for row in found] == ["C, epsilon 0.1, raw"]


def test_the_figures_are_drawn(quick):
    captions = [caption for caption, _ in charts(quick)]
    assert [caption[:8] for caption in captions[:3]] == ["figure 2", "figure 3", "figure 4"]
    assert all(chart.to_dict() for _, chart in charts(quick))


def test_the_true_ratio_has_mean_one_and_its_largest_value():
    x = np.linspace(-8, 10, 200_001)
    public = np.exp(-((x - 1) ** 2) / 2) / math.sqrt(2 * math.pi)
    assert np.trapezoid(public * true_ratio(x), x) == pytest.approx(1, abs=1e-12)
    assert np.trapezoid(public * true_ratio(x) ** 2, x) == pytest.approx(2.6771903240, abs=1e-9)
    assert true_ratio(np.array([7 / 3]))[0] == pytest.approx(3.8954680821, abs=1e-9)


def test_sorting_a_sample_breaks_what_drawing_order_keeps():
    claim = math.log1p(math.expm1(1) * 2 / 3)
    assert sampling_loss(3, 2, 1.0) == pytest.approx(claim, abs=1e-12)
    assert claim == pytest.approx(0.763383, abs=1e-6)
    assert sampling_loss(3, 2, 1.0, in_order=False) == pytest.approx(0.856161, abs=1e-6)


def test_shares_of_all_parties_add_up_to_laplace_noise():
    noise = laplace_shares(2.0, 5, 20_000, generator(1)).sum(axis=0)
    assert kstest(noise, "laplace", args=(0, 2.0)).pvalue > 1e-9
    assert kstest(noise, "laplace", args=(0, 2.4)).pvalue < 1e-9


@pytest.mark.parametrize(
    ("epsilon", "left"), [(1, (1.99, 1.44, 1.19, 1.02)), (0.1, (0.59, 0.27, 0.16, 0.105))]
)
def test_a_party_that_takes_its_share_off_sees_more(epsilon, left):
    found = [epsilon_left(epsilon, parties) for parties in (3, 5, 10, 100)]
    assert found == pytest.approx(left, abs=0.005)
    assert epsilon_left(epsilon, 2) == math.inf
