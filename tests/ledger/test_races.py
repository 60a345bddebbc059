"""Processes that ask one account at the same moment never pass its budget together."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from ledger_asker import pure

from noren import Ledger

ASKER = str(Path(__file__).parent / "ledger_asker.py")
SLOW = pytest.mark.slow


def race(place, price, draws, shares):
    """Let a process for each share (first, step, count) ask at once; give what each got."""
    racers = [
        subprocess.Popen(
            [sys.executable, ASKER, place, "cohort", price, str(draws), *map(str, share)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for share in shares
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    got = [json.loads(racer.communicate()[0]) for racer in racers]
    assert all(racer.returncode == 0 for racer in racers)
    return got


def drawn(draws):
    return Counter(draws.read_text().split())


@pytest.mark.parametrize(
    ("processes", "requests", "admitted"),
    [(3, 40, 50), pytest.param(8, 10_000, 1_000, marks=SLOW)],
)
def test_racing_requests_are_granted_exactly_as_the_budget_admits(
    place, tmp_path, processes, requests, admitted
):
    draws = tmp_path / "draws"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        shares = [(first, processes, requests) for first in range(processes)]
        got = race(place, f"{1 / admitted}", draws, shares)
        granted = [request for share in got for request in share]
        assert len(granted) == len(set(granted)) == admitted
        assert drawn(draws) == Counter(granted)
        assert ledger.balance("cohort").remaining == pure(0)
        assert ledger.verify().entries == 1 + 2 * admitted


@pytest.mark.parametrize(("processes", "requests"), [(3, 25), pytest.param(8, 1_000, marks=SLOW)])
def test_racing_processes_with_the_same_ids_share_one_draw_and_one_answer(
    place, tmp_path, processes, requests
):
    draws = tmp_path / "draws"
    with Ledger.open(place) as ledger:
        ledger.create_account("cohort", pure(1))
        got = race(place, f"{1 / requests}", draws, [(0, 1, requests)] * processes)
        assert all(one == got[0] and len(one) == requests for one in got)
        assert set(drawn(draws).values()) == {1}
        assert ledger.balance("cohort").remaining == pure(0)
        ledger.verify()
