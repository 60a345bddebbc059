"""Judge messages one by one, and write what they change in one commit.

First accepted wins. The same bit again is a duplicate, the other bit a conflict; both are dropped.
Every answer is idempotent, so that at-least-once delivery is safe.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

from noren.monitoring.counts_file import ADD_COUNT, ADD_UNCOUNTED, CountsFile
from noren.monitoring.messages import Message, Receipt, read_message
from noren.monitoring.roster import Roster

NOWHERE = -1  # the epoch and slot of messages whose own may be anything
Place = tuple[int, int]


class Collecting(Protocol):
    """What judging a message needs to know."""

    file: CountsFile
    answered: dict[Place, dict[str, int]]
    newest: int

    @property
    def task(self) -> str:
        """The task that is collected."""

    def roster(self, epoch: int) -> Roster | None:
        """Give the roster of an epoch."""

    def is_late(self, epoch: int, slot: int) -> bool:
        """Say whether a slot takes no more reports."""

    def is_early(self, epoch: int, slot: int) -> bool:
        """Say whether a slot has not begun."""


class Batch:
    """Some messages, judged one by one and written in one commit."""

    def __init__(self, collector: Collecting) -> None:
        self.collector = collector
        self.new: dict[Place, dict[str, int]] = {}
        self.counts: Counter[tuple[int, int, int, int]] = Counter()
        self.uncounted: Counter[tuple[int, int, str]] = Counter()

    def take(self, given: Any) -> Receipt:
        """Judge one message."""
        message = read_message(given, self.collector.task)
        receipt = Receipt.MALFORMED if message is None else self.judged(message)
        if receipt is not Receipt.ACCEPTED:
            place = (NOWHERE, NOWHERE)
            if message is not None and receipt is not Receipt.MALFORMED:
                place = (message.epoch, message.slot)
            if receipt is Receipt.OFF_SCHEDULE:  # its numbers may be anything: keep one row
                place = (NOWHERE, NOWHERE)
            self.uncounted[*place, receipt.value] += 1
        return receipt

    def judged(self, message: Message) -> Receipt:
        """Judge a message that has the right form."""
        roster = self.collector.roster(message.epoch)
        if roster is None:
            return Receipt.OFF_SCHEDULE
        member = roster.signed_by(message)
        if member is None:
            return Receipt.MALFORMED
        if message.y is None:  # cover traffic: nothing to count
            return Receipt.ACCEPTED
        if not roster.on_schedule(member, message.slot):
            return Receipt.OFF_SCHEDULE
        return self.counted(message, message.y)

    def counted(self, message: Message, y: int) -> Receipt:
        """Count a message whose sender may report in its slot, unless it came before or late."""
        collector, place = self.collector, (message.epoch, message.slot)
        fresh = self.new.setdefault(place, {})
        known = fresh.get(message.client, collector.answered.get(place, {}).get(message.client))
        if known is not None:
            return Receipt.DUPLICATE if known == y else Receipt.CONFLICT
        if collector.is_late(*place):
            return Receipt.LATE
        if collector.is_early(*place):
            return Receipt.OFF_SCHEDULE
        fresh[message.client] = y
        collector.newest = max(collector.newest, message.epoch)
        self.counts[*place, message.kind, y] += 1
        return Receipt.ACCEPTED

    def commit(self) -> None:
        """Write everything, then remember it."""
        with self.collector.file.transaction() as rows:
            rows.executemany(
                "INSERT INTO answered VALUES (?, ?, ?, ?)",
                [(*place, who, y) for place, fresh in self.new.items() for who, y in fresh.items()],
            )
            rows.executemany(
                ADD_COUNT, [(e, t, kind, n, n * y) for (e, t, kind, y), n in self.counts.items()]
            )
            rows.executemany(ADD_UNCOUNTED, [(*key, n) for key, n in self.uncounted.items()])
        for place, fresh in self.new.items():
            self.collector.answered.setdefault(place, {}).update(fresh)
