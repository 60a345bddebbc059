"""The evidence as a page: each claim beside what was measured, with the picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from noren.cli.topics import TOPICS

COLUMNS = ("mechanism", "adjacency", "quantity", "claimed", "measured", "detects", "ok", "note")
KINDS = {
    "exact": "Every outcome enumerated: the worst case over all neighbours is the measured value.",
    "law": "Samples against the stated law (a p-value must not be small), and the last bits of "
    "every float that leaves.",
    "statistical": "Run from outside, on two neighbours: the measured value is a lower bound on "
    "the true price, and `detects` the smallest violation seen nine times in ten.",
    "mutant": "Faults put in on purpose: each must be found to cost more than it claims.",
}
LEAD = (
    "What was claimed, what was measured, and how. Rows of faults and of the papers' broken claims "
    "are expected to fail: `ok` says that what was expected happened."
)


def write_report(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows of an audit as one HTML file: all in one table, then room by room."""
    from noren.page import Chart, Page, Part, Section, Table, Text

    parts: list[Part] = [Text(summary(rows)), Section("What was examined, and how")]
    parts += [Text(OVERVIEW), Table(("", *KINDS, "expected to fail"), overview(rows))]
    caught = [row for row in rows if row["method"] == "mutant"]
    if caught:
        parts += [Section("Faults put in on purpose"), Text(f"mutant: {KINDS['mutant']}")]
        parts.append(Table(("fault", "put into", "claimed", "measured", "caught"), faults(caught)))
    for room in dict.fromkeys(room_of(row) for row in rows):
        own = [row for row in rows if room_of(row) == room]
        parts.append(Section(room))
        priced = [row for row in own if comparable(row)]
        if priced:
            caption = "Measured beside claimed: right of the line costs more than it says."
            parts.append(Chart(picture(priced), caption))
        for kind, text in KINDS.items():
            lines = [row for row in own if row["method"] == kind]
            if lines and kind != "mutant":
                parts += [Text(f"{kind}: {text}"), shortened(lines)]
    Page(title="The evidence", lead=LEAD, parts=parts).write(path)


OVERVIEW = (
    "Each cell says how many rows did what was expected, of how many. Rooms look at their subject "
    "in ways of their own; rows of the rooms questions and commands treat all alike."
)


def overview(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Count the rows of every question, or of what else was examined, by their kind."""
    lines = []
    for subject in sorted({subject_of(row) for row in rows}):
        own = [row for row in rows if subject_of(row) == subject]
        cells = [of(row for row in own if row["method"] == kind) for kind in KINDS]
        broken = (r for r in own if r["expected"] == "fails" and r["method"] != "mutant")
        lines.append([subject, *cells, of(broken)])
    return lines


def of(rows: Iterable[dict[str, Any]]) -> str:
    """Say how many rows did what was expected, of how many."""
    found = [row["ok"] for row in rows]
    return f"{sum(found)} of {len(found)}" if found else "-"


def subject_of(row: dict[str, Any]) -> str:
    """Name what a row is about: its question, or its room where it is about none."""
    room, _, rest = str(row["mechanism"]).partition(": ")
    name = rest.split(",")[0].split(" ")[0]
    return name if name in TOPICS else room.split(",")[0]


def faults(rows: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """List every fault by name, with what it was put into."""
    return [
        [fault, mechanism, row["claimed"], row["measured"], row["ok"]]
        for row in rows
        for mechanism, _, fault in [str(row["mechanism"]).partition(", fault: ")]
    ]


def shortened(rows: Sequence[dict[str, Any]]) -> Any:
    """Give a table without columns in which nothing stands, and a note that all share once."""
    from noren.page import Table

    lines = [{**row, "mechanism": str(row["mechanism"]).partition(": ")[2]} for row in rows]
    notes = {row["note"] for row in rows}
    shared = notes.pop() if len(notes) == 1 and len(rows) > 1 else ""
    kept = [
        name
        for name in COLUMNS
        if any(row[name] is not None for row in rows) and not (name == "note" and shared)
    ]
    return Table(kept, [[row[name] for name in kept] for row in lines], shared)


def room_of(row: dict[str, Any]) -> str:
    """Give the room that a row is about."""
    return str(row["mechanism"]).partition(":")[0]


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Say in one sentence how many rows of each kind did what was expected."""
    counts = []
    for kind in KINDS:
        own = [row for row in rows if row["method"] == kind]
        if own:
            counts.append(f"{sum(row['ok'] for row in own)} of {len(own)} {kind}")
    return f"As expected: {', '.join(counts)}."


def comparable(row: dict[str, Any]) -> bool:
    """Tell whether a row has a claim and a measured price that can stand on one axis."""
    numbers = (row["claimed"], row["measured"])
    return row["quantity"] != "p-value" and all(
        isinstance(value, (int, float)) and value > 0 for value in numbers
    )


def picture(rows: Sequence[dict[str, Any]]) -> Any:
    """Draw measured over claimed for every row, on a scale of factors."""
    import altair

    points = [
        {
            "mechanism": str(row["mechanism"]).partition(": ")[2] or row["mechanism"],
            "factor": row["measured"] / row["claimed"],
            "kind": "expected to fail" if row["expected"] == "fails" else row["method"],
            "quantity": row["quantity"],
        }
        for row in rows
    ]
    base = altair.Chart({"values": points})
    dots = base.mark_point(filled=True, size=50, opacity=0.8).encode(
        altair.X("factor:Q", title="measured / claimed", scale=altair.Scale(type="log")),
        altair.Y("mechanism:N", title=None, sort=None, axis=altair.Axis(labelLimit=360)),
        altair.Color("kind:N", title=None),
        altair.Shape("kind:N", title=None),
        tooltip=["mechanism:N", "quantity:N", "factor:Q"],
    )
    line = altair.Chart({"values": [{"factor": 1}]}).mark_rule(strokeDash=[4, 4])
    return (line.encode(altair.X("factor:Q")) + dots).properties(height={"step": 16})
