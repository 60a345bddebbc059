"""`noren reproduce`, on a paper that exists only here."""

import sys
from types import ModuleType

import altair as alt
import pytest

from noren.papers import PAPERS, Paper, PaperRow


def row(**changed) -> PaperRow:
    settings = {
        "experiment": "E1", "setting": "epsilon 1", "quantity": "recall", "published": 0.71,
        "ours": 0.7, "tolerance": 0.02, "ok": True,
    }  # fmt: skip
    return PaperRow(**settings | changed)


def picture(rows):
    data = alt.Data(values=[{"x": index} for index, _ in enumerate(rows)])
    return [("A <caption>", alt.Chart(data).mark_point().encode(x="x:Q"))]


@pytest.fixture
def paper(monkeypatch):
    """Lend a paper whose rows a test may choose; it records what it was called with."""
    module = ModuleType("lent_paper")
    module.found, module.called = [row()], {}

    def rows(quick, progress, **files):
        module.called = {"quick": quick, **files}
        progress(1, 1)
        yield from module.found

    module.rows, module.charts = rows, picture
    monkeypatch.setitem(sys.modules, "lent_paper", module)
    monkeypatch.setitem(PAPERS, "lent", Paper("lent_paper", {}))
    return module


def test_rows_have_the_contract_s_fields(paper, result_of):
    result = result_of("reproduce", "lent", "--quick")["result"]
    expected = ["experiment", "setting", "quantity", "published", "ours", "tolerance", "ok", "note"]
    assert [list(found) for found in result["rows"]] == [expected]
    assert paper.called == {"quick": True}


def test_a_row_that_is_not_ok_ends_with_one_and_is_still_shown(paper, result_of, run):
    paper.found = [row(), row(ok=False, note="why")]
    assert len(result_of("reproduce", "lent", code=1)["result"]["rows"]) == 2
    assert "why" in run("reproduce", "lent").stdout


def test_without_a_name_the_papers_are_listed(paper, result_of, run):
    assert "lent" in result_of("reproduce")["result"]["names"]
    assert "noren reproduce lent" in run("reproduce").stdout


def test_an_unknown_paper_is_wrong_usage(paper, run):
    done = run("reproduce", "nothing")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "lent" in done.stderr


def test_the_report_shows_rows_and_charts(paper, run, tmp_path):
    path = tmp_path / "report.html"
    done = run("reproduce", "lent", "--report", path)
    assert done.exit_code == 0, done.stderr
    assert str(path) in done.stderr
    page = path.read_text(encoding="utf-8")
    assert "A &lt;caption&gt;" in page
    assert "<td>recall</td>" in page


def test_the_report_says_why_a_figure_differs(paper, run, tmp_path):
    same = row(quantity="same", note="as printed")
    other = row(quantity="other", published=0.5, ours=0.9, note="the proof is reversed")
    words = row(quantity="in words", published="falls", ours=0.5, note="it does not fall")
    plain = row(quantity="plain", published=0.5, ours=0.9)
    paper.found = [same, other, words, plain]
    assert run("reproduce", "lent", "--report", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    short = page.partition("<h2>where they differ, and why</h2>")[2].partition("<h2>")[0]
    assert "<td>same</td>" not in short
    for reason in ("The proof is reversed.", "It does not fall.", "what a faithful run gives"):
        assert reason in short
    assert "published against ours" in page
    assert '"who": "published"' in page


def test_every_listed_paper_keeps_the_contract():
    from importlib import import_module

    for name, listed in PAPERS.items():
        module = import_module(listed.module)
        assert callable(module.rows), name
        assert callable(module.charts), name


def test_all_papers_run_one_after_the_other_and_rows_say_which(
    paper, result_of, tmp_path, monkeypatch
):
    for name in [name for name in PAPERS if name != "lent"]:
        monkeypatch.delitem(PAPERS, name)
    report = tmp_path / "all.html"
    rows = result_of("reproduce", "all", "--quick", "--report", report)["result"]["rows"]
    assert {row["paper"] for row in rows} == {"lent"}
    assert "Reproduction: lent" in report.read_text()
