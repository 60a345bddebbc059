"""Rows of the oracle table that belong to the privacy room."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from noren import privacy
from noren.privacy import ADD_REMOVE, Adjacency, compose_profiles
from noren.privacy.accountant import Composition
from noren.privacy.discrete_gaussian import discrete_gaussian_shift_delta
from noren.privacy.zcdp import zcdp_epsilon_simple, zcdp_order

TABLE = json.loads((Path(__file__).parent.parent / "oracles" / "primitives.json").read_text())
ELSEWHERE = {*range(45, 54), 58, 59}  # rows of the noise and of the audit
HERE = Adjacency(ADD_REMOVE)


def laplace_accountant(epsilon0, count):
    return compose_profiles([privacy.laplace_profile(HERE, epsilon0)] * count)


def sampled_gaussian_accountant(rate, sigma, count) -> Composition:
    return compose_profiles([privacy.sampled_gaussian_profile(HERE, sigma, rate)] * count)


def discrete_laplace_epsilon(epsilon0, delta, count, sensitivity):
    profile = privacy.discrete_laplace_profile(HERE, epsilon0, sensitivity)
    return compose_profiles([profile] * count).epsilon(float(delta)).high


OTHERS = {
    "zcdp_order": zcdp_order,
    "zcdp_epsilon_simple": zcdp_epsilon_simple,
    "discrete_gaussian_shift_delta": discrete_gaussian_shift_delta,
    "discrete_laplace_epsilon": discrete_laplace_epsilon,
}
BRACKETED = {
    "laplace_accountant_epsilon": laplace_accountant,
    "sampled_gaussian_accountant_epsilon": sampled_gaussian_accountant,
}


def name_of(row):
    return f"row {row['row']}: {row['function']}"


def half_a_unit(value: str, digits: int) -> float:
    """Half a unit of the last digit that must agree, and a little."""
    return 0.501 * 10.0 ** (math.floor(math.log10(abs(Decimal(value)))) + 1 - digits)


@pytest.mark.parametrize(
    "row", [r for r in TABLE if "value" in r and r["row"] not in ELSEWHERE], ids=name_of
)
def test_a_function_meets_its_row_to_the_stated_digits(row):
    function = OTHERS.get(row["function"]) or getattr(privacy, row["function"])
    found = function(**row["arguments"])
    assert abs(found - float(row["value"])) <= half_a_unit(row["value"], row["digits"])


@pytest.mark.parametrize("row", [r for r in TABLE if "low" in r], ids=name_of)
def test_the_accountant_lies_in_the_bracket_of_independent_accountants(row):
    arguments = dict(row["arguments"])
    delta = float(arguments.pop("delta"))
    found = BRACKETED[row["function"]](**arguments).epsilon(delta)
    assert float(row["low"]) <= found.high <= float(row["high"]) * (1 + row["above"])
    assert found.low <= float(row["high"])
    assert found.width < 1e-5 * found.high


def test_the_table_holds_every_row():
    assert {row["row"] for row in TABLE} == set(range(1, 63))
    assert {row["row"] for row in TABLE if row["row"] not in ELSEWHERE} == set(range(1, 63)) - (
        ELSEWHERE
    )


@pytest.mark.parametrize("form", [Fraction(1, 10), "0.1", "1e-1", Decimal("0.1"), 0.1])
def test_a_number_may_come_in_any_form(form):
    assert privacy.pure_to_zcdp(form) == privacy.pure_to_zcdp("1/10")
