"""Calibrated weights: exponential weights whose moments meet noisy targets, as far as noise allows.

Maths (z_i the public rows' features, ~z the noisy target, S the covariance of its error)
    w_i proportional to exp(theta'z_i), theta minimizing
        log mean exp(theta'z_i) - theta'~z + (kappa / 2) theta'S theta.
    Positive, of mean one by construction; the dual of entropy balancing and of raking with slack.
    Newton's method with Armijo halving; with S positive definite the minimum is unique.

    Strength of the slack, from the release alone: with p features, noise variance v for each, and
    vt = v + (tr C_z / p)(1/n + 1/N),
        kappa = 1 / min(1, max(|~z - zbar|**2 / p - vt, vt sqrt(2/p) / 2)).
    For tables of counts (rake) kappa = 1/g, with g of a public grid maximizing the likelihood of
    ~y - ybar ~ N(0, (g + 1/n + 1/N) C + diag v).

Privacy
    A function of a release and of public rows: free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.reweighting.rows import Floats

TOLERANCE = 1e-12
STEPS = 100
RAKE_STRENGTHS = tuple(10 ** (k / 6) for k in range(-18, 1))
ARMIJO = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A fit: theta, the strength of the slack, and the weights (mean one)."""

    theta: Floats
    kappa: float
    raw: Floats
    level: float

    def predict(self, features: Floats) -> Floats:
        """Give the weights of other rows."""
        found: Floats = np.exp(features @ self.theta - self.level)
        return found


def calibrate(features: Floats, target: Floats, covariance: Floats, kappa: float) -> Calibration:
    """Minimize the dual objective from theta = 0."""
    slack = kappa * covariance
    theta = np.zeros(features.shape[1])
    value, level, weights = dual(theta, features, target, slack)
    for _ in range(STEPS):
        mean = features.T @ weights / len(features)
        gradient = mean - target + slack @ theta
        hessian = (features.T * weights) @ features / len(features) - np.outer(mean, mean) + slack
        step = np.linalg.lstsq(hessian, -gradient, rcond=None)[0]
        decrement = -float(gradient @ step)
        if decrement < TOLERANCE:
            break
        size = 1.0
        while size > 1e-12:
            found = dual(theta + size * step, features, target, slack)
            if found[0] <= value - ARMIJO * size * decrement:
                break
            size /= 2
        else:
            break
        theta = theta + size * step
        value, level, weights = found
    return Calibration(theta, kappa, weights, level)


def dual(
    theta: Floats, features: Floats, target: Floats, slack: Floats
) -> tuple[float, float, Floats]:
    """Give the objective, log mean exp(theta'z), and the weights at theta."""
    inner = features @ theta
    top = float(inner.max())
    level = top + float(np.log(np.mean(np.exp(inner - top))))
    value = level - float(theta @ target) + float(theta @ slack @ theta) / 2
    return value, level, np.exp(inner - level)


def shrinkage(gap: Floats, variance: float, spread: float, sampling: float) -> float:
    """Give kappa from how far the noisy moments lie from the public ones (empirical Bayes).

    `spread` is tr C_z / p, `sampling` is 1/n + 1/N.
    """
    p = len(gap)
    error = variance + spread * sampling
    excess = float(gap @ gap) / p - error
    return 1 / min(1.0, max(excess, error * float(np.sqrt(2 / p)) / 2))


def rake_strength(gap: Floats, spread: Floats, variances: Floats, sampling: float) -> float:
    """Give kappa for noisy tables of counts, by the marginal likelihood of the gap."""

    def likelihood(g: float) -> float:
        own = (g + sampling) * spread + np.diag(variances)
        _, log_size = np.linalg.slogdet(own)
        return -float(gap @ np.linalg.solve(own, gap) + log_size) / 2

    return 1 / float(max(RAKE_STRENGTHS, key=likelihood))
