"""Noise added in parts by parties who trust nobody, simulated (`reweighting.noise_shares`)."""

from __future__ import annotations

from typing import Any

from noren.reweighting.rows import Floats


def laplace_shares(scale: float, parties: int, size: int, random: Any) -> Floats:
    """Give each party's share of the noise, one row a party. Simulated."""
    shape = (parties, size)
    gained: Floats = random.gamma(1 / parties, scale, shape)
    lost: Floats = random.gamma(1 / parties, scale, shape)
    return gained - lost
