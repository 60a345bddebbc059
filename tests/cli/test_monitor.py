"""`noren monitor`: from a plan to decisions, as a person would, files and streams alike."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.monitoring.client import pseudonym, tag_of

KEYS = {f"c{i}": i.to_bytes(16, "big") for i in range(60)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def planned(result_of):
    """Make a plan's file."""

    def make(*more, epsilon=2, people=60, horizon=4, file="plan.json") -> dict:
        return result_of(
            "monitor", "plan", "--people", people, "--horizon", horizon, "--epsilon", epsilon,
            "--threshold", "0.5", "--reports", 2, "--task", "home", "--out", file, *more,
        )  # fmt: skip

    return make


def opened(run, *more) -> dict:
    """Open epoch 0 for everybody; give the tickets by client."""
    rows = [{"client": name, "key": key.hex()} for name, key in KEYS.items()]
    Path("roster.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run("monitor", "collect", "--counts", "counts.sqlite", "--plan", "plan.json",
               "--open", 0,
               "--roster", "roster.jsonl", "--tickets", "tickets.jsonl", *more)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "open for 60 people" in done.stderr
    tickets = [json.loads(line) for line in Path("tickets.jsonl").read_text().splitlines()]
    return {ticket["client"]: ticket for ticket in tickets}


def message(name, slot, y) -> str:
    key = KEYS[name]
    made = {"v": 1, "task": "home", "epoch": 0, "slot": slot,
            "client": pseudonym(key, "home", 0), "class": 0, "y": y}  # fmt: skip
    return json.dumps(made | {"tag": tag_of(key, made)})


def all_messages(tickets, y=1) -> list[str]:
    return [message(name, slot, y) for name, it in tickets.items() for slot in it["slots"]]


def test_a_plan_states_price_forecast_and_what_was_compared(planned):
    found = planned("--sd", "0.01")
    assert found["kind"] == "monitoring-plan"
    assert found["guarantee"]["epsilon"] == 2
    assert "one epoch" in found["guarantee"]["adjacency"]
    names = {it["strategy"] for it in found["result"]["candidates"]}
    assert names == {"ramp", "block", "independent", "published"}
    assert found["result"]["people_needed"] > 60
    assert json.loads(Path("plan.json").read_text())["task"] == "home"


def test_a_plan_answers_inverse_questions_and_what_shuffling_leaves(planned, run):
    found = planned("--margin", "0.1", "--shuffled-delta", "1e-6", "--strategy", "independent")
    assert found["result"]["people_for_margin"] > found["result"]["plan"]["n_people"]
    assert 0 < found["result"]["shuffled"] <= 2
    refused = run("monitor", "plan", "--people", 60, "--horizon", 4, "--epsilon", 2, "--threshold",
                  "0.5", "--reports", 2, "--shuffled-delta", "1e-6")  # fmt: skip
    assert refused.exit_code == 0
    assert "Nothing is claimed for shuffling" in refused.stdout


def test_a_large_epsilon_is_warned_of_and_does_not_fail(planned, run):
    assert "above 10" in planned(epsilon=30)["result"]["plan"]["notes"][0]


@pytest.mark.parametrize(
    "wrong",
    [("--epsilon", "-1"), ("--threshold", "1"), ("--people", 0), ("--reports", 9),
     ("--slot-epsilon", "0"), ("--origin", "someday"), ("--slot-seconds", "nan"),
     ("--task", "a b")],
)  # fmt: skip
def test_wrong_settings_end_with_3(wrong, run):
    settings = {"--people": 60, "--horizon": 4, "--epsilon": 1, "--threshold": "0.5"}
    settings |= {wrong[0]: wrong[1]}
    done = run("monitor", "plan", *[part for pair in settings.items() for part in pair])
    assert done.exit_code == 3
    assert "must be" in done.stderr


def test_a_simulation_says_so_and_draws(planned, result_of):
    planned()
    Path("shares.txt").write_text("0.1\n0.4\n0.6\n0.9\n")
    found = result_of("monitor", "simulate", "--plan", "plan.json", "--shares", "shares.txt",
                      "--runs", 50, "--chart", "run.svg")  # fmt: skip
    assert found["result"]["simulated"] is True
    assert found["guarantee"] is None
    assert found["result"]["rmse"] == pytest.approx(found["result"]["expected_sd"], rel=0.3)
    assert Path("run.svg").read_text().startswith("<svg")
    again = result_of("monitor", "simulate", "--plan", "plan.json", "--exact")
    assert len(again["result"]["first_run"]) == 4


def test_files_in_decisions_out_one_line_each(planned, run, result_of):
    planned()
    tickets = opened(run)
    good = all_messages(tickets)
    Path("a.jsonl").write_text("\n".join([*good[:70], "junk"]) + "\n")
    Path("b.jsonl").write_text("\n".join(good[60:]) + "\n\n")
    done = run("monitor", "collect", "--counts", "counts.sqlite", "a.jsonl", "b.jsonl", "--json")
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [it["result"]["slot"] for it in lines] == [1, 2, 3, 4]
    assert {it["result"]["verdict"] for it in lines} <= {"up", "down"}
    assert all(it["result"]["reports"] == 30 and it["guarantee"]["epsilon"] == 2 for it in lines)
    assert "accepted 120, duplicate 10, malformed 1" in done.stderr
    again = run("monitor", "collect", "--counts", "counts.sqlite", "a.jsonl")
    assert again.stdout == ""
    shown = result_of("monitor", "show", "--counts", "counts.sqlite", "--chart", "page.html")
    assert [it["slot"] for it in shown["result"]["decisions"]] == [1, 2, 3, 4]
    assert "up" in Path("page.html").read_text()
    assert shown["result"]["uncounted"]["malformed"] == 2


def test_a_stream_seals_where_it_says(planned, run):
    planned()
    tickets = opened(run)
    lines = [m for m in all_messages(tickets) if json.loads(m)["slot"] <= 2]
    lines += [
        '{"flush": {"epoch": 0, "slot": 2}}',
        lines[0],
        '{"flush": {"epoch": 0, "slot": "x"}}',
        '{"flush": {"epoch": 7, "slot": 2}}',  # not open: it would be sealed before it begins
    ]
    command = ["monitor", "collect", "--counts", "counts.sqlite", "--seal", "flush", "--smooth"]
    done = CliRunner().invoke(noren, command, input="\n".join(lines))
    assert done.exit_code == 0, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "epoch 0 slot 1", "epoch 0 slot 2",
    ]  # fmt: skip
    assert "smoothed" in done.stdout
    assert "malformed 2" in done.stderr


def test_an_epoch_that_opens_is_said_to_programs_too(planned, run, result_of):
    planned()
    opened(run)
    again = ("--counts", "counts.sqlite", "--open", 1, "--roster", "roster.jsonl")
    assert result_of("monitor", "collect", *again)["result"] == {
        "epoch": 1, "people": 60, "tickets": None,
    }  # fmt: skip


def test_people_see_a_share_and_programs_the_estimate(planned, run, result_of):
    planned()
    reports = "".join(f'{{"slot": {slot}, "y": {slot % 2}}}\n' for slot in (1, 2, 3, 4))
    Path("reports.jsonl").write_text(reports)
    asked = ("monitor", "show", "--reports", "reports.jsonl", "--plan", "plan.json")
    raw = [it["share"] for it in result_of(*asked)["result"]["decisions"]]
    assert min(raw) < 0
    assert max(raw) > 1
    rows = [line.split() for line in run(*asked).stdout.splitlines()[3:]]
    assert [row[2] for row in rows] == ["1", "0", "1", "0"]


def test_time_seals_slots_without_data_too(planned, run):
    planned("--origin", "2020-01-01T00:00Z", "--slot-seconds", "1")
    opened(run)
    done = run("monitor", "collect", "--counts", "counts.sqlite", "--seal", "clock", "roster.jsonl")
    assert done.stdout.splitlines() == [f"epoch 0 slot {t}: no data" for t in (1, 2, 3, 4)]


def test_a_device_reports_in_its_slot_and_repeats_itself(planned, run, tmp_path):
    import time

    planned("--origin", str(time.time() - 3000), "--slot-seconds", "2000")  # now: slot 2
    tickets = opened(run)
    name = next(name for name, it in tickets.items() if 2 in it["slots"])
    Path("ticket.json").write_text(json.dumps(tickets[name]))
    Path("key").write_text(KEYS[name].hex())
    command = ["monitor", "client", "--plan", "plan.json", "--ticket", "ticket.json",
               "--state", "state.json", "--key", "key", "--device", "phone",
               "--lifetime-epsilon", "10"]  # fmt: skip
    silent = CliRunner().invoke(noren, command, input="1\n")
    assert (silent.exit_code, silent.stdout) == (0, "")  # made within the epoch
    state = json.loads(Path("state.json").read_text())
    Path("state.json").write_text(json.dumps(state | {"created": 0}))
    done = CliRunner().invoke(noren, command, input="2\n")
    assert done.exit_code == 3
    assert "0 or 1 on standard input" in done.stderr
    first = CliRunner().invoke(noren, command, input="1\n")
    second = CliRunner().invoke(noren, command, input="0\n")
    assert first.stdout == second.stdout
    assert first.stdout.startswith('{"v":1,"task":"home"')
    Path("sent.jsonl").write_text(first.stdout)
    counted = run("monitor", "collect", "--counts", "counts.sqlite", "sent.jsonl")
    assert "accepted 1" in counted.stderr
    poor = [*command[:-1], "1"]
    Path("state.json").unlink()
    run(*poor)
    state = json.loads(Path("state.json").read_text())
    Path("state.json").write_text(json.dumps(state | {"created": 0}))
    assert CliRunner().invoke(noren, poor, input="1\n").exit_code == 4


def test_stored_reports_are_decided_at_once(planned, result_of):
    planned()
    table = pa.table({"slot": [1] * 30 + [2] * 30, "y": [1] * 30 + [0] * 30})
    pq.write_table(table, "reports.parquet")
    found = result_of("monitor", "show", "--reports", "reports.parquet", "--plan", "plan.json")
    verdicts = [it["verdict"] for it in found["result"]["decisions"]]
    assert verdicts == ["up", "down", "no data", "no data"]
    assert [it["missing"] for it in found["result"]["decisions"]] == [0, 0, 1, 1]
    rows = [{"epoch": 0, "slot": 1, "client": "a", "y": 1}] * 5
    Path("reports.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first = result_of("monitor", "show", "--reports", "reports.jsonl", "--plan", "plan.json",
                      "--first", 0)  # fmt: skip
    assert first["result"]["decisions"][0]["reports"] == 1


def test_stored_reports_of_a_tree_are_decided_by_their_levels(result_of):
    result_of("monitor", "plan", "--people", 90, "--horizon", 4, "--epsilon", 6, "--threshold", 0.5,
              "--strategy", "tree", "--max-changes", 1, "--out", "tree.json")  # fmt: skip
    rows = [(t, h, 1) for h in range(3) for t in range(1 << h, 5, 1 << h) for _ in range(30)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("slot", "class", "y"))}
    pq.write_table(pa.table(columns), "reports.parquet")
    found = result_of("monitor", "show", "--reports", "reports.parquet", "--plan", "tree.json")
    assert [it["verdict"] for it in found["result"]["decisions"]] == ["up"] * 4
    assert [it["reports"] for it in found["result"]["decisions"]] == [30, 60, 30, 90]
    assert "strange" not in found["result"]["uncounted"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("show",), 2), (("show", "--counts", "none.sqlite"), 3),
        (("show", "--reports", "x.parquet"), 3), (("simulate", "--plan", "none.json"), 3),
        (("collect", "--counts", "new.sqlite"), 3),
        (("collect", "--counts", "new.sqlite", "--plan", "plan.json", "--open", "0"), 2),
        (("collect", "--counts", "new.sqlite", "--plan", "plan.json", "gone.jsonl"), 3),
        (("collect", "--counts", "n.sqlite", "--plan", "plan.json", "--open", "0", "--roster",
          "plan.json"), 3),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_missing_is_said(arguments, code, planned, run):
    planned()
    done = run("monitor", *arguments)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
