"""The collector: what is counted, once; what is refused; what a restart changes (nothing)."""

import json
import random
import sqlite3
from collections import Counter, defaultdict
from itertools import combinations, product
from math import ceil, comb, prod, tanh

import numpy as np
import pytest

from noren.errors import FileProblem, ParameterError
from noren.ledger import Ledger
from noren.monitoring import Collector, estimate, plan
from noren.monitoring.client import Client, pseudonym, tag_of
from noren.monitoring.messages import MOST_BYTES, Receipt, read_message
from noren.monitoring.plans import Timetable
from noren.monitoring.sealing import decide
from noren.monitoring.smoothing import Smoother
from noren.monitoring.tree import intervals, tree_estimate

START, SLOT = 1_000_000.0, 60.0
TIMES = Timetable(origin=START, slot_seconds=SLOT)
KEYS = {f"c{i}": f"key {i}".encode() for i in range(40)}


def signed(key, epoch, slot, y, kind=0, task="home", **other):
    """A message as a device makes it."""
    made = {"v": 1, "task": task, "epoch": epoch, "slot": slot,
            "client": pseudonym(key, task, epoch), "class": kind, "y": y}  # fmt: skip
    made["tag"] = tag_of(key, made)
    return made | other


def planned(people=40, horizon=4, epsilon=1, strategy="block", reports=2, **more):
    more.setdefault("timetable", TIMES)
    return plan(
        people, horizon, epsilon, 0.5, strategy=strategy, reports=reports, task="home", **more
    )


class Clock:
    now = START + 1

    def __call__(self):
        return self.now

    def slot(self, t, part=0.5):
        self.now = START + (t - 1 + part) * SLOT


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(clock):
    collector = Collector(":memory:", planned(), clock=clock)
    tickets = {it["client"]: it for it in collector.open_epoch(0, KEYS, epoch_key=b"epoch")}
    yield collector, tickets
    collector.close()


def one_in(tickets, slot):
    return next(name for name, it in tickets.items() if slot in it["slots"])


def one_not_in(tickets, slot):
    return next(name for name, it in tickets.items() if slot not in it["slots"])


def test_each_message_gets_its_receipt_and_one_is_counted(opened, clock):
    collector, tickets = opened
    who, other = one_in(tickets, 1), one_not_in(tickets, 1)
    first = signed(KEYS[who], 0, 1, 1)
    found = collector.receive([
        first, first, json.dumps(first), signed(KEYS[who], 0, 1, 0), signed(KEYS[other], 0, 1, 1),
        signed(KEYS[who], 0, 1, None), "{", first | {"y": 0}, signed(KEYS[who], 3, 1, 1),
        signed(KEYS[one_in(tickets, 4)], 0, 4, 1),
    ])  # fmt: skip
    assert [it.value for it in found] == [
        "accepted", "duplicate", "duplicate", "conflict", "off-schedule", "accepted", "malformed",
        "malformed", "off-schedule", "off-schedule",
    ]  # fmt: skip
    assert collector.counts(0, 1) == {0: (1, 1)}
    clock.slot(2)
    late = signed(KEYS[[n for n in tickets if 1 in tickets[n]["slots"]][1]], 0, 1, 1)
    assert collector.receive([late, first]) == [Receipt.LATE, Receipt.DUPLICATE]
    assert len(collector.seal()) == 1
    assert collector.receive([late, first]) == [Receipt.LATE, Receipt.DUPLICATE]
    clock.slot(3)
    collector.seal()
    assert collector.receive([first]) == [Receipt.LATE]  # beyond the retry window
    assert collector.counts(0, 1) == {0: (1, 1)}
    assert collector.uncounted() == {
        "duplicate": 4, "conflict": 1, "off-schedule": 3, "malformed": 2, "late": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2}, {"task": "other"}, {"epoch": 0.0}, {"epoch": "0"}, {"slot": True}, {"y": 2},
        {"y": True}, {"y": "1"}, {"y": 0.0}, {"class": 1}, {"client": 7}, {"tag": None},
        {"tag": "0" * 64}, {"extra": 1}, {"client": "0" * 32}, {"slot": 10**40},
    ],
    ids=str,
)  # fmt: skip
def test_a_message_that_was_changed_is_not_counted(opened, change):
    collector, tickets = opened
    message = signed(KEYS[one_in(tickets, 1)], 0, 1, 1) | change
    assert collector.receive([message])[0] is Receipt.MALFORMED
    assert collector.counts(0, 1) == {}


@pytest.mark.parametrize(
    "text", ["", "[]", "1", "null", '{"v":1}', "[" * 2000, " " * (MOST_BYTES + 1), b"\xff", None, 3]
)
def test_what_is_no_message_is_malformed_and_stops_nothing(text):
    assert read_message(text, "home") is None


@pytest.mark.parametrize("keys", [(b"one", b"one"), (b"one", b"")])
def test_devices_that_cannot_be_told_apart_are_not_enrolled(keys):
    collector = Collector(":memory:", planned(people=2))
    with pytest.raises(ParameterError, match="key of its own"):
        collector.open_epoch(0, {"ann": keys[0], "bob": keys[1]})


def test_at_most_ten_thousand_messages_come_at_once(opened):
    with pytest.raises(ValueError, match="at most 10000"):
        opened[0].receive(["x"] * 10_001)


def test_decisions_are_those_of_the_counts(opened, clock):
    collector, tickets = opened
    for slot in (1, 2, 3, 4):
        clock.slot(slot)
        who = [name for name, it in tickets.items() if slot in it["slots"]]
        assert len(who) == 20
        collector.receive([signed(KEYS[name], 0, slot, int(i < 15)) for i, name in enumerate(who)])
        assert collector.receive([signed(KEYS[who[0]], 0, slot, 1)]) == [Receipt.DUPLICATE]
        early = collector.seal()
        assert [it["slot"] for it in early] == ([slot - 1] if slot > 1 else [])
    clock.slot(5)
    last = collector.seal()
    assert [it["slot"] for it in last] == [4]
    assert [it["slot"] for it in collector.decisions()] == [1, 2, 3, 4]
    c = planned().chosen.law.contrast
    for it in collector.decisions():
        assert it["share"] == pytest.approx(estimate(15, 20, c))
        assert (it["reports"], it["ones"], it["scheduled"], it["verdict"]) == (20, 15, 20, "up")
        assert it["flips"] == int((it["share"] - 0.5) * c * 20 + 1e-9) + 1
        assert "fewer than 100 reports" in it["remarks"]
    assert collector.seal() == []


def test_without_a_clock_slots_seal_when_told(tmp_path):
    with Collector(tmp_path / "counts", planned()) as collector:
        collector.open_epoch(0, KEYS)
        with pytest.raises(ParameterError, match="clock"):
            collector.seal()
        assert [it["verdict"] for it in collector.flush(0, 3)] == ["no data"] * 3
        assert collector.flush(0, 3) == []


@pytest.mark.parametrize("strategy", ["block", "rolling"])
def test_what_is_not_open_yet_cannot_be_sealed(strategy):
    with Collector(":memory:", planned(strategy=strategy)) as collector:
        with pytest.raises(ParameterError, match="one that is open"):
            collector.flush(0, 1)
        collector.open_epoch(0, KEYS)
        with pytest.raises(ParameterError, match="one that is open"):
            collector.flush(3, 1)
        assert [it["slot"] for it in collector.flush(0, 2)] == [1, 2]


def test_decisions_are_announced_once_also_after_a_restart(tmp_path):
    with Collector(tmp_path / "counts", planned()) as collector:
        collector.open_epoch(0, KEYS)
        collector.flush(0, 3)
        said = collector.unannounced()
        assert [next(said)["slot"], next(said)["slot"]] == [1, 2]  # stopped before marking 2
    with Collector(tmp_path / "counts") as collector:
        assert [it["slot"] for it in collector.unannounced()] == [2, 3]
        assert list(collector.unannounced()) == []


def test_another_plan_for_the_same_file_is_refused(tmp_path):
    Collector(tmp_path / "counts", planned()).close()
    with pytest.raises(FileProblem, match="another plan"):
        Collector(tmp_path / "counts", planned(epsilon=2))
    with pytest.raises(FileProblem, match="no plan yet"):
        Collector(tmp_path / "new")
    (tmp_path / "text").write_text("this is not a database, however long it is" * 40)
    with pytest.raises(FileProblem, match="cannot be opened"):
        Collector(tmp_path / "text", planned())
    Ledger.open(tmp_path / "ledger").close()
    before = (tmp_path / "ledger").read_bytes()
    with pytest.raises(FileProblem, match="something else"):
        Collector(tmp_path / "ledger", planned())
    assert (tmp_path / "ledger").read_bytes() == before
    with Collector(tmp_path / "counts") as collector:
        collector.open_epoch(0, KEYS)
        with pytest.raises(ParameterError, match="not open yet"):
            collector.open_epoch(0, KEYS)


def test_who_answered_how_is_forgotten_when_a_slot_is_old(tmp_path):
    file = tmp_path / "counts"
    with Collector(file, planned()) as collector:
        tickets = {it["client"]: it for it in collector.open_epoch(0, KEYS)}
        for slot in (1, 2, 3):
            collector.receive([signed(KEYS[one_in(tickets, slot)], 0, slot, 1)])
        collector.flush(0, 2)
    remembered = sqlite3.connect(file).execute("SELECT slot FROM answered").fetchall()
    assert remembered == [(2,), (3,)]


def delivered(people, slots_each, seed):
    """Truth and deliveries: duplicates, conflicts, late and malformed messages, all shuffled."""
    draw = random.Random(seed)
    times = Timetable(origin=START, slot_seconds=SLOT, grace_seconds=5)
    found = planned(
        people=people, horizon=slots_each, reports=slots_each, epsilon=2, timetable=times
    )
    keys = {f"c{i}": i.to_bytes(8, "big") for i in range(people)}
    arriving, truth, why = defaultdict(list), defaultdict(Counter), Counter()
    for slot in range(1, slots_each + 1):
        for key in keys.values():
            y, luck = draw.getrandbits(1), draw.random()
            true = json.dumps(signed(key, 0, slot, y))
            if luck < 0.01:
                arriving[slot + 1 + (luck < 0.005)].append((draw.random(), true, None))
                why["late"] += 1
                continue
            bodies = [(true, y)]
            if luck < 0.21:
                bodies.append((true, y))
            elif luck < 0.22:
                bodies.append((json.dumps(signed(key, 0, slot, 1 - y)), 1 - y))
            elif luck < 0.23:
                arriving[slot].append((draw.random(), true[:-9], None))
                why["malformed"] += 1
            order = sorted((draw.random(), *body) for body in bodies)
            arriving[slot] += order
            truth[slot][order[0][2]] += 1  # first accepted wins
            for later in order[1:]:
                why["duplicate" if later[2] == order[0][2] else "conflict"] += 1
    return found, keys, arriving, truth, why


def stress(tmp_path, people, slots, at_once, seed=1):
    """Deliver everything with three restarts, of which one without closing."""
    found, keys, arriving, truth, why = delivered(people, slots, seed)
    file, clock, heard, abandoned = tmp_path / "counts", Clock(), [], []
    collector = Collector(file, found, clock=clock)
    collector.open_epoch(0, keys)
    restarts = {slots // 4, slots // 2, 3 * slots // 4}
    for slot in range(1, slots + 3):
        clock.slot(slot, 0.2)  # after the grace of the slot before
        heard += [(it["slot"], slot) for it in collector.seal()]
        messages = [text for _, text, _ in sorted(arriving[slot])]
        half = len(messages) // 2
        for start in range(0, len(messages), at_once):
            if start <= half < start + at_once and slot in restarts:
                if slot == slots // 2:
                    abandoned.append(collector)
                else:
                    collector.close()
                collector = Collector(file, clock=clock)
                again = messages[max(0, start - 50) : start]  # not acknowledged: sent again
                repeated = collector.receive(again)
                assert Receipt.ACCEPTED not in repeated
                why.update(it.value for it in repeated)
            collector.receive(messages[start : start + at_once])
    assert heard == [(slot, slot + 1) for slot in range(1, slots + 1)]
    for slot in range(1, slots + 1):
        ones, reports = truth[slot][1], truth[slot].total()
        assert collector.counts(0, slot) == {0: (reports, ones)}
    assert collector.uncounted() == dict(why)
    assert [it["slot"] for it in collector.decisions()] == list(range(1, slots + 1))
    assert min(why["late"], why["conflict"], why["malformed"], why["duplicate"]) > 0
    for it in (collector, *abandoned):
        it.close()
    return sum(map(len, arriving.values()))


def test_delivery_at_least_once_with_restarts_counts_exactly_the_truth(tmp_path):
    assert stress(tmp_path, people=300, slots=8, at_once=97) > 2400


@pytest.mark.slow
def test_a_million_deliveries_with_restarts_count_exactly_the_truth(tmp_path):
    assert stress(tmp_path, people=41_000, slots=20, at_once=10_000) > 1_000_000


@pytest.mark.parametrize("attackers", [1, 3, 7])
def test_false_clients_move_the_estimate_by_at_most_the_bound(attackers):
    c = tanh(0.5)
    with Collector(":memory:", planned(reports=1)) as collector:
        tickets = {it["client"]: it for it in collector.open_epoch(0, KEYS)}
        honest = {name: it for i, (name, it) in enumerate(tickets.items()) if i >= attackers}
        false = [name for name in tickets if name not in honest]
        for slot in (1, 2, 3, 4):
            mine = [name for name, it in honest.items() if slot in it["slots"]]
            collector.receive([signed(KEYS[n], 0, slot, i % 2) for i, n in enumerate(mine)])
            receipts = collector.receive([signed(KEYS[name], 0, slot, 1) for name in false])
            assert set(receipts) <= {Receipt.ACCEPTED, Receipt.OFF_SCHEDULE}
            let_in = receipts.count(Receipt.ACCEPTED)
            held, ones = len(mine), sum(i % 2 for i in range(len(mine)))
            reports, counted = collector.counts(0, slot)[0]
            assert (reports, counted) == (held + let_in, ones + let_in)
            worst = estimate(counted, reports, c) - estimate(counted - let_in, reports, c)
            assert abs(worst) <= let_in / (c * reports) + 1e-12
        accepted = sum(collector.counts(0, slot)[0][0] for slot in (1, 2, 3, 4))
        assert accepted == 40  # each false client got in once, in its own slot


def test_real_clients_and_the_collector_agree_for_every_strategy(tmp_path, clock):
    for strategy in ("published", "independent", "block", "ramp", "rolling", "tree"):
        made = planned(people=6, strategy=strategy, max_changes=2,
                       reports=None if strategy == "tree" else 2)  # fmt: skip
        keys = {f"c{i}": bytes([i]) for i in range(6)}
        clock.now = START - 8 * SLOT
        with Collector(":memory:", made, clock=clock) as collector:
            tickets = {it["client"]: it for it in collector.open_epoch(0, keys)}
            devices = {
                name: Client(tmp_path / f"{strategy}{name}", json.loads(json.dumps(made.to_dict())),
                             device=name, key=key, lifetime_epsilon=100, clock=clock)
                for name, key in keys.items()
            }  # fmt: skip
            if strategy == "rolling":
                for name, device in devices.items():
                    device.begin(tickets[name])
            for slot in (1, 2, 3, 4):
                clock.slot(slot)
                for name, device in devices.items():
                    device.begin(tickets[name])
                    message = device.report(lambda: 1)
                    assert collector.receive([message]) == [Receipt.ACCEPTED]
            clock.slot(6)
            found = collector.seal()[:4]
            assert [it["slot"] for it in found] == [1, 2, 3, 4]
            assert [it["reports"] for it in found] == [it["scheduled"] for it in found]
            assert all(it["reports"] for it in found) or strategy == "tree"
            assert not collector.uncounted()


@pytest.mark.parametrize("at_once", [7, 500])
def test_stored_messages_of_many_cycles_are_counted_without_a_clock(tmp_path, at_once):
    made = planned(people=10, strategy="rolling", reports=2)
    keys = dict(list(KEYS.items())[:10])
    with Collector(tmp_path / "counts", made) as collector:
        tickets = collector.open_epoch(0, keys)
        messages = [
            signed(keys[it["client"]], cycle, slot, 1)
            for cycle in range(6) for it in tickets for slot in it["slots"]
        ]  # fmt: skip
        forged = signed(keys["c1"], 40, tickets[0]["slots"][0], 1)
        assert collector.receive([forged]) == [Receipt.OFF_SCHEDULE]
        for start in range(0, len(messages), at_once):
            receipts = collector.receive(messages[start : start + at_once])
            assert set(receipts) == {Receipt.ACCEPTED}
        assert sum(collector.counts(5, slot)[0][0] for slot in (1, 2, 3, 4)) == 20


def test_classes_are_combined_by_size_or_by_precision():
    plans = [planned(people=20, epsilon=1, reports=1), planned(people=20, epsilon=6, reports=2)]
    kinds = {name: i % 2 for i, name in enumerate(KEYS)}
    shares = []
    for precise in (False, True):
        with Collector(":memory:", plans, random_classes=precise) as collector:
            tickets = collector.open_epoch(0, KEYS, kinds)
            messages = [signed(KEYS[it["client"]], 0, slot, it["class"], it["class"])
                        for it in tickets for slot in it["slots"]]  # fmt: skip
            assert set(collector.receive(messages)) == {Receipt.ACCEPTED}
            decision = collector.flush(0, 1)[0]
            first, second = (collector.counts(0, 1)[i] for i in (0, 1))
            assert (first[1], second[1]) == (0, second[0])
            shares.append(decision["share"])
            assert decision["low"] <= decision["share"] or decision["at_edge"]
    low = estimate(0, 5, plans[0].chosen.law.contrast)
    high = estimate(10, 10, plans[1].chosen.law.contrast)
    assert shares[0] == pytest.approx((low + high) / 2)
    assert shares[0] < shares[1] < high


def test_devices_of_every_class_are_understood(tmp_path, clock):
    plans = [planned(people=20, epsilon=1, reports=1), planned(people=20, epsilon=6, reports=2)]
    clock.now = START - SLOT
    devices = {
        name: Client(tmp_path / name, plans[i % 2].to_dict(), device=name, key=key,
                     lifetime_epsilon=9, clock=clock)
        for i, (name, key) in enumerate(KEYS.items())
    }  # fmt: skip
    with Collector(":memory:", plans, clock=clock) as collector:
        kinds = {name: i % 2 for i, name in enumerate(KEYS)}
        tickets = {it["client"]: it for it in collector.open_epoch(0, KEYS, kinds)}
        clock.slot(1)
        for name, device in devices.items():
            device.begin(tickets[name])
            assert collector.receive([device.report(lambda: 1)]) == [Receipt.ACCEPTED]
        assert {kind: it[0] for kind, it in collector.counts(0, 1).items()} == {0: 5, 1: 10}


def test_classes_weigh_as_many_people_as_they_really_have():
    plans = [planned(people=20, epsilon=1, reports=1), planned(people=20, epsilon=6, reports=2)]
    kinds = {name: int(i < 8) for i, name in enumerate(KEYS)}  # 32 and 8, not 20 and 20
    with Collector(":memory:", plans) as collector:
        tickets = collector.open_epoch(0, KEYS, kinds)
        collector.receive([signed(KEYS[it["client"]], 0, slot, it["class"], it["class"])
                           for it in tickets for slot in it["slots"]])  # fmt: skip
        share = collector.flush(0, 1)[0]["share"]
    low = estimate(0, 8, plans[0].chosen.law.contrast)
    high = estimate(4, 4, plans[1].chosen.law.contrast)
    assert share == pytest.approx(0.8 * low + 0.2 * high)


def test_the_variance_of_a_tree_is_that_of_the_reports_that_came():
    made = planned(people=30, strategy="tree", reports=None, max_changes=1)
    c = made.chosen.law.contrast
    counts = {1: {0: (9, 9)}, 2: {0: (10, 5), 1: (4, 4)}, 3: {0: (8, 4)}}
    third = decide([made], 0, 3, lambda t: counts[t], {0: 10}, [])
    assert third["variance"] == pytest.approx((1 / 4 + 1 / 8) / c**2)
    assert third["share"] == pytest.approx(1 / c)
    assert third["missing"] == pytest.approx(0.2)


@pytest.mark.parametrize("slot", [4, 7])
def test_a_tree_is_wrongly_called_up_with_at_most_its_chance(slot):
    """Nobody ever changes, so every report is a fair coin; a normal margin errs once in 16."""
    alpha, rule = 0.04, "confident"
    made = plan(16, 8, 2, 0.05, strategy="tree", max_changes=1, rule=rule, alpha=alpha)
    nodes = intervals(slot)
    wrong = 0.0
    for ones in product(range(5), repeat=len(nodes)):
        counts = {end: {level: (4, s)} for (level, end), s in zip(nodes, ones, strict=True)}
        made_of = decide([made], 0, slot, lambda t, held=counts: held.get(t, {}), {0: 4}, [])
        chance = prod(comb(4, s) for s in ones) / 2 ** (4 * len(nodes))
        wrong += chance * (made_of["verdict"] == "up")
        if ones == (2,) * len(nodes):  # the share is 0, and the interval holds it
            assert made_of["low"] == 0
    assert wrong <= alpha


def test_the_margin_of_a_tree_holds_whoever_is_on_which_level():
    """Levels are not independent: 8 people, two levels of 4, all divisions and lies."""
    c, ups = 0.6, {0, 1, 2, 3}  # these people rise in the first interval, the others in the last
    for alpha in (0.3, 0.1, 0.02):
        wrong, cases = 0.0, 0
        for first in combinations(range(8), 4):
            high = len(ups & set(first))  # on the level of the first node; the rest on the second
            rates = (high, 4 - len(ups & (set(range(8)) - set(first))))
            laws = [law_of_rises(4, up, c) for up in rates]
            for s, t in product(range(5), repeat=2):
                found = tree_estimate(
                    3, lambda h, end, s=s, t=t: (s, 4) if h == 1 else (t, 4), c
                )  # fmt: skip
                wrong += laws[0][s] * laws[1][t] * (found.share - 1 >= found.margin(alpha))
            cases += 1
        assert wrong / cases <= alpha


def law_of_rises(people, rising, c):
    """The law of how many of some reports say 1, where `rising` people rise."""
    law = np.array([1.0])
    for person in range(people):
        rate = (1 + c) / 2 if person < rising else 0.5
        law = np.convolve(law, [1 - rate, rate])
    return law


def test_classes_of_different_timetables_are_refused():
    with pytest.raises(ParameterError, match="one task"):
        Collector(":memory:", [planned(), planned(horizon=5)])


def test_silence_that_departs_from_its_history_is_noticed():
    with Collector(":memory:", planned(people=40, reports=4)) as collector:
        collector.open_epoch(0, KEYS)
        for slot in (1, 2, 3, 4):
            who = list(KEYS)[: 38 if slot < 4 else 15]
            collector.receive([signed(KEYS[name], 0, slot, 1) for name in who])
        found = collector.flush(0, 4)
        assert [it["silence_alarm"] for it in found] == [False, False, False, True]
        assert found[3]["missing"] == pytest.approx(25 / 40)


def test_the_bank_of_filters_matches_its_oracle():
    bank = Smoother()
    found = [bank.feed(z, 0.01) for z in (0.5, 0.6, 0.9, 0.4, 0.45)]
    expected = [0.5, 0.5532662432221, 0.7228132741324, 0.5753239225520, 0.5274367470392]
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_smoothed_share_stands_beside_the_raw_one():
    with Collector(":memory:", planned(reports=4), smooth=True) as collector:
        collector.open_epoch(0, KEYS)
        collector.receive([signed(key, 0, 1, 1) for key in KEYS.values()])
        first, second = collector.flush(0, 2)
    bank, c = Smoother(), planned(reports=4).chosen.law.contrast
    variance = ((1 - c * c) / (4 * c * c) + 0.25) / 40
    assert first["smoothed"] == pytest.approx(bank.feed(first["share"], variance))
    assert (second["smoothed"], second["smoothed_verdict"]) == (None, "no data")


def test_a_restart_smooths_on_where_it_was(tmp_path):
    def run(file, restart):
        collector = Collector(file, planned(reports=4), smooth=True)
        collector.open_epoch(0, KEYS, epoch_key=b"epoch")
        for slot in (1, 2, 3, 4):
            if restart and slot == 3:
                collector.close()
                collector = Collector(file, smooth=True)
            messages = [
                signed(key, 0, slot, int(i % (slot + 1) == 0))
                for i, key in enumerate(KEYS.values())
            ]
            assert set(collector.receive(messages)) == {Receipt.ACCEPTED}
            collector.flush(0, slot)
        found = [it["smoothed"] for it in collector.decisions()]
        collector.close()
        return found

    smoothed = run(tmp_path / "one", restart=False)
    assert len(set(smoothed)) == 4
    assert smoothed == run(tmp_path / "two", restart=True)


def test_smoothing_helps_a_smooth_series_and_keeps_a_flat_bank_close_to_raw():
    draw = np.random.default_rng(5)
    truth = 0.5 + 0.3 * np.sin(np.arange(200) / 30)
    raw = truth + draw.normal(0, 0.05, 200)
    bank = Smoother()
    smooth = np.array([bank.feed(z, 0.0025) for z in raw])
    gain = np.sqrt(((raw - truth) ** 2).mean() / ((smooth - truth) ** 2).mean())
    assert gain > 1.3
    assert ceil(gain) == 2
