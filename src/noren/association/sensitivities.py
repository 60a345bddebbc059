"""How far one person moves the statistics of the published mechanisms.

Each mechanism adds Laplace noise of scale Delta/epsilon to a statistic. The constants below bound
the change of that statistic when one person's genotype changes, the sizes of the groups being
public; a person who brings two alleles (`step=2`) counts as two such changes.

    name                  statistic   Delta
    fienberg              chi2        4N/(N+2); only for groups of one size
    yu                    chi2        N^2/(m1 m2) k/(k+1), k = max(m1, m2)
    yu-controls-public    chi2        the same with k = max(b, d): the controls' counts are public
    unit-circle           ||T||       2 sqrt(((m1^2+m2^2) N + 2 tau m1 m2) / (tau m1 m2 N^2))
    unit-circle-tight     ||T||       2 sqrt(1/N^2 + hi/(tau N lo)), lo, hi the smaller and larger

T is affine: one person moves it by one of its two columns, whose longer one has the tight length
(attained where the larger group is even and the smaller has two members). The published constant
is the length of both together: valid, and too large by up to sqrt(2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noren.association.geometry import read_tau
from noren.association.statistic import Tables, group_size, plain
from noren.errors import ParameterError


def tight_sensitivity(cases: int, controls: int, tau: object) -> float:
    """Give the exact sensitivity of the unit-circle norm.

    Examples
    --------
    >>> round(tight_sensitivity(200, 200, 3.84), 13)
    0.0512754002097
    """
    low, high = sorted((group_size("cases", cases), group_size("controls", controls)))
    people = low + high
    return 2 * math.sqrt(1 / people**2 + high / low / (float(read_tau(tau)) * people))


def unit_circle_sensitivity(cases: int, controls: int, tau: object) -> float:
    """Give the published sensitivity of the unit-circle norm, which is not tight.

    Examples
    --------
    >>> round(unit_circle_sensitivity(200, 200, 3.84), 13)
    0.0725143663927
    """
    m1, m2 = group_size("cases", cases), group_size("controls", controls)
    people = m1 + m2
    ratios = m1 / m2 + m2 / m1
    return 2 * math.sqrt((ratios / float(read_tau(tau)) + 2 / people) / people)


def fienberg_sensitivity(cases: int, controls: int) -> float:
    """Give the sensitivity of chi-squared for two groups of one size."""
    m1, m2 = group_size("cases", cases), group_size("controls", controls)
    if m1 != m2:
        raise ParameterError(
            "method",
            "'fienberg'",
            "one that allows groups of different sizes",
            "Its constant is proved for equal groups only; use 'distance' or 'yu'.",
        )
    return 4 * (m1 + m2) / (m1 + m2 + 2)


def yu_sensitivity(cases: int, controls: int) -> float:
    """Give the sensitivity of chi-squared.

    Examples
    --------
    >>> round(yu_sensitivity(200, 200), 14)
    3.98009950248756
    """
    m1, m2 = group_size("cases", cases), group_size("controls", controls)
    largest = max(m1, m2)
    return (m1 + m2) ** 2 / (m1 * m2) * largest / (largest + 1)


def yu_controls_public_sensitivity(tables: Tables) -> Any:
    """Give the sensitivity of chi-squared where the controls' carrier counts are public."""
    largest = np.maximum(tables.b, tables.controls - tables.b).astype(np.float64)
    scale = tables.people**2 / (tables.cases * tables.controls)
    return plain(scale * (largest / (largest + 1)))
