"""Look at the cells that a schema clamps, replaces or drops: for the data's keeper alone.

Reading for a release never complains about a record, so a wrong schema would go unnoticed. This
shows its effect on the private table: how many cells each rule touched, and some of them with
their content. All of it is secret. It must stay with whoever keeps the data, and a schema that
was changed because of what it shows is no longer independent of the data: say so, or change it
only for reasons that hold without the table (a column in another unit, a misspelt category).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.data.cells import CLAMPED, VERDICTS, Cells, Converted, convert, text_of
from noren.data.columns import Column
from noren.data.schema import Schema
from noren.data.tables import Paths, partitions
from noren.privacy.numbers import whole

LONGEST = 80  # characters shown of a cell
SECRET = "SECRET: it shows private values, and must stay with whoever keeps the data"


@dataclass(frozen=True, slots=True, repr=False)
class SecretInspection:
    """What a schema does to a private table. Its `repr` and `str` show nothing of it."""

    records: int
    dropped: int
    verdicts: dict[str, dict[str, int]]
    examples: dict[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"SecretInspection({SECRET}; call lines() to look)"

    def lines(self) -> list[str]:
        """Write it for people, the warning first."""
        text = [SECRET, f"{self.records} records, {self.dropped} of them dropped"]
        for name, counts in self.verdicts.items():
            told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
            shown = ", ".join(map(repr, self.examples[name]))
            text.append(f"{name}: {told}" + (f"; such as {shown}" if shown else ""))
        return text

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, marked as secret."""
        return {
            "kind": "secret-inspection",
            "secret": SECRET,
            "records": self.records,
            "dropped": self.dropped,
            "columns": {
                name: {"verdicts": counts, "examples": list(self.examples[name])}
                for name, counts in self.verdicts.items()
            },
        }


def inspect_table(
    paths: Paths,
    schema: Schema,
    *,
    form: str | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    most: int = 10,
) -> SecretInspection:
    """Count what each rule touches, with up to `most` different contents a column. Secret."""
    most = whole("most", most, 0)
    parts = partitions(paths, schema, form=form, delimiter=delimiter, names=names)
    records = dropped = 0
    counts: dict[str, Counter[str]] = {name: Counter() for name in schema.names}
    examples: dict[str, dict[str, None]] = {name: {} for name in schema.names}
    for cells in (cells for part in parts for cells in part.cells()):
        gone = np.zeros(1, bool)
        for column in schema:
            result = convert(column, cells[column.name], schema.missing_words)
            tally(counts[column.name], result)
            collect(examples[column.name], cells[column.name], result, most)
            gone = gone | (result.missing & drops(column))
        records, dropped = records + len(gone), dropped + int(gone.sum())
    return SecretInspection(
        records,
        dropped,
        {name: dict(counter) for name, counter in counts.items()},
        {name: tuple(found) for name, found in examples.items()},
    )


def drops(column: Column) -> bool:
    """Tell whether a missing cell of this column drops its record."""
    return column.missing.action == "drop"


def tally(counter: Counter[str], result: Converted) -> None:
    """Count the verdicts on one column's cells."""
    for verdict, count in enumerate(np.bincount(result.verdicts, minlength=len(VERDICTS))):
        if count:
            counter[VERDICTS[verdict]] += int(count)


def collect(found: dict[str, None], cells: Cells, result: Converted, most: int) -> None:
    """Keep some different contents of the cells that were not taken as they are."""
    odd = np.flatnonzero(result.verdicts >= CLAMPED)
    texts = text_of(cells.take(odd)).unique() if len(odd) and len(found) < most else []
    for content in texts:
        if len(found) < most:
            found[str(content.as_py() or "")[:LONGEST]] = None
