"""Seeded noise repeats itself, and can never pass for private."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from noren.errors import NotPrivateWarning
from noren.noise import Noise
from noren.testing import seeded_noise


def everything(noise):
    """Draw once from every law."""
    return [
        noise.discrete_laplace(3, 50).tolist(),
        noise.discrete_gaussian(10**9, 5).tolist(),
        noise.geometric(2),
        noise.bernoulli("0.3", 20).tolist(),
        noise.integers_below(10**30),
        noise.binomial(100, "0.4"),
        noise.permutation(6).tolist(),
        noise.choose([1, 2, 3]),
        noise.exponential_mechanism([0, 1], 1),
        noise.permute_and_flip([0, 1], 1),
    ]


def test_one_seed_gives_one_run():
    assert everything(seeded_noise(5)) == everything(seeded_noise(5))
    assert everything(seeded_noise(5)) != everything(seeded_noise(6))


def test_a_seed_gives_the_same_run_in_another_process():
    script = (
        "from noren.testing import seeded_noise as s; print(s(9).discrete_laplace(5, 8).tolist())"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == str(seeded_noise(9).discrete_laplace(5, 8).tolist())


@pytest.mark.filterwarnings("default::noren.errors.NotPrivateWarning")
def test_seeded_noise_warns_and_is_not_secure():
    with pytest.warns(NotPrivateWarning, match="nothing drawn"):
        noise = seeded_noise(1)
    assert not noise.secure
    assert noise.name == "seeded-test"
    assert "NOT PRIVATE" in repr(noise)


def test_production_noise_is_secure_and_never_repeats():
    assert Noise().secure
    assert not np.array_equal(Noise().integers_below(2**62, 4), Noise().integers_below(2**62, 4))
