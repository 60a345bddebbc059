"""A structured cohort end to end from files: plain, stratified and adjusted scans side by side.

5,000 people, 20,000 variants, 20 planted hits; ancestry, sex, batch and age go with the disease.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noren import Guarantee
from noren.association import (
    chi_squared,
    cmh,
    count_stratified_tables,
    count_tables,
    open_adjusted,
)
from noren.association.null_model import UNIT
from noren.association.scoring import SAME_STATUS
from noren.ledger import Ledger

pytestmark = pytest.mark.slow
MEDIAN, HITS = 0.4549364, 20
WAYS = {
    "plain": (),
    "stratified": ("--strata", "study.covariates", "--strata-column", "band"),
    "adjusted": ("--covariates", "study.covariates"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch, result_of) -> Path:
    """The generated files, and an account."""
    monkeypatch.chdir(tmp_path)
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.create_account("study", Guarantee(SAME_STATUS, epsilon=50, delta=1e-4))
    monkeypatch.setenv("NOREN_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("NOREN_ACCOUNT", "study")
    result_of(
        "associate", "simulate", "study", "--cases", 2500, "--controls", 2500, "--variants", 20000,
        "--hits", HITS, "--admixed", "--data-seed", 9,
    )  # fmt: skip
    return tmp_path


def test_adjusting_finds_the_hits_that_a_plain_scan_misses(folder, result_of):
    planted = set((folder / "study.hits").read_text().split())
    found = {}
    for name, more in WAYS.items():
        answer = result_of(
            "associate", "scan", "study", *more, "--top", HITS, "--epsilon", 8, "--delta", "1e-6",
        )["result"]  # fmt: skip
        found[name] = len(planted & {row["snp"] for row in answer["rows"]})
    print(found)
    assert found["plain"] <= 4
    assert found["stratified"] >= 14
    assert found["adjusted"] >= 14


def test_strata_and_covariates_take_the_inflation_away(folder):
    plain = count_tables("study")
    banded = count_stratified_tables("study", "study.covariates", strata_columns=["band"])
    null = ~np.isin(plain.sites.names, (folder / "study.hits").read_text().split())
    added = open_adjusted("study", "study.covariates").count(None).added
    score = (added.sums[:, 0] / UNIT) ** 2 / added.measured[:, 0]
    inflation = {
        name: float(np.median(statistic[null])) / MEDIAN
        for name, statistic in (
            ("plain", chi_squared(plain)), ("stratified", cmh(banded)), ("adjusted", score)
        )
    }  # fmt: skip
    print(inflation)
    assert inflation["plain"] > 10
    assert inflation["stratified"] < 1.2
    assert 0.9 < inflation["adjusted"] < 1.1
