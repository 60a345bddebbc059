"""The chain of an account's entries: each carries the hash of the one before it.

Whoever changes, removes or reorders an entry breaks the chain from there on, unless every later
hash is computed anew; and then no head hash that was printed with an earlier answer is found in
it any more. A chain alone cannot show that its tail was cut off or that an older copy was put
back: keep the head hash of an answer elsewhere, and `verify` it.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from noren.errors import RecordDamaged

OPENED, CHARGED, ANSWERED = "opened", "charged", "answered"
GENESIS = "0" * 64
HASHED = (
    "account",
    "sequence",
    "kind",
    "request",
    "time",
    "amount",
    "delta",
    "body",
    "previous",
)
SEALED = ("id", "name", "opened", "spent", "spent_delta", "length", "head")

# JSON in one line, in ASCII; NaN and infinities are tagged before, so none is written
as_text = json.JSONEncoder(separators=(",", ":")).encode


def hash_of(entry: dict[str, Any]) -> str:
    """Give an entry's hash, over all of its fields but the hash itself."""
    return digest_of(entry, HASHED)


def sealed(row: dict[str, Any]) -> str:
    """Give the digest of an account's row, so that a damaged total is noticed at the next ask."""
    return digest_of(row, SEALED)


def digest_of(row: dict[str, Any], fields: tuple[str, ...]) -> str:
    """Hash fields a line each: none that a ledger writes holds a line break."""
    text = "\n".join([str(row[field]) for field in fields])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def linked(
    account: dict[str, Any], kind: str, request: str, body: str, amount: int = 0, delta: int = 0
) -> dict[str, Any]:
    """Make the entry that follows an account's head."""
    entry = {
        "account": account["id"],
        "sequence": account["length"],
        "kind": kind,
        "request": request,
        "time": now(),
        "amount": amount,
        "delta": delta,
        "body": body,
        "previous": account["head"],
    }
    return {**entry, "hash": hash_of(entry)}


def extended(account: dict[str, Any], entry: dict[str, Any], **totals: int) -> dict[str, Any]:
    """Give an account's row after an entry."""
    grown = {**account, "length": account["length"] + 1, "head": entry["hash"], **totals}
    return {**grown, "seal": sealed(grown)}


def intact(account: dict[str, Any], where: str) -> dict[str, Any]:
    """Give back an account's row, or refuse one that was damaged."""
    if sealed(account) != account["seal"]:
        raise RecordDamaged(
            f"The row of account {account['name']!r} in {where} was changed outside of the ledger, "
            "so its totals cannot be believed. See what is wrong: noren ledger verify."
        )
    return account


def now() -> str:
    """Give the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
