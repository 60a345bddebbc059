"""`noren demo` asks for real, says every price, and ends by naming a report that opens offline."""

import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.ledger import Ledger


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """Run the demo once, for people, and keep what it said and where."""
    folder = tmp_path_factory.mktemp("once") / "demo"
    return CliRunner().invoke(noren, ["demo", "--out", str(folder)]), folder


def test_every_answer_has_a_forecast_a_price_and_a_receipt(result_of, tmp_path):
    found = result_of("demo", "--out", tmp_path)
    result = found["result"]
    assert found["guarantee"] is None  # made-up data, and two accounts
    assert result["simulated"] is True
    assert (tmp_path / "report.html").exists()
    assert {row["answer"]["kind"] for row in result["answers"]} == {
        "cell-counts", "bounded-mean", "best-candidate", "randomized-response",
    }  # fmt: skip
    for row in result["answers"]:
        assert row["forecast"]["sentence"]
        assert row["answer"]["guarantee"]["epsilon"] > 0
        assert row["answer"]["receipt"]["account"] == row["account"]
        assert row["answer"]["marks"] == []


def test_it_ends_by_naming_the_report_that_it_wrote(once):
    done, folder = once
    assert (done.exit_code, done.stderr) == (0, "")
    report = folder / "report.html"
    assert done.stdout.splitlines()[-1].endswith(str(report))
    page = report.read_text(encoding="utf-8")
    assert page.count('<article class="answer">') == 4
    assert page.count('class="chart"') == 5
    assert "NOT PRIVATE" not in page


def test_the_forecast_comes_before_the_answer_and_a_question_too_many_is_refused(once):
    said = once[0].stdout
    assert said.index("  forecast") < said.index("  answer") < said.index("  price")
    assert "is refused" in said
    assert "The largest such question it affords" in said


def test_another_run_repeats_the_data_but_neither_noise_nor_account(result_of, tmp_path):
    first, second = (result_of("demo", "--out", tmp_path)["result"] for _ in range(2))
    assert [row["truth"] for row in first["answers"]] == [row["truth"] for row in second["answers"]]
    values = [[row["answer"]["value"] for row in result["answers"]] for result in (first, second)]
    assert values[0] != values[1]
    other = result_of("demo", "--out", tmp_path, "--data-seed", 7)["result"]
    assert [row["truth"] for row in other["answers"]] != [row["truth"] for row in first["answers"]]
    with Ledger.open(other["ledger"], create=False) as ledger:
        ledger.verify()
        for number, result in enumerate((first, second, other), 1):
            spent = {row["account"]: row["spent"]["epsilon"] for row in result["accounts"]}
            assert spent == {f"survey-{number}": 1.25, f"devices-{number}": 1.0}
            for name, epsilon in spent.items():
                assert float(ledger.balance(name).spent.epsilon) == epsilon


def test_a_seeded_demo_repeats_itself_and_says_everywhere_that_it_is_not_private(run, tmp_path):
    first, second = (run("demo", "--out", tmp_path, "--insecure-seed", 5) for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == second.stdout
    assert "can be predicted" in first.stderr
    assert first.stdout.count("NOT PRIVATE (seeded)") == 4
    assert first.stdout.count("no guarantee") == 4
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("NOT PRIVATE: noise on this page") < page.index("<h1>")
    assert page.count('class="mark alarm"') == 4
    assert not (tmp_path / "ledger.sqlite").exists()


def test_a_folder_that_cannot_be_made_is_a_bad_file_or_wrong_usage(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert run("demo", "--out", file).exit_code == 2
    done = run("demo", "--out", file / "below")
    assert done.exit_code == 3
    assert "Traceback" not in done.output
