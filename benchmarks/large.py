"""Large inputs, each in a process of its own: peak memory and time, and Dask beside one process.

    python -m benchmarks.large [CASE ...] [--folder FOLDER] [--scale 1] [--rounds 3] [--dask]

Files are made once in FOLDER (by default /tmp/noren-large; about 8 GB) and are left there.
Peak memory is the largest resident set of the counting process (VmHWM), its libraries included.
With --dask each warm round counts once in one process on two threads and once on two Dask workers
of one thread, in turn, and the median ratio of their times is printed; the load is printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 65_536


# How the files are made (public randomness, no person in them).


def make_reports(folder: Path, scale: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw, per_file = np.random.default_rng(1), int(12_500_000 * scale)
    for number in range(8):
        with pq.ParquetWriter(folder / f"reports{number}.parquet", REPORTS()) as writer:
            for start in range(0, per_file, 1 << 20):
                size = min(1 << 20, per_file - start)
                columns = [
                    draw.integers(1, 2001, size, np.int32),
                    draw.integers(0, 2, size, np.uint8),
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(
                    [pa.array(column) for column in columns], schema=REPORTS()))  # fmt: skip


def REPORTS() -> Any:  # noqa: N802
    import pyarrow as pa

    return pa.schema([("slot", pa.int32()), ("y", pa.uint8())])


def make_genotypes(folder: Path, scale: float) -> None:
    from noren.association import simulate

    people = 8_000
    simulate(folder / "study", cases=people // 2, controls=people // 2,
             variants=int(1_000_000 * scale), seed=1, hits=5)  # fmt: skip


def make_records(folder: Path, scale: float) -> None:
    """Write 1024 bits a record, block by block: the whole would not fit."""
    import pyarrow as pa

    from noren.data.handover import write_statistic
    from noren.similarity.handover import KIND, as_bytes

    draw, rows = np.random.default_rng(2), int(10_000_000 * scale)

    def tables() -> Any:
        for start in range(0, rows, BLOCK):
            words = draw.integers(0, 2**64, (min(BLOCK, rows - start), 16), np.uint64)
            words &= draw.integers(0, 2**64, words.shape, np.uint64)
            yield {"words": as_bytes(words, 128)}

    public = {"n_columns": 1024, "names": None, "min_weight": 0}
    write_statistic(folder / "records.parquet", KIND, public, tables(), None,
                    {"words": pa.binary(128)})  # fmt: skip


def make_table(path: Path, rows: int, columns: int, label: bool) -> None:
    """Write uniform columns c0, c1, ... and, asked for, a class that depends on them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(3)
    names = [f"c{place}" for place in range(columns)]
    fields = [(name, pa.float64()) for name in names] + [("ill", pa.bool_())] * label
    schema = pa.schema(fields)
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for start in range(0, rows, BLOCK):
            values = draw.uniform(0, 1, (columns, min(BLOCK, rows - start)))
            arrays = [pa.array(column) for column in values]
            if label:
                arrays.append(
                    pa.array(values[:5].sum(axis=0) + draw.normal(0, 1, values.shape[1]) > 2.5)
                )
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def make_moments(folder: Path, scale: float) -> None:
    make_table(folder / "private.parquet", int(10_000_000 * scale), 10, label=False)
    make_table(folder / "public.parquet", 2_000, 10, label=False)


def make_training(folder: Path, scale: float) -> None:
    from noren.collaboration.filed_rows import EncodedPart
    from noren.collaboration.handover import write_rows
    from noren.data import partitions

    make_table(folder / "rows.parquet", int(1_000_000 * scale), 100, label=True)
    task = task_of()
    parts = (EncodedPart(task, p) for p in partitions(folder / "rows.parquet", task.schema))
    write_rows(
        folder / "training.parquet", task, (block for part in parts for block in part.read())
    )


def features(columns: int) -> Any:
    from noren.data import OWN, Numeric, Schema, fill

    rule = OWN if columns < 100 else fill(0.5)
    return Schema([Numeric(name=f"c{i}", lower=0, upper=1, missing=rule) for i in range(columns)])


def task_of() -> Any:
    from noren.collaboration import Task
    from noren.data import Boolean, fill

    return Task(features(100), Boolean(name="ill", missing=fill(False)))


# What is counted; each gives a digest, by which runs are compared.


def count_reports(folder: Path, engine: Any) -> list[Any]:
    from noren.monitoring.batch import count_reports as count

    found = count(sorted(folder.glob("reports*.parquet")), 2000, engine=engine)
    return [int(found.reports.sum()), int((found.ones[:, 0] * np.arange(2000)).sum())]


def count_genotypes(folder: Path, engine: Any) -> list[Any]:
    from noren.association.counting import prepare

    found = prepare(folder / "study").count(engine=engine)
    return [len(found), int(found.a.sum()), int(found.b.sum())]


def score_records(folder: Path, engine: Any) -> list[Any]:
    from noren.similarity.handover import open_records

    found = open_records(folder / "records.parquet", engine).scored(list(range(0, 1024, 16)))
    return [len(found), int(found.sum()), int((found.astype(np.int64) ** 2).sum())]


def sum_moments(folder: Path, engine: Any) -> list[Any]:
    from noren.reweighting import prepare

    asked = prepare(folder / "public.parquet", features(10), adjacency="add-remove", epsilon=1,
                    about=10_000_000, method="kriging")  # fmt: skip
    found = asked.count(folder / "private.parquet", engine=engine)
    return [int(found.records), int((found.steps * np.arange(len(found.steps))).sum())]


def fit_rows(folder: Path, engine: Any) -> list[Any]:
    from noren.collaboration import LogisticTraining
    from noren.collaboration.filed_rows import opened_rows
    from noren.collaboration.handover import open_rows
    from noren.testing import seeded_noise

    task = task_of()
    asked = LogisticTraining(task=task, epsilon=1, delta="1e-6", adjacency="add-remove", size=10**6)
    with opened_rows(task, open_rows(folder / "training.parquet", task), engine) as rows:
        return asked.answer(rows, seeded_noise(1)).coefficients.tolist()


CASES: dict[str, tuple[Callable[..., None], Callable[..., list[Any]], str]] = {
    "reports": (make_reports, count_reports, "10^8 reports, 8 Parquet files"),
    "genotypes": (make_genotypes, count_genotypes, "a .bed of 2 GB, 8000 people"),
    "records": (make_records, score_records, "10^7 records of 1024 bits, one query"),
    "moments": (make_moments, sum_moments, "10^7 x 10 rows, moments"),
    "training": (make_training, fit_rows, "10^6 x 100 rows, a private logistic fit"),
}


def peak() -> float:
    """Give the largest resident set of this process, in MB."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def one(case: str, folder: Path, rounds: int, dask: bool) -> dict[str, Any]:
    """Count in this process, warm, and perhaps on two Dask workers in turn."""
    from noren.engine import LocalEngine

    count = partial(CASES[case][1], folder)
    started = time.perf_counter()
    digest = count(LocalEngine(2))
    found: dict[str, Any] = {"case": case, "what": CASES[case][2], "cold": elapsed(started)}
    found["peak MB"] = round(peak())
    if not dask:
        return found
    from distributed import LocalCluster

    from noren.engine import DaskEngine

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        engine = DaskEngine(cluster.scheduler_address)
        found["equal"] = count(engine) == digest
        pairs = []
        for number in range(rounds):
            both = {}
            for name, where in [("local", LocalEngine(2)), ("dask", engine)][
                :: 1 - 2 * (number % 2)
            ]:
                started = time.perf_counter()
                count(where)
                both[name] = elapsed(started)
            pairs.append(both)
    found["local s"] = [pair["local"] for pair in pairs]
    found["dask s"] = [pair["dask"] for pair in pairs]
    found["dask / local"] = round(statistics.median(p["dask"] / p["local"] for p in pairs), 3)
    found["load"] = [round(value, 1) for value in os.getloadavg()]
    return found


def elapsed(started: float) -> float:
    return round(time.perf_counter() - started, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--folder", type=Path, default=Path("/tmp/noren-large"))
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes; 1: as named")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    for case in asked.cases:
        folder = asked.folder / f"{case}-{asked.scale:g}"
        if asked.inside:
            print(json.dumps(one(case, folder, asked.rounds, asked.dask)), flush=True)
            continue
        if not (folder / "done").exists():
            folder.mkdir(parents=True, exist_ok=True)
            CASES[case][0](folder, asked.scale)
            (folder / "done").touch()
        same = [f"--{n}={getattr(asked, n)}" for n in ("folder", "scale", "rounds")]
        extra = ["--dask"] if asked.dask else []
        command = [sys.executable, "-m", "benchmarks.large", case, *same, *extra, "--inside"]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
