"""Counts of every coding against PLINK's own, where `plink1.9` is installed."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from noren.association import chi_squared, count_tables, simulate

pytestmark = pytest.mark.slow
TESTS = {"carrier": "DOM", "recessive": "REC", "heterozygous": "GENO"}


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    plink = shutil.which("plink1.9")
    if plink is None:
        pytest.skip("there is no plink1.9 here; on Debian: apt-get install plink1.9")
    stem = tmp_path_factory.mktemp("plink") / "cohort"
    simulate(stem, cases=611, controls=402, variants=3000, seed=9, missing=0.03)
    for test in (("--model",), ("--assoc", "counts")):
        given = (*test, "--allow-no-sex", "--keep-allele-order", "--out", str(stem))
        subprocess.run([plink, "--bfile", str(stem), *given], check=True, capture_output=True)
    return stem


def column(path, name, keep=lambda row: True):
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    return [row[name] for row in rows if keep(row)]


@pytest.mark.parametrize(("coding", "test"), TESTS.items())
def test_people_are_counted_as_plink_counts_them(cohort, coding, test):
    path, place = cohort.with_name("cohort.model"), 1 if coding == "heterozygous" else 0
    tables = count_tables(cohort, coding=coding)
    for name, counted in (("AFF", tables.a), ("UNAFF", tables.b)):
        theirs = column(path, name, lambda row: row["TEST"] == test)
        assert counted.tolist() == [int(cell.split("/")[place]) for cell in theirs]


def test_alleles_are_counted_as_plink_counts_them(cohort):
    tables = count_tables(cohort, coding="allelic")
    for name, counted in (("C_A", tables.a), ("C_U", tables.b)):
        assert counted.tolist() == [int(n) for n in column(cohort.with_name("cohort.assoc"), name)]


def test_chi_squared_is_near_plink_s_which_leaves_missing_calls_out(cohort):
    theirs = np.array(column(cohort.with_name("cohort.assoc"), "CHISQ"), dtype=float)
    ours = np.asarray(chi_squared(count_tables(cohort, coding="allelic")))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98
