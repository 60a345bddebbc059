"""Audits by samples: sampler laws, last bits, anything that can be called."""

import math

import numpy as np
import pytest

from noren.audit import audit_callable
from noren.audit.law import FALSE_ALARM, gaussian_tail, integer_p_value, laplace_tail, p_value
from noren.audit.mechanisms import last_bits
from noren.audit.precision import in_event, precision_row
from noren.errors import ParameterError
from noren.noise import laws
from noren.testing import seeded_noise

N = 100_000


@pytest.fixture(autouse=True)
def _seeded(monkeypatch):
    """Let the audits that draw for themselves draw the same each time."""
    monkeypatch.setattr("noren.audit.mechanisms.Noise", lambda: seeded_noise(71))


# sampler laws


@pytest.mark.parametrize("scale", ["0.5", "3", "1000"])
def test_a_right_laplace_passes_and_a_slightly_wrong_one_does_not(scale):
    drawn, t = seeded_noise(72).discrete_laplace(scale, N), float(scale)
    reach = math.ceil(40 * t)
    assert integer_p_value(drawn, laplace_tail(t), reach) > FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(t * 1.05), reach) < FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(t / 1.05), reach) < FALSE_ALARM
    assert integer_p_value(drawn + 1, laplace_tail(t), reach) < FALSE_ALARM or t == 1000
    assert integer_p_value(np.abs(drawn), laplace_tail(t), reach) < FALSE_ALARM


@pytest.mark.parametrize("variance", ["1", "100", "1000000"])
def test_a_right_gaussian_passes_and_a_slightly_wrong_one_does_not(variance):
    drawn, v = seeded_noise(73).discrete_gaussian(variance, N), float(variance)
    reach = math.ceil(9 * math.sqrt(v))
    assert integer_p_value(drawn, gaussian_tail(v), reach) > FALSE_ALARM
    assert integer_p_value(drawn, gaussian_tail(v * 1.08), reach) < FALSE_ALARM
    assert integer_p_value(drawn, laplace_tail(math.sqrt(v / 2)), reach) < FALSE_ALARM


def test_tails_agree_with_the_exact_laws():
    k = np.arange(6)
    for scale in ("0.5", "3"):
        exact = [sum(laws.discrete_laplace_pmf(scale, j) for j in range(i + 1, 300)) for i in k]
        assert laplace_tail(float(scale))(k) == pytest.approx([float(p) for p in exact], rel=1e-12)
    exact = [sum(laws.discrete_gaussian_pmf(4, j) for j in range(i + 1, 60)) for i in k]
    assert gaussian_tail(4.0)(k) == pytest.approx([float(p) for p in exact], rel=1e-12)


def test_rare_cells_are_merged_and_still_seen():
    masses = np.array([0.9, 0.09, 0.009, 0.0009, 0.0001])
    assert p_value(np.array([900, 90, 9, 1, 0]), masses) > 0.5
    assert p_value(np.array([900, 40, 40, 10, 10]), masses) < FALSE_ALARM
    assert p_value(np.array([50, 50]), np.array([0.5, 0.5])) == pytest.approx(1)
    assert p_value(np.array([3]), np.array([1.0])) == 1


# last bits


def test_the_event_is_the_one_of_the_definition():
    released = np.array([0.1, 0.2500001, -0.1, 0.125, 2.0**-53, 2.0**-54, 0.0])
    assert in_event(released).tolist() == [True, False, False, False, False, True, False]


def test_our_floats_pass_and_numpy_laplace_is_caught():
    rows = list(last_bits(2000))
    assert all(row.ok for row in rows)
    *ours, floats = rows
    assert len(ours) == 4
    assert all(row.expected == "holds" and row.measured <= 1 for row in ours)
    assert floats.expected == "fails"
    assert floats.measured > 1.5


def four_uniforms(a, b, c, d):
    """Make Laplace noise as a popular library does, to hide the bits of one uniform."""
    return np.log1p(-a) * np.cos(np.pi * b) + np.log1p(-c) * np.cos(np.pi * d)


@pytest.mark.parametrize(
    "add",
    [
        lambda random, x, n: x + random.laplace(size=n),
        lambda random, x, n: x + random.normal(size=n),
        lambda random, x, n: x + four_uniforms(*random.random((4, n))),
        lambda random, x, n: (x / 8 + random.laplace(size=n) / 8) * 8,
    ],
)
def test_float_noise_is_caught_however_it_is_added(add):
    random = np.random.default_rng(74)
    row = precision_row("float", "x", lambda x, n: add(random, x, n), epsilon=1, draws=100_000)
    assert not row.ok


def test_the_same_noise_on_a_grid_passes():
    noise = seeded_noise(75)
    row = precision_row(
        "grid", "x", lambda x, n: (x * 1024 + noise.discrete_laplace(1024, n)) / 3072,
        epsilon=1, draws=100_000,
    )  # fmt: skip
    assert row.ok
    assert 0 < row.measured <= 1  # a third of the grid is off the grid of doubles: E happens


# anything that can be called


def test_a_right_claim_passes_and_a_wrong_one_is_caught():
    noise = seeded_noise(76)
    right = audit_callable(lambda x: x + noise.discrete_laplace(1), 0, 1, 1, draws=8000)
    wrong = audit_callable(lambda x: x + noise.discrete_laplace("0.5"), 0, 1, 1, draws=8000)
    assert right.ok
    assert right.detects < 1.3
    assert not wrong.ok
    assert 1.5 < wrong.measured < 2


def test_a_delta_is_allowed_for():
    random = np.random.default_rng(77)

    def sometimes_bare(x):
        return x if random.random() < 0.05 else int(random.integers(0, 2))

    assert not audit_callable(sometimes_bare, 3, 7, 1, draws=8000).ok
    row = audit_callable(sometimes_bare, 3, 7, 1, delta="0.06", draws=8000)
    assert row.ok
    assert "delta 0.06" in row.note


@pytest.mark.parametrize(
    "output",
    [
        lambda x: f"person {x}",
        lambda x: math.nan if x else 1.0,
        lambda x: {"count": [x, 0]},
        lambda x: (x, None),
        lambda x: np.array([[0, x]]),
    ],
    ids=["words", "nan", "mapping", "none", "matrix"],
)
def test_any_output_can_be_judged(output):
    row = audit_callable(output, 0, 1, epsilon=1, draws=1000, name="bare")
    assert not row.ok
    assert row.measured > 3
    assert row.mechanism == "bare"


def test_equal_outputs_show_nothing():
    row = audit_callable(lambda _: 1, 0, 1, epsilon="0.1", draws=1000)
    assert row.ok
    assert row.measured == 0


@pytest.mark.parametrize("bad", [{"epsilon": 0}, {"delta": 1}, {"draws": 5}, {"alpha": 2}])
def test_settings_are_checked(bad):
    with pytest.raises(ParameterError):
        audit_callable(lambda x: x, 0, 1, **({"epsilon": 1} | bad))
