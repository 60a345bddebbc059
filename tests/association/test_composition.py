"""What many tests cost together, and what each may spend of a total."""

from fractions import Fraction

import pytest

from noren.association.composition import composed_delta, per_test_epsilon, total_epsilon
from noren.errors import ParameterError
from noren.privacy import optimal_composition_delta


@pytest.mark.parametrize(
    ("tests", "each", "delta", "total"),
    [(311, "0.1", "1e-6", 9.37191875535), (311, "0.5", "1e-6", 76.8501381498),
     (10, "0.1", "1e-6", 0.99937090572), (100, "0.05", "1e-5", 1.96813022362)],
)  # fmt: skip
def test_the_total_of_many_tests_meets_the_oracles(tests, each, delta, total):
    assert float(total_epsilon(each, delta, tests)) == pytest.approx(total, rel=5e-12)


@pytest.mark.parametrize(("total", "each"), [(1, 0.01348), (3, 0.03696), (10, 0.10564)])
def test_what_one_test_may_spend_meets_the_oracles(total, each):
    assert float(per_test_epsilon(total, "1e-6", 311)) == pytest.approx(each, abs=6e-6)


@pytest.mark.parametrize(("total", "each"), [(1, 0.00322), (3, 0.00965), (10, 0.03215)])
def test_without_delta_the_total_is_divided(total, each):
    found = per_test_epsilon(total, 0, 311)
    assert float(found) == pytest.approx(each, abs=6e-6)
    assert found * 311 <= total


@pytest.mark.parametrize("tests", [1, 2, 7, 311, 2000])
@pytest.mark.parametrize(
    ("total", "delta"), [("0.01", "1e-6"), (1, "1e-9"), (3, "1e-6"), (8, "0.3")]
)
def test_the_price_is_the_largest_of_twelve_digits_that_the_exact_bound_allows(total, delta, tests):
    each = per_test_epsilon(total, delta, tests)
    assert len(f"{float(each):.20e}") > 0
    digits = str(float(each)).split("e")[0].replace(".", "").lstrip("0")
    assert len(digits) <= 12
    assert optimal_composition_delta(each, tests, Fraction(total)) <= float(delta)
    more = each * (1 + Fraction(1, 10**9))
    assert optimal_composition_delta(more, tests, Fraction(total)) > float(delta)


def test_the_bound_is_never_below_the_exact_delta_and_hardly_above():
    for tests, each, total in (
        (311, "0.03", 3),
        (10, "0.1", "0.5"),
        (1, "1.2", 1),
        (5000, "0.01", 5),
    ):
        exact = optimal_composition_delta(each, tests, total)
        bound = composed_delta(Fraction(each), tests, Fraction(total))
        assert exact <= bound <= exact * (1 + 3e-10)


def test_a_million_tests_have_a_price():
    each = per_test_epsilon(3, "1e-6", 10**6)
    # the Gaussian limit: M tests of e are one Gaussian of mu = e sqrt(M), up to 1/sqrt(M)
    assert float(each) == pytest.approx(per_test_epsilon(3, "1e-6", 10**4) / 10, rel=2e-3)
    assert composed_delta(each, 10**6, Fraction(3)) <= 1e-6


@pytest.mark.parametrize(
    ("total", "delta", "tests"),
    [(0, 0, 5), (-1, 0, 5), (1, 1, 5), (1, -1, 5), (1, 0, 0), (1, 0, 2.5), (None, 0, 5)],
)
def test_what_makes_no_sense_is_refused(total, delta, tests):
    with pytest.raises(ParameterError):
        per_test_epsilon(total, delta, tests)
