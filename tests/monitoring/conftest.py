"""A plan, a clock that tests set, and randomness that can be repeated."""

import random
from fractions import Fraction

import pytest

from noren.monitoring.client import Client
from noren.monitoring.planning import plan
from noren.monitoring.plans import Timetable

KEY = b"an enrolment key of this client"
START = 1_000_000.0
SLOT = 60.0


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now=START - 1):
        self.now = now

    def __call__(self):
        return self.now

    def go(self, slot, horizon=8, epoch=0, part=0.5):
        self.now = START + (epoch * horizon + slot - 1 + part) * SLOT
        return self


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def made():
    """Give the JSON of a plan."""

    def make(strategy="block", horizon=8, epsilon=2, reports=3, **settings):
        settings.setdefault("timetable", Timetable(origin=START, slot_seconds=SLOT))
        found = plan(1000, horizon, epsilon, 0.5, strategy=strategy, reports=reports, task="home",
                     **settings)  # fmt: skip
        return found.to_dict()

    return make


@pytest.fixture
def client_of(tmp_path, clock):
    """Make a client on a state file of the test."""

    def make(given, seed=1, device="phone", **settings):
        settings.setdefault("lifetime_epsilon", 1000)
        settings.setdefault("randbelow", random.Random(seed).randrange)
        settings.setdefault("clock", clock)
        state = settings.pop("state", tmp_path / "state.json")
        return Client(state, given, device=device, key=KEY, **settings)

    return make


def ticket(slots=(2, 5, 7), epoch=0, **more):
    return {"task": "home", "epoch": epoch, "slots": list(slots), **more}


@pytest.fixture(name="ticket")
def ticket_fixture():
    return ticket


@pytest.fixture
def exact_epsilon():
    return Fraction(2)
