"""The story of a clinic that lets a public table speak for its private one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from noren.cli.stories.stage import LEDGER, Stage

PATIENTS, PEOPLE = 4000, 2000
SCHEMA = """\
# Public, and settled before anyone looked at the patients.
[[columns]]
name = "age"
kind = "numeric"
lower = 18
upper = 95
missing = "own"

[[columns]]
name = "smokes"
kind = "boolean"
missing = "own"

[[columns]]
name = "town"
kind = "categorical"
categories = ["Nara", "Uji", "Sakai"]
missing = "own"
other = "other"
"""
ASKED = {
    "65 or older": ["age >= 65"],
    "smokers": ["smokes = yes"],
    "in Nara": ["town = Nara"],
    "smokers in Nara": ["smokes = yes", "town = Nara"],
}


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "2. Can a public table speak for the private one?",
        f"A clinic holds a table of {PATIENTS} patients: older than the country, and more of them "
        f"smoke. A public survey of {PEOPLE} people has the same columns. For one price each row "
        "of the survey gets a weight; every question about the weighted survey after that is free.",
    )
    private, public, schema = (
        stage.file(name) for name in ("patients.csv", "survey.csv", "schema.toml")
    )
    Path(schema).write_text(SCHEMA, encoding="utf-8")
    patients = people(stage.generator(), PATIENTS, age=56, smokers=0.4)
    write(private, patients)
    write(public, people(stage.generator(), PEOPLE, age=47, smokers=0.2))
    account = stage.account("patients")
    stage.run("ledger", "create", account, "--ledger", LEDGER, "--adjacency", "add-remove",
              "--epsilon", 2)  # fmt: skip
    price = ["--epsilon", 1, "--adjacency", "add-remove", "--about", PATIENTS]
    forecast = stage.run("reweight", "plan", public, "--schema", schema, *price)
    out = stage.file("weighted.csv")
    told = stage.run("reweight", "fit", private, public, "--schema", schema, *price, "--out", out,
                     "--ledger", LEDGER, "--account", account)  # fmt: skip
    rows = [
        asked_of_weights(stage, f"{out}.release.json", public, patients, name) for name in ASKED
    ]
    first = rows[0]
    stage.answered(
        "How many of the patients are 65 or older? (And three questions more, for nothing.)",
        f"{first['weighted']:.1%} ({first['low']:.1%} to {first['high']:.1%}); the survey alone "
        f"says {first['survey']:.1%}",
        ", ".join(f"{row['asked']} {row['truth']:.1%}" for row in rows),
        forecast=forecast["result"]["forecast"]["sentence"], told=told,
        chart=picture(rows), caption="Shares of the patients: what the survey says as it is, and "
        "weighted, with its model-based 95 % interval.",
    )  # fmt: skip


def people(public: Any, number: int, *, age: float, smokers: float) -> dict[str, Any]:
    """Generate people; who is older smokes less."""
    ages = np.clip(public.normal(age, 14, number), 18, 95).round(1)
    smokes = public.random(number) < smokers * np.clip(1.6 - ages / 90, 0.2, 1.2)
    return {"age": ages, "smokes": smokes, "town": public.choice(["Nara", "Uji", "Sakai"], number)}


def write(path: str, table: dict[str, Any]) -> None:
    """Write a table of people."""
    words = np.where(table["smokes"], "yes", "no")
    rows = zip(table["age"], words, table["town"], strict=True)
    lines = ["age,smokes,town", *(f"{age},{smokes},{town}" for age, smokes, town in rows)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def asked_of_weights(
    stage: Stage, release: str, public: str, patients: dict[str, Any], name: str
) -> dict[str, Any]:
    """Ask the weighted survey for one share: free."""
    where = [word for condition in ASKED[name] for word in ("--where", condition)]
    result = stage.run("reweight", "query", release, public, *where)["result"]
    low, high = result["interval"] or (None, None)
    return {
        "asked": name, "survey": result["without_weights"], "weighted": result["estimate"],
        "low": low, "high": high, "truth": float(np.mean(truth_of(patients, name))),
    }  # fmt: skip


def truth_of(patients: dict[str, Any], name: str) -> Any:
    """Say which patients fulfil the conditions, since they are made up."""
    held = {
        "age >= 65": patients["age"] >= 65,
        "smokes = yes": patients["smokes"],
        "town = Nara": patients["town"] == "Nara",
    }
    return np.logical_and.reduce([held[condition] for condition in ASKED[name]])


def picture(rows: list[dict[str, Any]]) -> Any:
    """Draw each share as the survey has it, weighted, and true."""
    import altair as alt

    kinds = {"survey": "survey", "weighted": "weighted", "truth": "truth"}
    points = [
        {"asked": row["asked"], "what": word, "share": row[kind]}
        for row in rows
        for kind, word in kinds.items()
    ]
    y = alt.Y("asked:N", sort=list(ASKED), title=None)
    what = alt.Color("what:N", title=None, sort=list(kinds.values()))
    shape = alt.Shape("what:N", sort=list(kinds.values()), legend=None)
    title, percent = "share of the patients", alt.Axis(format="%", tickCount=6)
    intervals = [row | {"what": kinds["weighted"]} for row in rows if row["low"] is not None]
    bars = alt.Chart({"values": intervals}).mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title=title, axis=percent), alt.X2("high:Q"), y, what)  # fmt: skip
    dots = alt.Chart({"values": points}).mark_point(filled=True, size=80, opacity=0.9)
    return alt.layer(
        bars, dots.encode(alt.X("share:Q", title=title, axis=percent), y, what, shape)
    ).properties(height={"step": 40})
