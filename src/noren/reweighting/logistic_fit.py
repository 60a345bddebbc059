"""The logistic fit that tells two tables apart, minimized until its gradient is next to nothing.

Maths (rows x with an intercept first, |x| <= R)
    J(theta) = mean over D of log(1 + exp(-theta'x)) + mean over E of log(1 + exp(theta'x))
               + ridge/2 |theta|^2
    J is ridge-strongly convex, so Newton's method with Armijo halving ends at the one minimum;
    it is stopped where |grad J| <= TAU. There theta is within TAU / ridge of the minimum.

Privacy (how far the minimum moves)
    Replacing a row of D changes the gradient by at most 2R/n, since each row's own is at most R
    long; by strong convexity the minimum moves by at most 2R/(n ridge), the stopped theta by
    2 TAU / ridge more.
"""

from __future__ import annotations

import math

import numpy as np

from noren.reweighting.rows import Floats

TAU = 1e-11
CLOSE = 1e-10  # of J's own size: well above its rounding, well inside quadratic convergence


def separating_theta(private: Floats, public: Floats, ridge: float) -> Floats:
    """Minimize J; both tables hold the intercept's ones as their first column. Not private."""
    theta = np.zeros(public.shape[1])
    while True:
        gradient, hessian = slopes(theta, private, public, ridge)
        if math.sqrt(float(gradient @ gradient)) <= TAU:
            return theta
        step: Floats = np.negative(np.linalg.solve(hessian, gradient), dtype=np.float64)
        theta = theta + halved(theta, step, -float(gradient @ step), private, public, ridge) * step


def halved(
    theta: Floats, step: Floats, fall: float, private: Floats, public: Floats, ridge: float
) -> float:
    """Give the size of a step: 1, or halves of it until J falls enough.

    Near the minimum the fall drowns in the rounding of J, and the full step is the right one.
    """
    if fall < CLOSE:
        return 1.0
    size, value = 1.0, objective(theta, private, public, ridge)
    while objective(theta + size * step, private, public, ridge) > value - size * fall / 4:
        size /= 2
    return size


def objective(theta: Floats, private: Floats, public: Floats, ridge: float) -> float:
    """Give J."""
    own = np.logaddexp(0, -(private @ theta)).mean() + np.logaddexp(0, public @ theta).mean()
    return float(own + ridge / 2 * (theta @ theta))


def slopes(theta: Floats, private: Floats, public: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Give the gradient and the Hessian of J."""
    gradient, hessian = ridge * theta, ridge * np.eye(len(theta))
    for rows, sign in ((private, -1.0), (public, 1.0)):
        p = 1 / (1 + np.exp(-np.clip(sign * (rows @ theta), -700, 700)))
        gradient = gradient + sign * (p @ rows) / len(rows)
        hessian = hessian + (rows.T * (p * (1 - p))) @ rows / len(rows)
    return gradient, hessian
