"""Every statement that a ledger runs, in SQLAlchemy Core; each is compiled once."""

from __future__ import annotations

from sqlalchemy import BindParameter, bindparam, func, insert, select, text, update

from noren.ledger.schema import ACCOUNTS, ARRAYS, COLUMNS, ENTRIES, LEDGER

PAGE = 500  # entries read at once
CHUNK = 200  # names in one IN (...): the last chunk repeats its last name

_account: BindParameter[str] = bindparam("account")
_request: BindParameter[str] = bindparam("request")
_names: list[BindParameter[str]] = [bindparam(f"name{number}") for number in range(CHUNK)]
_mine = COLUMNS.c.account == _account
_added = {COLUMNS.c.spent: COLUMNS.c.spent + bindparam("amount")}

VERSION = select(LEDGER)
ACCOUNT = select(ACCOUNTS).where(ACCOUNTS.c.name == bindparam("account_name"))
ACCOUNT_LOCKED = ACCOUNT.with_for_update()
EVERY_ACCOUNT = select(ACCOUNTS).order_by(ACCOUNTS.c.name)
ADD_ACCOUNT = insert(ACCOUNTS)
UPDATE_ACCOUNT = (
    update(ACCOUNTS)
    .where(ACCOUNTS.c.id == _account, ACCOUNTS.c.head == bindparam("old_head"))
    .values(
        spent=bindparam("new_spent"),
        spent_delta=bindparam("new_spent_delta"),
        length=bindparam("new_length"),
        head=bindparam("new_head"),
        seal=bindparam("new_seal"),
    )
)

ADD_ENTRY = insert(ENTRIES)
REQUEST = select(ENTRIES).where(
    ENTRIES.c.account == _account,
    ENTRIES.c.request == _request,
    ENTRIES.c.kind == bindparam("wanted"),
)
ENTRIES_AFTER = (
    select(ENTRIES)
    .where(ENTRIES.c.account == _account, ENTRIES.c.sequence > bindparam("after"))
    .order_by(ENTRIES.c.sequence)
    .limit(bindparam("page"))
)
ENTRY_COUNT = select(func.count().label("entries")).where(ENTRIES.c.account == _account)
STRAY_ENTRIES = (
    select(ENTRIES.c.account).distinct().where(ENTRIES.c.account.not_in(select(ACCOUNTS.c.id)))
)

ADD_ARRAY = insert(ARRAYS)
ARRAY_ROWS = (
    select(ARRAYS.c.number, ARRAYS.c.part, ARRAYS.c.data)
    .where(ARRAYS.c.account == _account, ARRAYS.c.request == _request)
    .order_by(ARRAYS.c.number, ARRAYS.c.part)
)
ARRAY_OWNERS = select(ARRAYS.c.account, ARRAYS.c.request).distinct()

ADD_COLUMN = insert(COLUMNS)
EVERY_COLUMN = select(COLUMNS.c.name, COLUMNS.c.spent).where(_mine).order_by(COLUMNS.c.name)
HIGHEST_COLUMN = select(func.max(COLUMNS.c.spent).label("spent")).where(_mine)
SOME_COLUMNS = select(COLUMNS.c.name, COLUMNS.c.spent).where(_mine, COLUMNS.c.name.in_(_names))
CHARGE_EVERY_COLUMN = update(COLUMNS).where(_mine).values(_added)
CHARGE_SOME_COLUMNS = update(COLUMNS).where(_mine, COLUMNS.c.name.in_(_names)).values(_added)

ADD_LEDGER = insert(LEDGER)
SET_VERSION = update(LEDGER).values(version=bindparam("new_version"), seal=bindparam("new_seal"))
INTEGRITY = text("PRAGMA integrity_check")
