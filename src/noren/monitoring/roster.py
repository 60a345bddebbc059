"""Who takes part in an epoch, with which key, in which class, and when each of them reports."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.monitoring.client import pseudonym, tag_of
from noren.monitoring.messages import Message
from noren.monitoring.plans import MonitoringPlan
from noren.monitoring.schedule import ClosedSchedule, keyed_order, ranks
from noren.monitoring.tree import levels


class Member(NamedTuple):
    """One person's device: its issued name, enrolment key, class and rank within the class."""

    client: str
    key: bytes
    kind: int
    rank: int


def enrolled(
    clients: Mapping[str, bytes], kinds: Mapping[str, int], epoch_key: bytes, classes: int
) -> list[Member]:
    """Close a roster: give everyone a rank in their class, by the epoch's key."""
    if not all(clients.values()) or len(set(clients.values())) < len(clients):
        raise ParameterError(
            "clients", "with an empty enrolment key, or two of one", "each with a key of its own",
            "The key signs a device's messages and makes its name in an epoch.",
        )  # fmt: skip
    groups: list[list[str]] = [[] for _ in range(classes)]
    for client in clients:
        kind = kinds.get(client, 0)
        if not 0 <= kind < classes:
            raise ParameterError("class", kind, f"below the number of plans, {classes}")
        groups[kind].append(client)
    return [
        Member(client, clients[client], kind, rank)
        for kind, group in enumerate(groups)
        for client, rank in ranks(epoch_key, group).items()
    ]


@dataclass(slots=True, repr=False)
class Roster:
    """The members of an epoch by the name that they use in it, and their timetable."""

    plans: Sequence[MonitoringPlan]
    epoch: int
    members: dict[str, Member]
    places: list[NDArray[np.intp]]
    tree_order: list[int]

    @classmethod
    def of(
        cls, plans: Sequence[MonitoringPlan], epoch: int, members: Iterable[Member], key: bytes
    ) -> Roster:
        """Name the members for an epoch."""
        task = plans[0].task
        named = {pseudonym(member.key, task, epoch): member for member in members}
        places = [np.argsort(keyed_order(key, "slots", plan.horizon)) for plan in plans]
        depth = levels(plans[0].horizon) + 1
        tree_order = keyed_order(key, "levels", depth).tolist() if depth else []
        return cls(plans, epoch, named, places, tree_order)

    def level(self, member: Member) -> int:
        """Give the level of a member where the plan is the tree, else 0."""
        if self.plans[member.kind].chosen.name != "tree":
            return 0
        return self.tree_order[member.rank % len(self.tree_order)]

    def on_schedule(self, member: Member, slot: int) -> bool:
        """Say whether a member reports in a slot."""
        plan = self.plans[member.kind]
        if not 1 <= slot <= plan.horizon:
            return False
        if plan.chosen.name == "published":
            return True
        if plan.chosen.name == "tree":
            return slot % (1 << self.level(member)) == 0
        k = plan.chosen.reports
        ahead = int(self.places[member.kind][slot - 1]) - member.rank * k
        return ahead % plan.horizon < k

    def signed_by(self, message: Message) -> Member | None:
        """Give the member whose message this is; None if it is nobody's."""
        member = self.members.get(message.client)
        if member is None or message.kind != member.kind + self.level(member):
            return None
        made = {"v": 1, "task": self.plans[0].task, "epoch": message.epoch, "slot": message.slot,
                "client": message.client, "class": message.kind, "y": message.y}  # fmt: skip
        return member if hmac.compare_digest(tag_of(member.key, made), message.tag) else None

    def sizes(self) -> dict[int, int]:
        """Count the people of each class."""
        return dict(Counter(member.kind for member in self.members.values()))

    def scheduled(self, slot: int) -> dict[int, int]:
        """Count, by class as messages name it, who reports in a slot."""
        found: Counter[int] = Counter()
        for kind, people in self.sizes().items():
            plan, rank = self.plans[kind], np.arange(people)
            if plan.chosen.name == "tree":
                for level, ranked in Counter((rank % len(self.tree_order)).tolist()).items():
                    if slot % (1 << self.tree_order[level]) == 0:
                        found[kind + self.tree_order[level]] += ranked
            elif plan.chosen.name == "published":
                found[kind] = people
            else:
                k, place = plan.chosen.reports, int(self.places[kind][slot - 1])
                found[kind] = int(np.count_nonzero((place - rank * k) % plan.horizon < k))
        return found

    def tickets(self, key: bytes) -> Iterator[dict[str, Any]]:
        """Give each member's ticket: in which slots (or on which level) it reports."""
        for member in self.members.values():
            plan = self.plans[member.kind]
            ticket: dict[str, Any] = {"client": member.client, "task": plan.task,
                                      "epoch": self.epoch, "class": member.kind}  # fmt: skip
            if plan.chosen.name == "tree":
                ticket["level"] = self.level(member)
            elif plan.chosen.name != "published":
                schedule = ClosedSchedule(key, plan.horizon, plan.chosen.reports)
                ticket["slots"] = schedule.slots(member.rank)
            yield ticket
