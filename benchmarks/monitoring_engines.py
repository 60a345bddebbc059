"""Counting stored reports by engines: ours in process and on Dask, Polars, and Spark's SQL.

    noren         slot and bit of every report, added up on all cores of this process, warm
    noren, dask   the same pieces counted by a Dask cluster of two processes, which stands already
    polars        lazy scan, grouped by slot and bit, streamed
    spark         SELECT .. GROUP BY slot, bit in a session of two threads that stands already
    cat           the bytes alone, in another process

Ten files of a million reports. The first round, in which a cluster is cold, is not counted.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.association_scan import process
from benchmarks.rounds import in_turns, show
from benchmarks.waiting import peer
from noren.engine.dask import DaskEngine
from noren.monitoring.batch import count_reports

FILES, EACH, SLOTS = 10, 10**6, 96
POLARS = """
import sys
import polars
for line in sys.stdin:
    found = polars.scan_parquet(sys.argv[1]).group_by("slot", "y").len().collect(engine="streaming")
    print(found["len"].sum(), flush=True)
"""
SPARK = """
import sys
from pyspark.sql import SparkSession
session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
           .config("spark.driver.host", "127.0.0.1").getOrCreate())
session.sparkContext.setLogLevel("OFF")
for line in sys.stdin:
    found = session.read.parquet(sys.argv[1]).groupBy("slot", "y").count().collect()
    print(sum(row["count"] for row in found), flush=True)
"""


def store(folder: Path) -> list[Path]:
    """Write files of reports, in the order of slots."""
    rng = np.random.default_rng(1)
    schema = pa.schema([("slot", pa.int32()), ("y", pa.uint8())])
    paths = []
    for number in range(FILES):
        slots = np.sort(rng.integers(1, SLOTS + 1, EACH, dtype=np.int32))
        bits = rng.integers(0, 2, EACH, dtype=np.uint8)
        paths.append(folder / f"reports{number}.parquet")
        pq.write_table(pa.table({"slot": slots, "y": bits}, schema), paths[-1])
    return paths


def main() -> int:
    """Count in turns."""
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        paths = store(Path(name))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        cluster = stack.enter_context(
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        )
        dask = DaskEngine(cluster.scheduler_address)
        ways: dict[str, Callable[[], object]] = {
            "noren": lambda: count_reports(paths, SLOTS),
            "noren, dask": lambda: count_reports(paths, SLOTS, engine=dask),
        }
        for engine, program in (("polars", POLARS), ("spark", SPARK)):
            ask = stack.enter_context(peer(engine, program, f"{name}/*.parquet"))
            if ask is not None:
                ways[engine] = partial(counted, ask)
        ways["cat"] = process("sh", "-c", f"cat {name}/*.parquet > /dev/null")
        seconds = in_turns(ways)
    size = sum(1 for _ in paths) * EACH
    show(f"{size:,} reports in {FILES} files", seconds, "noren", size, "reports")
    return 0


def counted(ask: Callable[[str], str]) -> None:
    """Let a peer count, and see that it counted everything."""
    assert int(ask("go")) == FILES * EACH


if __name__ == "__main__":
    sys.exit(main())
