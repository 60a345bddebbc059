"""The story of a fleet that asks whether more than half of it is in use, right now."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from noren.cli.stories.stage import Stage

DEVICES, HOURS = 300, 6
SHARES = (0.1, 0.2, 0.52, 0.8, 0.9, 0.35)
KEY_BYTES, AT_ONCE = 32, 16


def tell(stage: Stage) -> None:
    """Tell the story."""
    stage.chapter(
        "3. Is it more than half, right now?",
        f"{DEVICES} devices tell, in {HOURS} hours, whether they are in use, which says when their "
        "owners are up. Nobody is trusted with that: each device lies some of the time, by a "
        "pattern drawn before it sees anything. One price covers all hours of a person.",
    )
    plan, roster, tickets, counts, reports = (
        stage.file(name)
        for name in ("plan.json", "roster.jsonl", "tickets.jsonl", "counts.sqlite", "reports.jsonl")
    )
    planned = stage.run("monitor", "plan", "--people", DEVICES, "--horizon", HOURS, "--epsilon", 3,
                        "--threshold", 0.5, "--rule", "confident", "--task", "in-use",
                        "--origin", "2026-01-05T06:00Z", "--out", plan)  # fmt: skip
    keys = enrolled(stage.generator(), Path(roster))
    stage.run("monitor", "collect", "--counts", counts, "--plan", plan, "--open", 0,
              "--roster", roster, "--tickets", tickets)  # fmt: skip
    report(keys, Path(plan), Path(tickets), Path(stage.file("devices")), Path(reports))
    decided = stage.run("monitor", "collect", "--counts", counts, reports)
    decisions = [line["result"] for line in decided]
    words = [decision["verdict"] for decision in decisions]
    stage.answered(
        f"In which of {HOURS} hours was more than half of the devices in use?",
        ", ".join(f"{hour}: {word}" for hour, word in enumerate(words, 1)),
        ", ".join(f"{hour}: {share:.0%}" for hour, share in enumerate(SHARES, 1)),
        forecast=planned["result"]["forecast"]["sentence"],
        told=decided[0] | {"result": {}},
        chart=picture(decisions),
        caption="Estimated shares with 95 % intervals, the threshold, and the truth (dashed). What "
        "the interval does not settle is called undecided.",
    )


def enrolled(public: Any, roster: Path) -> dict[str, bytes]:
    """Give each device its key, and write the roster.

    These keys are generated data. Real ones are drawn in secret, with `secrets.token_bytes`.
    """
    keys = {f"device-{number:03}": public.bytes(KEY_BYTES) for number in range(DEVICES)}
    rows = [json.dumps({"client": name, "key": key.hex()}) for name, key in keys.items()]
    roster.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return keys


def report(keys: dict[str, bytes], plan: Path, tickets: Path, states: Path, out: Path) -> None:
    """Let every device report in every hour: the very client that runs on a device."""
    from noren.monitoring import Client

    made = json.loads(plan.read_text(encoding="utf-8"))
    given = [json.loads(line) for line in tickets.read_text(encoding="utf-8").splitlines()]
    now = [made["origin"] - 60]  # devices are installed before the epoch begins
    states.mkdir()
    devices = {
        name: Client(states / name, made, device=name, key=key, lifetime_epsilon=20,
                     clock=lambda: now[0])
        for name, key in keys.items()
    }  # fmt: skip

    def act(place: tuple[int, int]) -> str | None:
        """Let one device act in one hour."""
        hour, number = place
        device = devices[given[number]["client"]]
        device.begin(given[number])
        return device.report(partial(in_use, number, hour))

    messages: list[str | None] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:  # each waits until its charge is on the disk
        for hour in range(HOURS):
            now[0] = made["origin"] + made["slot_seconds"] * (hour + 0.5)
            messages += pool.map(act, [(hour, number) for number in range(DEVICES)])
    sent = [message for message in messages if message is not None]
    out.write_text("\n".join(sent) + "\n", encoding="utf-8")


def in_use(number: int, hour: int) -> int:
    """Say whether a device is in use: neighbors in number take turns."""
    return int((number * 7 + hour * 31) % DEVICES < SHARES[hour] * DEVICES)


def picture(decisions: list[dict[str, Any]]) -> Any:
    """Draw the decisions, and the truth."""
    import altair as alt

    from noren.monitoring.charts import over_time

    rows = [{"place": hour, "share": share} for hour, share in enumerate(SHARES, 1)]
    truth = alt.Chart({"values": rows}).mark_line(strokeDash=[3, 3], strokeWidth=1.5)
    return alt.layer(over_time(decisions, HOURS), truth.encode(alt.X("place:Q"), alt.Y("share:Q")))
