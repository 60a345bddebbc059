"""`noren similar leaks` and `attack`, from a file to a marked report."""

import json

import pytest
from click.testing import CliRunner

from noren.cli import noren

WIDE = """id,flu,cold,cough,fever,rash
ann,1,0,0,0,1
bob,1,1,1,0,0
cy,0,1,1,0,0
di,0,0,0,1,1
"""


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(WIDE)
    return path


def run(*words):
    return CliRunner().invoke(noren, ["similar", *map(str, words)])


def test_leaks_are_reported_to_people_with_the_mark_first(records, tmp_path):
    page, out = tmp_path / "leak.html", tmp_path / "leak.json"
    done = run("leaks", records, "--query", "cold,cough,fever", "--query", "flu,cold",
               "--query", "rash,fever", "--report", page, "--out", out)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("! SECRET")
    assert "attacker knows column frequencies" in done.stdout
    assert "every database equally likely (as published)" in done.stdout
    assert json.loads(out.read_text("utf-8"))["recovered"] == 4
    assert "SECRET" in page.read_text("utf-8")


def test_leaks_are_reported_to_programs(records, tmp_path):
    (tmp_path / "queries.txt").write_text("# public\ncold,cough,fever\n01100\n")
    for words in (("--queries", tmp_path / "queries.txt"), ("--size", 2, "--count", 2)):
        done = run("leaks", records, *words, "--json")
        assert done.exit_code == 0, done.stderr
        made = json.loads(done.stdout)
        assert made["guarantee"] is None
        assert made["result"]["secret"] is True
        assert len(made["result"]["queries"]) == 2


@pytest.mark.parametrize("answers", [("ranks",), ("top-k", "--k", "2")])
def test_other_answers_and_attackers_are_assessed(records, tmp_path, answers):
    (tmp_path / "prior.txt").write_text("0.5\n0.1\n0.2\n0.3\n0.4\n")
    done = run("leaks", records, "--size", 3, "--count", 4, "--answers", *answers, "--json",
               "--prior", tmp_path / "prior.txt")  # fmt: skip
    made = json.loads(done.stdout)["result"]
    assert list(made["attackers"]) == ["given", "marginals", "uniform"]
    assert made["answers"] == answers[0]


def test_queries_come_from_one_place(records):
    assert run("leaks", records).exit_code == 2
    assert run("leaks", records, "--size", 2, "--query", "flu").exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--query", "bob"), "query by example"),
        (("--query", "nothing"), "no column"),
        (("--query", "flu", "--out", "leak.html"), "ends in .json"),
        (("--query", "flu", "--report", "leak.json"), "ends in .html"),
        (("--query", "flu", "--prior", "none.txt"), "one probability a line"),
        (("--query", "flu", "--k", "2"), "top-k"),
    ],
)
def test_wrong_settings_are_explained(records, words, said):
    done = run("leaks", records, *words)
    assert done.exit_code == 3
    assert said in done.stderr


def test_an_attack_counts_its_queries(records):
    done = run("attack", records)
    assert "8 queries recovered all 4 x 5 bits" in done.stdout
    assert done.stdout.startswith("! SECRET")
    made = json.loads(run("attack", records, "--method", "differencing", "--json").stdout)
    assert (made["result"]["queries"], made["result"]["everything"]) == (6, True)
    ranks = run("attack", records, "--method", "unit", "--answers", "ranks", "--json")
    assert json.loads(ranks.stdout)["result"]["right"] == 20


def test_an_attack_on_private_answers_says_what_each_costs(records):
    done = run("attack", records, "--method", "unit", "--epsilon", "0.5", "--json")
    made = json.loads(done.stdout)["result"]
    assert made["per_query"] == "0.5"
    assert 0 <= made["share"] <= 1
    assert run("attack", records, "--epsilon", "-1").exit_code == 3


def test_public_lists_decide_records_and_columns_of_a_file_of_pairs(tmp_path):
    (tmp_path / "long.csv").write_text("id,item\nann,flu\nbob,cold\nbob,flu\n")
    (tmp_path / "ids.txt").write_text("ann\nbob\ncy\n")
    (tmp_path / "columns.txt").write_text("cold\nflu\nrash\n")
    words = ("--ids", tmp_path / "ids.txt", "--columns", tmp_path / "columns.txt", "--json")
    made = json.loads(run("attack", tmp_path / "long.csv", *words).stdout)["result"]
    assert (made["records"], made["columns"], made["ones"]) == (3, 3, 3)
    less = json.loads(run("attack", tmp_path / "long.csv", "--json").stdout)["result"]
    assert (less["records"], less["columns"]) == (2, 2)
    done = run("attack", tmp_path / "long.csv", "--ids", tmp_path / "none.txt")
    assert (done.exit_code, "public list" in done.stderr) == (3, True)
