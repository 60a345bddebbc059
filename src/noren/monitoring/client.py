"""The part of monitoring that runs on a person's device: one file, standard library only.

Copy it alone into any Python program (3.10 or newer). It reads one bit in few slots of an epoch,
tells the truth or lies by a pattern that was drawn before the first bit was seen, and never lets
the same lie be used twice.

    client = Client("state.json", plan, device="phone-7", key=key, lifetime_epsilon="20")
    client.begin(ticket)               # which slots of this epoch are mine; again is harmless
    message = client.report(read_bit)  # at a fixed moment of every slot, whatever the state is
    send(message)                      # and again, byte for byte, until it is acknowledged

`plan` and `ticket` are the JSON objects that the collector publishes and hands out; nothing in
them is trusted: the weights are checked against both privacy limits, exactly, before use.

Guarantee
    One device, state file never copied or rolled back: replacing the whole trajectory of bits of
    one epoch by any other changes the chance of no transcript by more than e**epsilon. It is local:
    it holds against the collector too. Epochs and tasks add up; `lifetime_epsilon` limits the sum.

What this file does about crashes
    1  The pattern and its charge are on disk before a bit is read.
    2  What was decided is on disk, and its lie erased, before it may be sent.
    3  A slot that was answered is answered with the same bytes for ever.
    4  Without its state file (lost, damaged, of another device) a client is silent in every epoch
       that began before the new file did: a second draw would double the price.
    5  A clock that goes backwards finds slots closed.
    6  A changed plan has to wait for the next epoch; so does a slot beyond the k-th.

What it cannot protect against
    Two copies of a state file (a clone, a restored backup, a machine image rolled back) answer one
    slot twice with the same lie, and then the two bits are seen to agree or not: an infinite
    loss. Keep the file out of backups and of sync. Bits that are read, or a device that runs, only
    when the state is 1: then silence tells what the lie would have hidden. A program that can read
    this file, or this process. A clock that was far behind when the file was made, and was set
    right later: the file then seems older than it is. A lost file takes its charges with it: give
    `charges`, a second place for them, or ask the person and pass `spent_before`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import comb, floor, isfinite
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # pragma: no cover - not a POSIX system: one process at a time must use a file
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
NOT_PRIVATE = "NOT PRIVATE: drawn from randomness that was handed in"
RATIO_BITS = 200
MOST_EPSILON = 9_000  # no protection at all, and what Python still reads as a whole number
TASK = re.compile(r"[A-Za-z0-9_.-]{1,64}")
STRATEGIES = ("published", "independent", "ramp", "block", "rolling", "tree")
Json = dict[str, Any]


class ClientError(Exception):
    """A plan, a ticket or a setting that this client will not act on."""


class Refused(ClientError):
    """The epoch would pass the person's lifetime budget."""


class Client:
    """Report a private bit in few slots, as a plan says, at a price fixed before.

    Parameters
    ----------
    state : path
        The state file. It is the person's ledger and holds the lies not used yet: never copy it.
    plan : dict
        The published plan.
    device : str
        Names this device; a state file of another device counts as lost.
    key : bytes
        The enrolment key that this client shares with the collector, to sign its messages.
    lifetime_epsilon : str, int or Fraction
        What all tasks and epochs together may cost this person.
    charges : path, optional
        A second place for the charges (never for the lies), which survives the loss of `state`.
    spent_before : str, int or Fraction
        What was spent before, as far as nobody but the person knows.
    randbelow, clock : callable
        For tests. Any other source of randomness marks the state file NOT PRIVATE.
    """

    def __init__(
        self,
        state: Any,
        plan: Json,
        *,
        device: str,
        key: bytes,
        lifetime_epsilon: Any,
        charges: Any = None,
        spent_before: Any = 0,
        randbelow: Callable[[int], int] = secrets.randbelow,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = Path(state).resolve()
        self._charges = None if charges is None else Path(charges).resolve()
        self._device, self._key, self._clock = device, bytes(key), clock
        self._cap, self._before = Fraction(lifetime_epsilon), Fraction(spent_before)
        self._randbelow, self._private = randbelow, randbelow is secrets.randbelow
        self.plan = CheckedPlan(plan)
        with self._locked():
            self._load()

    def begin(self, ticket: Json) -> bool:
        """Draw and store the pattern of an epoch; say whether this client takes part in it.

        It is safe to call before every report: an epoch is drawn once. False means that the client
        is silent: the epoch has not begun or has passed, or it began before the state file did.
        """
        terms = self.plan.terms_of(ticket)
        epoch = whole(ticket.get("epoch"), "the ticket's epoch", 0)
        with self._locked():
            state = self._load()
            mine = state["tasks"].get(self.plan.task)
            if self.plan.rolling:
                return self._begin_cycles(state, mine, terms)
            now, start = self._clock(), self.plan.start_of(epoch)
            if mine is not None and now < mine["ends"]:
                return bool(mine["epoch"] == epoch) and self._unchanged(mine, terms)
            if start < state["created"] or not start <= now < self.plan.start_of(epoch + 1):
                return False
            self._draw(state, epoch, terms, mine)
        return True

    def report(self, read_bit: Callable[[], int]) -> str | None:
        """Give the message of the slot that the clock says it is; None means silence.

        In a slot that is not this client's, the message says NONE (`y` is null) and is as long as
        any other, so that who watches an encrypted wire learns nothing; it need not be sent.
        `read_bit` is called at most once.
        """
        moment = self.plan.slot_at(self._clock())
        if moment is None:
            return None
        epoch, slot = moment
        with self._locked():
            state = self._load()
            mine = state["tasks"].get(self.plan.task)
            if mine is None or mine["plan"] != self.plan.digest:
                return None
            if self.plan.rolling:
                mine = self._cycle(state, mine, epoch, slot)
            if mine is None or mine["epoch"] != epoch:
                return None
            return self._answer(state, mine, slot, read_bit)

    def again(self, slot: int) -> str | None:
        """Give the bytes that were sent in a slot of the latest epoch; None if none were.

        For a collector that takes reports a while after their slot is over.
        """
        with self._locked():
            mine = self._load()["tasks"].get(self.plan.task)
        if mine is None or mine["plan"] != self.plan.digest or str(slot) not in mine["sent"]:
            return None
        return self._message(mine, slot, mine["sent"][str(slot)])

    @property
    def spent(self) -> Fraction:
        """What this person has spent over all tasks and epochs."""
        with self._locked():
            return self._spent(self._load())

    def _answer(
        self, state: Json, mine: Json, slot: int, read_bit: Callable[[], int]
    ) -> str | None:
        """Answer one slot: as before, or NONE, or with one more bit."""
        if str(slot) in mine["sent"]:
            return self._message(mine, slot, mine["sent"][str(slot)])
        place = mine["epoch"] * self.plan.horizon + slot
        if place <= mine["highest"]:
            return None
        if not self.plan.reports_in(mine, slot):
            return self._message(mine, slot, None)
        bit = read_bit()
        if type(bit) not in (int, bool) or bit not in (0, 1):
            raise ClientError("read_bit gave something that is not a bit; it must give 0 or 1.")
        mine["sent"][str(slot)] = self.plan.answer(mine, slot, int(bit), self._randbelow)
        mine["highest"] = place
        mine["latest"] = max(mine.get("latest", 0), self.plan.end_of(place))
        self._save(state)
        return self._message(mine, slot, mine["sent"][str(slot)])

    def _unchanged(self, mine: Json, terms: Json) -> bool:
        """Refuse a plan or slots other than those that the running epoch was drawn for."""
        drawn_here = ("slots",) if self.plan.dummies else ()
        changed = [name for name in terms if name not in drawn_here and mine[name] != terms[name]]
        if changed or mine["plan"] != self.plan.digest:
            raise ClientError(
                "The plan or the slots changed within an epoch, but they are fixed when it begins. "
                "Wait for the next epoch."
            )
        return True

    def _begin_cycles(self, state: Json, mine: Json | None, terms: Json) -> bool:
        """Fix the slots of every cycle; after any change, be silent for a whole window."""
        now = {**terms, "plan": self.plan.digest}
        if mine is None or any(mine[name] != value for name, value in now.items()):
            fresh = self._blank(-1, terms, mine)
            moment = max(self._clock(), fresh["latest"])  # the clock may have gone backwards
            fresh["since"] = self.plan.place_at(moment) + self.plan.horizon + 1
            state["tasks"][self.plan.task] = fresh
            self._save(state)
        return True

    def _cycle(self, state: Json, mine: Json, cycle: int, slot: int) -> Json | None:
        """Draw the coins of a cycle when it comes; None in the window after a change."""
        if cycle * self.plan.horizon + slot - 1 < mine["since"]:
            return None
        if mine["epoch"] < cycle:
            return self._draw(state, cycle, {name: mine[name] for name in TERMS}, mine)
        return mine

    def _blank(self, epoch: int, terms: Json, before: Json | None) -> Json:
        """Give a task's state with no lies drawn."""
        same = before is not None and before["plan"] == self.plan.digest
        return {
            **terms, "plan": self.plan.digest, "epoch": epoch, "signs": [], "sent": {},
            "used": 0, "last": 0, "ends": self.plan.start_of(epoch + 1),
            "highest": before["highest"] if before and same else -1,
            "since": before["since"] if before and same else 0,
            "latest": before.get("latest", 0) if before else 0,
        }  # fmt: skip

    def _draw(self, state: Json, epoch: int, terms: Json, before: Json | None) -> Json:
        """Charge, draw the lies of an epoch, and write both at once, before any use."""
        name, price = f"{self.plan.task}#{epoch}#{self.plan.digest[:16]}", self.plan.epsilon
        if self._spent(state) + price > self._cap:
            raise Refused(
                f"This epoch costs {price} and would pass the lifetime budget of {self._cap}. "
                "Stop here, or let the person decide on a larger one."
            )
        state["charges"][name] = str(Fraction(state["charges"].get(name, 0)) + price)
        mine = self._blank(epoch, terms, before)
        mine["slots"], mine["signs"] = self.plan.draw(terms["slots"], self._randbelow)
        state["tasks"][self.plan.task] = mine
        if self._charges is not None:
            write_durably(self._charges, json.dumps(state["charges"]))
        self._save(state)
        return mine

    def _message(self, mine: Json, slot: int, y: int | None) -> str:
        """Write the message of a slot: always the same bytes for the same content.

        Spaces at the end make NONE and a bit equally long, also when the wire is encrypted.
        """
        client = pseudonym(self._key, self.plan.task, mine["epoch"])
        kind = mine["class"] + mine["level"]
        made = {"v": FORMAT, "task": self.plan.task, "epoch": mine["epoch"], "slot": slot,
                "client": client, "class": kind, "y": y}  # fmt: skip
        made["tag"] = tag_of(self._key, made)
        text = json.dumps(made, separators=(",", ":"))
        return text if y is None else text + " " * (len("null") - 1)

    def _spent(self, state: Json) -> Fraction:
        """Add up all charges."""
        return self._before + sum((Fraction(it) for it in state["charges"].values()), Fraction(0))

    def _load(self) -> Json:
        """Read the state; where there is none of this device, begin one that starts now."""
        try:
            with self._path.open(encoding="utf-8") as file:
                state: Json = json.load(file)
            mine = state["format"] == FORMAT and state["device"] == self._device
            if mine and is_whole(state):
                return state
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        state = {"format": FORMAT, "device": self._device, "created": self._clock(),
                 "marks": [], "charges": self._charges_elsewhere(), "tasks": {}}  # fmt: skip
        self._save(state)
        return state

    def _charges_elsewhere(self) -> dict[str, str]:
        """Read the charges from their second place."""
        if self._charges is None or not self._charges.exists():
            return {}
        try:
            with self._charges.open(encoding="utf-8") as file:
                found: dict[str, str] = json.load(file)
            sum(map(Fraction, found.values()))
        except (OSError, ValueError, TypeError, AttributeError):
            raise ClientError(
                "The second place of the charges cannot be read, so what this person has spent is "
                "not known. Repair it, or ask the person and pass spent_before without it."
            ) from None
        return found

    def _save(self, state: Json) -> None:
        """Write the state durably, marked if its randomness was handed in."""
        if not self._private and NOT_PRIVATE not in state["marks"]:
            state["marks"].append(NOT_PRIVATE)
        write_durably(self._path, json.dumps(state))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one process at a time read and write the state."""
        handle = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class CheckedPlan:
    """A plan whose weights keep the limits that it claims, and what it makes a client do."""

    def __init__(self, given: Json) -> None:
        try:
            self._read(given)
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise ClientError(
                f"The plan cannot be read ({type(error).__name__}). Fetch it again."
            ) from None
        agreed = (
            TASK.fullmatch(self.task) is not None
            and self.strategy in STRATEGIES
            and len(self.weights) == self.coins + 1
            and 1 <= self.reports <= self.horizon
            and 0 <= self.dummy <= 1
            and isfinite(self.origin)
            and self.slot_seconds > 0
            and isfinite(self.slot_seconds)
            and self.epsilon <= MOST_EPSILON
            and keeps_limits(self.weights, self.coin_epsilon, self.coin_slot_epsilon)
        )
        if not agreed:
            raise ClientError(
                "The plan's settings or weights do not keep what it claims. "
                "Use no such plan; ask who sent it."
            )

    def _read(self, given: Json) -> None:
        """Read the fields."""
        self.task, self.strategy = str(given["task"]), str(given["strategy"])
        self.horizon, self.reports = int(given["horizon"]), int(given["reports"])
        self.epsilon = Fraction(str(given["epsilon"]))
        self.weights = [int(weight) for weight in given["weights"]]
        self.origin, self.slot_seconds = float(given["origin"]), float(given["slot_seconds"])
        self.dummy = Fraction(str(given.get("dummy", 0)))
        self.rolling, self.tree = self.strategy == "rolling", self.strategy == "tree"
        self.dummies = self.strategy == "published"
        single = self.strategy in ("published", "independent", "rolling")
        self.coins = 1 if single else self.reports
        self.coin_epsilon = self.epsilon / (self.reports if single else 1)
        slot = given.get("slot_epsilon")
        self.coin_slot_epsilon = (
            self.coin_epsilon if slot is None else min(self.coin_epsilon, Fraction(str(slot)))
        )
        told = json.dumps(given, sort_keys=True, separators=(",", ":"))
        self.digest = hashlib.sha256(told.encode()).hexdigest()

    def start_of(self, epoch: int) -> float:
        """Give the moment at which an epoch begins."""
        return self.origin + epoch * self.horizon * self.slot_seconds

    def end_of(self, slots: int) -> float:
        """Give the moment at which so many slots from the origin on are over."""
        return self.origin + slots * self.slot_seconds

    def place_at(self, now: float) -> int:
        """Count the slots from the origin to a moment."""
        return floor((now - self.origin) / self.slot_seconds)

    def slot_at(self, now: float) -> tuple[int, int] | None:
        """Give epoch and slot (1..horizon) of a moment; None before the origin."""
        epoch, slot = divmod(self.place_at(now), self.horizon)
        return (epoch, slot + 1) if epoch >= 0 else None

    def terms_of(self, ticket: Json) -> Json:
        """Read what a ticket fixes for an epoch: the slots, the level, the class."""
        if not isinstance(ticket, dict):
            raise ClientError("A ticket must be a JSON object. Ask the collector for it again.")
        if ticket.get("task") != self.task:
            raise ClientError(
                "The ticket is for another task than the plan. Ask the collector for the right one."
            )
        kind = whole(ticket.get("class", 0), "the ticket's class", 0)
        return {"slots": self.slots_of(ticket), "level": self.level_of(ticket), "class": kind}

    def slots_of(self, ticket: Json) -> list[int]:
        """Read the slots of a ticket: at most k different ones (the published way needs none)."""
        if self.dummies or self.tree:
            return []
        named = ticket.get("slots", [])
        if not isinstance(named, (list, tuple)):
            raise ClientError(
                "The slots of a ticket must be a list. Ask the collector for it again."
            )
        slots = [whole(slot, "a slot of the ticket", 1) for slot in named]
        if len(set(slots)) != len(slots) or not 1 <= len(slots) <= self.reports:
            raise ClientError(
                f"A ticket must name 1 to {self.reports} different slots. "
                "Ask the collector for it again."
            )
        if max(slots) > self.horizon:
            raise ClientError(f"A ticket names a slot after the last one, {self.horizon}.")
        return slots

    def level_of(self, ticket: Json) -> int:
        """Read the level of a ticket of the tree; every other strategy has level 0."""
        level = whole(ticket.get("level", 0), "the ticket's level", 0)
        if level and not (self.tree and 1 << level <= self.horizon):
            raise ClientError(
                "The ticket's level is none of this plan. Ask the collector for the right one."
            )
        return level

    def reports_in(self, mine: Json, slot: int) -> bool:
        """Say whether a slot is answered at all; this never depends on the state."""
        if self.tree:
            return bool(slot % (1 << mine["level"]) == 0)
        return self.dummies or slot in mine["slots"]

    def draw(
        self, slots: list[int], randbelow: Callable[[int], int]
    ) -> tuple[list[int], list[int]]:
        """Draw which slots are answered (published way only) and the lies: 1 truth, -1 lie."""
        if self.dummies:
            slots = sorted(t + 1 for t in sample(self.horizon, self.reports, randbelow))
        if self.coins == 1 and not self.tree:
            return slots, [self.pattern(randbelow)[0] for _ in range(self.reports)]
        return slots, self.pattern(randbelow)

    def pattern(self, randbelow: Callable[[int], int]) -> list[int]:
        """Draw one pattern by exact integers: how many lies, then where."""
        masses = [comb(self.coins, j) * weight for j, weight in enumerate(self.weights)]
        left, lies = randbelow(sum(masses)), 0
        while left >= masses[lies]:
            left -= masses[lies]
            lies += 1
        signs = [1] * self.coins
        for i in sample(self.coins, lies, randbelow):
            signs[i] = -1
        return signs

    def answer(self, mine: Json, slot: int, bit: int, randbelow: Callable[[int], int]) -> int:
        """Turn a bit into what is said, and use up its lie."""
        if self.tree:
            return self._answer_change(mine, bit, randbelow)
        if slot not in mine["slots"]:  # a dummy of the published way: the bit plays no part
            return int(randbelow(self.dummy.denominator) < self.dummy.numerator)
        i = mine["slots"].index(slot)
        sign, mine["signs"][i] = mine["signs"][i], 0
        if sign == 0:
            raise ClientError("This slot's lie is used up. Wait for the next slot.")
        return int(bit ^ (sign < 0))

    def _answer_change(self, mine: Json, bit: int, randbelow: Callable[[int], int]) -> int:
        """Say how the bit changed since the last interval: a fair coin if it did not."""
        change, mine["last"] = bit - mine["last"], bit
        if change == 0 or mine["used"] >= self.reports:
            return randbelow(2)
        sign, mine["signs"][mine["used"]] = mine["signs"][mine["used"]], 0
        mine["used"] += 1
        return int(change * sign > 0)


def sample(n: int, size: int, randbelow: Callable[[int], int]) -> list[int]:
    """Draw `size` different numbers below n (Fisher and Yates)."""
    order = list(range(n))
    for i in range(size):
        j = i + randbelow(n - i)
        order[i], order[j] = order[j], order[i]
    return order[:size]


def exponential_floor(x: Fraction) -> int:
    """Give an integer certainly not above 2**200 e**x."""
    digits = floor(float(x) / 2.3) + 140
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        value = (Decimal(x.numerator) / Decimal(x.denominator)).exp() * Decimal(2) ** RATIO_BITS
        slack = value.scaleb(20 - digits)
    return floor(Fraction(value) - Fraction(slack))


def keeps_limits(weights: list[int], epsilon: Fraction, slot_epsilon: Fraction) -> bool:
    """Check both limits on the integers: any two patterns, and patterns one sign apart."""
    if not weights or min(weights) <= 0 or epsilon <= 0 or slot_epsilon <= 0:
        return False
    most, step = exponential_floor(epsilon), exponential_floor(slot_epsilon)
    pairs = pairwise(weights)
    return max(weights) << RATIO_BITS <= most * min(weights) and all(
        max(a, b) << RATIO_BITS <= step * min(a, b) for a, b in pairs
    )


def pseudonym(key: bytes, task: str, epoch: int) -> str:
    """Name a client for one epoch: derived, so that it cannot be chosen."""
    return hmac.new(key, f"pseudonym|{task}|{epoch}".encode(), hashlib.sha256).hexdigest()[:32]


def tag_of(key: bytes, message: Json) -> str:
    """Sign every other field of a message."""
    told = "|".join(str(message[name]) for name in SIGNED)
    return hmac.new(key, told.encode(), hashlib.sha256).hexdigest()


TERMS = ("slots", "level", "class")
SIGNED = ("v", "task", "epoch", "slot", "client", "class", "y")


NUMBERS = ("epoch", "used", "last", "highest", "since", "level", "class")


def is_whole(state: Json) -> bool:
    """Tell whether a state has all that a client writes; one that was damaged is begun anew."""
    sum(map(Fraction, state["charges"].values()))
    return (
        isinstance(state["marks"], list)
        and type(state["created"]) in (int, float)
        and all(map(is_whole_task, state["tasks"].values()))
    )


def is_whole_task(mine: Json) -> bool:
    """Tell whether the state of one task has all its parts, of the right types."""
    slots, signs = mine["slots"], mine["signs"]
    return (
        type(mine["plan"]) is str
        and all(type(mine[name]) is int for name in NUMBERS)
        and all(type(moment) in (int, float) for moment in (mine["ends"], mine.get("latest", 0)))
        and all(type(it) is int for it in (*slots, *signs, *map(int, mine["sent"])))
        and all(said in (0, 1) for said in mine["sent"].values())
        and (not signs or len(signs) >= len(slots))
    )


def whole(value: Any, name: str, least: int) -> int:
    """Read a whole number of a ticket."""
    if type(value) is not int or value < least:
        raise ClientError(f"{name} must be a whole number, at least {least}.")
    return int(value)


def write_durably(path: Path, text: str) -> None:
    """Replace a file; when this returns, no power cut can bring the older one back."""
    temporary = path.with_name(path.name + ".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    if os.name != "posix":  # elsewhere a folder cannot be opened, and its system writes it itself
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
