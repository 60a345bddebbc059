"""The paper's experiments come out as a faithful run must, and its errata show."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from noren.association import is_significant, signed_distance
from noren.cli import noren
from noren.errors import FileProblem
from noren.papers import PAPERS
from noren.papers.association import E3, charts, rows
from noren.papers.association_tables import balanced, stand_in, two_cases
from noren.papers.idash import read_folder


def silent(done: int, total: int | None) -> None:
    """Show no progress."""


def test_every_figure_is_what_a_faithful_run_gives():
    found = list(rows(quick=True, progress=silent))
    assert len(found) > 90
    assert [row for row in found if not row.ok] == []
    assert {row.experiment[:2] for row in found} >= {"E1", "E2", "E3", "er"}


def test_claims_that_do_not_hold_say_so():
    noted = [row for row in rows(quick=True, progress=silent) if "does not hold" in row.note]
    assert {row.setting for row in noted} == {"N = 2^24", "stand-in, epsilon 0.5"}


def test_drawn_decisions_err_as_often_as_the_formula_says():
    drawn = [row for row in rows(quick=False, progress=silent) if row.setting.endswith("drawn")]
    assert len(drawn) == 1
    assert drawn[0].ok
    assert "seeded" in drawn[0].note


def test_the_stand_in_is_the_one_that_was_specified():
    tables = stand_in()
    first = list(zip(tables.a[:5].tolist(), tables.b[:5].tolist(), strict=True))
    assert first == [(56, 55), (185, 181), (98, 100), (158, 159), (50, 41)]
    assert (int(tables.a.sum()), int(tables.b.sum())) == (31196, 31440)
    away = signed_distance(tables, "3.84")
    significant = away[np.asarray(is_significant(tables, "3.84"))]
    assert (len(significant), np.median(significant), significant.max()) == (63, 6, 33)


def test_constructed_tables_have_the_chi_squared_they_should():
    from noren.association import chi_squared

    assert chi_squared(balanced(2**20)) == pytest.approx(range(1, 11), rel=0.02)
    assert chi_squared(two_cases(2**20)) == pytest.approx(range(1, 11), rel=0.01)


def test_three_figures_are_drawn():
    pictures = charts(rows(quick=True, progress=silent))
    assert [caption[:2] for caption, _ in pictures] == ["E1", "E2", "E3"]
    lines = [chart.to_dict()["datasets"].values() for _, chart in pictures]
    assert [sum(map(len, points)) for points in lines] == [5 * 22, 4 * 22, 6 * 6]


def test_the_command_reproduces_it(tmp_path):
    page = tmp_path / "paper.html"
    done = CliRunner().invoke(
        noren, ["reproduce", "association", "--quick", "--json", "--report", str(page)]
    )
    assert done.exit_code == 0, done.stderr
    assert all(row["ok"] for row in json.loads(done.stdout)["result"]["rows"])
    assert "E3: 311 variants of 400 people" in page.read_text("utf-8")
    assert set(PAPERS["association"].files) == {"idash"}


GENOTYPES = {
    "case_part1.txt": "p1 p2\nrs1\nAG GG\nrs2\nAA AC\n",
    "case_part2.txt": "p3\nrs1\nGA\nrs2\nNN\n",
    "control.txt": "q1 q2\nrs2\nCC CC\nrs1\nGG AG\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in GENOTYPES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_reader_s_own_files_are_counted_by_heterozygotes(folder):
    tables = read_folder(folder)
    assert tables.sites.names == ("rs1", "rs2")
    assert (tables.cases, tables.controls) == (3, 2)
    assert (tables.a.tolist(), tables.b.tolist()) == ([2, 1], [1, 0])


def test_a_reader_s_own_files_give_their_own_rows(folder):
    found = [row for row in rows(quick=True, progress=silent, idash=folder) if row.experiment == E3]
    own = [row for row in found if "competition's files" in row.setting]
    assert len(own) == 2 + 5 * 6  # F needs groups of one size, and these are not
    assert not own[0].ok  # two variants are not the 311 of the competition
    assert [caption for caption, _ in charts(own)][2:] == [
        "E3: 311 variants of 400 people (the competition's files)"
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("case_part1.txt", "p1 p2\nrs1\nAG\n", "more or fewer genotypes"),
        ("case_part1.txt", "p1 p2\nrs1\nrs2\nAG GG\n", "does not alternate"),
        ("case_part1.txt", "p1 p2\nrs9\nAG GG\nrs2\nAA AC\n", "different variants"),
        ("control.txt", "q1\nrs8\nAG\n", "no variants that both"),
    ],
)
def test_files_that_are_not_the_competition_s_are_refused(folder, name, text, said):
    (folder / name).write_text(text)
    with pytest.raises(FileProblem, match=said):
        read_folder(folder)
