"""`noren demo` tells five stories for real, says every price, and ends by naming its report."""

import json
import shlex
from html import escape

import pytest

from noren.cli.stories import STORIES
from noren.ledger import Ledger

KINDS = {
    "top-snps", "distance-scores", "weights", "monitoring-decision", "leak-report",
    "similar-search", "share",
}  # fmt: skip
FREE = {"leak-report"}


@pytest.fixture(scope="module")
def result(demo):
    done, _ = demo
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["guarantee"] is None  # made-up data, and several accounts
    return found["result"]


def test_each_capability_has_a_story():
    told = [story.split(":")[0].rpartition(".")[2] for story in STORIES]
    assert told == ["association", "reweighting", "monitoring", "similarity", "collaboration"]


def test_every_answer_has_a_forecast_a_price_and_the_truth(result):
    assert {row["kind"] for row in result["answers"]} == KINDS
    for row in result["answers"]:
        assert row["asked"].endswith(("?", ")"))
        assert row["forecast"]
        assert row["answer"]
        assert row["truth"]
        assert (row["guarantee"] is None) == (row["kind"] in FREE)
        assert "NOT PRIVATE" not in str(row["marks"])


def test_answers_that_a_ledger_gave_carry_its_receipt(result):
    charged = {
        row["kind"]: row["receipt"]["account"] for row in result["answers"] if row["receipt"]
    }
    assert charged == {
        "top-snps": "genomes-1", "distance-scores": "genomes-1", "weights": "patients-1",
        "similar-search": "ward-1",
    }  # fmt: skip


def test_the_ledger_is_a_real_one_and_holds_what_was_spent(result):
    with Ledger.open(result["ledger"], create=False) as ledger:
        ledger.verify()
        spent = {row["account"]: ledger.balance(row["account"]).spent for row in result["accounts"]}
    assert {name: float(price.epsilon or 0) for name, price in spent.items()} == {
        "genomes-1": 2.5, "patients-1": 1.0, "ward-1": 2.0, "north-1": 0.0, "south-1": 0.0,
    }  # fmt: skip
    assert spent["north-1"].rho == spent["south-1"].rho > 0


def test_a_question_too_many_is_refused_in_words(result, demo):
    page = (demo[1] / "report.html").read_text(encoding="utf-8")
    assert "is refused, and nothing is drawn. The question asks for epsilon 1.5" in page
    assert "The largest such question it affords: epsilon 0.5" in page


def test_the_commands_are_those_that_anybody_could_type(result):
    words = [shlex.split(command) for command in result["commands"]]
    assert {word[0] for word in words} == {"noren"}
    assert {word[1] for word in words} >= {
        "associate", "reweight", "monitor", "similar", "collaborate", "ledger",
    }  # fmt: skip


def test_they_can_be_typed_again_where_the_report_lies(result, demo, run, monkeypatch):
    monkeypatch.chdir(demo[1])
    free = [command for command in result["commands"] if "reweight query" in command]
    assert len(free) == 4
    done = run(*shlex.split(free[0])[1:])
    assert done.exit_code == 0, done.stderr
    assert "share of age >= 65" in done.stdout


def test_the_report_has_a_card_for_each_answer_and_pictures(result, demo):
    page = (demo[1] / "report.html").read_text(encoding="utf-8")
    assert result["report"] == str(demo[1] / "report.html")
    assert page.count('<article class="answer">') == len(result["answers"]) == 7
    assert page.count('class="chart"') == 6
    for command in result["commands"][:-1]:  # the last one made the table of what was spent
        assert escape(command) in page
    assert "NOT PRIVATE" not in page


@pytest.mark.slow
def test_another_run_repeats_the_data_but_neither_noise_nor_account(run, tmp_path):
    first, second = (run("demo", "--out", tmp_path) for _ in range(2))
    assert first.exit_code == second.exit_code == 0, second.stderr
    assert first.stdout.splitlines()[-1].endswith(str(tmp_path / "report.html"))
    said = first.stdout
    assert said.index("  forecast") < said.index("  answer") < said.index("  price")
    for name in ("study.bed", "patients.csv", "records.csv", "north.csv"):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("run-1", "run-2"))
        assert one == two
    release = "weighted.csv.release.json"
    one, two = ((tmp_path / folder / release).read_bytes() for folder in ("run-1", "run-2"))
    assert one != two
    with Ledger.open(tmp_path / "ledger.sqlite", create=False) as ledger:
        assert {"genomes-1", "genomes-2", "ward-1", "ward-2"} <= set(ledger.accounts())


def test_a_folder_that_cannot_be_made_is_a_bad_file_or_wrong_usage(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert run("demo", "--out", file).exit_code == 2
    done = run("demo", "--out", file / "below")
    assert done.exit_code == 3
    assert "Traceback" not in done.output


def test_a_policy_that_forbids_the_demo_says_so(run, tmp_path):
    (tmp_path / "noren-policy.toml").write_text('users = ["nobody-at-all"]\n')
    done = run("demo", "--out", tmp_path)
    assert done.exit_code == 3
    assert "is not among its users" in done.stderr
    assert "bug" not in done.stderr
