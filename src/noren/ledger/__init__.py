"""Budgets and stored answers: SQLite by default, PostgreSQL when several machines share them.

Every account protects one dataset under one adjacency. A question is charged first, and that is
on disk before the first draw; its answer is stored, and the same request id gives it back free.
"""

from noren.ledger.account import Balance as Balance
from noren.ledger.history import Entry as Entry
from noren.ledger.ledger import Ledger as Ledger
from noren.ledger.verify import Verification as Verification
