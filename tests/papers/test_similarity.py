"""The similarity paper's figures, table and theorems come out as a faithful run must."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.errors import FileProblem
from noren.papers import PAPERS
from noren.papers.similarity import charts, data_of, rows
from noren.papers.similarity_counts import (
    LN2,
    TABLE_1,
    expected_ranks,
    expected_scores,
    simulated,
    table_one,
)
from noren.papers.similarity_data import FILMS, STAND_IN
from noren.papers.similarity_errata import THEOREMS
from noren.papers.similarity_figures import FIGURE_1, FIGURE_2
from noren.similarity import stand_in
from noren.similarity.as_published import published_law


def silent(done, total):
    """Show no progress."""


@pytest.fixture(scope="module")
def found():
    return list(rows(quick=True, progress=silent))


def test_every_figure_is_what_a_faithful_run_gives(found):
    assert len(found) > 120
    assert [row for row in found if not row.ok] == []
    assert {row.experiment for row in found} >= {FIGURE_1, FIGURE_2, TABLE_1, THEOREMS}


def test_table_1_is_reported_as_not_reproducible(found):
    cells = [row for row in found if row.experiment == TABLE_1 and row.published]
    refused = [row for row in cells if "not reproducible" in row.note]
    assert {(row.setting, row.published) for row in refused} >= {
        ("stand-in, scores, q = 4", 72.5), ("stand-in, ranks, q = 4", 1.25),
        ("stand-in, scores, q = 64", 86.8),
    }  # fmt: skip
    kept = [row for row in cells if "no more than 20 queries may" in row.note]
    assert ("stand-in, ranks, q = 64", "#true") in {(row.setting, row.quantity) for row in kept}


def test_what_is_wrong_is_called_wrong(found):
    said = " ".join(row.note for row in found if row.experiment == THEOREMS)
    for words in ("WRONG for columns outside", "WRONG for constant columns", "NOT supported",
                  "NOT private", "right and loose"):  # fmt: skip
        assert words in said


def test_three_charts_are_drawn(found):
    assert [caption for caption, _ in charts(found)] == [
        f"{FIGURE_1} (stand-in)", FIGURE_2, "usefulness of one query, epsilon 2 ln 2",
    ]  # fmt: skip
    sizes = [sum(map(len, chart.to_dict()["datasets"].values())) for _, chart in charts(found)]
    assert sizes == [6 * 7, 10, 15]


@pytest.mark.parametrize("slack", [0, 2])
def test_expected_positives_are_those_of_all_outcomes(slack):
    """Every outcome of the paper's noise on 4 records with scores 0..3, by its probability."""
    from itertools import product

    scores_of, law = np.array([0, 1, 1, 3]), published_law(4, LN2)
    expected = np.zeros(2)
    is_true = scores_of >= scores_of.max() - slack
    for r in product(range(4), repeat=4):
        mass = float(np.prod(law[scores_of, list(r)]))
        positive = np.array(r) >= max(r) - slack
        expected += mass * np.array([(is_true & positive).sum(), (~is_true & positive).sum()])
    got = expected_scores(np.bincount(scores_of, minlength=4), law, slack)
    assert got[0] == is_true.sum()
    assert got[1:] == pytest.approx(expected, rel=1e-12)


def test_expected_ranks_are_sums_of_single_draws():
    law = published_law(3, LN2)
    got = expected_ranks(np.array([5, 0, 2, 1]), LN2, 0)
    assert got == pytest.approx((1, law[0, 0], 2 * law[1, 0] + 5 * law[2, 0]))


def test_a_wrong_expectation_would_be_seen(monkeypatch):
    """Noise of another strength in the expectation breaks the check against drawn noise."""
    data = data_of(None)[0]
    right = simulated(data, "scores", 4, 400)

    def other(*given):
        return right * 1.6

    monkeypatch.setattr("noren.papers.similarity_counts.simulated", other)
    cells = [row for row in table_one(data, 400) if row.setting == "stand-in, scores, q = 4"]
    assert [row.ok for row in cells[:3]] == [False, False, False]


@pytest.fixture
def ratings(tmp_path):
    """Write the stand-in as the ratings are written, so that it must be told from them."""
    bits = stand_in().bits()
    lines = [f"{i + 1}\t{h + 1}\t5\t0" for i, h in np.argwhere(bits)]
    path = tmp_path / "u.data"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_reader_s_own_file_is_loaded_as_it_is(ratings):
    data = data_of(ratings)
    assert [one.name for one in data] == [STAND_IN, FILMS]
    assert len(data[1].records) == 943
    assert data[1].records.n_columns == 1666  # no rating, no column: 16 of the stand-in's are empty
    assert data[1].records.id_of(0) == "1"


@pytest.mark.slow
def test_a_reader_s_own_file_has_rows_of_its_own(ratings):
    own = [row for row in rows(quick=True, progress=silent, movielens=ratings)
           if row.setting.startswith(FILMS)]  # fmt: skip
    identity = next(row for row in own if row.experiment == "data")
    assert not identity.ok  # these are not the ratings, and it says so
    assert len(own) > 100
    assert {row.experiment for row in own} >= {FIGURE_1, TABLE_1}


def test_the_command_shows_it(tmp_path, found, monkeypatch):
    """The rows are those of the tests above; computing them again would take half a minute."""
    monkeypatch.setattr("noren.papers.similarity.rows", lambda quick, progress, movielens: found)
    page = tmp_path / "paper.html"
    done = CliRunner().invoke(
        noren, ["reproduce", "similarity", "--quick", "--json", "--report", str(page)]
    )
    assert done.exit_code == 0, done.stderr
    assert all(row["ok"] for row in json.loads(done.stdout)["result"]["rows"])
    assert FIGURE_1 in page.read_text("utf-8")
    assert set(PAPERS["similarity"].files) == {"movielens"}


def test_a_small_copy_of_ratings_is_refused_and_not_taken_for_a_bug(tmp_path):
    file = tmp_path / "u.data"
    file.write_text(
        "".join(f"{user}\t{user + item}\t3\n" for user in range(9) for item in range(5))
    )
    with pytest.raises(FileProblem, match="too small"):
        data_of(file)
