"""OpenDP's exact samplers draw from the same laws as ours."""

from __future__ import annotations

import pytest

from noren.noise import laws

FALSE_ALARM = 1e-9 / 4
DRAWS = 40_000
PROGRAM = """
import opendp.prelude as dp
dp.enable_features("contrib")
vector = dp.vector_domain(dp.atom_domain(T=int))
make, metric = {
    "laplace": (dp.m.make_laplace, dp.l1_distance(T=int)),
    "gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
}[given["law"]]
print(json.dumps(make(vector, metric, scale=given["scale"])([0] * given["draws"])))
"""

CASES = {
    ("laplace", 2.5): lambda k: laws.discrete_laplace_pmf("2.5", k),
    ("laplace", 0.3): lambda k: laws.discrete_laplace_pmf("0.3", k),
    ("gaussian", 2.0): lambda k: laws.discrete_gaussian_pmf(4, k),
    ("gaussian", 0.5): lambda k: laws.discrete_gaussian_pmf("0.25", k),
}


@pytest.mark.slow
@pytest.mark.parametrize(("law", "scale"), CASES)
def test_opendp_draws_from_our_laws(peer, fit, law, scale):
    draws = peer("opendp", PROGRAM, {"law": law, "scale": scale, "draws": DRAWS})
    masses = [float(CASES[law, scale](k)) for k in range(-60, 61)]
    assert fit(draws, -60, masses) > FALSE_ALARM
    other = [float(CASES["laplace", 2.5](k)) for k in range(-60, 61)]
    if (law, scale) != ("laplace", 2.5):
        assert fit(draws, -60, other) < FALSE_ALARM
