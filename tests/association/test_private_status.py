"""Private status: the oracle table, breadth-first search over whole studies, and what may show."""

import re
from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from noren.association import (
    AnyStatus,
    CaseControl,
    Decisions,
    DistanceScores,
    NoisyCounts,
    Strata,
    StratifiedTables,
    SwappedStatus,
    Tables,
    TopSnps,
    cmh,
    private_status_distance,
    signed_distance,
)
from noren.association.status import StatusTables
from noren.association.status_exact import (
    Margins,
    any_bound,
    exact_any_distance,
    exact_swap_distance,
)
from noren.association.status_scores import any_distances, private_status_scores
from noren.errors import NotPrivate, ParameterError
from noren.question import public_form
from noren.testing import seeded_noise

# a, b, cases, controls, tau, people's rows, swap, bound of any
ORACLES = [
    (15, 5, 20, 20, "3.84", 4, 2, 4),
    (0, 0, 20, 20, "3.84", -4, -4, -2),
    (10, 10, 20, 20, "3.84", -6, -4, -6),
    (20, 0, 20, 20, "3.84", 14, 7, 12),
    (6, 0, 500, 500, "3.84", 1, 1, 1),
    (130, 95, 200, 200, "3.84", 16, 8, 14),
    (3, 0, 10, 90, "6.635", 3, 2, 2),
    (2, 1, 2, 62, "3.84", 2, 2, 2),
    (8, 30, 20, 130, "10.83", -4, -4, -3),
    (90000, 88000, 250000, 250000, "29.716785", 154, 78, 120),
    (60, 20, 100, 300, 3.841458820694124, 48, 34, 38),
    (12, 3, 30, 20, 2.0, 2, 1, 1),
]
TRUE_ANY = [
    (15, 5, 20, 20, "3.84", 4),
    (0, 0, 20, 20, "3.84", -4),
    (10, 10, 20, 20, "3.84", -6),
    (20, 0, 20, 20, "3.84", 13),
    (130, 95, 200, 200, "3.84", 14),
    (60, 20, 100, 300, 3.841458820694124, 43),
]
MANY = 6  # equal tables, so that the compiled search is used


@pytest.mark.parametrize(("a", "b", "m1", "m2", "tau", "rows", "swap", "bound"), ORACLES)
def test_the_oracle_table_is_met(a, b, m1, m2, tau, rows, swap, bound):
    one, several = Tables(a, b, m1, m2), Tables([a] * MANY, [b] * MANY, m1, m2)
    assert signed_distance(one, tau) == rows
    assert private_status_distance(one, tau, "swap") == swap
    assert set(private_status_distance(several, tau, "swap").tolist()) == {swap}
    assert any_bound(Margins(m1 + m2, a + b, m1, a, Fraction(tau))) == bound


@pytest.mark.parametrize(("a", "b", "m1", "m2", "tau", "true"), TRUE_ANY)
def test_small_studies_get_the_true_distance_of_any_record(a, b, m1, m2, tau, true):
    assert private_status_distance(Tables(a, b, m1, m2), tau, "any") == true
    several = Tables([a] * MANY, [b] * MANY, m1, m2)
    assert set(private_status_distance(several, tau, "any").tolist()) == {true}


def test_a_large_study_gets_the_bound_where_that_is_far():
    several = Tables([90000] * MANY, [88000] * MANY, 250000, 250000)
    assert set(private_status_distance(several, "29.716785", "any").tolist()) == {120}


SWAPS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))


def by_breadth(decided, moves):
    """Search the distance to the opposite decision, for every table of a dictionary."""
    found = {}
    for side in (True, False):
        steps = {table: 0 for table, own in decided.items() if own != side}
        queue = deque(steps)
        while queue:
            here = queue.popleft()
            for move in moves:
                there = tuple(x + y for x, y in zip(here, move, strict=True))
                if there in decided and there not in steps:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        found |= {table: steps[table] for table, own in decided.items() if own == side}
    return found


@pytest.mark.parametrize(("m1", "m2"), [(6, 6), (3, 9), (12, 7), (1, 11)])
@pytest.mark.parametrize("tau", ["1", "3.84", "6"])
def test_swaps_are_measured_as_breadth_first_search_measures_them(m1, m2, tau):
    a, b = (grid.ravel() for grid in np.mgrid[0 : m1 + 1, 0 : m2 + 1])
    signed = private_status_distance(Tables(a, b, m1, m2), tau, "swap")
    at = dict(zip(zip(a.tolist(), b.tolist(), strict=True), signed.tolist(), strict=True))
    true = by_breadth({table: d > 0 for table, d in at.items()}, SWAPS)
    assert {table: abs(d) for table, d in at.items()} == true
    for (x, y), d in at.items():
        assert exact_swap_distance(x, y, m1, m2, Fraction(tau)) == d
    scores = {table: d if d > 0 else 1 + d for table, d in at.items()}
    assert largest_change(scores, SWAPS) == 1


def largest_change(scores, moves):
    """The largest change of a score by one move."""
    return max(
        abs(scores[there] - score)
        for here, score in scores.items()
        for move in moves
        if (there := tuple(x + y for x, y in zip(here, move, strict=True))) in scores
    )


def every_study(people):
    """All tables of a number of people, as a, b, c, d."""
    return [
        (a, b, c, people - a - b - c)
        for a in range(people + 1)
        for b in range(people + 1 - a)
        for c in range(people + 1 - a - b)
    ]


RECORDS = [
    tuple((i == to) - (i == came) for i in range(4))
    for to in range(4)
    for came in range(4)
    if to != came
]


def measured(people, tau, deepest=None):
    """The signed distance of every study of so many people (a cases carry, b controls do)."""
    cells = every_study(people)
    found = {}
    for cases in range(people + 1):
        own = [cell for cell in cells if cell[0] + cell[2] == cases]
        a, n = np.array([cell[0] for cell in own]), np.array([cell[0] + cell[1] for cell in own])
        signed = any_distances(a, n, cases, people, Fraction(tau), deepest)
        found |= dict(zip(own, signed.tolist(), strict=True))
    return found


@pytest.mark.parametrize(("people", "tau"), [(12, "1"), (12, "3.84"), (18, "6.635"), (18, "4")])
def test_any_record_is_measured_as_breadth_first_search_measures_it(people, tau):
    signed = measured(people, tau)
    true = by_breadth({cell: d > 0 for cell, d in signed.items()}, RECORDS)
    assert {cell: abs(d) for cell, d in signed.items()} == true
    for a, b, c, _d in list(signed)[::37]:
        table = Margins(people, a + b, a + c, a, Fraction(tau))
        assert exact_any_distance(table, people + 1) == signed[a, b, c, _d]


@pytest.mark.parametrize(("people", "tau"), [(20, "3.84"), (30, "2")])
@pytest.mark.parametrize("deepest", [1, 3])
def test_the_larger_of_bound_and_cut_distance_changes_by_at_most_one(people, tau, deepest):
    signed = measured(people, tau, deepest)  # 1: the bound alone
    scores = {cell: d if d > 0 else 1 + d for cell, d in signed.items()}
    assert largest_change(scores, RECORDS) == 1
    true = measured(people, tau)
    assert all(d * true[cell] > 0 and abs(d) <= abs(true[cell]) for cell, d in signed.items())
    assert any(abs(d) < abs(true[cell]) for cell, d in signed.items())


def test_taking_the_bound_only_where_the_true_distance_is_large_would_not_be_private():
    pair = [Margins(20_000, 377, 6724, 274, Fraction("29.716785")),
            Margins(20_000, 376, 6725, 274, Fraction("29.716785"))]  # fmt: skip
    true = [exact_any_distance(table, 102) for table in pair]
    bound = [any_bound(table) for table in pair]
    switched = [t if t <= 100 else b for t, b in zip(true, bound, strict=True)]
    assert sorted(switched) == [94, 100]
    for deepest in (90, 100):
        kept = [max(b, min(t, deepest)) for t, b in zip(true, bound, strict=True)]
        assert abs(kept[0] - kept[1]) <= 1


def test_large_studies_move_by_at_most_one_too():
    rng = np.random.default_rng(5)
    for people, tau in ((1000, "3.84"), (3000, "29.7"), (500_000, "29.716785")):
        m = int(people * rng.uniform(0.1, 0.6))
        rate = rng.choice([0.001, 0.02, 0.3, 0.5], 60)
        shift = rng.normal(0, 0.03, 60)
        a = rng.binomial(m, rate)
        b = rng.binomial(people - m, np.clip(rate + shift, 0, 1))
        here = private_status_scores(StatusTables(a, b, m, people - m), tau, "any")
        for da, db, dm in ((1, 0, 0), (1, 0, 1), (0, 0, 1), (1, -1, 1), (0, 1, -1), (0, 1, 0)):
            c, d, cases = a + da, b + db, m + dm
            fits = (c <= cases) & (d <= people - cases) & (c >= 0) & (d >= 0)
            fits &= (cases - c >= 0) & (people - cases - d >= 0)
            tables = StatusTables(c[fits], d[fits], cases, people - cases)
            there = private_status_scores(tables, tau, "any")
            assert np.abs(here[fits] - there).max() <= 1


def test_a_study_without_cases_or_without_controls_is_no_error():
    for cases in (0, 40):
        tables = StatusTables(0 if cases == 0 else 7, 0 if cases else 7, cases, 40 - cases)
        assert private_status_distance(tables, "3.84", "any") < 0


def test_the_number_of_cases_shows_nowhere():
    tables = StatusTables([3, 4], [1, 2], 17, 23)
    assert repr(tables) == "StatusTables(2 variants, 40 people)"
    for bad in ({"cases": 16.5}, {"a": [18, 1]}, {"cases": -1, "controls": 41}):
        given = {"a": [3, 4], "b": [1, 2], "cases": 17, "controls": 23} | bad
        with pytest.raises(ParameterError) as refused:
            StatusTables(**given)
        assert "17" not in str(refused.value)
        assert "16" not in str(refused.value)
        assert "18" not in str(refused.value)


def test_what_cannot_be_measured_is_refused_by_name():
    tables = Tables(3, 1, 20, 20)
    with pytest.raises(ParameterError, match="'swap' or 'any'"):
        private_status_distance(tables, 3.84, "A3")
    with pytest.raises(ParameterError, match="below the number of people, 40"):
        private_status_distance(tables, 40, "any")
    with pytest.raises(NotPrivate, match="Alleles"):
        private_status_distance(Tables(3, 1, 20, 20, step=2), 3.84, "swap")
    with pytest.raises(ParameterError, match="at least 1"):
        private_status_distance(StatusTables(0, 1, 0, 40), 3.84, "swap")


@pytest.mark.parametrize("design", ["swap", "any", "strata"])
def test_every_question_works_where_status_is_private(design):
    a, b = [70, 20, 30], [20, 20, 30]
    tables = {
        "swap": Tables(a, b, 100, 100),
        "any": StatusTables(a, b, 100, 100),
        "strata": StratifiedTables([a, a], [b, b], (100, 100), (100, 100)),
    }[design]
    asked = {
        "swap": lambda: SwappedStatus.of(tables),
        "any": lambda: AnyStatus.of(tables),
        "strata": lambda: Strata(cases=(100, 100), controls=(100, 100), private_status=True),
    }[design]()
    settings = {"design": asked, "variants": 3, "epsilon": 30}
    noise = seeded_noise(4)
    scores = DistanceScores(**settings, mode="agreement", tau="3.84").answer(tables, noise)
    true = asked.scores(tables, Fraction("3.84"))
    assert np.abs(scores.scores - true).max() <= scores.margin(1 - 1e-9)
    assert Decisions(**settings, tau="3.84").answer(tables, noise).bits.tolist() == [1, 0, 0]
    assert TopSnps(**settings, top=1, tau=9).answer(tables, noise).chosen.tolist() == [0]
    with pytest.raises(NotPrivate, match="Noisy counts"):
        NoisyCounts(**settings)
    with pytest.raises(NotPrivate, match="'agreement'"):
        DistanceScores(**settings)
    assert asked.adjacency != CaseControl(cases=9, controls=9).adjacency


def test_the_questions_record_holds_no_number_of_cases():
    tables = StatusTables([3, 4], [1, 2], 17, 23)
    question = DistanceScores(
        design=AnyStatus.of(tables), variants=2, epsilon=5, mode="agreement", tau=3
    )
    answer = question.answer(tables, seeded_noise(1))
    record = f"{answer.to_dict() | {'value': None}} {public_form(question)} {question.forecast()}"
    assert "40" in record
    assert not {"17", "23"} & set(re.findall(r"\d+", record))


def test_a_swap_moves_the_halved_score_of_strata_by_at_most_one():
    design = Strata(cases=(5, 4), controls=(4, 6), private_status=True)
    sides = (6, 5, 5, 7)
    grid = np.indices(sides).reshape(4, -1)
    tables = StratifiedTables(grid[[0, 2]], grid[[1, 3]], (5, 4), (4, 6))
    scores = design.scores(tables, Fraction("2.5")).reshape(sides)
    assert ((scores >= 1) == (cmh(tables) > 2.5).reshape(sides)).all()
    for axis in (0, 2):
        moved = np.moveaxis(scores, (axis, axis + 1), (0, 1))
        assert np.abs(moved[1:, :-1] - moved[:-1, 1:]).max() == 1
        assert np.abs(moved[1:] - moved[:-1]).max() <= 1
