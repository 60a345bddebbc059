"""The report "does joining help?": a table, three pictures and one offline HTML file. Secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noren.collaboration import charts
from noren.collaboration.joining import SECRET, SecretJoining
from noren.collaboration.signing import SIGNATURE_SAYS
from noren.page import Chart, Page, Part, Section, Table, Text

FILE_COLUMNS = ("organization", "file", "price", "cosine", "loss", "weight", "remark")
SIDE_COLUMNS = ("model", "held-out loss", "held-out accuracy")
HOW = (
    "Both models were made anew for each fold from the other rows alone, all choices included. The "
    "interval is for the difference of the two losses on the same rows; it is a good guide, not a "
    "proof, because folds share training rows. A loss of 0.693 is that of knowing nothing."
)


def file_rows(joining: SecretJoining) -> list[tuple[Any, ...]]:
    """Give one line for each file, in the order of FILE_COLUMNS."""
    return [
        (f.organization, Path(f.source).name, f.price, f.cosine, f.loss, f.weight, f.remark)
        for f in joining.files
    ]


def side_rows(joining: SecretJoining) -> list[tuple[Any, ...]]:
    """Give one line for each model."""
    return [
        ("the receiver's alone", joining.local_loss, joining.local_accuracy),
        (f"combined ({joining.method})", joining.combined_loss, joining.combined_accuracy),
    ]


def joining_charts(joining: SecretJoining) -> list[tuple[str, Any]]:
    """Draw the difference with its interval, and the files."""
    gain = charts.difference(
        joining.low, joining.difference, joining.high, "loss alone minus loss combined"
    )
    files = [
        {"organization": f.organization, "source": f.source, "cosine": f.cosine, "loss": f.loss,
         "remark": f.remark} for f in joining.files
    ]  # fmt: skip
    return [
        ("To the right of the dashed line, joining helps.", gain),
        ("Each file alone: a low loss and a cosine near 1 are good.", charts.file_health(files)),
    ]


def joining_page(joining: SecretJoining, notes: Sequence[str] = ()) -> Page:
    """Put the report on one page that opens without a network."""
    (first, gain), (second, health) = joining_charts(joining)
    parts: list[Part] = [
        Text(joining.sentence),
        Table(SIDE_COLUMNS, side_rows(joining)),
        Chart(gain, first),
        Text(HOW),
        *(Text(note) for note in notes),
        Section("The files"),
        Table(FILE_COLUMNS, file_rows(joining)),
        Chart(health, second),
        Section("What the signatures prove"),
        Text(SIGNATURE_SAYS),
    ]
    return Page(
        title="Does joining help?", lead=joining.verdict.capitalize(), parts=parts, banner=SECRET
    )
