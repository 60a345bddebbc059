"""What an accountant outside needs to derive an account's total again.

Each charge lists the question's public parameters, the price it states, the whole units it was
charged, and its mechanisms with sensitivity and noise scale apart (null where a question does not
list them: its parameters and its proof then stand for it).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from noren import __version__
from noren.ledger.account import price_to_json, read_opened
from noren.ledger.chain import CHARGED
from noren.ledger.database import Row, Transaction
from noren.ledger.history import whole_rows
from noren.privacy.filters import PURE

COPIED = ("question", "price", "mechanisms", "columns", "assumed_public", "notes", "noren", "bits")


def exported(transaction: Transaction, accounts: Iterable[Row]) -> dict[str, Any]:
    """Give accounts and their charges as plain JSON; amounts are exact, as words."""
    return {
        "noren": __version__,
        "units": {"epsilon": "1e-12", "rho": "1e-12", "delta": "1e-18"},
        "accounts": [account_of(transaction, row) for row in accounts],
    }


def account_of(transaction: Transaction, row: Row) -> dict[str, Any]:
    """Give one account with its charges."""
    opened = read_opened(row["opened"])
    main = "epsilon" if opened.filter.kind == PURE else "rho"
    return {
        "account": row["name"],
        "id": row["id"],
        "protects": str(opened.filter.adjacency),
        "filter": opened.filter.kind,
        "budget": price_to_json(opened.budget),
        "columns": opened.columns,
        "total_units": {main: opened.filter.total.main, "delta": opened.filter.total.delta},
        "spent_units": {main: row["spent"], "delta": row["spent_delta"]},
        "head": row["head"],
        "charges": [
            charge_of(entry, main)
            for entry in whole_rows(transaction, row)
            if entry["kind"] == CHARGED
        ],
    }


def charge_of(entry: Row, main: str) -> dict[str, Any]:
    """Give one charge."""
    body = json.loads(entry["body"])
    return {
        "sequence": entry["sequence"],
        "time": entry["time"],
        "request_id": entry["request"],
        "charged_units": {main: entry["amount"], "delta": entry["delta"]},
        **{field: body[field] for field in COPIED},
    }
