"""A list of variants in a question: by name, by number, by digest."""

from __future__ import annotations

import pytest

from noren.association import CaseControl, DistanceScores, TopSnps
from noren.association.loci import Loci
from noren.association.variants import described, how_many, read_variants
from noren.data.sites import Sites
from noren.errors import ParameterError
from noren.question import public_form

SITES = Sites(("rs1", "rs2", "rs3"), chromosomes=("1", "1", "2"), positions=(5, 9, 2))


def test_a_long_list_stands_by_its_digest_in_a_question():
    study = CaseControl(cases=20, controls=20)
    scan = DistanceScores(design=study, variants=SITES, epsilon=1)
    top = TopSnps(
        design=study, variants=SITES, top=1, epsilon=1, tau=4, loci=Loci.windows(SITES, 10)
    )
    assert public_form(scan)["variants"] == SITES.public_form()
    assert set(public_form(scan)["variants"]) == {"variants", "sha256"}
    assert public_form(top)["loci"]["loci"] == 2


def test_the_digest_tells_lists_apart():
    names = SITES.names
    others = [Sites(names), Sites(names, positions=(5, 9, 3)), Sites(("rs1", "rs2", "rs4"))]
    digests = {sites.public_form()["sha256"] for sites in (SITES, *others)}
    assert len(digests) == 4


def test_places_are_described_by_what_is_known():
    assert described(SITES, [2]) == {"snp": ["rs3"], "chromosome": ["2"], "position": [2]}
    assert described(2) == {"snp": ["1", "2"]}
    assert how_many(SITES) == 3
    assert how_many(7) == 7


@pytest.mark.parametrize("given", [0, -1, 1.5, "three", None, Sites(()), ("rs1",)])
def test_what_is_no_list_is_refused(given):
    with pytest.raises(ParameterError, match="variants"):
        read_variants(given)
