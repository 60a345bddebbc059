"""The client: what it refuses, what it never does twice, and what a crash leaves."""

import ast
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from noren.monitoring import client as module
from noren.monitoring.client import Client, ClientError, Refused

HERE = Path(__file__).parent
FILE = Path(module.__file__)


def never():
    raise AssertionError("the bit was read")


def y_of(message):
    return json.loads(message)["y"]


def test_it_is_one_file_that_needs_the_standard_library_only():
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(FILE.read_text()))
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert names <= set(sys.stdlib_module_names)
    program = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("client", {str(FILE)!r})
client = importlib.util.module_from_spec(spec); spec.loader.exec_module(client)
assert "noren" not in sys.modules and "numpy" not in sys.modules"""
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


def test_a_person_reports_in_the_scheduled_slots_only(made, client_of, clock, ticket):
    client = client_of(made())
    assert client.report(never) is None  # the epoch has not begun
    assert not client.begin(ticket())
    clock.go(1)
    assert client.report(never) is None  # not taking part yet
    assert client.begin(ticket())
    for slot in range(1, 9):
        clock.go(slot)
        message = json.loads(client.report((lambda: 1) if slot in (2, 5, 7) else never))
        assert (message["y"] is not None) == (slot in (2, 5, 7))
        assert (message["slot"], message["epoch"], message["task"]) == (slot, 0, "home")
    clock.go(1, epoch=1)
    assert client.report(never) is None


def test_a_retry_sends_the_same_bytes_and_never_reads_again(made, client_of, clock, ticket):
    client = client_of(made())
    clock.go(2)
    client.begin(ticket())
    first = client.report(lambda: 1)
    assert client.report(never) == first
    assert client_of(made(), seed=99).report(never) == first  # after a restart
    clock.go(2, part=0.99)
    assert client.report(never) == first


def test_on_the_wire_a_report_is_as_long_as_none(made, client_of, clock, ticket):
    client = client_of(made())
    lengths = {}
    for slot in (1, 2, 3, 5):
        clock.go(slot)
        client.begin(ticket())
        message = client.report(lambda: 1)
        lengths[y_of(message) is None] = len(message.encode())
    assert len(lengths) == 2
    assert len(set(lengths.values())) == 1


def test_what_was_sent_can_be_had_again_after_its_slot(made, client_of, clock, ticket):
    client = client_of(made())
    clock.go(2)
    client.begin(ticket())
    sent = client.report(lambda: 1)
    clock.go(3)
    client = client_of(made())
    assert client.again(2) == sent
    assert client.again(3) is client.again(5) is None
    assert client_of(made(epsilon=1)).again(2) is None  # another plan


def test_lies_are_erased_when_they_are_used(made, client_of, clock, ticket, tmp_path):
    client = client_of(made())
    clock.go(2)
    client.begin(ticket())
    state = tmp_path / "state.json"
    before = json.loads(state.read_text())["tasks"]["home"]["signs"]
    client.report(lambda: 0)
    after = json.loads(state.read_text())["tasks"]["home"]
    assert set(before) <= {1, -1}
    assert after["signs"] == [0, *before[1:]]
    assert after["sent"] == {"2": int(before[0] < 0)}
    assert state.stat().st_mode & 0o077 == 0


def test_a_clock_that_goes_back_finds_slots_closed(made, client_of, clock, ticket):
    client = client_of(made())
    client.begin(ticket()) or clock.go(1)
    client.begin(ticket())
    clock.go(5)
    sent = client.report(lambda: 1)
    clock.go(2)
    assert client.report(never) is None
    clock.go(5)
    assert client.report(never) == sent
    clock.go(7)
    assert y_of(client.report(lambda: 1)) in (0, 1)


@pytest.mark.parametrize("harm", ["lost", "damaged", "of another device", "cut"])
def test_without_its_file_a_client_is_silent_until_the_next_epoch(
    harm, made, client_of, clock, ticket, tmp_path
):
    client = client_of(made())
    clock.go(2)
    client.begin(ticket())
    client.report(lambda: 1)
    state = tmp_path / "state.json"
    if harm == "lost":
        state.unlink()
    elif harm == "damaged":
        state.write_text("{]")
    elif harm == "cut":
        state.write_text(state.read_text()[:-9])
    clock.go(5)
    other = client_of(made(), device="tablet" if harm == "of another device" else "phone")
    assert not other.begin(ticket())
    assert other.report(never) is None
    clock.go(2, epoch=1)
    assert other.begin(ticket(epoch=1))
    assert y_of(other.report(lambda: 1)) in (0, 1)


def test_a_client_that_was_installed_within_an_epoch_waits_for_the_next(
    made, client_of, clock, ticket
):
    clock.go(1, part=0.1)
    client = client_of(made())
    assert not client.begin(ticket())
    clock.go(7)
    assert client.report(never) is None


def test_a_changed_plan_or_other_slots_wait_for_the_next_epoch(made, client_of, clock, ticket):
    client = client_of(made())
    clock.go(1)
    client.begin(ticket())
    with pytest.raises(ClientError, match="Wait for the next epoch"):
        client.begin(ticket((3, 5, 7)))
    other = client_of(made(epsilon=3))
    with pytest.raises(ClientError, match="Wait for the next epoch"):
        other.begin(ticket())
    clock.go(2)
    assert other.report(never) is None
    assert y_of(client.report(lambda: 1)) in (0, 1)
    clock.go(2, epoch=1)
    assert other.begin(ticket(epoch=1))
    assert other.spent == 5


@pytest.mark.parametrize(
    "slots", [(1, 2, 3, 4), (2, 2), (0, 1), (9,), (), (1.5,), ("2",), (True,)], ids=str
)
def test_a_ticket_that_asks_for_more_is_refused(slots, made, client_of, clock, ticket):
    clock.go(1)
    with pytest.raises(ClientError):
        client_of(made()).begin(ticket(slots))


def test_a_ticket_for_another_task_or_a_level_is_refused(made, client_of, ticket):
    client = client_of(made())
    with pytest.raises(ClientError, match="another task"):
        client.begin({**ticket(), "task": "other"})
    with pytest.raises(ClientError, match="level"):
        client.begin(ticket(level=1))


@pytest.mark.parametrize(
    "change",
    [
        {"weights": ["3", "1"]}, {"epsilon": "1.999"}, {"weights": None}, {"reports": 9},
        {"strategy": "memoised"}, {"task": "a|b"}, {"slot_seconds": 0}, {"slot_epsilon": "1.9"},
        {"epsilon": "0"}, {"dummy": "2", "strategy": "published"}, {"epsilon": "1e400"},
        {"origin": "inf"}, {"origin": "nan"}, {"slot_seconds": "inf"}, {"slot_seconds": "nan"},
        {"weights": ["1", "1", "1", "-1"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_plan_that_does_not_keep_what_it_claims_is_refused(change, made, client_of):
    with pytest.raises(ClientError):
        client_of({**made(), **change})


def test_one_part_in_a_quintillion_too_much_is_refused(made, client_of):
    given = made()
    given["weights"][0] = str(int(given["weights"][0]) * (10**18 + 1) // 10**18)
    with pytest.raises(ClientError):
        client_of(given)


def test_the_lifetime_budget_ends_it(made, client_of, clock, ticket):
    client = client_of(made(), lifetime_epsilon="5", spent_before="1/2")
    for epoch in (0, 1):
        clock.go(2, epoch=epoch)
        assert client.begin(ticket(epoch=epoch))
    clock.go(2, epoch=2)
    with pytest.raises(Refused, match="lifetime budget"):
        client.begin(ticket(epoch=2))
    assert float(client.spent) == 4.5
    assert client.report(never) is None


def test_charges_survive_in_their_second_place(made, client_of, clock, ticket, tmp_path):
    elsewhere = tmp_path / "charges.json"
    client = client_of(made(), charges=elsewhere)
    clock.go(2)
    client.begin(ticket())
    (tmp_path / "state.json").unlink()
    assert client_of(made(), charges=elsewhere).spent == 2
    assert "signs" not in elsewhere.read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"home#0": "much"}', '{"home#0": null}'])
def test_charges_that_cannot_be_read_stop_a_new_file(text, made, client_of, tmp_path):
    elsewhere = tmp_path / "charges.json"
    elsewhere.write_text(text)
    with pytest.raises(ClientError, match="what this person has spent is not known"):
        client_of(made(), charges=elsewhere)


def test_a_ticket_of_another_class_waits_for_the_next_epoch(made, client_of, clock, ticket):
    client = client_of(made())
    clock.go(1)
    assert client.begin(ticket(**{"class": 1}))
    clock.go(2)
    assert json.loads(client.report(lambda: 1))["class"] == 1
    with pytest.raises(ClientError, match="changed within an epoch"):
        client.begin(ticket())


def test_randomness_that_was_handed_in_marks_the_file(made, client_of, clock, tmp_path):
    client_of(made())
    assert "NOT PRIVATE" in (tmp_path / "state.json").read_text()
    Client(tmp_path / "other.json", made(), device="d", key=b"k", lifetime_epsilon=9, clock=clock)
    assert "NOT PRIVATE" not in (tmp_path / "other.json").read_text()


@pytest.mark.parametrize("bit", [2, -1, None, "1", 0.5, 1.0])
def test_what_is_not_a_bit_is_refused_and_not_quoted(bit, made, client_of, clock, ticket):
    client = client_of(made())
    clock.go(2)
    client.begin(ticket())
    with pytest.raises(ClientError) as caught:
        client.report(lambda: bit)
    assert "it must give 0 or 1" in str(caught.value)
    assert str(bit) not in str(caught.value).replace("0 or 1", "")
    assert y_of(client.report(lambda: True)) in (0, 1)  # nothing was spent on the slot


def test_every_crash_leaves_nothing_or_the_answer(
    made, client_of, clock, ticket, tmp_path, monkeypatch
):
    """A fault at each step of each write; the reader of the bit gives another bit each time."""
    import os

    bits = random.Random(5)
    seen = {}
    for step in range(60):
        state = tmp_path / f"{step}.json"
        clock.now = 999_999.0
        client = client_of(made(), state=state, seed=7)
        left = [step]

        def failing(real, left=left):
            def call(*args, **settings):
                left[0] -= 1
                if left[0] == 0:
                    raise OSError("power cut")
                return real(*args, **settings)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing(os.fsync))
            patch.setattr(Path, "replace", failing(Path.replace))
            sent = Counter()
            for slot in (1, 2, 2, 5, 5, 7, 7, 8):
                clock.go(slot)
                for _ in range(2):
                    try:
                        client.begin(ticket())
                        message = client.report(lambda: bits.getrandbits(1))
                    except OSError:
                        client = client_of(made(), state=state, seed=8)
                        continue
                    if message and y_of(message) is not None:
                        sent[slot, message] += 1
        assert len({slot for slot, _ in sent}) == len(sent) <= 3
        seen[step] = len(sent)
    assert max(seen.values()) == 3


def answered(bit, seed, made, client_of, clock, ticket, state, monkeypatch):
    """The slots that are answered when faults come at moments that know no state."""
    faults = random.Random(seed)
    real = module.write_durably

    def sometimes(path, text):
        if faults.random() < 0.4:
            raise OSError("disk full")
        real(path, text)

    monkeypatch.setattr(module, "write_durably", sometimes)
    clock.now, found = 999_999.0, []
    for slot in (1, 2, 3, 5, 6, 7, 8):
        clock.go(slot)
        try:
            client = client_of(made(), state=state)
            client.begin(ticket())
            message = client.report(lambda: bit)
        except OSError:
            continue
        if message:
            found.append((slot, y_of(message) is None))
    return found


def test_silence_does_not_depend_on_the_state(
    made, client_of, clock, ticket, tmp_path, monkeypatch
):
    patterns = set()
    for seed in range(30):
        both = []
        for bit in (0, 1):
            state = tmp_path / f"{seed}-{bit}.json"
            clock.now = 999_999.0
            client_of(made(), state=state)
            with monkeypatch.context() as patch:
                both.append(answered(bit, seed, made, client_of, clock, ticket, state, patch))
        assert both[0] == both[1]
        patterns.add(str(both[0]))
    assert len(patterns) > 5  # the faults did something


def under_fire(folder, kills, seed):
    command = [sys.executable, "-I", HERE / "client_under_fire.py", FILE, folder, kills, seed]
    done = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    sent = [json.loads(line) for line in found["sent"]]
    assert len({message["slot"] for message in sent}) == len(set(found["sent"]))
    assert {message["slot"] for message in sent} <= set(found["slots"])
    assert {str(message["slot"]): message["y"] for message in sent}.items() <= found[
        "state"
    ].items()
    assert len(found["charges"]) == 1
    assert len(found["state"]) > kills / 4
    return len(found["sent"]) - len(set(found["sent"]))


def test_kills_and_retries_never_give_a_slot_two_bits(tmp_path):
    assert under_fire(tmp_path, 20, 3) > 0  # retries happened


@pytest.mark.slow
def test_five_hundred_kills_never_give_a_slot_two_bits(tmp_path):
    assert under_fire(tmp_path, 500, 4) > 50


def test_rolling_is_silent_for_a_window_and_then_reports_in_every_cycle(
    made, client_of, clock, ticket
):
    client = client_of(made("rolling", reports=2))
    clock.go(3)
    assert client.begin(ticket((2, 6)))
    heard = []
    for place in range(3, 8 * 4 + 1):
        clock.go(place)
        message = client.report(lambda: 1)
        if message and y_of(message) is not None:
            heard.append(place)
    assert heard == [14, 18, 22, 26, 30]  # silent in 3..11, then 2 and 6 of each 8
    clock.go(33)
    client.begin(ticket((3, 6)))  # other slots: a window of silence again
    clock.go(38)
    assert client.report(never) is None


@pytest.mark.parametrize("other", [{"slots": (3, 6)}, {"plan": 3}], ids=["slots", "plan"])
def test_a_clock_that_goes_back_does_not_shorten_the_silence_of_rolling(
    other, made, client_of, clock, ticket
):
    client = client_of(made("rolling", reports=2))
    client.begin(ticket((2, 6)))
    clock.go(30)
    assert y_of(client.report(lambda: 1)) is not None
    clock.go(20)  # backwards, and then something changes
    changed = client_of(made("rolling", reports=other.get("plan", 2)))
    changed.begin(ticket(other.get("slots", (2, 6))))
    for place in range(31, 39):  # no window of 8 slots may hold reports of both
        clock.go(place)
        message = changed.report(never)
        assert message is None or y_of(message) is None
    clock.go(43)
    if "slots" in other:
        assert y_of(changed.report(lambda: 1)) is not None  # silence ends


def test_rolling_charges_each_cycle(made, client_of, clock, ticket):
    client = client_of(made("rolling", reports=2), lifetime_epsilon=3)
    client.begin(ticket((2, 6)))
    clock.go(2, epoch=2)
    assert client.report(lambda: 1)
    assert client.spent == 2
    clock.go(2, epoch=3)
    with pytest.raises(Refused):
        client.report(never)


def test_the_published_way_sends_in_every_slot_and_hides_its_own(
    made, client_of, clock, ticket, tmp_path
):
    client = client_of(made("published", reports=3, r=0.5))
    seen = set()
    for slot in range(1, 9):
        clock.go(slot)
        client.begin({"task": "home", "epoch": 0})
        seen.add(y_of(client.report(lambda: 1)))
    assert seen == {0, 1}
    mine = json.loads((tmp_path / "state.json").read_text())["tasks"]["home"]
    assert (len(mine["slots"]), len(mine["sent"])) == (3, 8)


def test_the_tree_reports_changes_at_the_ends_of_its_intervals(made, client_of, clock, tmp_path):
    client = client_of(made("tree", reports=None, max_changes=2))
    heard = {}
    for slot in range(1, 9):
        clock.go(slot)
        client.begin({"task": "home", "epoch": 0, "level": 1})
        message = json.loads(client.report(lambda slot=slot: int(slot >= 3)))
        assert message["class"] == 1
        if message["y"] is not None:
            heard[slot] = message["y"]
    assert sorted(heard) == [2, 4, 6, 8]
    mine = json.loads((tmp_path / "state.json").read_text())["tasks"]["home"]
    assert (mine["used"], mine["last"]) == (1, 1)
    assert mine["signs"][0] == 0
