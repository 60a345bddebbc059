"""Count reports as they come, seal each slot once, and decide.

What it guarantees to its users
    A message that is accepted is counted exactly once, however often it is sent and whenever this
    program is stopped: counts, and who has answered, are committed together, before the receipt is
    given. A sealed slot never changes; its decision is stored in the same commit. Reports off the
    published schedule are refused, so that x false clients move a slot's estimate by at most
    x / (c K), and not by T / k times as much.

Privacy
    The collector needs no trust: what it sees is noisy already. It sees who takes part, in which
    class and when; none of that may depend on a state.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from noren.errors import FileProblem, ParameterError
from noren.monitoring.counts_file import CountsFile
from noren.monitoring.messages import Receipt
from noren.monitoring.plans import MonitoringPlan
from noren.monitoring.receiving import Batch, Place
from noren.monitoring.roster import Member, Roster, enrolled
from noren.monitoring.sealing import decide, fed
from noren.monitoring.smoothing import Smoother
from noren.noise import Noise
from noren.privacy.numbers import whole

MOST_AT_ONCE = 10_000
MOST_ROSTERS = 3  # held in memory
REMEMBERED = 1000  # slots back that a slot's silence is compared with


class Collector:
    """Collect the reports of one task into a file of counts.

    Parameters
    ----------
    path : path
        The file of counts; opened again after a restart, it goes on where it was.
    plans : MonitoringPlan or sequence of them, optional
        The plan of each class of people; stored in the file, so needed only when it is new.
    clock : callable, optional
        Seconds since 1970. With a clock, slots seal on time (`seal`); without, only by `flush`.
    retry_slots : int
        How many slots after its own a message is still recognised as one that was counted.
    random_classes : bool
        People were put into classes at random: combine classes by precision. Otherwise by size.
    smooth : bool
        Show a smoothed estimate beside the raw one.

    Examples
    --------
    >>> from noren.monitoring import plan
    >>> collector = Collector(":memory:", plan(4, 2, 1, 0.5, strategy="block", reports=1))
    >>> tickets = collector.open_epoch(0, {"ann": b"1", "bob": b"2", "cid": b"3", "dan": b"4"})
    >>> sorted(len(ticket["slots"]) for ticket in tickets)
    [1, 1, 1, 1]
    >>> collector.receive(["not a message"])
    [<Receipt.MALFORMED: 'malformed'>]
    >>> [decision["verdict"] for decision in collector.flush(0, 2)]
    ['no data', 'no data']
    """

    def __init__(
        self,
        path: str | Path,
        plans: MonitoringPlan | Sequence[MonitoringPlan] | None = None,
        *,
        clock: Callable[[], float] | None = None,
        retry_slots: int = 1,
        random_classes: bool = False,
        smooth: bool = False,
    ) -> None:
        self.file, self._clock = CountsFile(path), clock
        self.plans = self._read_plans(path, plans)
        self._retry = whole("retry_slots", retry_slots, 0)
        self._by_precision = random_classes
        self._rosters: dict[int, Roster] = {}
        self._bank = Smoother() if smooth else None
        self._history: deque[dict[str, Any]] = deque(maxlen=REMEMBERED)
        for decision in self.file.decisions():
            self._remember(decision)
        self.answered: dict[Place, dict[str, int]] = {}
        for epoch, slot, client, y in self.file.answered():
            self.answered.setdefault((epoch, slot), {})[client] = y
        self._through = self.file.sealed_through()
        self.newest = max((epoch for epoch, _ in self.answered), default=0)

    def _read_plans(
        self, path: str | Path, plans: MonitoringPlan | Sequence[MonitoringPlan] | None
    ) -> tuple[MonitoringPlan, ...]:
        """Take the stored plans, or store the given ones in a new file."""
        stored = self.file.fact("plans")
        if plans is None:
            if stored is None:
                raise FileProblem(f"{path} holds no plan yet. Name the plan to collect for.")
            return tuple(MonitoringPlan.from_dict(plan) for plan in stored)
        given = (plans,) if isinstance(plans, MonitoringPlan) else tuple(plans)
        check_together(given)
        forms = [plan.to_dict() for plan in given]
        if stored is not None and stored != json.loads(json.dumps(forms)):
            raise FileProblem(
                f"{path} counts for another plan. A plan stands for whole epochs: "
                "begin another file."
            )
        self.file.store_fact("plans", forms)
        return given

    def open_epoch(
        self,
        epoch: int,
        clients: Mapping[str, bytes],
        kinds: Mapping[str, int] | None = None,
        *,
        epoch_key: bytes | None = None,
    ) -> list[dict[str, Any]]:
        """Close the roster of an epoch, draw its schedule, and give everyone's ticket.

        Parameters
        ----------
        epoch : int
            Its number (0 where the plan is rolling: one roster serves all cycles).
        clients : mapping
            Issued names, and the enrolment key of each.
        kinds : mapping, optional
            The class of each (0 where not named).
        epoch_key : bytes, optional
            What the schedule is drawn from; drawn anew, after the roster is closed, unless given.
        """
        whole("epoch", epoch, 0)
        if self.file.rows("SELECT 1 FROM epochs WHERE epoch = ?", epoch):
            raise ParameterError(
                "epoch", epoch, "one that is not open yet", "A schedule is drawn once."
            )
        key = epoch_key or int(Noise().integers_below(1 << 256)).to_bytes(32, "big")
        members = enrolled(clients, kinds or {}, key, len(self.plans))
        with self.file.transaction() as rows:
            rows.execute("INSERT INTO epochs VALUES (?, ?)", (epoch, key))
            rows.executemany(
                "INSERT INTO members VALUES (?, ?, ?, ?, ?)", [(epoch, *it) for it in members]
            )
        self._rosters.clear()
        return list(Roster.of(self.plans, epoch, members, key).tickets(key))

    def receive(self, messages: Iterable[Any]) -> list[Receipt]:
        """Count messages (at most 10,000 at once), and say what became of each."""
        given = list(messages)
        if len(given) > MOST_AT_ONCE:
            raise ParameterError("messages", len(given), f"at most {MOST_AT_ONCE} at once")
        batch = Batch(self)
        receipts = [batch.take(message) for message in given]
        batch.commit()
        return receipts

    def seal(self) -> list[dict[str, Any]]:
        """Seal every slot whose time is over, by the clock; give the decisions, oldest first."""
        if self._clock is None:
            raise ParameterError("clock", None, "given to seal by time", "Or use flush().")
        found = []
        for epoch in self._known_epochs():
            due = self._due(epoch)
            found += self.flush(epoch, due) if due else []
        return found

    def flush(self, epoch: int, slot: int) -> list[dict[str, Any]]:
        """Seal every slot of an epoch up to this one; give the new decisions."""
        last = min(whole("slot", slot, 0), self.horizon)
        if not self._is_open(epoch):
            raise ParameterError(
                "epoch", epoch, "one that is open", "What is sealed is sealed for ever."
            )
        found = []
        for number in range(self._through.get(epoch, 0) + 1, last + 1):
            found.append(self._seal_one(epoch, number))
        return found

    def decisions(self) -> list[dict[str, Any]]:
        """Give every decision so far, in order."""
        return list(self.file.decisions())

    def unannounced(self) -> Iterator[dict[str, Any]]:
        """Give each decision that was not announced yet; it is marked when the next is taken."""
        for decision in self.file.decisions(announced=False):
            yield decision
            place = decision["epoch"], decision["slot"]
            statement = "UPDATE sealed SET announced = 1 WHERE epoch = ? AND slot = ?"
            self.file.connection.execute(statement, place)

    def uncounted(self) -> dict[str, int]:
        """Say how many messages were not counted, and why."""
        return dict(self.file.rows("SELECT why, sum(messages) FROM uncounted GROUP BY why"))

    def counts(self, epoch: int, slot: int) -> dict[int, tuple[int, int]]:
        """Give (reports, ones) of a slot by class."""
        return self.file.counts(epoch, slot)

    def last_counted(self) -> dict[int, int]:
        """Give the last slot of each epoch that has a report."""
        found = self.file.rows("SELECT epoch, max(slot) FROM counts GROUP BY epoch ORDER BY epoch")
        return dict(found)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def horizon(self) -> int:
        """How many slots an epoch has."""
        return self.plans[0].horizon

    @property
    def task(self) -> str:
        """The public name of what is collected."""
        return self.plans[0].task

    @property
    def rolling(self) -> bool:
        """Whether one roster serves every cycle."""
        return self.plans[0].chosen.name == "rolling"

    def roster(self, epoch: int) -> Roster | None:
        """Give the roster of an epoch; None where none was opened."""
        if epoch in self._rosters:
            return self._rosters[epoch]
        roster = self._load_roster(epoch)
        if roster is not None:
            self._rosters[epoch] = roster
            for old in sorted(self._rosters)[:-MOST_ROSTERS]:
                del self._rosters[old]
        return roster

    def _load_roster(self, epoch: int) -> Roster | None:
        """Read a roster from the file."""
        if self.rolling and not self._is_near(epoch):
            return None  # nobody reports there, and anybody may name it
        home = 0 if self.rolling else epoch
        found = self.file.rows("SELECT key FROM epochs WHERE epoch = ?", home)
        if not found:
            return None
        statement = "SELECT client, key, kind, rank FROM members WHERE epoch = ?"
        members = [Member(*row) for row in self.file.rows(statement, home)]
        return Roster.of(self.plans, epoch, members, found[0][0])

    def _is_open(self, epoch: int) -> bool:
        """Say whether an epoch has a roster, or a cycle of a rolling plan may have reports."""
        home = 0 if self.rolling else epoch
        opened = bool(self.file.rows("SELECT 1 FROM epochs WHERE epoch = ?", home))
        if not (opened and self.rolling):
            return opened
        return 0 <= epoch <= max(self._current_cycle(), self.newest) + 1

    def _is_near(self, cycle: int) -> bool:
        """Say whether devices may report in a cycle of a rolling plan.

        By the clock; where messages come without one, up to the cycle after the newest report.
        """
        if self._clock is not None:
            return abs(cycle - self._current_cycle()) <= 1
        sealed = self._current_cycle()
        return sealed - 1 <= cycle <= max(sealed, self.newest) + 1

    def _known_epochs(self) -> list[int]:
        """Give the epochs that may have slots to seal."""
        opened = [epoch for (epoch,) in self.file.rows("SELECT epoch FROM epochs ORDER BY epoch")]
        if not (self.rolling and opened and self._clock is not None):
            return opened
        return list(range(max(self._through, default=0), self._current_cycle() + 1))

    def _current_cycle(self) -> int:
        """Give the cycle of a rolling plan that it is now, by the clock or by what was sealed."""
        if self._clock is None:
            return max(self._through, default=0)
        times = self.plans[0].timetable
        return int((self._clock() - times.origin) // (times.slot_seconds * self.horizon))

    def slot_end(self, epoch: int, slot: int) -> float:
        """Give the moment at which a slot ends."""
        times = self.plans[0].timetable
        return times.origin + (epoch * self.horizon + slot) * times.slot_seconds

    def _due(self, epoch: int) -> int:
        """Give the last slot of an epoch whose time, with its grace, is over."""
        times = self.plans[0].timetable
        assert self._clock is not None
        past = self._clock() - times.grace_seconds - self.slot_end(epoch, 0)
        return max(0, min(self.horizon, int(past // times.slot_seconds)))

    def is_late(self, epoch: int, slot: int) -> bool:
        """Say whether a slot takes no more reports."""
        if slot <= self._through.get(epoch, 0):
            return True
        return self._clock is not None and slot <= self._due(epoch)

    def is_early(self, epoch: int, slot: int) -> bool:
        """Say whether a slot has not begun."""
        return self._clock is not None and self._clock() < self.slot_end(epoch, slot - 1)

    def _seal_one(self, epoch: int, slot: int) -> dict[str, Any]:
        """Seal one slot: decide, store the decision, and forget who answered long ago."""
        roster = self.roster(epoch)
        decision = decide(
            self.plans, epoch, slot, lambda t: self.file.counts(epoch, t),
            roster.scheduled(slot) if roster else {}, self._history,
            sizes=roster.sizes() if roster else None, by_precision=self._by_precision,
            smoother=self._bank,
        )  # fmt: skip
        old = [it for it in self.answered if self._is_old(it, (epoch, slot))]
        with self.file.transaction() as rows:
            rows.execute(
                "INSERT INTO sealed(epoch, slot, decision) VALUES (?, ?, ?)",
                (epoch, slot, json.dumps(decision)),
            )
            rows.executemany("DELETE FROM answered WHERE epoch = ? AND slot = ?", old)
        self._through[epoch] = slot
        self._history.append(decision)
        for place in old:
            del self.answered[place]
        return decision

    def _remember(self, decision: dict[str, Any]) -> None:
        """Take a decision of an earlier run as the latest of the past."""
        self._history.append(decision)
        if self._bank is not None:
            fed(self._bank, decision)

    def _is_old(self, place: Place, now: Place) -> bool:
        """Say whether a slot lies so far back that its answers are forgotten."""
        ago = (now[0] - place[0]) * self.horizon + now[1] - place[1]
        return ago >= self._retry


def check_together(plans: Sequence[MonitoringPlan]) -> None:
    """Refuse classes that do not share a task, a timetable, slots and a threshold."""
    if not plans:
        raise ParameterError("plans", "empty", "at least one plan")
    shared = {(p.task, p.horizon, p.timetable, p.threshold, p.rule, p.alpha) for p in plans}
    alone = {"tree", "rolling"} & {plan.chosen.name for plan in plans}
    if len(shared) > 1 or (alone and len(plans) > 1):
        raise ParameterError(
            "plans", "given", "of one task, timetable, horizon, threshold and rule",
            "The tree and rolling plans stand alone.",
        )  # fmt: skip
