"""The story of three hospitals that learn together without pooling rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from noren.cli.stories.stage import LEDGER, Stage

LARGE, SMALL, FRESH = 2500, 50, 4000
HOSPITALS = ("north", "south")
TERMS = """\
name = "hearts"
label = "ill"
max_overlap = 1

[members]
{members}

[[columns]]
name = "age"
kind = "integer"
lower = 20
upper = 90
missing = "own"

[[columns]]
name = "pressure"
kind = "numeric"
lower = 80
upper = 200
missing = "own"

[[columns]]
name = "smoker"
kind = "boolean"
missing = "own"

[[columns]]
name = "ill"
kind = "boolean"
missing = {{ fill = false }}
"""


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "5. What can we learn together, without pooling rows?",
        f"Two hospitals with {LARGE} rows each and a clinic with {SMALL} want one model of who "
        "falls ill. Each hospital trains one private model and sends it as a signed file; the "
        "clinic checks the files, combines them with its own rows, and asks whether that helped.",
    )
    public = stage.generator()
    for name, people in ((HOSPITALS[0], LARGE), (HOSPITALS[1], LARGE), ("clinic", SMALL)):
        write(stage.file(f"{name}.csv"), public, people)
    terms = found_consortium(stage)
    shares, forecast = [], ""
    for name in HOSPITALS:
        share, forecast, told = train(stage, terms, name)
        shares.append(share)
    checked = stage.run("collaborate", "verify", *shares, "--consortium", terms)
    own = ["--rows", stage.file("clinic.csv"), "--out", stage.file("model.json")]
    made = stage.run("collaborate", "combine", *shares, "--consortium", terms, *own)
    joined = {"marks": [made["result"]["secret"]], "receipt": None}  # each hospital has its own
    joining = made["result"]["joining"]
    stage.answered(
        "Did joining help the clinic?",
        f"{joining['verdict']}: held-out loss {joining['local_loss']:.3f} alone, "
        f"{joining['combined_loss']:.3f} combined; better by {joining['low']:.3f} to "
        f"{joining['high']:.3f}",
        f"on {FRESH} fresh rows that the clinic does not have, " + fresh(stage, public),
        forecast=forecast,
        told=told | {"result": told["result"] | joined},
        chart=picture(joining),
        caption=f"{len(checked['result']['files'])} files were verified. Losses on rows held out, "
        "as the clinic sees them: less is better.",
    )


def write(path: str, public: Any, people: int) -> None:
    """Write a table of people who are ill or not."""
    age, smoker = public.integers(20, 91, people), public.random(people) < 0.3
    pressure = public.normal(125, 15, people).round(1)
    risk = 0.09 * (age - 58) + 1.5 * smoker + 0.03 * (pressure - 125) - 0.4
    ill = public.random(people) < 1 / (1 + np.exp(-risk))
    words = np.array(["no", "yes"])
    rows = zip(age, pressure, words[smoker.astype(int)], words[ill.astype(int)], strict=True)
    lines = ["age,pressure,smoker,ill", *(",".join(map(str, row)) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def found_consortium(stage: Stage) -> str:
    """Make keys, and the public file that everybody agrees on."""
    made = {
        name: stage.run("collaborate", "keygen", stage.file(f"{name}.key"), "--organization", name)
        for name in HOSPITALS
    }
    members = "\n".join(f'{name} = "{told["result"]["public_key"]}"' for name, told in made.items())
    terms = stage.file("hearts.toml")
    Path(terms).write_text(TERMS.format(members=members), encoding="utf-8")
    return terms


def train(stage: Stage, terms: str, name: str) -> tuple[str, str, dict[str, Any]]:
    """Train one hospital's model, charged to its own account."""
    account, share = stage.account(name), stage.file(f"{name}.zip")
    stage.run("ledger", "create", account, "--ledger", LEDGER, "--adjacency", "add-remove",
              "--epsilon", 2, "--delta", 1e-5)  # fmt: skip
    asked = ["collaborate", "train", stage.file(f"{name}.csv"), "--consortium", terms,
             "--organization", name, "--key", stage.file(f"{name}.key"), "--epsilon", 1,
             "--delta", 1e-6, "--adjacency", "add-remove", "--size", LARGE]  # fmt: skip
    forecast = stage.run(*asked, "--dry-run")["result"]["forecast"]["sentence"]
    told = stage.run(*asked, "--out", share, "--ledger", LEDGER, "--account", account)
    return share, forecast, told


def fresh(stage: Stage, public: Any) -> str:
    """Say how often both models are right about people whom nobody has."""
    terms, rows, alone = (stage.file(name) for name in ("hearts.toml", "fresh.csv", "alone.json"))
    write(rows, public, FRESH)
    stage.run("collaborate", "combine", *(stage.file(f"{name}.zip") for name in HOSPITALS),
              "--consortium", terms, "--rows", stage.file("clinic.csv"), "--method", "local",
              "--out", alone)  # fmt: skip
    lines = Path(rows).read_text(encoding="utf-8").splitlines()[1:]
    truth = [line.endswith("yes") for line in lines]
    right = {
        name: np.mean(np.equal(predicted(stage, model, rows), truth))
        for name, model in (("alone", alone), ("combined", stage.file("model.json")))
    }
    return ", ".join(f"{name} {share:.1%} right" for name, share in right.items())


def predicted(stage: Stage, model: str, rows: str) -> list[bool]:
    """Predict who falls ill."""
    told = stage.run("collaborate", "predict", model, rows)
    return [word == "true" for word in told["result"]["predictions"]]


def picture(joining: dict[str, Any]) -> Any:
    """Draw held-out losses: alone, combined, and each file by itself."""
    import altair as alt

    losses = {"the clinic alone": joining["local_loss"], "combined": joining["combined_loss"]}
    losses |= {f"{row['organization']}'s file alone": row["loss"] for row in joining["files"]}
    rows = [{"model": name, "loss": loss} for name, loss in losses.items()]
    return (
        alt.Chart({"values": rows})
        .mark_bar()
        .encode(
            alt.X("loss:Q", title="loss on held-out rows of the clinic"),
            alt.Y("model:N", title=None, sort=list(losses)),
        )
        .properties(height={"step": 32})
    )
