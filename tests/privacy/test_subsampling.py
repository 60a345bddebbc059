"""Amplification: the formula where it holds, a refusal where it would claim too much."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import AdjacencyMismatch, GuaranteeMismatch, NotPrivate, ParameterError
from noren.privacy import (
    SUBSTITUTE,
    USER,
    Adjacency,
    AssumedSample,
    DrawnHere,
    Guarantee,
    PoissonSample,
    SampleWith,
    SampleWithout,
    amplified_epsilon,
    amplify,
    base_epsilon,
    randomized_response_delta,
)
from noren.privacy.subsampling import amplified_epsilon_charge, base_epsilon_budget

ADDED = Guarantee("add-remove", epsilon=1, delta="1e-6")
REPLACED = Guarantee("substitute", epsilon=1, delta="1e-6")
RATES = st.fractions(Fraction(1, 1000), 1)
EPSILONS = st.fractions(Fraction(1, 1000), 5)


@given(EPSILONS, RATES)
def test_the_base_epsilon_undoes_the_amplified_one_on_the_safe_side(epsilon, rate):
    base = base_epsilon_budget(epsilon, rate)
    assert amplified_epsilon_charge(base, rate) <= epsilon * (1 + Fraction(1, 10**35))
    assert float(amplified_epsilon(base, rate)) == pytest.approx(float(epsilon), rel=1e-12)


@given(EPSILONS, RATES)
def test_a_sample_never_costs_more_than_everybody(epsilon, rate):
    found = amplified_epsilon_charge(epsilon, rate)
    exact = math.log1p(float(rate) * math.expm1(epsilon))
    assert found <= epsilon
    assert float(found) == pytest.approx(exact, rel=1e-12)


def test_poisson_amplification_of_response_is_tight():
    """A bit reported through randomized response if sampled, a fair coin's answer if not."""
    top = math.e / (1 + math.e)
    for rate in (0.1, 0.6):
        with_person = rate * top + (1 - rate) * (1 - top)
        without = 1 - top
        assert math.log(with_person / without) == pytest.approx(amplified_epsilon(1, rate))


def test_the_first_two_rows_of_the_table():
    poisson = amplify(ADDED, PoissonSample("0.01"), DrawnHere()).guarantee
    assert poisson.delta == Fraction("1e-8")
    assert poisson.adjacency == ADDED.adjacency
    without = amplify(REPLACED, SampleWithout(10, 1000), DrawnHere()).guarantee
    assert (without.epsilon, without.delta) == (poisson.epsilon, poisson.delta)
    assert without.adjacency == REPLACED.adjacency


def test_with_replacement_needs_the_curve_of_groups():
    pure = Guarantee("substitute", epsilon=1)
    with pytest.raises(GuaranteeMismatch, match="may hold one record several times"):
        amplify(pure, SampleWith(2, 2), DrawnHere())

    def laplace_group(size: int, epsilon: float) -> float:
        return max(0.0, 1 - math.exp((epsilon - size) / 2))

    found = amplify(pure, SampleWith(2, 2, laplace_group), DrawnHere()).guarantee
    assert float(found.epsilon) == pytest.approx(math.log1p(0.75 * (math.e - 1)))
    assert float(found.delta) == pytest.approx(0.25 * (1 - math.exp(-0.5)), rel=1e-8)


def test_two_draws_of_two_really_cost_more_than_the_formula_without_delta():
    """Laplace noise on a sum, epsilon 1: the true cost is 1.2402 where the formula says 0.828."""

    def density(output: float, value: float) -> float:
        chances = ((0.25, 0), (0.5, 1), (0.25, 2))  # how often the changed record is drawn
        return sum(c * math.exp(-abs(output - value * times)) for c, times in chances)

    true = max(abs(math.log(density(y / 100, 1) / density(y / 100, 0))) for y in range(-1000, 1001))
    assert true == pytest.approx(1.2402, abs=1e-4)
    assert true > float(amplified_epsilon(1, "0.75"))
    assert amplified_epsilon(1, "0.75") == pytest.approx(0.8280, abs=1e-4)


def test_poisson_with_substitute_neighbors_is_refused():
    with pytest.raises(AdjacencyMismatch, match="it would claim too much"):
        amplify(REPLACED, PoissonSample("0.1"), DrawnHere())


def test_poisson_with_substitute_neighbors_would_really_claim_too_little():
    """Adding and removing costs 1, so replacing may cost 2: at rate 0.1 up to 0.2239, not 0.1586.

    A record of one sort makes a likely answer e times likelier, one of the other sort e times
    less likely; the sample is empty nine times in ten.
    """
    base, rate = 0.1, 0.1
    up = (1 - rate) * base + rate * base * math.e
    down = (1 - rate) * base + rate * base / math.e
    assert math.log(up / down) == pytest.approx(0.2239, abs=1e-4)
    assert math.log(up / down) > amplified_epsilon(1, rate) == pytest.approx(0.1586, abs=1e-4)


def test_fixed_size_with_add_remove_neighbors_is_refused():
    for sample in (SampleWithout(1, 10), SampleWith(1, 10, lambda k, e: 0.0)):
        with pytest.raises(AdjacencyMismatch):
            amplify(ADDED, sample, DrawnHere())


def test_persons_are_sampled_as_persons():
    person = Guarantee(Adjacency(ADDED.adjacency.relation, USER, max_records=3), epsilon=1)
    with pytest.raises(AdjacencyMismatch):
        amplify(person, PoissonSample("0.1"), DrawnHere())
    found = amplify(person, PoissonSample("0.1", unit=USER), DrawnHere())
    assert found.guarantee.adjacency == person.adjacency
    assert "persons with all their rows" in found.note


def test_rho_has_no_formula():
    with pytest.raises(GuaranteeMismatch, match="no formula for a sample"):
        amplify(Guarantee("add-remove", rho="0.1"), PoissonSample("0.1"), DrawnHere())
    both = Guarantee("add-remove", epsilon=1, rho="0.1")
    assert amplify(both, PoissonSample("0.1"), DrawnHere()).guarantee.rho is None


def test_a_sample_that_nobody_vouches_for_adds_nothing():
    with pytest.raises(NotPrivate, match="say who vouches for it"):
        amplify(ADDED, PoissonSample("0.1"), None)
    with pytest.raises(ParameterError, match="vouched_by is empty"):
        AssumedSample(" ")


def test_an_assumption_is_printed():
    note = amplify(ADDED, PoissonSample("0.1"), AssumedSample("the registry's keeper")).note
    assert note == (
        "amplified by a Poisson sample of records, rate 0.1; ASSUMED, vouched for by the "
        "registry's keeper: the data is a random sample that nobody else knows"
    )
    assert "ASSUMED" not in amplify(ADDED, PoissonSample("0.1"), DrawnHere()).note


@pytest.mark.parametrize(
    "make",
    [
        lambda: PoissonSample(1.5),
        lambda: PoissonSample(None),
        lambda: SampleWithout(11, 10),
        lambda: SampleWithout(0, 10),
        lambda: SampleWith(1, 0),
        lambda: base_epsilon(1, 0),
    ],
)
def test_a_sample_must_be_possible(make):
    with pytest.raises(ParameterError):
        make()


def test_many_draws_sum_the_whole_binomial():
    sample = SampleWith(50, 100, lambda k, e: randomized_response_delta(k, e) if k > 1 else 0.0)
    found = amplify(Guarantee("substitute", epsilon=1), sample, DrawnHere()).guarantee
    exact = sum(
        math.comb(50, k) * 0.01**k * 0.99 ** (50 - k) * randomized_response_delta(k, 1)
        for k in range(2, 51)
    )
    assert exact <= float(found.delta) <= exact * (1 + 2e-9)


def test_a_sample_of_public_size_needs_neighbors_that_are_not_narrowed():
    """Who takes the place of a sampled case may be a control, which 'same status' leaves out."""
    narrow = Guarantee(Adjacency(SUBSTITUTE, within="same status"), epsilon=1)
    for sample in (SampleWithout(1, 2), SampleWith(1, 2, lambda k, epsilon: 0.0)):
        with pytest.raises(NotPrivate, match="without `within`"):
            amplify(narrow, sample, DrawnHere())
    assert amplify(REPLACED, SampleWithout(1, 2), DrawnHere()).guarantee.epsilon < 1
