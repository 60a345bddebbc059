"""Adjusted scans from files: covariates, streaming, and every question over the same scores."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

from noren import Noise
from noren.association import (
    Decisions,
    DistanceScores,
    GenotypeRows,
    Loci,
    NoisyCounts,
    NullModel,
    ScoreTest,
    TopSnps,
    open_adjusted,
    score_distance,
    score_rows,
)
from noren.association.covariate_file import read_covariates
from noren.data.bed import VariantRange, open_bed, write_bim
from noren.data.people import People
from noren.data.sites import Sites
from noren.errors import FileProblem, NotPrivate, ParameterError
from noren.question import identity
from noren.testing import seeded_noise

PAIRS = np.array([3, 2, 0, 1], np.uint8)  # of 0, 1, 2 copies of A1, and of a missing genotype
PEOPLE, VARIANTS = 203, 40


def write_study(folder, seed=6):
    """Write a study of which some people have no status and some genotypes are missing."""
    random = np.random.default_rng(seed)
    copies = random.binomial(2, random.uniform(0.02, 0.9, (VARIANTS, 1)), (VARIANTS, PEOPLE))
    stored = np.where(random.random(copies.shape) < 0.05, 3, copies)
    age, site = random.integers(30, 70, PEOPLE), random.choice(["north", "south", "east"], PEOPLE)
    odds = (age - 50) / 15 + (site == "north") + random.normal(size=PEOPLE)
    status = np.where(random.random(PEOPLE) < 0.1, "-9", np.where(odds > 0, "2", "1"))
    padded = np.zeros((VARIANTS, -(-PEOPLE // 4) * 4), np.uint8)
    padded[:, :PEOPLE] = PAIRS[stored]
    packed = padded.reshape(VARIANTS, -1, 4) @ np.array([1, 4, 16, 64], np.uint8)
    stem = folder / "study"
    (folder / "study.bed").write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    (folder / "study.fam").write_text(
        "".join(f"f{i} p{i} 0 0 {1 + i % 2} {status[i]}\n" for i in range(PEOPLE))
    )
    names = tuple(f"rs{j}" for j in range(VARIANTS))
    sites = Sites(names, ("1",) * VARIANTS, tuple(range(100, 100 + VARIANTS)),
                  ("A",) * VARIANTS, ("G",) * VARIANTS)  # fmt: skip
    write_bim(folder / "study.bim", sites)
    lines = [f"f{i} p{i} {age[i]} {site[i]}\n" for i in random.permutation(PEOPLE)]
    (folder / "study.cov").write_text("FID IID age site\n" + "".join(lines))
    return stem, np.where(stored == 3, 0, copies), np.where(stored == 3, 0, 2 - copies), status


def model_of(folder, status, **settings):
    """Fit the null model without the reader."""
    rows = [line.split() for line in (folder / "study.cov").read_text().split("\n")[1:] if line]
    own = {row[1]: row for row in rows}
    table = [own[f"p{i}"] for i in range(PEOPLE) if status[i] != "-9"]
    covariates = [[1, float(a), s == "north", s == "south"] for _, _, a, s in table]
    names = ["intercept", "age", "site=north", "site=south"]
    marked = [int(one == "2") for one in status if one != "-9"]
    return NullModel.fit(covariates, marked, names=names, **settings)


@pytest.fixture(params=[0, 1 << 40], ids=["compiled", "exact"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr(score_rows, "FEW", request.param)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize(("coding", "counted"), [("carrier", "A1"), ("additive", "A2")])
def test_scores_from_files_are_those_of_the_plain_genotypes(coding, counted, tmp_path, monkeypatch):
    monkeypatch.setattr("noren.data.bed.BLOCK_BYTES", 7 * -(-PEOPLE // 4))  # seven rows at a time
    monkeypatch.setattr(score_rows, "TOGETHER", 11 * 8 * -(-PEOPLE // 32))
    monkeypatch.setattr("noren.association.counting.PIECE_BYTES", 17 * -(-PEOPLE // 4))
    stem, first, second, status = write_study(tmp_path)
    study = open_adjusted(stem, tmp_path / "study.cov", coding=coding, counted=counted)
    model = model_of(tmp_path, status)
    assert study.design.model.public_form()["sha256"] == model.public_form()["sha256"]
    copies = (first if counted == "A1" else second)[:, status != "-9"]
    seen = []
    statistic = study.count(lambda done, total: seen.append((done, total)))
    expected = score_distance(model, copies, "3.84", coding=coding)
    assert study.design.scores(statistic, study.design.read_tau("3.84")).tolist() == (
        expected.tolist()
    )
    if score_rows.FEW == 0:
        assert seen[-1] == (VARIANTS, VARIANTS)


@pytest.mark.usefixtures("both_ways")
def test_a_list_of_variants_is_read_alone_and_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.association.counting.GAP", 2)
    stem, first, _, status = write_study(tmp_path)
    chosen = ["rs3", "rs4", "rs7", "rs30"]
    study = open_adjusted(stem, tmp_path / "study.cov", variants=chosen)
    copies = first[np.ix_([3, 4, 7, 30], status != "-9")]
    found = study.design.scores(study.count(None), study.design.read_tau(3))
    assert found.tolist() == score_distance(model_of(tmp_path, status), copies, 3).tolist()


def small(seed=2, people=120, variants=30, **settings):
    """Give a design and a statistic held in memory."""
    random = np.random.default_rng(seed)
    covariates = np.column_stack([np.ones(people), random.normal(size=people)])
    status = (random.random(people) < 0.5).astype(int)
    copies = random.binomial(2, 0.4, (variants, people))
    copies[0] = status * 2
    model = NullModel.fit(covariates, status, cap=settings.pop("cap", None))
    design = ScoreTest(model=model, **settings)
    return design, GenotypeRows.held(model, copies, design.coding), copies


def test_every_question_runs_over_the_score_test_unchanged():
    design, rows, copies = small()
    settings = {"design": design, "variants": 30, "epsilon": 30}
    true = score_distance(design.model, copies, "3.84")
    scores = DistanceScores(**settings, mode="agreement", tau="3.84")
    drawn = scores.answer(rows, seeded_noise(1))
    assert np.abs(drawn.scores - true).max() < 40
    bits = Decisions(**settings, tau="3.84").answer(rows, seeded_noise(2))
    assert bits.bits[0]
    top = TopSnps(**settings, top=1, loci=Loci.named(["a"] * 5 + ["b"] * 25))
    assert top.answer(rows, seeded_noise(3)).chosen.tolist() == [0]
    for question in (scores, top):
        answer = question.answer(rows, Noise())
        json.dumps(answer.to_dict())
        assert any("no p-value is proved" in mark for mark in answer.marks)
        stored = question.restore(answer.record())
        assert stored.to_dict()["value"] == answer.to_dict()["value"]
    assert design.leading(rows, scores.tau, None, 4).tolist() == sorted(true)[::-1][:4]


def test_the_identity_of_a_question_holds_the_model_by_digest():
    design, _, _ = small()
    same, _, _ = small()
    capped, _, _ = small(cap="0.45")
    floored, _, _ = small(floor=2)
    asked = {"variants": 30, "epsilon": 1, "mode": "agreement", "tau": 3}
    names = [identity(DistanceScores(design=d, **asked)) for d in (design, same, capped, floored)]
    assert names[0] == names[1]
    assert len(set(names)) == 3


def test_p_values_of_score_tests_are_refused_before_anything_is_paid():
    design, _, _ = small()
    with pytest.raises(NotPrivate):
        DistanceScores(design=design, variants=30, epsilon=1)
    with pytest.raises(NotPrivate, match="agreement"):
        design.best_tau(1, 0.05)
    with pytest.raises(NotPrivate, match="agreement"):
        design.p_values(3, 3, 1, "permutation")


def test_thresholds_that_no_genotypes_pass_are_refused_and_answered_free():
    design, rows, _ = small()
    with pytest.raises(ParameterError, match="tau"):
        design.read_tau(10**6)
    settled = Decisions(design=design, variants=30, epsilon=1, tau=10**6)
    assert settled.guarantee.epsilon == 0
    assert not settled.answer(rows, Noise()).bits.any()
    assert (score_distance(design.model, np.ones((1, 120)), 10**6) <= 0).all()


def test_a_statistic_of_another_model_or_coding_is_refused():
    design, rows, copies = small()
    other, _, _ = small(seed=3)
    additive = ScoreTest(model=design.model, coding="additive")
    for wrong in (other, additive):
        with pytest.raises(ParameterError, match="statistic"):
            wrong.check(rows, 30)
    with pytest.raises(ParameterError, match="statistic"):
        design.check(rows, 29)
    with pytest.raises(ParameterError, match="statistic"):
        design.check(copies, 30)


def test_width_and_gap_are_those_of_a_plain_study_without_covariates():
    from noren.association import CaseControl

    model = NullModel.fit(np.ones((50, 1)), [1] * 20 + [0] * 30)
    adjusted, plain = ScoreTest(model=model), CaseControl(cases=20, controls=30)
    assert adjusted.width == pytest.approx(plain.width, rel=1e-6)
    assert adjusted.gap == pytest.approx(plain.gap, rel=1e-6)


def test_counts_are_of_plain_tables_only():
    design, _, _ = small()
    with pytest.raises(NotPrivate, match="Ask for scores"):
        NoisyCounts(design=design, variants=30, epsilon=1)


PERSONS = People((("f", "a"), ("f", "b"), ("f", "c"), ("f", "d")), ("1", "2", "1", "2"))


def covariates(folder, text, **settings):
    (folder / "x.cov").write_text(text)
    return read_covariates(folder / "x.cov", PERSONS, **settings)


def test_words_are_categories_and_numbers_are_sizes(tmp_path):
    text = "IID site age batch\nd x 4 1\nc y 3 2\nb x 2 1\na z 1 3\n"
    found = covariates(tmp_path, text, categorical=["batch"])
    assert found.names == (
        "intercept", "site=y", "site=z", "age", "batch=2", "batch=3"
    )  # fmt: skip
    assert found.columns.T.tolist() == [
        [1, 1, 1, 1], [0, 0, 1, 0], [1, 0, 0, 0], [1, 2, 3, 4], [0, 0, 1, 0], [1, 0, 0, 0]
    ]  # fmt: skip


def test_missing_covariates_need_a_public_rule(tmp_path):
    text = "FID IID site age\nf a x 1\nf b NA 2\nf c y -9\n"  # d is not listed
    with pytest.raises(FileProblem, match="drop"):
        covariates(tmp_path, text)
    dropped = covariates(tmp_path, text, missing="drop")
    assert dropped.present.tolist() == [True, False, False, False]
    coded = covariates(tmp_path, text, missing="category")
    assert coded.names == ("intercept", "site=y", "site=missing", "age", "age=missing")
    assert coded.present.all()
    assert coded.columns[:, 2].tolist() == [0, 1, 0, 1]
    assert coded.columns[:, 4].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("f a 1\nf b 2\n", "header"),
        ("FID IID\nf a\n", "at least one"),
        ("FID IID age age\nf a 1 1\n", "once"),
        ("FID IID age\nf a 1 2\n", "words"),
        ("FID IID age\nf a 1\nf a 2\n", "more than once"),
    ],
)
def test_broken_covariate_files_are_refused_without_naming_a_person(text, says, tmp_path):
    with pytest.raises(FileProblem, match=says) as caught:
        covariates(tmp_path, text)
    assert "'a'" not in str(caught.value)


def test_components_in_a_file_are_refused_even_as_categories(tmp_path):
    text = "IID PC1\na x\nb y\nc x\nd y\n"
    with pytest.raises(NotPrivate, match="PC1"):
        covariates(tmp_path, text)
    found = covariates(tmp_path, text, declared={"PC1": "printed in the paper"})
    model = NullModel.fit(found.columns, [0, 1, 1, 0], names=found.names, declared=found.declared)
    assert model.declared == {"PC1": "printed in the paper"}
    with pytest.raises(ParameterError, match="age"):
        covariates(tmp_path, text, use=["age"])


def test_a_file_that_shrinks_between_the_passes_is_said_to(tmp_path, monkeypatch):
    monkeypatch.setattr(score_rows, "FEW", 0)
    stem, *_ = write_study(tmp_path)
    study = open_adjusted(stem, tmp_path / "study.cov")
    statistic = study.count(None)
    bed = open_bed(stem)
    assert isinstance(statistic.pieces[0], VariantRange)
    bed.path.write_bytes(bed.path.read_bytes()[:-5])
    with pytest.raises(FileProblem, match="shorter"):
        study.design.scores(statistic, study.design.read_tau(3))


def test_memory_does_not_grow_to_people_times_variants(tmp_path, monkeypatch):
    people, variants = 2_000, 6_000  # three megabytes packed, twelve as bytes
    monkeypatch.setattr(score_rows, "TOGETHER", 2**17)
    monkeypatch.setattr("noren.data.bed.BLOCK_BYTES", 2**16)
    random = np.random.default_rng(0)
    stored = random.integers(0, 256, variants * people // 4, dtype=np.uint8)
    (tmp_path / "big.bed").write_bytes(b"\x6c\x1b\x01" + stored.tobytes())
    (tmp_path / "big.fam").write_text("".join(f"f p{i} 0 0 1 {1 + i % 2}\n" for i in range(people)))
    names = tuple(f"rs{j}" for j in range(variants))
    write_bim(tmp_path / "big.bim", Sites(names, ("1",) * variants, tuple(range(variants)),
                                          ("A",) * variants, ("G",) * variants))  # fmt: skip
    ages = "".join(f"p{i} {i % 50}\n" for i in range(people))
    (tmp_path / "big.cov").write_text("IID age\n" + ages)
    study = open_adjusted(tmp_path / "big", tmp_path / "big.cov", workers=1)
    study.design.scores(study.count(None), study.design.read_tau(30))  # what is compiled stays
    tracemalloc.start()
    study.design.scores(study.count(None), study.design.read_tau(3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < stored.size
