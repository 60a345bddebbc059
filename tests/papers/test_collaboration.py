"""The paper's experiments come out as a faithful run must, and its errata show."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.collaboration import fit_logistic
from noren.collaboration.as_published import PublishedTraining
from noren.errors import FileProblem
from noren.noise.public import generator
from noren.papers import PAPERS
from noren.papers.collaboration import charts, rows
from noren.papers.collaboration_errata import two_learner_risk, vacuous_theorem
from noren.papers.collaboration_nodes import aggregates, fit_nodes, gamma_spheres
from noren.papers.collaboration_tables import pima_stand_in, read_pima
from noren.papers.collaboration_terms import CANCER, DIABETES, FIFTH, GAIN_HONEST, GAINS
from noren.papers.rows import PaperRow


@cache
def quick() -> tuple[PaperRow, ...]:
    return tuple(rows(quick=True, progress=lambda done, total: None))


def test_every_figure_is_what_a_faithful_run_gives():
    assert [row for row in quick() if not row.ok] == []
    assert {row.experiment for row in quick()} >= {FIFTH, CANCER, DIABETES, "errata"}
    assert len(quick()) > 120


def test_the_honest_baseline_stands_beside_the_published_one():
    ours = [row for row in quick() if row.experiment == FIFTH]
    gains = {row.setting: row.ours for row in ours if row.quantity == GAINS}
    honest = {row.setting: row.ours for row in ours if row.quantity == GAIN_HONEST}
    assert gains.keys() == honest.keys()
    assert gains["epsilon 0.1, signs"] > 80
    assert honest["epsilon 0.1, signs"] < 10


def test_all_six_errata_have_rows():
    settings = " ".join(row.setting for row in quick() if row.experiment == "errata")
    assert all(f"E{number}" in settings for number in range(1, 7))


def test_the_bound_of_theorem_4_1_is_that_of_the_specification():
    row = next(vacuous_theorem())
    assert row.ours == pytest.approx(69.2637849048, rel=1e-11)
    assert row.ours > 99 * np.log(2)  # a model of zeros has a loss of log 2


def test_nodes_fitted_together_are_those_fitted_one_by_one():
    rng = np.random.default_rng(1)
    points, labels = rng.normal(size=(4, 9, 3)), rng.choice([-1.0, 1.0], (4, 9))
    linear = gamma_spheres(generator(2), 4, 3, 0.5)
    together = fit_nodes(points, labels, 0.7, linear)
    for node in range(4):
        alone = fit_logistic(points[node], labels[node], 0.7, linear[node])
        assert together[node] == pytest.approx(alone, abs=1e-7)


def test_linear_terms_have_the_published_law():
    """The mean length of a Gamma-sphere is d / rate; five standard deviations of the mean."""
    lengths = np.linalg.norm(gamma_spheres(generator(3), 4000, 10, 0.5), axis=1)
    assert lengths.mean() == pytest.approx(20, abs=5 * np.sqrt(10) / 0.5 / np.sqrt(4000))


def test_the_simulated_training_states_the_parameters_of_the_question():
    from noren.collaboration import Task, cms_calibration

    task = Task.of_bounds([-1] * 10, [1] * 10, intercept=0, scale=1)
    asked = PublishedTraining(
        task=task, epsilon="0.5", adjacency="substitute", size=50, variant="cms"
    )
    ridge, rate = cms_calibration(50, "0.5", 0.02)
    assert float(asked.parameters["ridge"]) == pytest.approx(ridge, rel=0.01)
    assert float(asked.parameters["rate"]) == pytest.approx(rate, rel=0.1)


def test_a_node_never_combines_its_own_model():
    points, labels = np.ones((3, 2, 1)), np.ones((3, 2))
    models = np.array([[5.0], [1.0], [1.0]])
    scores = aggregates(points, labels, models, "score", np.ones((1, 1)))
    assert scores[0, 0] == pytest.approx(1.0)
    assert scores[1, 0] > 1


def test_the_risk_of_two_learners_is_that_of_the_specification():
    assert two_learner_risk(20, 0.5, 2) == pytest.approx(2.51072826031, rel=1e-9)
    assert two_learner_risk(1, 0.5, 2) == pytest.approx(0.722537941222, rel=1e-9)


def pima_file(path, header: bool):
    rng = np.random.default_rng(1)
    lines = ["a,b,c,d,e,f,g,h,outcome"] if header else []
    for place in range(768):
        numbers = ",".join(str(number) for number in rng.uniform(1, 60, 8).round(2))
        lines.append(f"{numbers},{int(place < 268)}")
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("header", [True, False])
def test_the_readers_own_table_is_read(tmp_path, header):
    table = read_pima(pima_file(tmp_path / "pima.csv", header))
    assert table.rows.shape == (768, 9)
    assert (table.labels == 1).sum() == 268
    own, labels, test, truth = table.cut(0)
    assert own.shape == (10, 60, 9)
    assert labels.shape == (10, 60)
    assert len(test) == len(truth) == 168
    assert np.linalg.norm(table.rows, axis=1).max() <= 1 + 1e-12


def test_a_file_that_is_something_else_is_refused_without_quoting_it(tmp_path):
    (tmp_path / "x.csv").write_text("1,2,SECRETVALUE\n3,4,5\n")
    with pytest.raises(FileProblem) as caught:
        read_pima(tmp_path / "x.csv")
    assert "SECRETVALUE" not in str(caught.value)
    (tmp_path / "y.csv").write_text("1,2,3\n" * 768)
    with pytest.raises(FileProblem, match="768 lines"):
        read_pima(tmp_path / "y.csv")


def test_the_stand_in_has_the_shape_of_the_real_one():
    table = pima_stand_in()
    assert table.rows.shape == (768, 9)
    assert (table.labels == 1).sum() == 268
    noted = [row.note for row in quick() if row.experiment == DIABETES]
    assert all("stand-in" in note for note in noted)


def test_the_figures_are_drawn_with_both_baselines():
    pictures = charts(quick())
    assert [caption for caption, _ in pictures] == [
        f"{FIFTH}: accuracy", f"{FIFTH}: gains", CANCER, DIABETES]  # fmt: skip
    ways = {point["way"] for points in pictures[1][1].to_dict()["datasets"].values()
            for point in points}  # fmt: skip
    assert ways == {"printed", "signs, published baseline", "signs, proper local",
                    "scores, published baseline", "scores, proper local"}  # fmt: skip


def test_the_command_takes_the_readers_file(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.papers.collaboration.DRAWS_QUICK", 1)
    monkeypatch.setattr("noren.papers.collaboration_tables.CUTS", 2)
    file = pima_file(tmp_path / "pima.csv", header=True)
    done = CliRunner().invoke(
        noren, ["reproduce", "collaboration", "--quick", "--json", "--pima", str(file)]
    )
    found = json.loads(done.stdout)["result"]["rows"]
    assert any(row["experiment"] == DIABETES for row in found)
    assert not any("stand-in" in row["note"] for row in found)
    assert set(PAPERS["collaboration"].files) == {"pima"}
