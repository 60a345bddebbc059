"""`Ledger`: budgets that survive crashes, races and tampering, and the answers they paid for.

Every account protects one dataset: a random id and a name for people, an adjacency, one of two
filters, a total. Two accounts over the same rows add up; only their keeper can know of that.

    ask    validate -> charge, committed -> draw noise and answer -> store, committed -> return

A crash after the charge costs budget, never privacy: the request id is spent and asking it again
raises `ReleaseLost`. There are no refunds. Asks of one account are serialized by the database,
across threads, processes and (PostgreSQL) machines. Argument: docs/proofs/ledger.md.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

from noren.errors import LedgerError, NotPrivate, ParameterError, ReleaseLost
from noren.ledger.account import (
    Balance,
    balance_of,
    no_account,
    open_terms,
    read_columns,
    read_name,
    read_opened,
)
from noren.ledger.asking import Asked, Storable, admit, append, charge, store, stored_answer
from noren.ledger.chain import GENESIS, OPENED, intact, linked, sealed
from noren.ledger.columns import add_columns, column_balances
from noren.ledger.database import Database, Row, Transaction
from noren.ledger.export import exported
from noren.ledger.history import Entry, entries_of
from noren.ledger.opening import bring_up_to_date
from noren.ledger.place import read_place
from noren.ledger.statements import ACCOUNT, ACCOUNT_LOCKED, ADD_ACCOUNT, EVERY_ACCOUNT
from noren.ledger.verify import Verification, verified
from noren.noise import Noise
from noren.privacy.guarantee import Guarantee
from noren.question import Receipt

PATIENCE = 10.0  # seconds to wait for an answer that another process is drawing
POLL = 0.02


class Ledger:
    """Keep budgets, charge questions, and store the answers. Made by `Ledger.open`.

    Examples
    --------
    >>> from noren import Guarantee
    >>> ledger = Ledger.open("sqlite://")  # in memory; a file name keeps it
    >>> print(ledger.create_account("cohort", Guarantee("add-remove", epsilon=1)))
    account 'cohort' (one record is added or removed; pure): epsilon 0 spent of epsilon 1;
    largest single question: epsilon 1
    """

    def __init__(self, database: Database, *, patience: float, testing: bool) -> None:
        self._database, self._patience, self._testing = database, patience, testing
        self._noise: Noise | None = None

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        *,
        create: bool = True,
        patience: float = PATIENCE,
        testing: bool = False,
    ) -> Self:
        """Open the ledger at a file, in memory ("sqlite://") or on PostgreSQL; make a new one.

        Parameters
        ----------
        place
            A file name, "sqlite:///file", "sqlite://", or "postgresql://user@host/database".
        create
            Whether a missing file is made; otherwise it is refused.
        patience
            Seconds to wait for an answer that another process is drawing.
        testing
            Whether seeded noise is accepted: in memory only, since such answers protect nobody.
        """
        url = read_place(place)
        if testing and (url.get_backend_name() != "sqlite" or url.database is not None):
            raise NotPrivate(
                "A ledger for testing accepts seeded noise, so it cannot be a real one. Open it in "
                "memory: Ledger.open('sqlite://', testing=True)."
            )
        database = Database(url, create=create)
        try:
            bring_up_to_date(database, create=create)
        except BaseException:
            database.close()
            raise
        return cls(database, patience=patience, testing=testing)

    def create_account(
        self,
        name: str,
        budget: Guarantee,
        *,
        filter: str | None = None,
        columns: Iterable[str] | None = None,
    ) -> Balance:
        """Open an account for one dataset; its balance says what single questions it affords.

        Parameters
        ----------
        name
            A name for people; the dataset's id is a random UUID.
        budget
            The total, under the adjacency that protects the dataset.
        filter
            'zcdp' (many small questions; the default, it needs rho, or epsilon with delta) or
            'pure' (few large ones; the default for epsilon alone).
        columns
            Names of columns that each get the (pure) budget for themselves.
        """
        named = None if columns is None else read_columns(columns)
        terms = open_terms(read_name(name), budget, filter, named)
        row: Row = {"id": str(uuid.uuid4()), "name": name, "opened": terms}
        row |= {"spent": 0, "spent_delta": 0, "length": 0, "head": GENESIS}
        try:
            with self._database.write() as transaction:
                transaction.run(ADD_ACCOUNT, **row, seal=sealed(row))
                append(transaction, row, linked(row, OPENED, "", terms))
                if named is not None:
                    add_columns(transaction, row["id"], named)
        except Exception as error:
            if not self._database.is_integrity_error(error):
                raise
            raise LedgerError(
                f"There is an account '{name}' in {self._database.shown} already. An account's "
                "budget never changes: choose another name for other data."
            ) from None
        return self.balance(name)

    def ask(
        self,
        account: str,
        question: Any,
        statistic: Any,
        *,
        request_id: str | None = None,
        noise: Noise | None = None,
    ) -> Any:
        """Charge a question, answer it, store the answer, and return it with a receipt.

        Parameters
        ----------
        account
            The account's name.
        question
            Any `Question`; its guarantee is the price.
        statistic
            What the data says, or a function without arguments that counts it. The function is
            called only when the question can be paid and was not asked before under this id.
        request_id
            Ask again with the same id, and the stored answer comes back: nothing is drawn and
            nothing is charged. Left out, it is a random one.
        noise
            Only for tests on a ledger opened with `testing=True`, or for another secure source.
        """
        source = self._secure(noise)
        request = str(uuid.uuid4()) if request_id is None else read_name(request_id, "request_id")
        asked = Asked.of(question, source.name)
        if callable(statistic):
            if self._is_charged(account, request, asked):
                return self._wait_for(account, request, question)
            statistic = statistic()
        with self._database.write() as transaction:
            row = self._row(transaction, account, lock=True)
            charged = charge(transaction, row, request, asked, question, statistic)
        if charged is None:
            return self._wait_for(account, request, question)
        answer = question.answer(statistic, source)
        ready = Storable.of(answer)
        with self._database.write() as transaction:
            # usually nobody else wrote since the charge, and its row is still the account's
            stored = store(transaction, charged, request, ready)
            if stored is None:
                row = self._row(transaction, account, lock=True)
                stored = store(transaction, row, request, ready)
            assert stored is not None  # the row is held
        return replace(answer, receipt=Receipt(account, request, stored["head"]))

    def balance(self, name: str) -> Balance:
        """Say what an account may spend, has spent, and can still afford."""
        with self._database.read() as transaction:
            row = self._row(transaction, name)
            opened = read_opened(row["opened"])
            columns = column_balances(transaction, row["id"]) if opened.has_columns else None
        return balance_of(row, opened, columns)

    def accounts(self) -> list[str]:
        """Name the accounts."""
        with self._database.read() as transaction:
            return [row["name"] for row in transaction.all(EVERY_ACCOUNT)]

    def history(self, name: str) -> list[Entry]:
        """List what an account was opened with, charged and answered, oldest first."""
        with self._database.read() as transaction:
            row = self._row(transaction, name)
            return list(entries_of(transaction, row))

    def verify(self, *, head: str | None = None) -> Verification:
        """Recompute every chain and total; raise `RecordDamaged`, naming all that is wrong.

        Parameters
        ----------
        head
            The head hash of a receipt kept elsewhere. A ledger that lost its tail, or an older
            copy put back, does not hold it.
        """
        return verified(self._database, head)

    def export(self, name: str | None = None) -> dict[str, Any]:
        """Give every charge with its mechanisms, for an accountant outside (JSON-safe)."""
        with self._database.read() as transaction:
            rows = (
                transaction.all(EVERY_ACCOUNT) if name is None else [self._row(transaction, name)]
            )
            return exported(transaction, rows)

    def close(self) -> None:
        """Close the database's connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._database.shown!r}{', for testing' if self._testing else ''})"

    def _row(self, transaction: Transaction, name: str, *, lock: bool = False) -> Row:
        """Read an account's row, and hold it where asked."""
        row = transaction.one(ACCOUNT_LOCKED if lock else ACCOUNT, account_name=name)
        if row is None:
            known = [other["name"] for other in transaction.all(EVERY_ACCOUNT)]
            raise no_account(name, self._database.shown, known)
        return intact(row, self._database.shown)

    def _secure(self, noise: Noise | None) -> Noise:
        """Take the noise that was handed in, if it may be used here, or our own."""
        if noise is None:
            if self._noise is None:
                self._noise = Noise()
            return self._noise
        if not isinstance(noise, Noise):
            raise ParameterError(
                "noise", f"a {type(noise).__name__}", "a noren.Noise", "Leave it out."
            )
        if not noise.secure and not self._testing:
            raise NotPrivate(
                f"The noise ({noise.name}) can be predicted, and this ledger is a real one. Leave "
                "it out, or test with Ledger.open('sqlite://', testing=True)."
            )
        return noise

    def _is_charged(self, account: str, request: str, asked: Asked) -> bool:
        """Look, before counting, whether a request was charged; refuse what cannot be paid."""
        with self._database.read() as transaction:
            return admit(transaction, self._row(transaction, account), request, asked) is None

    def _wait_for(self, account: str, request: str, question: Any) -> Any:
        """Give the stored answer of a charged request; another process may be drawing it."""
        deadline = time.monotonic() + self._patience
        while True:
            with self._database.read() as transaction:
                row = self._row(transaction, account)
                answer = stored_answer(transaction, row, request, question)
            if answer is not None:
                return answer
            if time.monotonic() >= deadline:
                raise ReleaseLost(
                    f"Request '{request}' of account '{account}' was charged, but no answer is "
                    "stored. If another process is still drawing it, ask again later with the same "
                    "id. If it crashed, the id is spent: a new id pays again, because drawing "
                    "twice for one charge would not be private."
                )
            time.sleep(POLL)
