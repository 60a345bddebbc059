"""`noren associate scan --private-status`: who is a case stays hidden, and how many where asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from noren import Guarantee
from noren.association import count_tables, private_status_distance, simulate
from noren.association.private_status import ANY_RECORD, SAME_NUMBER
from noren.association.stratified import SAME_NUMBERS
from noren.ledger import Ledger

CASES, CONTROLS = 137, 146
PRICE = ("--mode", "agreement", "--tau", "3.84", "--epsilon", "400")


@pytest.fixture(scope="module")
def cohort(tmp_path_factory) -> Path:
    """A small cohort with a file of sites."""
    stem = tmp_path_factory.mktemp("cohort") / "study"
    simulate(stem, cases=CASES, controls=CONTROLS, variants=30, seed=6, hits=2)
    people = [line.split()[:2] for line in stem.with_name("study.fam").read_text().splitlines()]
    lines = [f"{f} {p} {'north' if i % 3 else 'south'}" for i, (f, p) in enumerate(people)]
    stem.with_name("sites.txt").write_text("\n".join(lines))
    return stem


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch) -> Path:
    """One account for each promise."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as opened:
        for name, adjacency in (
            ("swap", SAME_NUMBER), ("any", ANY_RECORD), ("strata", SAME_NUMBERS),
        ):  # fmt: skip
            opened.create_account(name, Guarantee(adjacency, epsilon=2000))
    monkeypatch.setenv("NOREN_LEDGER", str(place))
    return place


def scan(cohort, kind, *more, account=None):
    return (
        "associate", "scan", cohort, "--private-status", kind, "--account", account or kind, *more
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["swap", "any"])
def test_scores_with_private_status_lie_about_the_distance(cohort, result_of, kind):
    found = result_of(*scan(cohort, kind, *PRICE))
    true = np.asarray(private_status_distance(count_tables(cohort), "3.84", kind))
    released = np.array([row["score"] for row in found["result"]["rows"]])
    assert np.abs(released - np.where(true > 0, true, 1 + true)).max() <= 4
    words = {"swap": "(within: same number of cases)", "any": "replaced by any other"}
    assert found["guarantee"]["adjacency"].endswith(words[kind])


def numbers(text):
    """The whole numbers of a text, those inside of words and hashes left out."""
    return set(re.findall(r"(?<![0-9A-Za-z.-])[0-9]+(?![0-9A-Za-z])", text))


def test_where_any_record_may_change_the_number_of_cases_is_told_nowhere(cohort, run):
    bits = ("--bits", "--tau", "3.84", "--epsilon", "100")
    for more in ((*PRICE, "--report", "all.html"), ("--top", "2", "--epsilon", "30"), bits):
        done = run(*scan(cohort, "any", *more, "--out", "all.json"))
        assert done.exit_code == 0, done.stderr
        told = done.stdout + done.stderr + Path("all.json").read_text()
        if "--report" in more:
            told += Path("all.html").read_text().split("</script>")[-1]
        assert str(CASES + CONTROLS) in numbers(told)
        assert not {str(CASES), str(CONTROLS)} & numbers(told)


def test_a_study_without_cases_is_answered_as_any_other(cohort, result_of, tmp_path):
    for ending in (".bed", ".bim"):
        (tmp_path / f"one{ending}").write_bytes(cohort.with_name(f"study{ending}").read_bytes())
    lines = cohort.with_name("study.fam").read_text().splitlines()
    for code in ("1", "2", "-9", "x"):
        fam = "\n".join(" ".join([*line.split()[:5], code]) for line in lines)
        (tmp_path / "one.fam").write_text(fam)
        found = result_of(*scan(tmp_path / "one", "any", *PRICE), "--request-id", f"code {code}")
        assert len(found["result"]["rows"]) == 30
        assert not any(row["significant"] for row in found["result"]["rows"])


def test_strata_with_swaps_are_scored_at_half(cohort, result_of):
    given = ("--strata", cohort.with_name("sites.txt"), *PRICE)
    found = result_of(*scan(cohort, "swap", *given, account="strata"))
    assert found["guarantee"]["adjacency"].endswith("same number of cases in each stratum)")
    assert found["result"]["settings"]["design"]["private_status"] is True


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("any", ["--coding", "allelic", *PRICE], "Alleles"),
        ("any", ["--counts", "--epsilon", "1"], "Noisy counts"),
        ("swap", ["--epsilon", "1"], "'agreement'"),
        ("any", ["--bits", "--epsilon", "1", "--strata", "sites.txt", "--tau", "4"], "stratified"),
        ("any", ["--mode", "agreement", "--tau", "283", "--epsilon", "1"], "number of people"),
    ],
)
def test_what_has_no_proof_is_refused_by_name(cohort, run, ledger, kind, more, said):
    Path("sites.txt").write_text(cohort.with_name("sites.txt").read_text())
    done = run(*scan(cohort, kind, *more))
    assert done.exit_code == 3
    assert said in done.stderr
    with Ledger.open(ledger) as opened:
        assert opened.balance(kind).spent.epsilon == 0


def test_the_account_that_is_asked_for_has_the_promise_of_the_scan(cohort, run, monkeypatch):
    monkeypatch.delenv("NOREN_LEDGER")
    for more, words in (
        (("--private-status", "any"), "--adjacency substitute --epsilon"),
        (("--private-status", "swap"), '--within "same number of cases"'),
        ((), '--within "same status"'),
    ):
        done = run("associate", "scan", cohort, *more, *PRICE)
        assert done.exit_code != 0
        assert words in done.stderr


def test_the_forecast_knows_no_number_of_cases(cohort, run):
    done = run(*scan(cohort, "any", *PRICE), "--dry-run", "--json")
    assert json.loads(done.stdout)["result"]["forecast"]
    assert str(CASES) not in done.stdout


@pytest.mark.parametrize("kind", ["swap", "any"])
def test_a_line_without_a_status_is_read_as_a_missing_one(cohort, run, tmp_path, kind):
    people = [line.split() for line in cohort.with_name("study.fam").read_text().splitlines()]
    lines = [f"{words[0]} {words[1]} {words[5]}" for words in people]
    lines[7] = " ".join(people[7][:2])
    for header in ([], ["FID IID disease"]):
        (tmp_path / "status.txt").write_text("\n".join([*header, *lines]))
        given = ("--pheno", tmp_path / "status.txt", *PRICE, "--dry-run")
        assert run(*scan(cohort, kind, *given)).exit_code == 0
        wrong = run(*scan(cohort, kind, *given, "--pheno-column", "2"))
        assert wrong.exit_code == 3
        assert "column" in wrong.stderr


def test_the_answer_says_that_a_swap_may_touch_two_people(cohort, result_of):
    found = result_of(*scan(cohort, "swap", *PRICE))
    assert "another's status that is flipped back" in json.dumps(found)
