"""The steps of one ask: admit, charge, store, and give a stored answer back.

    validate -> charge, committed -> draw noise and answer -> store, committed -> return

The request id is written in the charging transaction and is unique within the account, so of
two processes with one id only one charges and draws. A crash after the charge leaves an id that
is spent: drawing again for it would let whoever can stop the process pick among outcomes.

`Asked` is everything that the ledger needs to know of a question, worked out before any lock is
taken; each step below runs inside one transaction.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from noren import __version__
from noren.errors import LedgerError, NotPrivate, RecordDamaged
from noren.ledger.account import price_to_json, read_opened
from noren.ledger.chain import ANSWERED, CHARGED, as_text, extended, hash_of, linked
from noren.ledger.columns import admit_columns, charge_columns, columns_asked
from noren.ledger.database import Row, Transaction
from noren.ledger.statements import (
    ADD_ARRAY,
    ADD_ENTRY,
    ARRAY_ROWS,
    REQUEST,
    UPDATE_ACCOUNT,
)
from noren.ledger.stored import Array, assembled, description, from_stored, parts, to_stored
from noren.privacy.amounts import Amounts
from noren.privacy.filters import refuse_or_charge
from noren.privacy.guarantee import Guarantee
from noren.privacy.plan import check_statistic
from noren.question import CANONICAL, Receipt, as_json, public_form


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the ledger sees it."""

    price: Guarantee
    digest: str
    columns: tuple[str, ...] | None
    body: str

    @classmethod
    def of(cls, question: Any, bits: str) -> Asked:
        """Read a question's price, name and public parameters."""
        price = getattr(question, "guarantee", None)
        if not isinstance(price, Guarantee):
            what = getattr(question, "kind", type(question).__name__)
            raise NotPrivate(
                f"What is asked ('{what}') has no guarantee, so no price, and a ledger does not "
                "answer it. Ask a question that has one."
            )
        form = CANONICAL.encode(public_form(question))
        digest = hashlib.sha256(form.encode()).hexdigest()
        columns = columns_asked(question)
        body = {
            "digest": digest,
            "price": price_to_json(price),
            "columns": columns,
            "mechanisms": as_json(getattr(question, "mechanisms", None)),
            "assumed_public": list(question.assumed_public),
            "notes": list(question.notes),
            "noren": __version__,
            "bits": bits,
        }
        text = f'{{"question":{form},{as_text(body)[1:]}'  # its form is written out once
        return cls(price, digest, columns, text)


@dataclass(frozen=True, slots=True)
class Storable:
    """An answer made ready before the account is held: its JSON, and its arrays beside it."""

    body: str
    arrays: list[Array]

    @classmethod
    def of(cls, answer: Any) -> Storable:
        """Take an answer's released fields apart."""
        arrays: list[Array] = []
        record = to_stored(answer.record(), arrays)
        described = [description(array) for array in arrays]
        body = {"record": record, "arrays": described, "secure": answer.secure}
        return cls(as_text(body), arrays)


def admit(transaction: Transaction, row: Row, request: str, asked: Asked) -> Amounts | None:
    """Give the charge; None where the same request was charged before; refuse all else."""
    before = transaction.one(REQUEST, account=row["id"], request=request, wanted=CHARGED)
    if before is not None:
        if json.loads(before["body"])["digest"] != asked.digest:
            raise LedgerError(
                f"Request '{request}' of account '{row['name']}' was charged for another question. "
                "An id stands for one question: choose a new id for this one."
            )
        return None
    opened = read_opened(row["opened"])
    if opened.has_columns:
        return admit_columns(transaction, row, opened, asked.columns, asked.price)
    return refuse_or_charge(opened.filter, spent_of(row), asked.price)


def charge(
    transaction: Transaction, row: Row, request: str, asked: Asked, question: Any, statistic: Any
) -> Row | None:
    """Write the charge of an admitted request; None where it was charged before.

    A statistic that does not fit the question is refused here, before anything is written.
    """
    cost = admit(transaction, row, request, asked)
    if cost is None:
        return None
    check_statistic(question, statistic)
    if read_opened(row["opened"]).has_columns:
        spent = charge_columns(transaction, row["id"], asked.columns, cost.main)
    else:
        spent = row["spent"] + cost.main
    entry = linked(row, CHARGED, request, asked.body, cost.main, cost.delta)
    return append(transaction, row, entry, spent=spent, spent_delta=row["spent_delta"] + cost.delta)


def store(transaction: Transaction, row: Row, request: str, ready: Storable) -> Row | None:
    """Write an answer; None, and nothing written, where the account's head has moved on."""
    grown = append(transaction, row, linked(row, ANSWERED, request, ready.body))
    if grown is not None:
        for number, array in enumerate(ready.arrays):
            for part, data in enumerate(parts(array)):
                where = {"account": row["id"], "request": request, "number": number, "part": part}
                transaction.run(ADD_ARRAY, **where, data=data)
    return grown


def append(transaction: Transaction, row: Row, entry: Row, **totals: int) -> Row | None:
    """Move the account's head and totals along and add the entry; None if the head has moved."""
    grown = extended(row, entry, **totals)
    moved = transaction.run(
        UPDATE_ACCOUNT,
        account=row["id"],
        old_head=row["head"],
        new_spent=grown["spent"],
        new_spent_delta=grown["spent_delta"],
        new_length=grown["length"],
        new_head=grown["head"],
        new_seal=grown["seal"],
    )
    if not moved:
        return None
    transaction.run(ADD_ENTRY, **entry)
    return grown


def stored_answer(transaction: Transaction, row: Row, request: str, question: Any) -> Any:
    """Give back a stored answer with its receipt, or None where none is stored yet."""
    entry = transaction.one(REQUEST, account=row["id"], request=request, wanted=ANSWERED)
    if entry is None:
        return None
    if hash_of(entry) != entry["hash"]:
        raise damaged(row["name"], request)
    body = json.loads(entry["body"])
    rows = transaction.all(ARRAY_ROWS, account=row["id"], request=request)
    arrays = arrays_of(body["arrays"], rows)
    if arrays is None:
        raise damaged(row["name"], request)
    answer = question.restore(from_stored(body["record"], arrays))
    receipt = Receipt(row["name"], request, entry["hash"])
    return replace(answer, secure=body["secure"], receipt=receipt)


def arrays_of(descriptions: list[Row], rows: list[Row]) -> list[Array] | None:
    """Put an answer's arrays together again; None where a part is missing or was changed."""
    found = []
    for number, described in enumerate(descriptions):
        try:
            made = assembled(described, [row["data"] for row in rows if row["number"] == number])
        except (ValueError, TypeError):
            return None
        if description(made) != described:
            return None
        found.append(made)
    return found


def damaged(account: str, request: str) -> RecordDamaged:
    """Say that a stored answer cannot be believed."""
    return RecordDamaged(
        f"The stored answer of request '{request}' in account '{account}' was changed outside of "
        "the ledger, so it is not given. See what is wrong: noren ledger verify."
    )


def spent_of(row: Row) -> Amounts:
    """Give what an account has spent."""
    return Amounts(row["spent"], row["spent_delta"])
