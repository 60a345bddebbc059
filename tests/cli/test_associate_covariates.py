"""`noren associate scan --covariates`: what is refused, and what every answer then says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noren.association import simulate


@pytest.fixture(scope="module")
def cohort(tmp_path_factory) -> Path:
    """A small cohort, with covariates of which one is named like a principal component."""
    stem = tmp_path_factory.mktemp("adjusted") / "study"
    simulate(stem, cases=150, controls=150, variants=60, seed=5, hits=3)
    random = np.random.default_rng(1)
    lines = ["FID IID sex age site PC1\n"]
    for line in stem.with_name("study.fam").read_text().splitlines():
        family, person, _, _, sex, _ = line.split()
        site = random.choice(["north", "south"])
        age, component = random.integers(20, 70), random.normal()
        lines.append(f"{family} {person} {sex} {age} {site} {component:.4f}\n")
    stem.with_name("study.cov").write_text("".join(lines))
    return stem


PLAIN = ("--covariate-columns", "sex,age,site", "--categorical", "sex")
AGREE = ("--epsilon", 60, "--mode", "agreement", "--tau", "3.84", "--no-ledger")


def scan(run, cohort, *more):
    return run("associate", "scan", cohort, "--covariates", f"{cohort}.cov", *more)


def test_an_adjusted_scan_gives_scores_and_says_what_was_public(cohort, result_of):
    found = result_of("associate", "scan", cohort, "--covariates", f"{cohort}.cov", *PLAIN, *AGREE)
    result = found["result"]
    assert len(result["rows"]) == 60
    assert "sex, age, site" in " ".join(result["assumed_public"])
    assert any("no p-value is proved" in mark for mark in result["marks"])
    assert all(0 < row["p_asymptotic"] <= 1 for row in result["rows"])
    model = result["settings"]["design"]["model"]
    assert model["covariates"] == ["intercept", "sex=2", "age", "site=south"]
    assert len(model["sha256"]) == 64


@pytest.mark.parametrize(
    "how",
    [
        ("--top", 2, "--epsilon", 60),
        ("--bits", "--tau", "3.84", "--epsilon", 60),
        ("--top", 2, "--coding", "additive", "--residual-cap", "0.5", "--epsilon", 60),
        ("--top", 2, "--family", "linear", "--variance-floor", "4", "--epsilon", 60),
    ],
)
def test_tops_and_bits_are_asked_of_adjusted_scores(how, cohort, result_of):
    found = result_of(
        "associate", "scan", cohort, "--covariates", f"{cohort}.cov", *PLAIN, *how, "--no-ledger"
    )
    hits = set(cohort.with_name("study.hits").read_text().split())
    if "--top" in how:
        assert {row["snp"] for row in found["result"]["rows"]} <= hits


def test_a_component_is_refused_unless_declared_and_then_written_into_the_answer(
    cohort, run, result_of
):
    refused = scan(run, cohort, *AGREE)
    assert refused.exit_code == 3
    assert "PC1" in refused.stderr
    assert "--public-covariate" in refused.stderr
    found = result_of(
        "associate", "scan", cohort, "--covariates", f"{cohort}.cov", *AGREE,
        "--public-covariate", "PC1=printed in the cohort profile",
    )  # fmt: skip
    said = " ".join(found["result"]["assumed_public"])
    assert "PC1" in said
    assert "printed in the cohort profile" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--epsilon", 1), "agreement"),
        (("--epsilon", 1, "--counts"), "counts"),
        (("--epsilon", 1, "--top", 2, "--cases", 5), "cases"),
        (("--epsilon", 1, "--top", 2, "--public-covariate", "PC1"), "NAME"),
        (("--epsilon", 1, "--top", 2, "--strata", "STRATA"), "one"),
    ],
)
def test_options_that_do_not_go_with_covariates_are_usage_errors(options, says, cohort, run):
    given = [f"{cohort}.cov" if one == "STRATA" else one for one in options]
    found = scan(run, cohort, *PLAIN, *given, "--no-ledger")
    assert found.exit_code == 2
    assert says in found.stderr


def test_options_of_covariates_need_covariates(cohort, run):
    found = run("associate", "scan", cohort, "--epsilon", 1, "--family", "linear", "--no-ledger")
    assert found.exit_code == 2
    assert "--covariates" in found.stderr


def test_private_status_is_refused_by_name(cohort, run):
    for kind in ("swap", "any"):
        found = scan(run, cohort, *PLAIN, *AGREE, "--private-status", kind)
        assert found.exit_code == 3
        assert "residuals" in found.stderr
        assert kind in found.stderr
