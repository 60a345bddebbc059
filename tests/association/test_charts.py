"""Pictures of a scan: few marks however long it is, and nothing called is lost."""

from __future__ import annotations

import numpy as np
import pytest

from noren.association import CaseControl, Decisions, DistanceScores, Loci, NoisyCounts, TopSnps
from noren.association.charts import ALWAYS, WIDEST, along, manhattan, qq, thinned
from noren.data.sites import Sites

MANY = 1_000_000
STUDY = CaseControl(cases=2500, controls=2500)


def marks_of(chart) -> int:
    """Count the marks that a specification holds."""
    return sum(map(len, chart.to_dict()["datasets"].values()))


def scan(many: int, mode: str = "agreement"):
    settings = {"tau": "3.84"} if mode == "agreement" else {}
    question = DistanceScores(design=STUDY, variants=many, epsilon=many, mode=mode, **settings)
    rng = np.random.default_rng(1)
    scores = np.rint(rng.normal(-40, 20, many)).astype(int)
    scores[: many // 50_000 + 3] = 900
    return question.restore({"scores": scores})


def test_a_million_results_make_a_few_thousand_marks():
    answer = scan(MANY)
    called = int(answer.decisions().sum())
    chart = manhattan(answer)
    assert called > WIDEST  # many are called, and only the highest of them are sure to be drawn
    assert WIDEST < marks_of(chart) < 20_000


def test_quantiles_of_a_million_p_values_are_a_few_thousand_marks():
    assert 2000 < marks_of(qq(scan(MANY, "valid"))) < 3000


def test_nothing_that_was_called_is_lost_where_few_are():
    rng = np.random.default_rng(2)
    x, y = np.arange(100_000.0), rng.exponential(1, 100_000)
    called = np.zeros(100_000, bool)
    called[rng.choice(100_000, 500)] = True
    kept = thinned(x, y, called)
    assert set(np.flatnonzero(called)) <= set(kept)
    assert set(np.argsort(y)[-ALWAYS:]) <= set(kept)
    assert len(kept) < 8000


def test_a_short_scan_is_drawn_whole():
    assert len(thinned(np.arange(50.0), np.zeros(50), np.zeros(50, bool))) == 50


def test_chromosomes_lie_one_after_the_other():
    sites = Sites(("a", "b", "c"), chromosomes=("1", "1", "X"), positions=(10, 30, 5))
    place, ticks = along(sites)
    assert place.tolist() == [10, 30, 35]
    assert ticks == [("1", 0, 30), ("X", 30, 35)]


SITES = Sites(
    tuple(f"rs{i}" for i in range(6)), chromosomes=("1",) * 3 + ("2'",) * 3, positions=(1, 2, 3) * 2
)


@pytest.mark.parametrize("variants", [6, SITES])
@pytest.mark.parametrize("mode", ["agreement", "valid"])
def test_every_answer_can_be_drawn(variants, mode):
    scan_question = DistanceScores(
        design=STUDY, variants=variants, epsilon=6, mode=mode,
        tau=4 if mode == "agreement" else None,
    )  # fmt: skip
    scores = np.array([9, -4, 3, -60, 500, 1])
    drawn = [scan_question.restore({"scores": scores}).chart()]
    bits = Decisions(design=STUDY, variants=variants, epsilon=6, tau=4)
    drawn.append(bits.restore({"bits": scores > 0}).chart())
    counts = NoisyCounts(design=STUDY, variants=variants, epsilon=6)
    drawn.append(counts.restore({"a": scores, "b": scores[::-1]}).chart())
    for loci in (None, Loci.named(list("aabbcc"))):
        top = TopSnps(
            design=STUDY, variants=variants, top=2, epsilon=1, loci=loci, scores_epsilon="0.5"
        )
        record = {"chosen": [1, 2], "tau": None, "scores": [5, -5]}
        drawn += [top.restore(record).chart(), top.restore(record | {"scores": None}).chart()]
    for chart in drawn:
        assert chart.to_dict()["$schema"]
        assert "2''" not in str(chart.to_dict())  # a quote in a name does not end an expression


def test_a_drawn_chart_is_a_picture(tmp_path):
    from noren.page import save_chart

    question = DistanceScores(design=STUDY, variants=SITES, epsilon=6)
    answer = question.restore({"scores": np.array([9, -4, 3, -60, 500, 1])})
    for name, chart in (("manhattan", answer.chart()), ("qq", qq(answer))):
        text = save_chart(chart, tmp_path / f"{name}.svg").read_text()
        assert text.startswith("<svg")
        assert len(text) > 2000
