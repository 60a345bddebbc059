"""Budgets of named columns inside one account, charged to a set of columns at once.

A question that reads some columns only costs only those: for one cell, the loss is the sum over
the answered questions whose columns hold it. So every column has a pure budget of its own, and
a question is admitted when each of its columns can pay. All statements of one charge run in the
transaction that holds the account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from noren.errors import BudgetRefused, ParameterError
from noren.ledger.account import Opened
from noren.ledger.database import Transaction
from noren.ledger.statements import (
    ADD_COLUMN,
    CHARGE_EVERY_COLUMN,
    CHARGE_SOME_COLUMNS,
    CHUNK,
    EVERY_COLUMN,
    HIGHEST_COLUMN,
    SOME_COLUMNS,
)
from noren.privacy.amounts import EPSILON_UNIT, Amounts, from_units
from noren.privacy.filters import refuse_or_charge
from noren.privacy.guarantee import Guarantee

SHOWN = 10  # column names in a refusal


def columns_asked(question: Any) -> tuple[str, ...] | None:
    """Give the columns that a question charges, sorted, or None for all."""
    columns = getattr(question, "columns", None)
    if columns is None:
        return None
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ParameterError(
            "columns",
            "not names",
            "a collection of column names, or None",
            "See the account's columns: noren ledger show.",
        )
    return tuple(sorted(set(columns)))


def add_columns(transaction: Transaction, account: str, names: Sequence[str]) -> None:
    """Open a budget for each named column."""
    rows = [{"account": account, "name": name, "spent": 0} for name in names]
    transaction.run_many(ADD_COLUMN, rows)


def admit_columns(
    transaction: Transaction,
    row: Mapping[str, Any],
    opened: Opened,
    columns: tuple[str, ...] | None,
    price: Guarantee,
) -> Amounts:
    """Give the charge to each column, or refuse and name the columns that cannot pay."""
    if columns is None:
        highest = row["spent"]
    else:
        highest = max(spent_by(transaction, row["id"], columns).values(), default=0)
    try:
        charge = refuse_or_charge(opened.filter, Amounts(highest), price)
    except BudgetRefused as refusal:
        spent = spent_by(transaction, row["id"], columns)
        raise BudgetRefused(f"{refusal} {exhausted(opened, spent, price)}") from None
    return Amounts(0) if columns == () else charge  # what reads no column costs none


def exhausted(opened: Opened, spent: dict[str, int], price: Guarantee) -> str:
    """Name the columns that cannot pay."""
    room = opened.filter.total.main - opened.filter.charge(price).main
    names = sorted(name for name, used in spent.items() if used > room)
    listed = ", ".join(f"'{name}'" for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"Columns that cannot pay: {listed}{more}. Nothing was charged."


def spent_by(
    transaction: Transaction, account: str, columns: tuple[str, ...] | None
) -> dict[str, int]:
    """Give what some columns, or all of them, have spent; refuse an unknown one."""
    if columns is None:
        rows = transaction.all(EVERY_COLUMN, account=account)
    else:
        rows = [
            row
            for names in chunks(columns)
            for row in transaction.all(SOME_COLUMNS, account=account, **names)
        ]
    found = {row["name"]: row["spent"] for row in rows}
    unknown = [name for name in columns or () if name not in found]
    if unknown:
        raise ParameterError(
            "columns",
            repr(unknown[0]),
            "columns that the account was opened with",
            "See the account's columns: noren ledger show.",
        )
    return found


def charge_columns(
    transaction: Transaction, account: str, columns: tuple[str, ...] | None, amount: int
) -> int:
    """Charge each column; give the most that any column of the account has spent."""
    if columns is None:
        transaction.run(CHARGE_EVERY_COLUMN, account=account, amount=amount)
    for names in chunks(columns or ()):
        transaction.run(CHARGE_SOME_COLUMNS, account=account, amount=amount, **names)
    highest = transaction.one(HIGHEST_COLUMN, account=account)
    return int(highest["spent"]) if highest else 0


def column_balances(transaction: Transaction, account: str) -> dict[str, Fraction]:
    """Give the epsilon that each column has spent."""
    rows = transaction.all(EVERY_COLUMN, account=account)
    return {row["name"]: from_units(row["spent"], EPSILON_UNIT) for row in rows}


def chunks(columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Cut names into the parameters of one IN (...); a short chunk repeats its last name."""
    for start in range(0, len(columns), CHUNK):
        part = list(columns[start : start + CHUNK])
        part += part[-1:] * (CHUNK - len(part))
        yield {f"name{number}": name for number, name in enumerate(part)}
