"""Who reports when: public, keyed, and blind to the data.

Closed roster
    The people are ordered by HMAC-SHA256(epoch key, client), the slots in a keyed order rho.
    The person of rank i reports in rho[(i k + j) mod T], j = 0..k-1: k different slots, and every
    slot gets floor or ceil of N k / T people. (For the tree: levels for slots, and k = 1.)

Open roster
    Nobody knows N: each person reports in the k slots that a keyed hash of the client puts first.

Privacy
    The schedule is public and depends on no state, so conditioning on it costs nothing. The key is
    drawn after the roster is closed and clients are issued, not chosen: who knew the key and could
    pick a name would hit any wanted slot after about T / k tries.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def digest(key: bytes, text: str) -> bytes:
    """Give a keyed hash."""
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def keyed_order(key: bytes, text: str, size: int) -> NDArray[np.intp]:
    """Give a keyed order of 0..size-1: by words of a stream that the hash begins."""
    stream = hashlib.shake_256(digest(key, text)).digest(16 * size)
    words = np.frombuffer(stream, ">u8").reshape(size, 2)
    return np.lexsort((np.arange(size), words[:, 1], words[:, 0]))


def ranks(key: bytes, clients: Iterable[str]) -> dict[str, int]:
    """Give each client its rank in the keyed order."""
    ordered = sorted(clients, key=lambda client: (digest(key, f"client|{client}"), client))
    return {client: rank for rank, client in enumerate(ordered)}


@dataclass(frozen=True, slots=True)
class ClosedSchedule:
    """The slots of each rank, for k of T slots."""

    key: bytes
    horizon: int
    reports: int

    def order(self) -> NDArray[np.intp]:
        """Give rho, the keyed order of the slots (numbered from 1)."""
        return keyed_order(self.key, "slots", self.horizon) + 1

    def slots(self, rank: int) -> list[int]:
        """Give the slots of one rank, in the order of time."""
        rho = self.order()
        first = rank * self.reports
        return sorted(int(rho[(first + j) % self.horizon]) for j in range(self.reports))


def open_slots(key: bytes, client: str, horizon: int, reports: int) -> list[int]:
    """Give the slots of a client where the roster is open."""
    first = keyed_order(key, f"open|{client}", horizon)[:reports]
    return sorted(int(slot) + 1 for slot in first)
