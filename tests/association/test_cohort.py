"""Generated cohorts: what is planted is there, and nothing else."""

import numpy as np
import pytest

from noren.association.cohort import Plan, bits, simulate, sites_of
from noren.association.counting import count_tables
from noren.association.geometry import chi_squared
from noren.data.bed import open_bed
from noren.errors import ParameterError


def test_a_cohort_has_its_hits_and_no_others(tmp_path):
    cohort = simulate(
        tmp_path / "new.folder" / "a.b", cases=700, controls=500, variants=3000, hits=10, seed=4,
        strengths=(9, 12),
    )  # fmt: skip
    tables = count_tables(cohort.path)
    assert (tables.cases, tables.controls, len(tables)) == (700, 500, 3000)
    assert len(cohort.hits) == 10
    assert cohort.path.with_name("a.b.hits").read_text().split() == list(cohort.hits)
    chi2 = chi_squared(tables)
    is_hit = np.isin(tables.sites.names, cohort.hits)
    z = np.sqrt(chi2[is_hit])
    assert np.abs(z - np.array(cohort.strengths)).max() < 5
    assert np.abs(z - np.array(cohort.strengths)).mean() < 1.5
    others = chi2[~is_hit]  # chi-squared with one degree of freedom: mean 1, variance 2
    assert abs(others.mean() - 1) < 6 * np.sqrt(2 / others.size)
    assert others.max() < 30


def copies_in(path):
    bed = open_bed(path)
    raw = np.frombuffer(bed.path.read_bytes()[3:], np.uint8).reshape(len(bed.sites), -1)
    pairs = ((raw[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(len(bed.sites), -1)
    beyond = pairs[:, len(bed.people) :]
    return np.array([2, -1, 1, 0])[pairs[:, : len(bed.people)]], beyond


def test_genotypes_have_the_rates_and_the_gaps_that_were_asked_for(tmp_path):
    simulate(tmp_path / "c", cases=1500, controls=1501, variants=60, hits=0, seed=5,
             missing=0.0625, rates=(0.25, 0.25))  # fmt: skip
    copies, beyond = copies_in(tmp_path / "c")
    assert not beyond.any()  # PLINK asks for zeros behind the last person
    people = copies.size
    assert abs((copies < 0).mean() - 0.0625) < 6 * np.sqrt(0.0625 / people)
    there = copies[copies >= 0]
    for count, share in ((0, 0.5625), (1, 0.375), (2, 0.0625)):
        assert abs((there == count).mean() - share) < 6 * np.sqrt(share / there.size)


def test_neighbors_in_a_block_are_linked_and_blocks_are_not(tmp_path):
    cohort = simulate(tmp_path / "c", cases=2000, controls=2000, variants=95, hits=2, block=10,
                      correlation=0.75, missing=0, seed=6, strengths=(12, 12))  # fmt: skip
    copies, _ = copies_in(tmp_path / "c")
    linked = np.corrcoef(copies)
    inside = [linked[j, j + 1] for j in range(94) if j % 10 != 9]
    across = [linked[j, j + 1] for j in range(94) if j % 10 == 9]
    assert abs(np.mean(inside) - 0.75) < 0.01
    assert np.abs(across).max() < 0.1
    lines = cohort.loci.read_text().split("\n")
    assert lines[0] == "snp\tlocus"
    assert lines[1] == "rs1\tlocus1"
    assert lines[95] == "rs95\tlocus10"
    tables = count_tables(cohort.path)
    chi2 = np.sqrt(chi_squared(tables))
    for name in cohort.hits:
        place = tables.sites.names.index(name)
        assert place % 10 == 5
        assert chi2[place] > 8
        assert chi2[place - 1] > 5  # its neighbor shares it
    position = np.array(tables.sites.positions)
    assert set(np.diff(position[:10])) == {1000}


def test_the_same_seed_writes_the_same_files(tmp_path):
    settings = {"cases": 20, "controls": 30, "variants": 40, "hits": 3, "block": 4}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulate(tmp_path / name, seed=seed, **settings)
    one, same, other = ((tmp_path / f"{name}.bed").read_bytes() for name in "abc")
    assert one == same != other


@pytest.mark.parametrize("digits", [8, 16])
def test_bits_come_at_their_rate(digits):
    plan = Plan.read(5, 5, 1, 7, 0, 1, 0.9, 0)
    rates = np.array([0, 1 / 256, 0.3, 0.5, 243 / 256, 1])
    drawn = bits(plan, rates, 4000, digits)
    share = np.bitwise_count(drawn).sum(axis=1) / (64 * 4000)
    expected = np.rint(rates * 2**digits) / 2**digits
    assert share[0] == 0
    assert share[-1] == 1
    assert np.abs(share - expected).max() < 6 * np.sqrt(0.25 / (64 * 4000))


def test_more_hits_than_blocks_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="whole blocks"):
        simulate(tmp_path / "c", cases=5, controls=5, variants=39, hits=4, block=10, seed=1)


def test_positions_of_a_large_cohort_stay_within_what_plink_reads():
    plan = Plan.read(2, 2, 1_000_000, 1, 0, 1, 0.95, 0.0)
    places = np.array(sites_of(plan)[0].positions).reshape(-1)
    assert places.min() > 0
    assert places.max() < 2**31
    steps = np.diff(places)
    assert (steps[steps > 0] > 10_000).all()  # still apart
