"""`noren associate scan --strata`: from files to a paid answer, within public strata."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noren import Guarantee
from noren.association import count_stratified_tables, count_tables, simulate, stratified_distance
from noren.association.scoring import SAME_STATUS
from noren.ledger import Ledger


@pytest.fixture(scope="module")
def cohort(tmp_path_factory) -> Path:
    """A small cohort, and a file of its people with a site and a sex."""
    stem = tmp_path_factory.mktemp("cohort") / "study"
    simulate(stem, cases=150, controls=150, variants=40, seed=5, hits=2)
    people = [line.split() for line in stem.with_name("study.fam").read_text().splitlines()]
    lines = ["FID IID site sex"]
    lines += [f"{p[0]} {p[1]} {'north' if i % 3 else 'south'} {p[4]}" for i, p in enumerate(people)]
    stem.with_name("sites.txt").write_text("\n".join(lines))
    return stem


@pytest.fixture(autouse=True)
def account(tmp_path, monkeypatch) -> Path:
    """An account for every test, named by the environment."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("study", Guarantee(SAME_STATUS, epsilon=1000))
    monkeypatch.setenv("NOREN_LEDGER", str(place))
    monkeypatch.setenv("NOREN_ACCOUNT", "study")
    return place


def test_strata_are_counted_apart_in_one_pass(cohort):
    plain, sites = count_tables(cohort), cohort.with_name("sites.txt")
    found = count_stratified_tables(cohort, sites, strata_columns=["site", "sex"])
    assert found.strata == 4
    assert sum(found.cases) == plain.cases
    assert (found.pooled.a == plain.a).all()
    assert (found.pooled.b == plain.b).all()
    assert found.sites == plain.sites
    alone = count_stratified_tables(cohort, sites)
    assert alone.a[0].tolist() == (found.a[0] + found.a[1]).tolist()


def test_the_compiled_count_is_the_same(cohort, monkeypatch):
    sites = cohort.with_name("sites.txt")
    slow = count_stratified_tables(cohort, sites, coding="recessive")
    monkeypatch.setattr("noren.association.counting.FEW_BYTES", 0)
    fast = count_stratified_tables(cohort, sites, coding="recessive")
    assert (slow.a == fast.a).all()
    assert (slow.b == fast.b).all()


def test_who_has_no_stratum_forms_one_of_their_own(cohort, tmp_path):
    lines = cohort.with_name("sites.txt").read_text().splitlines()
    words = [*lines[:200], "x y north 1", lines[200].replace("north", "NA").replace("south", "NA")]
    (tmp_path / "some.txt").write_text("\n".join(words))
    found = count_stratified_tables(cohort, tmp_path / "some.txt")
    assert found.strata == 3
    assert sum(found.cases) + sum(found.controls) == 300


def test_a_scan_in_strata_is_paid_and_says_what_was_public(cohort, result_of):
    found = result_of(
        "associate", "scan", cohort, "--strata", cohort.with_name("sites.txt"),
        "--strata-column", "site", "--strata-column", "sex", "--mode", "agreement",
        "--tau", "3.84", "--epsilon", "800",
    )["result"]  # fmt: skip
    design = found["settings"]["design"]
    assert design["labels"] == ["north/1", "north/2", "south/1", "south/2"]
    assert len(design["digest"]) == 64
    assert any("stratum" in fact for fact in found["assumed_public"])
    tables = count_stratified_tables(
        cohort, cohort.with_name("sites.txt"), strata_columns=["site", "sex"]
    )
    true = np.asarray(stratified_distance(tables, "3.84"))
    released = np.array([row["score"] for row in found["rows"]])
    assert np.abs(released - np.where(true > 0, true, 1 + true)).max() <= 3


def test_the_strongest_are_chosen_over_strata(cohort, result_of):
    found = result_of(
        "associate", "scan", cohort, "--strata", cohort.with_name("sites.txt"),
        "--top", "2", "--epsilon", "100",
    )["result"]  # fmt: skip
    hits = set(cohort.with_name("study.hits").read_text().split())
    assert {row["snp"] for row in found["rows"]} == hits


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--mode", "valid"], "'agreement'"),
        (["--coding", "allelic", "--mode", "agreement", "--tau", "4"], "Alleles"),
        (["--counts"], "Noisy counts"),
        (["--mode", "agreement", "--tau", "100000"], "largest statistic"),
        (["--strata-column", "nowhere", "--mode", "agreement", "--tau", "4"], "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_charged(
    cohort, run, account, more, said
):
    found = run(
        "associate", "scan", cohort, "--strata", cohort.with_name("sites.txt"), "--epsilon", "1",
        *more,
    )  # fmt: skip
    assert found.exit_code == 3
    assert said in found.stderr
    with Ledger.open(account) as ledger:
        assert ledger.balance("study").spent.epsilon == 0


def test_a_column_without_a_file_and_a_table_of_counts_are_refused(run, tmp_path):
    (tmp_path / "counts.csv").write_text("snp,a,b\nrs1,1,2\n")
    (tmp_path / "sites.txt").write_text("f p north\n")
    price = ("--epsilon", "1", "--mode", "agreement", "--tau", "4")
    counts = ("associate", "scan", "counts.csv", "--cases", "5", "--controls", "5", *price)
    assert run(*counts, "--strata", "sites.txt").exit_code == 3
    assert run(*counts, "--strata-column", "site").exit_code == 2


@pytest.mark.parametrize("column", [[], ["--strata-column", "1"], ["--strata-column", "PC1_band"]])
def test_strata_made_from_genotypes_are_refused_however_the_column_is_chosen(
    cohort, run, tmp_path, column
):
    people = [line.split()[:2] for line in cohort.with_suffix(".fam").read_text().splitlines()]
    lines = [f"{family} {person} low\n" for family, person in people]
    (tmp_path / "bands.txt").write_text("FID IID PC1_band\n" + "".join(lines))
    found = run(
        "associate", "scan", cohort, "--strata", tmp_path / "bands.txt", *column,
        "--mode", "agreement", "--tau", "4", "--epsilon", "1", "--dry-run",
    )  # fmt: skip
    assert found.exit_code == 3
    assert "'PC1_band' is named like one computed from genotypes" in found.stderr
