"""A leak report: what exact answers to a workload would give away. It stays with the owner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren.similarity.attacks import MOST_STATES
from noren.similarity.leak_beliefs import LABELS, BeliefSummary
from noren.similarity.leak_posterior import Posterior
from noren.similarity.leak_worst import WorstCase

SECRET = "SECRET: this was computed from the records without noise. It stays with their owner."
AT_LEAST = (
    "Proven cells are a lower bound: two sound rules were run, and neither finds everything. "
    "Nothing here says that a cell is safe."
)
ROUNDED = "A confidence of 0 or 1 may be rounded; a cell is counted as certain only if it is."
NOT_COMPUTED = (
    "The exact posterior of all answers together was not computed: it needs exact scores of a few "
    f"queries (at most {MOST_STATES} states)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLeak:
    """What the exact answer to one query gives away.

    Attributes
    ----------
    columns
        The columns of the query.
    levels
        b, how many different scores the records have.
    max_share
        The largest score over |q|: the most certain the published measure is under scores.
    published_bound
        (b - 1) / |q|, which the paper takes for the confidence under ranks; it is a lower bound.
    beliefs
        What each attacker believes, the headline first.
    """

    columns: tuple[str, ...]
    levels: int
    max_share: float
    published_bound: float
    beliefs: tuple[BeliefSummary, ...]

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @property
    def headline(self) -> BeliefSummary:
        """What the attacker of the headline believes."""
        return self.beliefs[0]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "columns": list(self.columns),
            "size": self.size,
            "levels": self.levels,
            "max_share": self.max_share,
            "published_bound": self.published_bound,
            "beliefs": [belief.to_dict() for belief in self.beliefs],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLeak:
    """One of the records of which most is proven; `completed` counts queries from 1."""

    record: str
    proven: int
    ones: int
    completed: int | None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "record": self.record,
            "proven": self.proven,
            "ones": self.ones,
            "completed": self.completed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """What exact answers would give away; secret, without a price, never to be released.

    Attributes
    ----------
    answers, k
        What the service would answer: "scores", "ranks", or "top-k" lists.
    records, columns
        Their numbers.
    queries
        What each answer gives away by itself.
    proven, proven_ones
        The share of all cells, and of all ones, that all answers together prove: at least.
    recovered
        How many records are proven whole.
    linear, exact
        Columns that are determined for every record, whatever the data: by linear algebra, and by
        the exact test (None where there are too many columns for it).
    growth
        (queries, share of cells proven, share of ones proven), query by query.
    top
        The records of which most is proven.
    posteriors
        What each attacker believes after all answers together (empty where it was not computed).
    worst
        What determined attackers recover, the fewest queries first.
    """

    answers: str
    k: int | None
    records: int
    columns: int
    queries: tuple[QueryLeak, ...]
    proven: float
    proven_ones: float
    recovered: int
    linear: tuple[str, ...]
    exact: tuple[str, ...] | None
    growth: tuple[tuple[int, float, float], ...]
    top: tuple[RecordLeak, ...]
    posteriors: tuple[Posterior, ...]
    worst: tuple[WorstCase, ...]

    @property
    def mark(self) -> str:
        """The warning that must travel with it."""
        return SECRET

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be read with the figures."""
        return (AT_LEAST, ROUNDED, *(() if self.posteriors else (NOT_COMPUTED,)))

    @property
    def headline(self) -> str:
        """Say the worst in one line."""
        return (
            f"{len(self.queries)} exact answers ({self.answers}) prove at least "
            f"{self.proven:.1%} of all bits and {self.recovered} of {self.records} records whole. "
            f"{self.worst[0].statement}"
        )

    def __str__(self) -> str:
        return f"{self.mark} {self.headline}"

    def __repr__(self) -> str:
        return f"LeakReport({len(self.queries)} queries, SECRET)"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, marked."""
        return {
            "secret": True,
            "mark": self.mark,
            "headline": self.headline,
            "answers": self.answers,
            "k": self.k,
            "records": self.records,
            "columns": self.columns,
            "attackers": {b.prior: LABELS[b.prior] for b in self.queries[0].beliefs},
            "proven": self.proven,
            "proven_ones": self.proven_ones,
            "recovered": self.recovered,
            "columns_revealed": list(self.linear),
            "columns_determined": None if self.exact is None else list(self.exact),
            "top_records": [one.to_dict() for one in self.top],
            "worst_cases": [one.to_dict() for one in self.worst],
            "posteriors": [one.to_dict() for one in self.posteriors],
            "growth": [list(point) for point in self.growth],
            "queries": [query.to_dict() for query in self.queries],
            "notes": list(self.notes),
        }

    def by_size(self) -> list[dict[str, Any]]:
        """Give means over the queries of each size, for each attacker."""
        from noren.similarity.leak_page import means_by_size

        return means_by_size(self.queries)

    def charts(self) -> list[tuple[str, Any]]:
        """Draw the report: (caption, chart)."""
        from noren.similarity.leak_page import charts

        return charts(self)

    def page(self) -> Any:
        """Make the whole report one HTML page, marked."""
        from noren.similarity.leak_page import page

        return page(self)

    def write(self, path: Any) -> Path:
        """Write the report: .html, or .json."""
        import json

        from noren.errors import ParameterError
        from noren.question import as_json

        target = Path(path)
        if target.suffix.lower() == ".html":
            written: Path = self.page().write(target)
            return written
        if target.suffix.lower() != ".json":
            raise ParameterError("path", target, "a name that ends in .html or .json")
        target.write_text(json.dumps(finite(as_json(self.to_dict())), indent=1), encoding="utf-8")
        return target


def finite(value: Any) -> Any:
    """Write what JSON has no number for as a word."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, float) and value == float("inf"):
        return "infinite"
    return value
