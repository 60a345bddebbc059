"""The story of a hospital that asks which variants go with the disease."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noren.cli.stories.stage import LEDGER, REFUSED, Stage

CASES, VARIANTS, HITS, OTHERS = 1500, 8000, 6, 18


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "1. Which variants go with the disease?",
        f"A hospital holds {VARIANTS} variants of {CASES} patients and {CASES} controls. It wants "
        "to say which go with the disease, and nobody shall learn whether somebody's genotypes are "
        f"in its files. {HITS} variants that matter were planted.",
    )
    study, account = stage.file("study"), stage.account("genomes")
    stage.run("associate", "simulate", study, "--cases", CASES, "--controls", CASES,
              "--variants", VARIANTS, "--hits", HITS, "--block", 20,
              "--data-seed", stage.data_seed)  # fmt: skip
    stage.run("ledger", "create", account, "--ledger", LEDGER, "--adjacency", "substitute",
              "--within", "same status", "--epsilon", 3)  # fmt: skip
    hits = Path(f"{study}.hits").read_text(encoding="utf-8").split()
    paid = ["--ledger", LEDGER, "--account", account]
    choose_loci(stage, study, paid, hits)
    score_candidates(stage, study, paid, hits)


def choose_loci(stage: Stage, study: str, paid: list[str], hits: list[str]) -> None:
    """Choose the strongest loci of the whole genome, for one price."""
    asked = ["associate", "scan", study, "--epsilon", 1, "--top", 3, "--loci", f"{study}.loci"]
    forecast = stage.run(*asked, "--dry-run")["result"]["forecast"]["sentence"]
    told = stage.run(*asked, *paid)
    map_of = dict(line.split() for line in Path(f"{study}.loci").read_text("utf-8").splitlines())
    planted = {map_of[hit] for hit in hits}
    right = sum(row["locus"] in planted for row in told["result"]["rows"])
    stage.answered(
        "Which 3 of 400 stretches of the genome go with the disease most?",
        told["result"]["headline"],
        f"{right} of the 3 hold a planted variant; {len(planted)} do",
        forecast=forecast, told=told,
    )  # fmt: skip


def score_candidates(stage: Stage, study: str, paid: list[str], hits: list[str]) -> None:
    """Test the variants that an earlier study named; then run out of budget."""
    step = VARIANTS // OTHERS
    others = [f"rs{step * place}" for place in range(1, OTHERS) if f"rs{step * place}" not in hits]
    listed = stage.file("candidates.txt")
    Path(listed).write_text("\n".join([*hits, *others]) + "\n", encoding="utf-8")
    asked = ["associate", "scan", study, "--tests", listed]
    forecast = stage.run(*asked, "--epsilon", 1.5, "--dry-run")["result"]["forecast"]["sentence"]
    told = stage.run(*asked, "--epsilon", 1.5, *paid)
    result = told["result"]
    called = {row["snp"] for row in result["rows"] if row["associated"]}
    stage.answered(
        f"Which of {len(hits) + len(others)} candidates are associated, at level 0.05 in all?",
        result["headline"],
        f"{len(called & set(hits))} of the {len(called)} called variants were planted",
        forecast=forecast, told=told,
        chart=picture(result, hits), caption="Noisy scores with 95 % margins. A score says how "
        "many people stand between a variant and the opposite decision.",
    )  # fmt: skip
    message = stage.run(*asked, "--epsilon", 1.5, *paid, ends=REFUSED)
    stage.refused("The same once more, with fresh noise,", message)


def picture(result: dict[str, Any], hits: list[str]) -> Any:
    """Draw each candidate's score with its margin."""
    import altair as alt

    margin = result["uncertainty"]["margin_95"]
    rows = [
        {"variant": row["snp"], "score": row["score"], "low": row["score"] - margin,
         "high": row["score"] + margin, "what": "planted" if row["snp"] in hits else "not planted"}
        for row in sorted(result["rows"], key=lambda row: -row["score"])
    ]  # fmt: skip
    base = alt.Chart({"values": rows}).encode(
        alt.Y("variant:N", sort=[row["variant"] for row in rows], title=None),
        color=alt.Color("what:N", title=None, sort=["planted", "not planted"]),
    )
    line = base.mark_rule(opacity=0.6).encode(alt.X("low:Q", title="score"), alt.X2("high:Q"))
    point = base.mark_point(filled=True, size=60).encode(alt.X("score:Q"))
    return alt.layer(line, point).properties(height={"step": 16})
