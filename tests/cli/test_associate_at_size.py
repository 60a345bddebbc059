"""Scans of a cohort of real size, end to end from files: what is found, and what it costs.

Cohorts of 5,000 people and 50,000 variants with 20 planted hits. The shares are means over a few
scans; a right scan stays above the limits but for a chance far below 1e-6.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noren import Guarantee
from noren.association import chi_squared, count_tables, simulate
from noren.association.scoring import SAME_STATUS
from noren.ledger import Ledger

pytestmark = pytest.mark.slow
SCANS = 6


@pytest.fixture(scope="module")
def cohorts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cohorts")
    shape = {"cases": 2_500, "controls": 2_500, "variants": 50_000, "hits": 20}
    return {
        "snp": simulate(folder / "single", **shape, seed=4),
        "locus": simulate(folder / "linked", **shape, block=50, seed=5),
    }


@pytest.fixture
def spent(tmp_path, monkeypatch):
    """An account for every test; tells what was charged to it."""
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account(
            "study", Guarantee(SAME_STATUS, epsilon=50, delta=1e-4), filter="pure"
        )
    monkeypatch.setenv("NOREN_LEDGER", str(place))
    monkeypatch.setenv("NOREN_ACCOUNT", "study")

    def read():
        with Ledger.open(place) as ledger:
            return ledger.balance("study").spent

    return read


def strongest(made) -> set[str]:
    tables = count_tables(made.path)
    order = np.argsort(-np.asarray(chi_squared(tables)), kind="stable")
    return {tables.sites.names[place] for place in order[:20]}


def planted_loci(made) -> set[str]:
    locus = dict(line.split("\t") for line in Path(made.loci).read_text().splitlines())
    return {locus[name] for name in made.hits}


@pytest.mark.parametrize(
    ("unit", "delta", "least"),
    [("snp", "0", 0.08), ("snp", "1e-6", 0.6), ("locus", "0", 0.4), ("locus", "1e-6", 0.7)],
)
def test_a_scan_finds_what_was_measured_for_its_method(
    cohorts, result_of, spent, unit, delta, least
):
    made = cohorts[unit]
    sought = strongest(made) if unit == "snp" else planted_loci(made)
    loci = () if unit == "snp" else ("--loci", made.loci)
    found = []
    for _ in range(SCANS):
        asked = ("--top", 20, "--epsilon", 1, "--delta", delta, *loci)
        result = result_of("associate", "scan", made.path, *asked)["result"]
        assert result["settings"]["method"] == "peel"
        found.append(len(sought & {row[unit] for row in result["rows"]}) / 20)
    assert np.mean(found) > least
    assert spent().epsilon == SCANS
    assert float(spent().delta) == pytest.approx(SCANS * float(delta))


def test_epsilon_three_finds_nearly_all_loci(cohorts, result_of, spent):
    made = cohorts["locus"]
    asked = ("associate", "scan", made.path, "--top", 20, "--epsilon", 3, "--loci", made.loci)
    result = result_of(*asked)["result"]
    assert result["settings"]["method"] == "tau+set"
    chosen = {row["locus"] for row in result["rows"]}
    assert len(planted_loci(made) & chosen) >= 17


def test_scores_of_a_candidate_list_call_hits_and_nothing_else(cohorts, result_of, spent, tmp_path):
    made = cohorts["snp"]
    listed = tmp_path / "candidates.txt"
    others = [f"rs{number}" for number in range(1, 50_000, 170)]
    listed.write_text("\n".join(dict.fromkeys([*made.hits, *others])) + "\n")
    asked = ("associate", "scan", made.path, "--tests", listed, "--epsilon", 6, "--delta", "1e-6")
    rows = result_of(*asked)["result"]["rows"]
    called = {row["snp"] for row in rows if row["associated"]}
    assert len(called & set(made.hits)) >= 15
    assert len(called - set(made.hits)) <= 1  # at level 0.05 of all, chance correlations apart
