"""What a device sends: read, checked, and never quoted.

    {"v": 1, "task": ..., "epoch": e, "slot": t, "client": name for one epoch, "class": c,
     "y": 0, 1 or null, "tag": HMAC-SHA256 over all of these, by the client's enrolment key}

Without the tag anyone could answer first in another's name, and the true report would be dropped.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, NamedTuple


class Receipt(Enum):
    """What a collector answers to one message. All are idempotent: sending again is safe."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    OFF_SCHEDULE = "off-schedule"
    LATE = "late"
    MALFORMED = "malformed"


class Message(NamedTuple):
    """A message that has the right form."""

    epoch: int
    slot: int
    client: str
    kind: int
    y: int | None
    tag: str


MOST_BYTES = 2048


def read_message(given: Any, task: str) -> Message | None:
    """Read one message, as text or as its JSON object; None where it has not the right form."""
    try:
        if isinstance(given, (str, bytes)):
            if len(given) > MOST_BYTES:
                return None
            given = json.loads(given)
        if given["v"] != 1 or given["task"] != task or len(given) != 8:
            return None
        found = Message(
            given["epoch"], given["slot"], given["client"], given["class"], given["y"], given["tag"]
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if well_formed(found) else None


def well_formed(message: Message) -> bool:
    """Check the types, strictly: true is not 1 here."""
    return (
        type(message.epoch) is int
        and type(message.slot) is int
        and type(message.kind) is int
        and type(message.client) is str
        and type(message.tag) is str
        and (message.y is None or (type(message.y) is int and message.y in (0, 1)))
    )
