"""Processes killed at random moments inside `ask` leave a ledger that keeps its promises."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ledger_asker import pure, tally

from noren import Ledger
from noren.errors import ReleaseLost

ASKER = str(Path(__file__).parent / "ledger_asker.py")
PRICE = "0.001"


def killed_run(place, draws, first, after):
    """Ask from request `first` on, and kill the asker after a while."""
    asker = subprocess.Popen(
        [sys.executable, ASKER, place, "cohort", PRICE, str(draws), str(first), "1", "100000"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with asker:
        assert asker.stdout.readline() == "ready\n"
        asker.stdin.write("go\n")
        asker.stdin.flush()
        time.sleep(after)
        asker.kill()
    time.sleep(0.05)  # a PostgreSQL server may still be finishing the last commit it was sent


def state(ledger):
    """Give the requests that were charged, and those that were answered."""
    entries = ledger.history("cohort")
    by_kind = {kind: [e for e in entries if e.kind == kind] for kind in ("charged", "answered")}
    return tuple(Counter(entry.request_id for entry in by_kind[kind]) for kind in by_kind)


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_whenever_a_process_is_killed_the_ledger_keeps_its_promises(place, tmp_path, kills):
    draws, random = tmp_path / "draws", np.random.default_rng(kills)
    draws.touch()
    spent, half_done = 0, set()
    with Ledger.open(place, patience=0) as ledger:
        ledger.create_account("cohort", pure(1000))
        for run in range(kills):
            killed_run(place, draws, run * 1_000_000, float(random.uniform(0.001, 0.06)))
            ledger.verify()  # the chain and the totals, the budget included
            charged, answered = state(ledger)
            drawn = Counter(draws.read_text().split())
            for counted in (charged, answered, drawn):
                assert max(counted.values(), default=1) == 1  # never twice
            assert set(answered) <= set(drawn) <= set(charged)  # never without its charge
            assert len(charged) >= spent  # nothing is given back
            spent = len(charged)
            for request in set(charged) - set(answered) - half_done:
                half_done.add(request)
                question = tally(PRICE, label=request, draws=str(draws))
                with pytest.raises(ReleaseLost):  # never drawn again
                    ledger.ask("cohort", question, 100, request_id=request)
        assert ledger.balance("cohort").spent.epsilon == pure(PRICE).epsilon * spent
        assert spent > 0  # the runs did get to ask, however busy the machine
        if kills >= 100:
            assert half_done  # and some were killed between charge and store


@pytest.mark.parametrize("moment", ["before the draw", "after the draw", "while storing"])
def test_a_crash_between_charge_and_store_spends_the_id(ledger, monkeypatch, moment):
    """The same moments, reached for certain: an interrupt stands for the kill."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    ledger.create_account("cohort", pure(1))
    question = tally("0.25")
    with monkeypatch.context() as patched:
        if moment == "before the draw":
            patched.setattr("ledger_asker.Tally.answer", interrupt)
        elif moment == "after the draw":
            patched.setattr("noren.ledger.ledger.store", interrupt)
        else:
            patched.setattr("noren.ledger.asking.append", after_charge(interrupt))
        with pytest.raises(KeyboardInterrupt):
            ledger.ask("cohort", question, 100, request_id="a")
    with pytest.raises(ReleaseLost):
        ledger.ask("cohort", question, 100, request_id="a")
    ledger.verify()
    assert ledger.balance("cohort").spent == pure("0.25")
    assert ledger.ask("cohort", question, 100, request_id="b").receipt
    assert ledger.balance("cohort").spent == pure("0.5")


def after_charge(interrupt):
    """Append the charge, and stop once the answer's entry is written but not its arrays."""
    from noren.ledger.asking import append

    def stop(transaction, row, entry, **totals):
        grown = append(transaction, row, entry, **totals)
        if entry["kind"] == "answered":
            interrupt()
        return grown

    return stop


def test_a_crash_before_the_charge_costs_nothing(ledger, monkeypatch):
    ledger.create_account("cohort", pure(1))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("noren.ledger.asking.append", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.ask("cohort", tally("0.25"), 100, request_id="a")
    assert ledger.balance("cohort").spent == pure(0)
    assert ledger.ask("cohort", tally("0.25"), 100, request_id="a").receipt
    ledger.verify()
