"""Compare the ways of searching before anything is spent, and show what none of them can do.

Maths (q columns a query, T queries that share a column, epsilon in all for one bit)
    scores       T times epsilon / T: sd sqrt(2x) / (1 - x), x = exp(-epsilon / T)
    randomized   once epsilon, then any number of queries: sd sqrt(q f (1 - f)) / (1 - 2f)
    The second is better from `crossover(q, epsilon)` queries on, which is soon.
    best record  names one that leads n - 1 equal ones by D with probability
                 (1 - (1 - p)^n) / (n p), p = exp(-D epsilon / T)
    cap          whatever the rule, if it treats records alike: `top_one_cap(n, epsilon / T, D)`
    records      where a whole record is protected, a rule that looks at each record alone lists
                 T right ones for at least (n - T) e^-epsilon wrong ones, T matches among n; one
                 that looks at all, (n - T) e^(-2 epsilon).

Privacy
    The plan is made of public facts and costs nothing. `tried` looks at the records: its figures
    are secret, and whoever chooses a query, k, threshold or price by them has made that choice
    depend on the data. Choose by the public part.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noren.errors import ParameterError
from noren.privacy.numbers import Number, read_epsilon, shown, whole
from noren.question import as_json
from noren.similarity.laws import (
    crossover,
    geometric_deviation,
    needed_gap,
    randomized_deviation,
    read_k,
    top_one_cap,
)
from noren.similarity.statistic import Records
from noren.similarity.trials import (
    SecretUse,
    Tried,
    random_queries,
    try_naming,
    try_randomized,
    try_rules,
)

MOST_QUERIES = 10**6
LARGEST_PLANNED = 100  # exp(epsilon) still is a float, with room
SECRET = (
    "SECRET: it was computed from the records without noise. It stays with their keeper, and what "
    "is chosen by it depends on the data: choose by the public part of the plan."
)
QUERY, ALL = "the query's columns", "all columns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of searching: what each query pays, how far off it is, and who is charged."""

    name: str
    epsilon_each: Fraction
    deviation: float | None
    charges: str
    record_epsilon: Fraction
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """The ways of searching at one total price, and the caps that bind all of them."""

    n_records: int
    n_columns: int
    query_size: int
    epsilon: Fraction
    queries: int
    k: int
    ways: tuple[Way, ...]

    @property
    def epsilon_each(self) -> Fraction:
        """What one query may pay where queries share a column."""
        return self.epsilon / self.queries

    @property
    def crossover(self) -> int:
        """From how many queries on to publish randomized records instead."""
        return crossover(self.query_size, self.epsilon)

    @property
    def advised(self) -> str:
        """Name the way with the smaller error, by public facts alone."""
        return "randomized-records" if self.queries >= self.crossover else "noisy-scores"

    @property
    def needed_lead(self) -> int:
        """By how many bits the best must lead for any rule to name it every other time."""
        return needed_gap(self.n_records, self.epsilon_each)

    def caps(self) -> list[tuple[int, float, float]]:
        """For leads 0, 1, 2, ..: the cap on naming the best record, and the best question's."""
        most = min(self.query_size, max(1, 2 * self.needed_lead))
        leads = sorted({round(most * step / 10) for step in range(11)})
        each = self.epsilon_each
        return [
            (d, top_one_cap(self.n_records, each, d), named_first(self.n_records, each, d))
            for d in leads
        ]

    def naming_odds(self, matches: int = 1) -> tuple[float, float]:
        """Cap right ones for each wrong one where whole records are protected.

        By rules that decide each record alone, and by rules that look at all.
        """
        right = whole("matches", matches, 1)
        if right >= self.n_records:
            raise ParameterError("matches", right, f"below {self.n_records}, the records")
        e = float(self.epsilon_each)
        return tuple(right * math.exp(times * e) / (self.n_records - right) for times in (1, 2))  # type: ignore[return-value]

    def tried(
        self,
        records: Records,
        *,
        count: int = 100,
        seed: int = 1,
        queries: Sequence[Tried] | None = None,
    ) -> SecretPlan:
        """Try every way on one's own records, on random queries of the plan's size. Secret."""
        asked = queries or random_queries(records, self.query_size, count, seed)
        rules = ["geometric", "top-set", "peeled", "random-order"]
        each = try_rules(records, asked, self.epsilon_each, rules=rules, k=self.k, seed=seed)
        once = try_randomized(records, asked, self.epsilon, k=self.k, seed=seed)
        naming = try_naming(records, asked, self.epsilon_each, k=self.k, seed=seed)
        return SecretPlan(plan=self, uses={**each, **once}, naming=naming)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        alone, together = self.naming_odds() if self.n_records > 1 else (math.inf, math.inf)
        return {
            "records": self.n_records,
            "columns": self.n_columns,
            "query_size": self.query_size,
            "epsilon": float(self.epsilon),
            "queries_sharing_a_column": self.queries,
            "epsilon_each": float(self.epsilon_each),
            "k": self.k,
            "ways": [as_json(way) for way in self.ways],
            "advised": self.advised,
            "randomized_records_from": self.crossover,
            "cap": {
                "needed_lead": self.needed_lead,
                "by_lead": [
                    {"lead": lead, "any_rule": most, "best_record": own}
                    for lead, most, own in self.caps()
                ],
                "right_for_each_wrong_if_records_are_protected": {
                    "rules_for_each_record_alone": alone,
                    "rules_that_look_at_all": together,
                },
            },
        }

    def __str__(self) -> str:
        several = "query" if self.queries == 1 else "queries"
        return (
            f"{self.queries} {several} of {self.query_size} columns at epsilon "
            f"{shown(self.epsilon)} a bit: {self.advised} (randomized records from "
            f"{self.crossover} queries on); no rule names the best record every other time unless "
            f"it leads by {self.needed_lead} bits"
        )

    def chart(self) -> Any:
        """Draw the error of a score by the number of queries."""
        from noren.similarity.charts import lines

        last = max(2 * self.crossover, self.queries, 4)
        steps = sorted({max(1, round(last * step / 20)) for step in range(1, 21)})
        once = randomized_deviation(self.query_size, self.epsilon)
        rows = [
            {"queries": t, "standard deviation": value, "way": way}
            for t in steps
            for way, value in (
                ("noisy scores", geometric_deviation(self.epsilon / t)),
                ("randomized records", once),
            )
        ]
        return lines(rows, "queries", "standard deviation", "way")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SecretPlan:
    """How well each way would find what is there, on the private records. Keep it."""

    plan: SearchPlan
    uses: dict[str, SecretUse]
    naming: tuple[float, float]

    def __repr__(self) -> str:
        return f"SecretPlan({len(self.uses)} ways, {SECRET.partition(':')[0]})"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, marked as secret."""
        precision, recall = self.naming
        return {
            "secret": SECRET,
            "simulated": True,
            "uses": {name: as_json(use) for name, use in self.uses.items()},
            "naming_if_records_are_protected": {"precision": precision, "recall": recall},
        }

    def chart(self) -> Any:
        """Draw P@k of each way."""
        from noren.similarity.charts import bars

        ordered = sorted(self.uses.items(), key=lambda pair: -pair[1].precision)
        rows = [{"way": name, "P@k": use.precision} for name, use in ordered]
        return bars(rows, "way", "P@k", f"P@{self.plan.k} (secret)")


def plan(
    n_records: int,
    n_columns: int,
    query_size: int,
    epsilon: Number,
    queries: int | Sequence[Sequence[Any]],
    *,
    k: int = 10,
) -> SearchPlan:
    """Compare ways of answering queries that share a column, from public facts alone.

    Parameters
    ----------
    n_records, n_columns, query_size : int
        Public sizes.
    epsilon : number
        What all queries together may cost one bit.
    queries : int, or list of queries
        The largest number of queries that will share a column; or all queries, known beforehand.
    k : int
        How many records are wanted.

    Examples
    --------
    >>> found = plan(1000, 2048, 16, 1, 5)
    >>> found.advised, found.crossover, found.needed_lead
    ('randomized-records', 3, 32)
    """
    n, q = whole("n_records", n_records, 1), whole("query_size", query_size, 1)
    width, total = whole("n_columns", n_columns, 1), read_epsilon(epsilon)
    if q > width:
        raise ParameterError("query_size", q, f"at most {width}, the number of columns")
    if total > LARGEST_PLANNED:
        raise ParameterError(
            "epsilon", total, f"at most {LARGEST_PLANNED}", "Above 10 it protects nobody."
        )
    t = queries if isinstance(queries, int) else max(1, most_shared(queries))
    t = whole("queries", t, 1)
    if t > MOST_QUERIES:
        raise ParameterError("queries", t, f"at most {MOST_QUERIES:,}", "Publish once instead.")
    wanted = read_k(k, n)
    return SearchPlan(
        n_records=n,
        n_columns=width,
        query_size=q,
        epsilon=total,
        queries=t,
        k=wanted,
        ways=ways_of(q, width, total, t, wanted),
    )


def most_shared(queries: Sequence[Sequence[Any]]) -> int:
    """Give the largest number of queries that share a column: the divisor of a column's budget.

    Examples
    --------
    >>> most_shared([[1, 2], [2, 3], [3, 4], [2, 2]])
    3
    """
    read = Counter(column for query in queries for column in set(query))
    return max(read.values(), default=0)


def ways_of(q: int, width: int, total: Fraction, t: int, k: int) -> tuple[Way, ...]:
    """List the ways at one total price."""
    each, noise = total / t, geometric_deviation(total / t)
    rows = (
        ("noisy-scores", each, noise, QUERY, q * total, f"scores, and any k; sd {noise:.3g}"),
        ("best-record", each, None, QUERY, q * total, "one name, no score"),
        ("top-set", each, None, QUERY, q * total, f"{k} names, no order, no score"),
        ("score-pairs", each, noise, ALL, width * total, "Jaccard, cosine and the like"),
        ("randomized-records", total, randomized_deviation(q, total), ALL, width * total,
         "paid once; any number of queries; shrunk scores rank better than this sd says"),
        ("similar-count", each, noise, QUERY, total, "how many, not who; protects records too"),
        ("score-histogram", each, geometric_deviation(each / 2), QUERY, total,
         "how many at each score; protects records too"),
    )  # fmt: skip
    return tuple(
        Way(name=name, epsilon_each=price, deviation=sd, charges=who, record_epsilon=record,
            note=note)
        for name, price, sd, who, record, note in rows
    )  # fmt: skip


def named_first(n: int, epsilon: Number, lead: int) -> float:
    """Give how often the best record is named, if it leads n - 1 equal ones.

    Examples
    --------
    >>> [round(named_first(1000, 1, lead), 4) for lead in (6, 7, 8, 10)]
    [0.3697, 0.6562, 0.8497, 0.9777]
    """
    p = math.exp(-float(read_epsilon(epsilon)) * whole("lead", lead, 0))
    if p == 1:
        return 1 / n
    return -math.expm1(n * math.log1p(-p)) / (n * p) if p else 1.0
