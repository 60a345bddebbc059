"""Counting stored reports beside DuckDB, simulating people beside pure-LDP, and a device's work.

    noren            slot and bit of every report, added up by the engine on all cores
    duckdb           SELECT slot, bit, count(*) .. GROUP BY slot, bit on the same Parquet file
    duckdb sum(bit)  SELECT slot, count(*), sum(bit) .. GROUP BY slot: the same facts, cheaper
    noren people     one report of each of a million people, drawn person by person, and counted
    pure-ldp         the same by its direct encoding, each client into its server (20,000 a turn)

Peers run in processes of their own environments that wait in between, in turns with ours. A
device's drawing and reporting are timed without its durable writes, which are timed apart.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.rounds import in_turns, rate_ratios, show
from benchmarks.waiting import peer
from noren.monitoring import client as device
from noren.monitoring.batch import count_reports
from noren.monitoring.planning import plan
from noren.monitoring.plans import Timetable
from noren.monitoring.simulation import one_slot_of_people
from noren.noise.public import generator

REPORTS, SLOTS, PEOPLE, FEW = 10**8, 96, 10**6, 20_000
DUCKDB = """
import sys
import duckdb
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")  # it writes to standard output
for line in sys.stdin:
    rows = connection.execute(line).fetchall()
    print(sum(row[-2] for row in rows) if "sum" in line else sum(row[-1] for row in rows),
          flush=True)
"""
PURE_LDP = """
import sys
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
client = DEClient(1.0, 2)
bits = [1 + i % 2 for i in range(int(sys.argv[1]))]
for line in sys.stdin:
    server = DEServer(1.0, 2)
    for bit in bits:
        server.aggregate(client.privatise(bit))
    print(server.n, flush=True)
"""
Bars = dict[str, tuple[bool, str]]


def store(path: Path) -> int:
    """Write reports as they come in: a slot after the other, each from everybody at random."""
    rng, ones = np.random.default_rng(1), 0
    schema = pa.schema([("slot", pa.int32()), ("y", pa.uint8())])
    piece = REPORTS // 100
    with pq.ParquetWriter(path, schema) as writer:
        for i in range(100):
            low = i * SLOTS // 100
            slots = rng.integers(low + 1, min(SLOTS, low + 2) + 1, piece, dtype=np.int32)
            bits = rng.integers(0, 2, piece, dtype=np.uint8)
            ones += int(bits.sum())
            writer.write_table(pa.table({"slot": slots, "y": bits}, schema), row_group_size=piece)
    return ones


def counting(folder: Path) -> Bars:
    """Count 10^8 stored reports."""
    path = folder / "reports.parquet"
    ones = store(path)
    counted = count_reports(path, SLOTS)
    assert (counted.reports.sum(), counted.ones.sum()) == (REPORTS, ones)
    with peer("duckdb", DUCKDB) as ask:
        ways: dict[str, Callable[[], object]] = {"noren": lambda: count_reports(path, SLOTS)}
        if ask is not None:
            queries = {
                "duckdb": f"SELECT slot, y, count(*) FROM '{path}' GROUP BY slot, y",
                "duckdb sum(bit)": f"SELECT slot, count(*), sum(y) FROM '{path}' GROUP BY slot",
            }
            ways |= {name: partial(asked, ask, query) for name, query in queries.items()}
        seconds = in_turns(ways)
    show(f"Counting {REPORTS:,} stored reports ({path.stat().st_size >> 20} MB)", seconds, "noren",
         REPORTS, "reports")  # fmt: skip
    if "duckdb" not in seconds:
        return {}
    ratio = statistics.median(rate_ratios(seconds, "noren", "duckdb"))
    return {"counting is at least 1.5 times as fast as DuckDB's": (ratio >= 1.5, f"{ratio:.2f}")}


def asked(ask: Callable[[str], str], query: str) -> None:
    """Let DuckDB count, and see that it counted everything."""
    assert int(ask(query)) == REPORTS


def people() -> Bars:
    """Simulate one report of each of a million people."""
    bits, draw = np.arange(PEOPLE, dtype=np.uint8) % 2, generator(1)
    with peer("pure-ldp", PURE_LDP, FEW) as ask:
        ways: dict[str, Callable[[], object]] = {
            "noren people": lambda: one_slot_of_people(bits, 0.26894, draw)
        }
        if ask is not None:
            ways["pure-ldp"] = lambda: ask("go")
        seconds = in_turns(ways)
    if "pure-ldp" not in seconds:
        return {}
    seconds["pure-ldp"] = [took * PEOPLE / FEW for took in seconds["pure-ldp"]]
    show(f"One report of each of {PEOPLE:,} people", seconds, "noren people", PEOPLE, "people")
    ratio = statistics.median(rate_ratios(seconds, "noren people", "pure-ldp"))
    bar = "simulating people is at least 500 times as fast as pure-LDP's"
    return {bar: (ratio >= 500, f"{ratio:.0f}")}


def devices(folder: Path) -> Bars:
    """Time a device: its epoch, one report, and the durable write that goes with each."""
    print(f"\nA device{'':26}{'check plan':>12}{'draw':>12}{'answer':>12}{'durable write':>15}")
    slowest = {"set-up": 0.0, "report": 0.0}
    for k, strategy in ((1, "block"), (10, "block"), (100, "block"), (100, "ramp")):
        made = plan(10**6, 100, 10, 0.8, strategy=strategy, reports=k,
                    timetable=Timetable(origin=0.0)).to_dict()  # fmt: skip
        checked = device.CheckedPlan(made)
        slots = list(range(1, k + 1))
        check = best(partial(device.CheckedPlan, made))
        draw = best(partial(checked.draw, slots, device.secrets.randbelow))
        report = one_report(made, folder / f"{strategy}{k}", slots)
        write = best(lambda: device.write_durably(folder / "state", "x" * 2000), 30)
        figures = "".join(f"{1e6 * took:9.1f} us" for took in (check, draw, report))
        print(f"{strategy + f', {k} reports':34}{figures}{1e6 * write:12.1f} us")
        slowest["set-up"] = max(slowest["set-up"], check + draw)
        slowest["report"] = max(slowest["report"], report)
    setup, report = 1e3 * slowest["set-up"], 1e6 * slowest["report"]
    return {
        "an epoch is set up in less than 50 ms": (setup < 50, f"{setup:.2f} ms"),
        "a report is computed in less than 100 us": (report < 100, f"{report:.1f} us"),
    }


def one_report(made: object, state: Path, slots: list[int]) -> float:
    """Time `report` without its disk: reading the state, locking and writing are taken away."""
    now = [-1.0]
    client = device.Client(state, made, device="d", key=b"k" * 32, lifetime_epsilon=99,
                           clock=lambda: now[0])  # fmt: skip
    now[0] = 1.0
    client.begin({"task": "monitoring", "epoch": 0, "slots": slots})
    stored = client._load()
    mine = stored["tasks"]["monitoring"]
    client._save = lambda state: None
    client._message(mine, 1, None)  # the first signature loads the hash
    took = []
    for slot in slots:
        begun = time.perf_counter()
        client._answer(stored, mine, slot, lambda: 1)
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def best(work: Callable[[], object], times: int = 200) -> float:
    """Give the median time of some work."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def main() -> int:
    """Run all, and print the bars."""
    with tempfile.TemporaryDirectory() as folder:
        bars = counting(Path(folder)) | people() | devices(Path(folder))
    print("\nBars")
    for bar, (met, figure) in bars.items():
        print(f"    {'met   ' if met else 'MISSED'} {bar}: {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
