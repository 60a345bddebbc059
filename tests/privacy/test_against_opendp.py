"""Our conversions out of rho beside OpenDP's, which runs in an environment of its own."""

from __future__ import annotations

import pytest

from noren.privacy import gaussian_delta, zcdp_delta, zcdp_epsilon

THEIRS = """
import opendp.prelude as dp
dp.enable_features("contrib", "honest-but-curious")
space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
found = []
for rho, delta in given:
    one = dp.m.make_gaussian(*space, scale=(1 / (2 * rho)) ** 0.5)
    curve = dp.c.make_zCDP_to_approxDP(one).map(1)
    found.append([curve.epsilon(delta), curve.delta(1.0)])
print(json.dumps(found))
"""
CASES = [(0.5, 1e-5), (0.1, 1e-6), (0.005, 1e-6), (1.0, 1e-10), (3.0, 1e-3)]


@pytest.mark.slow
def test_rho_converts_to_the_same_epsilon_and_delta(peer):
    for (rho, delta), (epsilon, at_one) in zip(CASES, peer("opendp", THEIRS, CASES), strict=True):
        assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-6)
        assert zcdp_epsilon(rho, delta) <= epsilon * (1 + 1e-9)
        assert zcdp_delta(rho, 1) == pytest.approx(at_one, rel=1e-6)
        assert gaussian_delta(1, (2 * rho) ** -0.5) < at_one
