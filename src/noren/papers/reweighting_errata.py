"""What is wrong in the reweighting paper, each with a figure that shows it, and what was right."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noren.noise.public import generator
from noren.papers.rows import RIGHT, PaperRow, claim
from noren.reweighting import amplified_centre_epsilon, gaussian_basis, leave_one_out_grid
from noren.reweighting.amplification import sampling_loss
from noren.reweighting.least_squares import ridge_solution

ROWS, CENTRES = 2000, 100
PUBLIC = np.array([-1, -0.4, 0.1, 0.5, 0.9, 1.2, 1.6, 2.1, 2.7, 3.3])
PRIVATE = np.array([1.1, 1.4, 1.6, 1.8, 1.9, 2, 2.1, 2.3, 2.4, 2.6, 2.8, 3.1])
WIDTHS, RIDGES = (0.5, 0.8, 1.2), (0.01, 0.1, 1)
EXACT = 1e-9


def errata() -> Iterator[PaperRow]:
    """Give every row."""
    yield from private_number()
    yield from tightened()
    yield from unbounded_centres()
    yield from private_selection()
    yield from real_records()
    yield from noise_order()
    yield from clipping()
    yield from typographic()
    yield from right()


def private_number() -> Iterator[PaperRow]:
    """E1: a noise scale from the private number of rows."""
    ours = CENTRES * math.log(ROWS / (ROWS - 1)) + (ROWS - 1) / CENTRES * CENTRES / ROWS
    yield claim(
        "E1: record added or removed, n private, n = 2000, b = 100", "log density ratio at h",
        "at most epsilon = 1", ours, 1.0495125041682374, EXACT,
        "scale and centre of the noise move with n; in the tail the ratio has no bound",
    )  # fmt: skip


def tightened() -> Iterator[PaperRow]:
    """E2: the middle line of the chain of bounds is not a bound under substitution."""
    phi = gaussian_basis([0.0, 100.0], [0.0, 100.0], 1)
    moved = float(np.abs(phi[0] - phi[1]).sum())
    yield claim(
        "E2: centres 0 and 100, width 1", "L1 change of phi, in units of sup |phi|_1",
        "at most 1", moved / float(np.abs(phi).sum(axis=1).max()), 2.0, EXACT,
        "whoever tightens b C / n to sup |phi|_1 / n pays 2 epsilon; b C / n itself is right",
    )  # fmt: skip


def unbounded_centres() -> Iterator[PaperRow]:
    """E3: Gaussian records have no sensitivity, and both halves are paid."""
    yield PaperRow(
        experiment="errata",
        setting="E3: method A on records without a bounded domain",
        quantity="sensitivity of a centre",
        published="that of the records",
        ours="infinite",
        tolerance=None,
        ok=True,
        note="a public box bounds it; centres and moments at epsilon each cost 2 epsilon together",
    )


def private_selection() -> Iterator[PaperRow]:
    """E4: choosing width and ridge on private rows tells one row with certainty."""
    changed = np.concatenate([[4.0], PRIVATE[1:]])
    for rows, winner, expected in (
        (PRIVATE, "(0.8, 0.1)", -0.8076485485193223),
        (changed, "(0.5, 0.1)", -0.7753807328757282),
    ):
        scores = leave_one_out_grid(rows, PUBLIC, [0.0, 1, 2, 3], WIDTHS, RIDGES)
        i, j = np.unravel_index(int(scores.argmin()), scores.shape)
        found = f"({WIDTHS[i]:g}, {RIDGES[j]:g})"
        yield claim(
            f"E4: first private row {rows[0]:g}", f"score of the winner {found}",
            "selection is free", float(scores.min()) if found == winner else math.nan, expected,
            EXACT, "one row changes the winner: no epsilon bounds that",
        )  # fmt: skip


def real_records() -> Iterator[PaperRow]:
    """E5: method C prints records, and leaks through the weights as well."""
    yield claim(
        "E5: method C, b = 100, n = 2000", "delta that is attained", "acceptable",
        CENTRES / ROWS, 0.05, EXACT, "100 people's records are printed in every run",
    )  # fmt: skip
    known = {0.1: 0.025024987504165624, 1: 0.025248754156270804, 10: 0.027379064549101013}
    for epsilon, expected in known.items():
        ours = CENTRES / ROWS * (1 - math.exp(-epsilon / CENTRES) / 2)
        yield claim(
            f"E5: method C, only the weights published, epsilon {epsilon:g}",
            "chance that a weight shows a far record that is there, and never else",
            "epsilon-private up to b / n", ours, expected, EXACT,
            "a public point at 10, a private one there or not, width 0.1",
        )  # fmt: skip


def noise_order() -> Iterator[PaperRow]:
    """E6: the norm of the coefficients' noise is sqrt(b) larger than the stated order."""
    noise = generator(6).laplace(size=(4000, CENTRES))
    ours = float(np.sqrt((noise**2).sum(axis=1).mean()))
    yield claim(
        "E6: flat H, b = 100", "rms norm of the noise in alpha, in units of b / (epsilon ridge n)",
        "order 1", ours, math.sqrt(2 * CENTRES), 0.1,
        "the order holds for each coordinate, not for the vector",
    )  # fmt: skip


def clipping() -> Iterator[PaperRow]:
    """E7: max(0, .) after noise is biased."""
    noise = generator(7).laplace(size=400_000)
    yield claim(
        "E7: a coefficient that is nothing but noise of scale 1", "mean after max(0, .)",
        "unbiased", float(np.maximum(noise, 0).mean()), 0.5, 0.01,
        "so the weights must be divided by their mean; part of the figures' flattening is this",
    )  # fmt: skip


def typographic() -> Iterator[PaperRow]:
    """E8: a factor 1/n and a transpose."""
    yield PaperRow(
        experiment="errata",
        setting="E8: definition of f(D), and of H",
        quantity="form",
        published="sum of phi; phi' phi",
        ours="mean of phi; mean of phi phi', phi a column",
        tolerance=None,
        ok=True,
        note="typographic",
    )


def right() -> Iterator[PaperRow]:
    """Give what was checked and found right."""
    rows = gaussian_basis(generator(8).normal(size=500), generator(9).normal(size=8), 0.5)
    moved = float(np.abs(rows[:, None] - rows[None]).sum(axis=2).max()) / 8
    yield claim(
        "b C / n, substitution, phi >= 0", "L1 change of phi, in units of b C", "at most 1",
        moved, 0.5, 0.5, "the paper's last bound holds", RIGHT,
    )  # fmt: skip
    yield claim(
        "method A, centres in the order of drawing, n = 3, b = 2, e' = 1", "log ratio", 0.763383,
        sampling_loss(3, 2, 1.0), math.log1p(math.expm1(1) * 2 / 3), EXACT,
        "enumerated over all draws of randomized bits: the amplified price is attained", RIGHT,
    )  # fmt: skip
    for n, b, inner, expected in ((3, 2, 1.0, 0.8561612), (7, 3, 3.0, 2.7503793)):
        yield claim(
            f"method A, centres sorted by row number, n = {n}, b = {b}, e' = {inner:g}",
            "log ratio", f"{math.log1p(math.expm1(inner) * b / n):.6f}",
            sampling_loss(n, b, inner, in_order=False), expected, 1e-6,
            "an order that tells which rows were drawn breaks the amplification",
        )  # fmt: skip
    yield claim(
        "amplification, epsilon 1 at b / n = 0.05", "epsilon of the sampled rows", None,
        amplified_centre_epsilon(1, "0.05"), 3.5657406303027943, EXACT, "", RIGHT,
    )  # fmt: skip
    yield objective_perturbation()


def objective_perturbation() -> PaperRow:
    """Perturbing the objective by eta'alpha is output noise on h: there is nothing to gain."""
    phi = gaussian_basis(PUBLIC, [0.0, 1, 2, 3], 0.8)
    gram, target = phi.T @ phi / len(phi), gaussian_basis(PRIVATE, [0.0, 1, 2, 3], 0.8).mean(axis=0)
    eta = np.array([0.02, -0.01, 0.03, 0.01])
    minimum = ridge_solution(gram, target - eta, 0.1)
    gradient = gram @ minimum + 0.1 * minimum - target + eta
    return claim(
        "future work: objective perturbation", "largest gradient at the output-noise solution",
        "a better mechanism", float(np.abs(gradient).max()), 0.0, 1e-12,
        "the Hessian does not depend on D, so both are the same mechanism", RIGHT,
    )  # fmt: skip
