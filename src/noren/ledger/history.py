"""An account's entries, as people read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from noren.errors import RecordDamaged
from noren.ledger.account import price_from_json, read_opened
from noren.ledger.chain import CHARGED, hash_of
from noren.ledger.database import Row, Transaction
from noren.ledger.statements import ENTRIES_AFTER, PAGE
from noren.privacy.amounts import Amounts
from noren.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: an account opened, a request charged, or a request answered.

    `price` is what the question states, `charge` what the account's filter added up for it.
    """

    sequence: int
    time: str
    kind: str
    request_id: str
    question: str | None
    price: Guarantee | None
    charge: Guarantee | None
    columns: tuple[str, ...] | None
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "sequence": self.sequence,
            "time": self.time,
            "kind": self.kind,
            "request_id": self.request_id,
            "question": self.question,
            "price": self.price.to_dict() if self.price else None,
            "charge": self.charge.to_dict() if self.charge else None,
            "columns": None if self.columns is None else list(self.columns),
            "hash": self.hash,
        }


def rows_of(transaction: Transaction, account: str, after: int = -1) -> Iterator[Row]:
    """Read an account's entries in order, a page at a time."""
    while True:
        page = transaction.all(ENTRIES_AFTER, account=account, after=after, page=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1]["sequence"]


def whole_rows(transaction: Transaction, row: Row) -> Iterator[Row]:
    """Read an account's entries in order, and stop at one that was changed."""
    for entry in rows_of(transaction, row["id"]):
        if hash_of(entry) != entry["hash"]:
            raise RecordDamaged(
                f"Entry {entry['sequence']} of account '{row['name']}' was changed outside of the "
                "ledger. See all that is wrong: noren ledger verify."
            )
        yield entry


def entries_of(transaction: Transaction, row: Row) -> Iterator[Entry]:
    """Give an account's entries, oldest first."""
    terms = read_opened(row["opened"])
    for entry in whole_rows(transaction, row):
        charged = entry["kind"] == CHARGED
        body = json.loads(entry["body"]) if charged else {}
        columns = body.get("columns")
        yield Entry(
            sequence=entry["sequence"],
            time=entry["time"],
            kind=entry["kind"],
            request_id=entry["request"],
            question=body["question"]["kind"] if charged else None,
            price=price_from_json(body["price"]) if charged else None,
            charge=terms.filter.stated(Amounts(entry["amount"], entry["delta"]))
            if charged
            else None,
            columns=None if columns is None else tuple(columns),
            hash=entry["hash"],
        )
