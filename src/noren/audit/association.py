"""Evidence for association scans: every question and published method, errata, faults.

Small studies are looked at whole: every table of two groups and everything that one person can
change. Added noise is priced exactly with chosen noise; choices and bits are enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from noren.association import (
    Decisions,
    DistanceScores,
    NoisyCounts,
    Tables,
    TopSnps,
    per_test_epsilon,
)
from noren.association.as_published import (
    CASES_ONLY,
    CONTROLS_PUBLIC,
    PUBLISHED,
    PublishedDecisions,
)
from noren.association.peel_draw import peel
from noren.association.scoring import SAME_STATUS, CaseControl
from noren.association.significance import laplace_margin
from noren.audit import (
    association_adjusted,
    association_errata,
    association_faults,
    association_score,
)
from noren.audit.association_cases import (
    SHAPES,
    TAU,
    Counts,
    added_price,
    laws,
    one_person_apart,
    one_person_of,
    study,
    tables,
    worst_ratio,
    worst_set,
)
from noren.audit.black_box import audit_callable
from noren.audit.enumerated import law_of
from noren.audit.exact import hockey_stick
from noren.audit.law import FALSE_ALARM, integer_p_value, laplace_tail
from noren.audit.row import AuditRow, finding
from noren.noise import Noise
from noren.privacy import share_bounded_range

ROUNDING = 1e-9  # of an epsilon that was derived in decimals or compared in floats
BITS_WINDOW = 45  # bits lose less than e^-40 by the cut of the tails
BASES: tuple[Counts, ...] = (((9, 2), (8, 3), (4, 6)), ((12, 0), (11, 1), (0, 0)))
SMALL = (12, 14)  # the groups of these tables


def rows(quick: bool) -> Iterator[AuditRow]:
    """Examine every method."""
    yield from scores_and_counts()
    yield from bits(SHAPES[3:] if quick else SHAPES)
    yield from choices(BASES[:1] if quick else BASES, 3 if quick else 6)
    yield from totals()
    yield from rounding()
    yield from sampled(20_000 if quick else 200_000)
    yield from seen_from_outside(2_000 if quick else 20_000)
    yield from association_errata.rows()
    yield from association_faults.rows()
    yield from association_adjusted.rows(quick)
    yield from association_score.rows(quick)


def exact(
    name: str, claimed: float, measured: float, note: str, *, adjacency: object = SAME_STATUS,
    quantity: str = "epsilon", method: str = "exact",
) -> AuditRow:  # fmt: skip
    """State one finding that was worked out, not sampled."""
    return finding(
        f"association: {name}",
        adjacency,
        claimed=claimed,
        measured=measured,
        method=method,
        holds=measured <= claimed * (1 + ROUNDING),
        quantity=quantity,
        note=note,
    )


def scores_and_counts() -> Iterator[AuditRow]:
    """Price the noise of scores and counts over all neighbors of six shapes, people and alleles."""
    for step, shapes in ((1, SHAPES), (2, SHAPES[:3])):
        unit = "people" if step == 1 else "alleles"
        note = f"all tables of {len(shapes)} shapes, {unit} counted"
        for name in ("distance-scores", "noisy-counts"):
            worst = [
                added_price(single(name, study(shape, step)), pairs, study(shape, step))
                for shape in shapes
                for pairs in [one_person_apart(study(shape, step))]
            ]
            yield exact(f"{name}, {unit}", 1.0, max(epsilon for epsilon, _ in worst), note)
            claimed = float(single(name, study(shapes[0], step)).guarantee.rho)
            rho = max(rho for _, rho in worst)
            yield exact(f"{name}, {unit}", claimed, rho, note, quantity="rho")


def single(name: str, design: CaseControl) -> Any:
    """Ask of one variant, at epsilon 1."""
    given: dict[str, Any] = {"design": design, "variants": 1, "epsilon": 1}
    if name == "noisy-counts":
        return NoisyCounts(**given)
    if name == "decisions":
        return Decisions(**given, tau=Fraction(TAU))
    return DistanceScores(**given, mode="agreement", tau=Fraction(TAU))


def bits(shapes: tuple[tuple[int, int], ...]) -> Iterator[AuditRow]:
    """Enumerate the bits of all decisions: by distance, and each as published."""
    worst = 0.0
    for shape in shapes:
        design = study(shape)
        law = laws(single("decisions", design), design, BITS_WINDOW)
        worst = max(worst, worst_ratio(law, one_person_apart(design)))
    yield exact("decisions", 1.0, worst, f"all tables of {len(shapes)} shapes")
    for method in PUBLISHED:
        own = [pair for pair in SHAPES if method != "fienberg" or pair[0] == pair[1]]
        only_cases = method == CONTROLS_PUBLIC
        found = 0.0
        for shape in own:
            design = study(shape)
            law = laws(published(method, design), design)
            kept = (1,) if only_cases else ()
            found = max(found, worst_ratio(law, one_person_apart(design, kept)))
        note = f"as published, each variant by itself; all tables of {len(own)} shapes"
        adjacency = CASES_ONLY if only_cases else SAME_STATUS
        yield exact(f"published-decisions, {method}", 1.0, found, note, adjacency=adjacency)


def published(method: str, design: CaseControl) -> PublishedDecisions:
    """Ask one variant as published, at epsilon 1."""
    return PublishedDecisions(
        design=design, variants=1, epsilon_per_test=Fraction(1), tau=Fraction(TAU), method=method
    )


def choices(bases: tuple[Counts, ...], highest: int) -> Iterator[AuditRow]:
    """Enumerate the choice of the top K in every way, over all rows of one person."""
    design = study(SMALL)
    for method in ("set", "peel", "tau+set", "tau+peel"):
        asked = TopSnps(design=design, variants=3, top=2, epsilon=Fraction(1), tau=Fraction(3),
                        method=method)  # fmt: skip
        law = laws(asked, design)
        pairs = [pair for base in bases for pair in around(design, base)]
        note = f"2 of 3 variants, {len(pairs)} pairs of neighbors, one person's whole row"
        yield exact(f"top-snps, {method}", 1.0, worst_ratio(law, pairs), note)
    note = f"all scores 0..{highest} of 4 candidates, 2 chosen, every change by at most 1"
    yield exact("top-snps, a set by its scores", 1.0, worst_set(1, highest), note)


def around(design: CaseControl, base: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Pair a table set with everything that one person can make of it, both ways."""
    for other in one_person_of(design, base):
        yield base, other
        yield other, base


def totals() -> Iterator[AuditRow]:
    """Check what many tests, and adaptive rounds, cost together with a delta."""
    tests, total, delta = 40, Fraction(2), Fraction(1, 10**4)
    each = per_test_epsilon(total, delta, tests)
    note = f"{tests} tests that one row moves all, at {float(each):.6g} each; exact sum"
    yield exact("distance-scores, total with delta", float(delta),
                composed(float(each), tests, float(total)), note, quantity="delta")  # fmt: skip
    each = share_bounded_range(Fraction(3, 10), 2, Fraction(1, 50))
    laws_of = {
        moves: law_of(partial(peel, np.array(moves), 2, each))[0]
        for moves in product((-1, 0, 1), repeat=5)
    }
    here = laws_of[0, 0, 0, 0, 0]
    found = max(
        max(hockey_stick(here, there, Fraction(3, 10)), hockey_stick(there, here, Fraction(3, 10)))
        for there in laws_of.values()
    )
    note = f"2 rounds at {float(each):.6g} each, 5 equal scores and all their moves by one"
    yield exact("top-snps, peel with delta", 0.02, found, note, quantity="delta")


def composed(each: float, tests: int, total: float) -> float:
    """Add up the exact delta of tests that each shift two-sided geometric noise by one."""
    up = 1 / (1 + math.exp(-each))
    return math.fsum(
        math.comb(tests, i) * up**i * (1 - up) ** (tests - i)
        * max(0.0, -math.expm1(total - (2 * i - tests) * each))
        for i in range(tests + 1)
    )  # fmt: skip


def rounding() -> Iterator[AuditRow]:
    """Price what rounding z costs in a study of 2^25 people, the noise being enlarged for it."""
    half = 2**24
    design = CaseControl(cases=half, controls=half)
    near = np.unique(np.geomspace(1, half // 2, 40).astype(np.int64))
    places = np.unique(np.concatenate([near, half - near, [half]]))  # ends, middle, in between
    a, b = (grid.ravel() for grid in np.meshgrid(places, np.concatenate([[0], places])))
    for method in ("unit-circle-tight", "yu"):
        asked = published(method, design)
        here, there = Tables(a, b, half, half), Tables(a - 1, b, half, half)
        moved = np.abs(asked.margins(here) - asked.margins(there))
        plain = np.abs(laplace_margin(here, TAU, 1, method) - laplace_margin(there, TAU, 1, method))
        note = f"{a.size} pairs, N = 2^25; without enlarging {float(plain.max()):.12g}"
        yield finding(
            f"association: published-decisions, {method}, rounding", SAME_STATUS, claimed=1.0,
            measured=float(moved.max()), method="law", note=note,
        )  # fmt: skip


def sampled(draws: int) -> Iterator[AuditRow]:
    """Compare drawn scores, and drawn sets, with their laws."""
    design = study((200, 200))
    asked = DistanceScores(
        design=design,
        variants=draws,
        epsilon=Fraction(draws),
        tau=Fraction(TAU),
        mode="agreement",
    )
    same = Tables(np.full(draws, 130), np.full(draws, 95), 200, 200)
    true = design.scores(same.select([0]), Fraction(TAU))
    drawn = asked.answer(same, Noise()).scores - true
    p = integer_p_value(drawn, laplace_tail(float(asked.scale)), reach=40)
    yield law_row("distance-scores, law of the noise", p, draws)


def law_row(name: str, p: float, draws: int) -> AuditRow:
    """State the p-value of a law."""
    return finding(
        f"association: {name}", "none", claimed=FALSE_ALARM, measured=p, method="law",
        holds=p >= FALSE_ALARM, quantity="p-value", note=f"{draws} draws through the question",
    )  # fmt: skip


def seen_from_outside(draws: int) -> Iterator[AuditRow]:
    """Ask through the public questions on neighbors that show most, and bound epsilon."""
    design = study((6, 6))
    border = ((4, 1),), ((3, 1),)  # significant at tau 2, and not
    for name in ("distance-scores", "decisions", "noisy-counts"):
        yield outside(single(name, design), design, border, draws)
    ends = {"unit-circle-tight": (((6, 3),), ((5, 3),)), "yu": (((6, 0),), ((5, 0),))}
    for method, pair in ends.items():
        yield outside(published(method, design), design, pair, draws)
    for method in ("set", "peel"):
        asked = TopSnps(design=design, variants=3, top=1, epsilon=Fraction(2), tau=Fraction(3),
                        method=method)  # fmt: skip
        moved = ((6, 1), (5, 1), (0, 0)), ((5, 1), (6, 1), (1, 0))
        yield outside(asked, design, moved, draws // 4)


def outside(
    question: Any, design: CaseControl, pair: tuple[Counts, Counts], draws: int
) -> AuditRow:
    """Audit one question as a black box."""
    noise = Noise()
    name = f"association: {question.kind}, {getattr(question, 'method', '')}".rstrip(", ")
    return audit_callable(
        lambda statistic: question.answer(statistic, noise),
        tables(design, pair[0]),
        tables(design, pair[1]),
        epsilon=question.guarantee.epsilon,
        draws=draws,
        alpha=FALSE_ALARM,
        name=name,
        adjacency=question.guarantee.adjacency,
        note=f"{draws} draws of each; a right mechanism fails with probability {FALSE_ALARM:g}",
    )
