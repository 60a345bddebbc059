"""The audit of reweighting holds, catches its faults, and reaches what is tight."""

import pytest

from noren import audit
from noren.audit.row import FAILS


@pytest.fixture(scope="module")
def found():
    return audit.run("reweighting", quick=True)


def test_every_row_is_as_expected(found):
    assert [row for row in found if not row.ok] == []


def test_prices_that_are_tight_are_reached(found):
    exact = [
        row
        for row in found
        if row.method == "exact" and row.expected != FAILS and "price" in row.mechanism
    ]
    assert len(exact) > 20
    assert all(row.measured > 0.999 * row.claimed for row in exact)


def test_faults_and_the_papers_claims_are_caught(found):
    failing = [row for row in found if row.expected == FAILS]
    assert len([row for row in failing if row.method == "mutant"]) >= 7
    assert len([row for row in failing if ", as published" in row.mechanism]) >= 5
    assert all(row.measured > row.claimed for row in failing)


def test_what_the_adaptive_code_really_asks_for_is_its_whole_price(found):
    spent = [row for row in found if "all draws" in row.mechanism]
    assert [row.measured for row in spent] == [1, 1]
