"""The only door to secret randomness."""

from noren.noise.noise import Noise as Noise
