"""Does joining help: the verdict is right where it is clear, and rarely cries wolf."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noren.collaboration.combining import combine
from noren.collaboration.joining import HELPS, HURTS, NO_EVIDENCE, paired


def sphere(rng, n, d):
    rows = rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def receiver(seed: int, n: int = 30, d: int = 10, noise: float = 0.0):
    rng = np.random.default_rng(seed)
    w, rows = sphere(rng, 1, d)[0], sphere(rng, n, d)
    labels = np.where(rows @ w + noise * rng.normal(size=n) >= 0, 1.0, -1.0)
    return rng, w, rows, labels


def test_good_files_help_a_receiver_with_few_rows():
    verdicts = []
    for seed in range(10):
        rng, w, rows, labels = receiver(seed)
        learners = 30 * (w + 0.1 * sphere(rng, 10, 10))
        verdicts.append(combine(learners, rows, labels).joining.verdict)
    assert verdicts.count(HELPS) >= 8
    assert HURTS not in verdicts


def test_files_of_pure_noise_are_rarely_said_to_help():
    """Two sides of 2.5 % each; 100 runs, so at most 10 of them is 1e-4 likely to be exceeded."""
    verdicts = []
    for seed in range(100):
        rng, _, rows, labels = receiver(1000 + seed, noise=0.3)
        verdicts.append(combine(rng.normal(size=(10, 10)), rows, labels).joining.verdict)
    assert verdicts.count(HELPS) <= 10
    assert verdicts.count(NO_EVIDENCE) >= 70


def test_a_way_that_trusts_bad_files_hurts():
    rng, w, rows, labels = receiver(5, n=80)
    learners = -5 * (w + 0.1 * sphere(rng, 10, 10))
    found = combine(learners, rows, labels, "ewa", form="score", beta=3).joining
    assert found.verdict == HURTS
    assert found.combined_accuracy < 0.5 < found.local_accuracy
    assert found.high < 0


def test_paired_interval_matches_its_formula():
    mean, error, half = paired(np.array([1.0, 2.0, 4.0]))
    assert mean == pytest.approx(7 / 3)
    assert error == pytest.approx(math.sqrt((16 / 9 + 1 / 9 + 25 / 9) / 2 / 3))
    assert half == pytest.approx(error * 4.30265272975, rel=1e-9)  # Student, 2 degrees, 0.975
    assert paired(np.array([1.0]))[2] == math.inf


def test_a_broken_file_is_visible_in_the_health_of_the_files():
    rng, w, rows, labels = receiver(7, n=60)
    learners = 20 * (w + 0.1 * sphere(rng, 5, 10))
    learners[3] *= -1
    files = combine(learners, rows, labels).joining.files
    assert [bool(file.remark) for file in files] == [False, False, False, True, False]
    assert files[3].cosine < -0.5
    assert files[3].loss > math.log(2) > files[0].loss
    assert sum(file.weight for file in files) == pytest.approx(1)
    assert files[3].weight < min(file.weight for i, file in enumerate(files) if i != 3)


def test_the_report_says_what_a_signature_does_not_prove_and_stays_secret():
    _, w, rows, labels = receiver(1)
    joining = combine([w], rows, labels).joining
    assert "does not prove that noise was added" in joining.to_dict()["signature_proves"]
    assert joining.to_dict()["secret"].startswith("SECRET")
    assert repr(joining) == "SecretJoining(stays with the receiver)"


def test_held_out_rows_are_never_trained_on():
    """Labels of pure chance: an honest held-out accuracy stays near one half."""
    accuracies = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows, labels = sphere(rng, 40, 10), rng.choice([-1.0, 1.0], 40)
        joining = combine(rng.normal(size=(30, 10)), rows, labels).joining
        accuracies.append((joining.local_accuracy, joining.combined_accuracy))
    assert np.mean(accuracies, axis=0) == pytest.approx([0.5, 0.5], abs=0.06)


def test_the_report_is_one_page_that_fetches_nothing(tmp_path):
    _, w, rows, labels = receiver(1)
    joining = combine([w], rows, labels).joining
    text = joining.page().write(tmp_path / "report.html").read_text()
    assert "SECRET" in text.partition("<h1>")[0]
    assert joining.verdict in text.lower()
    assert "does not prove that noise was added" in text
    assert "default-src 'none'" in text
    assert len(joining.chart().to_dict()["layer"]) == 3
