"""An account: what was fixed when it was opened, what is spent, and what that leaves.

The budget is a guarantee, and its adjacency is the account's. One of two filters adds up the
charges (`noren.privacy.filters`). An account opened with named columns keeps one pure budget
for each of them, and a question is charged to a set of columns at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from noren import __version__
from noren.errors import LedgerError, ParameterError
from noren.ledger.chain import as_text
from noren.privacy.adjacency import Adjacency, Relation, Unit
from noren.privacy.amounts import Amounts
from noren.privacy.filters import (
    PURE,
    PureFilter,
    ZcdpFilter,
    largest_of_each_form,
    open_filter,
)
from noren.privacy.guarantee import Guarantee
from noren.privacy.zcdp import zcdp_epsilon_charge
from noren.question import adjacency_form, as_json

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Opened:
    """What is fixed for as long as an account lives."""

    filter: PureFilter | ZcdpFilter
    budget: Guarantee
    columns: int | None  # how many named columns; None: one budget for all

    @property
    def has_columns(self) -> bool:
        """Say whether each named column has a budget of its own."""
        return self.columns is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What an account may spend, has spent, and can still afford."""

    account: str
    id: str
    filter: str
    budget: Guarantee
    total: Guarantee
    spent: Guarantee
    remaining: Guarantee
    largest: tuple[Guarantee, ...]
    entries: int
    head: str
    spent_epsilon: float | None = None
    columns: Mapping[str, Fraction] | None = None

    @property
    def adjacency(self) -> Adjacency:
        """Who is protected."""
        return self.budget.adjacency

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "account": self.account,
            "id": self.id,
            "filter": self.filter,
            "adjacency": str(self.adjacency),
            "budget": self.budget.to_dict(),
            "total": self.total.to_dict(),
            "spent": self.spent.to_dict(),
            "remaining": self.remaining.to_dict(),
            "largest_single_question": [price.to_dict() for price in self.largest],
            "spent_epsilon_at_delta_of_budget": self.spent_epsilon,
            "entries": self.entries,
            "head": self.head,
            "columns": None
            if self.columns is None
            else {name: float(spent) for name, spent in self.columns.items()},
        }

    def __str__(self) -> str:
        return (
            f"account '{self.account}' ({self.adjacency}; {self.filter}): "
            f"{amounts_of(self.spent)} spent of {amounts_of(self.total)}; "
            f"largest single question: {' or '.join(map(amounts_of, self.largest)) or 'none'}"
        )


def open_terms(
    name: str, budget: Guarantee, kind: str | None, columns: tuple[str, ...] | None
) -> str:
    """Write what a new account fixes, as the JSON that its row and its first entry hold."""
    if not isinstance(budget, Guarantee):
        raise ParameterError(
            "budget", budget, "a Guarantee", "For example Guarantee('add-remove', epsilon=1)."
        )
    opened = open_filter(budget, PURE if columns is not None and kind is None else kind)
    if columns is not None and (opened.kind != PURE or opened.total.delta):
        raise ParameterError(
            "budget",
            budget,
            "an epsilon alone when columns are named",
            "Each column has a pure budget of its own.",
        )
    return as_text(
        {
            "name": name,
            "filter": opened.kind,
            "budget": price_to_json(budget),
            "total": opened.total.main,
            "total_delta": opened.total.delta,
            "columns": None if columns is None else columns_digest(columns),
            "noren": __version__,
        }
    )


@lru_cache(maxsize=128)
def read_opened(text: str) -> Opened:
    """Read what an account fixed."""
    terms = json.loads(text)
    budget = price_from_json(terms["budget"])
    kind = PureFilter if terms["filter"] == PURE else ZcdpFilter
    columns = terms["columns"]
    return Opened(
        kind(budget.adjacency, Amounts(terms["total"], terms["total_delta"])),
        budget,
        None if columns is None else columns["count"],
    )


def read_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """Read the names of an account's columns: at least one, none twice."""
    if isinstance(columns, str):
        raise ParameterError(
            "columns",
            repr(columns),
            "a collection of names, not one text",
            "Name each column once: columns=['age', 'town'].",
        )
    names = tuple(columns)
    if not names or not all(isinstance(n, str) and n and n.isprintable() for n in names):
        raise ParameterError(
            "columns",
            "not a collection of names",
            "printable, at least one",
            "Name each column once: columns=['age', 'town'].",
        )
    if len(set(names)) != len(names):
        raise ParameterError(
            "columns",
            "a collection with a name twice",
            "names that differ",
            "Name each column once: columns=['age', 'town'].",
        )
    return names


def columns_digest(names: Iterable[str]) -> dict[str, Any]:
    """Name a set of columns by its size and digest."""
    listed = sorted(names)
    digest = hashlib.sha256(as_text(listed).encode()).hexdigest()
    return {"count": len(listed), "sha256": digest}


def read_name(name: object, what: str = "account") -> str:
    """Read the name of an account or the id of a request."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ParameterError(
            what,
            repr(name)[:80],
            f"1 to {LONGEST_NAME} printable characters",
            "Choose a short public name, on one line.",
        )
    if name != name.strip():
        raise ParameterError(
            what,
            repr(name),
            "without spaces at its ends",
            "Choose a short public name, on one line.",
        )
    return name


def no_account(name: str, where: str, known: Iterable[str]) -> LedgerError:
    """Say that there is no such account, and which there are."""
    names = ", ".join(f"'{other}'" for other in known) or "none yet"
    return LedgerError(
        f"There is no account '{name}' in {where}. Its accounts: {names}. "
        f"Make it with: noren ledger create {name!r} --adjacency WHO --epsilon AMOUNT"
    )


def balance_of(
    row: Mapping[str, Any], opened: Opened, columns: Mapping[str, Fraction] | None
) -> Balance:
    """Work out what an account can still afford."""
    spent = Amounts(row["spent"], row["spent_delta"])
    left = opened.filter.total - spent
    return Balance(
        account=row["name"],
        id=row["id"],
        filter=opened.filter.kind,
        budget=opened.budget,
        total=opened.filter.stated(opened.filter.total),
        spent=opened.filter.stated(spent),
        remaining=opened.filter.stated(left),
        largest=largest_of_each_form(opened.filter, left),
        entries=row["length"],
        head=row["head"],
        spent_epsilon=derived_epsilon(opened, spent),
        columns=columns,
    )


def derived_epsilon(opened: Opened, spent: Amounts) -> float | None:
    """Give what is spent as epsilon at the delta of the budget, where the budget states one."""
    if opened.filter.kind == PURE or opened.budget.epsilon is None:
        return None
    worth = opened.filter.stated(spent)
    assert worth.rho is not None  # a zcdp account states rho
    return float(zcdp_epsilon_charge(worth.rho, opened.budget.delta, worth.delta))


def amounts_of(price: Guarantee) -> str:
    """Write a price without its adjacency."""
    return str(price).removesuffix(f" ({price.adjacency})")


def price_to_json(price: Guarantee) -> dict[str, Any]:
    """Write a price exactly: fractions as words."""
    return {
        "adjacency": adjacency_form(price.adjacency),
        "epsilon": as_json(price.epsilon),
        "delta": as_json(price.delta),
        "rho": as_json(price.rho),
    }


def price_from_json(form: Mapping[str, Any]) -> Guarantee:
    """Read an exact price."""
    who = form["adjacency"]
    adjacency = Adjacency(
        Relation(who["relation"]), Unit(who["unit"]), who["max_records"], who["within"]
    )
    return Guarantee(adjacency, form["epsilon"], form["delta"], form["rho"])
