"""Generated cohorts with structure: what they are made of, and what a plain scan makes of them."""

import numpy as np
import pytest

from noren.association import (
    chi_squared,
    cmh,
    count_stratified_tables,
    count_tables,
    simulate_admixed,
)
from noren.association.admixed import draw_doses, draw_people
from noren.errors import NotPrivate, ParameterError
from noren.noise.public import generator

MEDIAN = 0.4549364  # of chi-squared with one degree of freedom
SIZES = {"cases": 300, "controls": 500, "variants": 600, "seed": 3, "hits": 10}


def inflation(statistic):
    return float(np.median(statistic)) / MEDIAN


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    return simulate_admixed(tmp_path_factory.mktemp("admixed") / "study", **SIZES)


def test_structure_inflates_a_plain_scan_and_strata_mend_it(cohort):
    plain = count_tables(cohort.path)
    banded = count_stratified_tables(cohort.path, cohort.covariates, strata_columns=["band"])
    assert (plain.cases, plain.controls, banded.strata) == (300, 500, 4)
    hit = np.isin(plain.sites.names, cohort.hits)
    assert hit.sum() == 10
    assert inflation(chi_squared(plain)[~hit]) > 2
    assert inflation(cmh(banded)[~hit]) < 1.3
    assert np.median(cmh(banded)[hit]) > 30


def test_the_same_seed_makes_the_same_files(cohort, tmp_path):
    again = simulate_admixed(tmp_path / "study", **SIZES)
    other = simulate_admixed(tmp_path / "other", **SIZES | {"seed": 4})
    for ending in (".bed", ".fam", ".covariates", ".hits"):
        first, second, third = (
            one.path.with_name(one.path.name + ending).read_bytes()
            for one in (cohort, again, other)
        )
        assert first == second != third
    assert again.hits == cohort.hits


def test_without_structure_or_drift_nothing_is_inflated(tmp_path):
    even = simulate_admixed(tmp_path / "even", **SIZES, structure=0)
    found = chi_squared(count_tables(even.path))
    assert inflation(found) < 1.4


def test_alleles_have_the_rates_of_the_ancestries():
    random = generator(7)
    people = draw_people(random, 4000, 4000, 2.0)
    doses = np.vstack(list(draw_doses(random, people, np.full(40, 0.3), np.zeros(40), 0.05)))
    assert doses.shape == (40, 8000)
    assert set(np.unique(doses)) == {0, 1, 2}
    assert doses.mean() / 2 == pytest.approx(0.3, abs=0.05)
    assert people.ancestry[people.is_case].mean() > people.ancestry[~people.is_case].mean() + 0.1


def test_strata_named_like_something_made_from_genotypes_are_refused(cohort):
    with pytest.raises(NotPrivate, match="PC1"):
        count_stratified_tables(cohort.path, cohort.covariates, strata_columns=["PC1"])


def test_more_hits_than_variants_and_no_drift_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="hits"):
        simulate_admixed(tmp_path / "x", **SIZES | {"hits": 601})
    with pytest.raises(ParameterError, match="apart"):
        simulate_admixed(tmp_path / "x", **SIZES, apart=0)
