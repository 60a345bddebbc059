"""The story of a ward that asks who resembles a profile, and what answering gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from noren.cli.stories.stage import LEDGER, Stage

RECORDS, COLUMNS, KINDS, SHOWN = 1500, 40, 5, 8
QUERY = ("D00", "D05", "D10", "D15", "D20", "D25")


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "4. Who resembles this one, and what does answering leak?",
        f"{RECORDS} patients with {COLUMNS} possible diagnoses each. Doctors elsewhere ask who "
        "resembles a given profile. First the ward looks, for itself, at what exact answers would "
        "give away; then it answers inside a budget that binds all searchers together.",
    )
    file, account = stage.file("records.csv"), stage.account("ward")
    bits = diagnoses(stage.generator())
    write(file, bits)
    show_leak(stage, file)
    stage.run("similar", "open", file, "--ledger", LEDGER, "--account", account, "--adjacency",
              "bit", "--epsilon", 4)  # fmt: skip
    search(stage, file, ["--ledger", LEDGER, "--account", account], bits)
    attack = stage.run("similar", "attack", file, "--epsilon", 4)["result"]
    stage.note(
        f"The attack again, with as many queries, at epsilon 4 for a bit in all: "
        f"{attack['share']:.0%} of the bits right. Guessing each column's commoner value, without "
        f"any query, gets {attack['blind_share']:.0%}."
    )


def diagnoses(public: Any) -> Any:
    """Generate patients of a few kinds."""
    kind = public.integers(0, KINDS, RECORDS)
    common = 0.3 * np.exp(-np.arange(COLUMNS) / 15)
    same = np.arange(COLUMNS) % KINDS == kind[:, None]
    return public.random((RECORDS, COLUMNS)) < np.clip(common * np.where(same, 3, 0.5), 0, 1)


def write(path: str, bits: Any) -> None:
    """Write a row for each patient."""
    heads = ",".join(["id", *(f"D{column:02}" for column in range(COLUMNS))])
    rows = [
        f"p{number}," + ",".join("1" if bit else "0" for bit in row)
        for number, row in enumerate(bits)
    ]
    Path(path).write_text("\n".join([heads, *rows]) + "\n", encoding="utf-8")


def show_leak(stage: Stage, file: str) -> None:
    """Show what exact answers would give away: for the owner only, and free."""
    result = stage.run("similar", "leaks", file, "--size", 6, "--count", 40)["result"]
    stage.answered(
        "What would 40 exact answers give away?",
        result["headline"],
        "this is the truth, computed without noise; with real records it stays with their owner",
        forecast="none: a leak report releases nothing, so it costs nothing",
        told={"kind": "leak-report", "guarantee": None, "result": {"marks": [result["mark"]]}},
        chart=growth(result["growth"]), caption="What is proven, by logic alone, after so many "
        "exact answers.",
    )  # fmt: skip


def search(stage: Stage, file: str, paid: list[str], bits: Any) -> None:
    """Search privately, and once more for nothing."""
    asked = ["similar", "search", file, "--query", ",".join(QUERY), "--epsilon", 2]
    asked += paid
    forecast = stage.run(*asked, "--top", SHOWN, "--dry-run")["result"]["forecast"]["sentence"]
    told = stage.run(*asked, "--top", SHOWN)
    again = stage.run(*asked, "--top", 3)["result"]
    hits = told["result"]["hits"]
    exact = bits[:, [int(name[1:]) for name in QUERY]].sum(axis=1)
    rows = [{"record": hit["id"], "noisy": hit["score"], "true": int(exact[int(hit["id"][1:])])}
            for hit in hits]  # fmt: skip
    stage.answered(
        f"Which patients share most of {len(QUERY)} given diagnoses?",
        ", ".join(f"{row['record']} ({row['noisy']})" for row in rows[:4]) + ", ...",
        f"these share {', '.join(str(row['true']) for row in rows[:4])}; the most that any "
        f"patient shares is {exact.max()}",
        forecast=forecast, told=told,
        chart=picture(rows), caption="Noisy scores as answered, and true ones.",
    )  # fmt: skip
    charged = again["charged"]["epsilon"]
    stage.note(f"The same query again, for fewer patients: the same noise, charged {charged:g}.")


def growth(points: list[list[float]]) -> Any:
    """Draw what is proven after each answer."""
    import altair as alt

    rows = [
        {"answers": count, "share": share, "what": what}
        for count, bits, records in points
        for what, share in (("of all bits", bits), ("of records, whole", records))
    ]
    return (
        alt.Chart({"values": rows})
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("answers:Q", title="exact answers"),
            alt.Y("share:Q", title="proven", axis=alt.Axis(format="%")),
            alt.Color("what:N", title=None),
        )
    )


def picture(rows: list[dict[str, Any]]) -> Any:
    """Draw noisy and true scores."""
    import altair as alt

    points = [
        {"record": row["record"], "score": row[kind], "what": kind}
        for row in rows
        for kind in ("noisy", "true")
    ]
    return (
        alt.Chart({"values": points})
        .mark_point(filled=True, size=80)
        .encode(
            alt.X("score:Q", title="diagnoses in common", axis=alt.Axis(tickMinStep=1)),
            alt.Y("record:N", title=None, sort=[row["record"] for row in rows]),
            alt.Color("what:N", title=None),
            alt.Shape("what:N", title=None),
        )
        .properties(height={"step": 22})
    )
