"""Each capability counts on a cluster what it counts in this process, whatever befalls a worker."""

import os
import signal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noren import Guarantee
from noren.association import DistanceScores, simulate
from noren.association.counting import prepare
from noren.association.scoring import CaseControl
from noren.ledger import Ledger
from noren.monitoring.batch import count_first_reports, count_reports


def after_a_crash(flag, count, blocks):
    """Kill the worker that counts first: Dask runs its tasks again elsewhere."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return count(blocks)
    os.kill(os.getpid(), signal.SIGKILL)


class Unlucky:
    """A cluster where every partition is listed twice and one worker is killed in mid-run."""

    def __init__(self, engine, flag):
        self.engine, self.flag = engine, flag

    def run(self, partitions, count, *, progress=None):
        parts = list(partitions)
        crashing = partial(after_a_crash, self.flag, count)
        return self.engine.run([*parts[::-1], *parts], crashing, progress=progress)


@pytest.fixture
def unlucky(engine, tmp_path):
    made = Unlucky(engine, str(tmp_path / "crashed"))
    yield made
    assert (tmp_path / "crashed").exists()


@pytest.fixture
def cohort(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.association.counting.PIECE_BYTES", 800)
    simulate(tmp_path / "study", cases=70, controls=50, variants=300, seed=5, hits=2)
    return prepare(tmp_path / "study")


def test_tables_of_variants_are_the_same_counts(cohort, unlucky):
    here, there = cohort.count(), cohort.count(engine=unlucky)
    assert here.a.tolist() == there.a.tolist()
    assert here.b.tolist() == there.b.tolist()


def test_a_scan_that_is_interrupted_on_the_cluster_has_charged_nothing(cohort, engine, tmp_path):
    design = CaseControl(cases=cohort.cases, controls=cohort.controls)
    question = DistanceScores(design=design, variants=cohort.sites, epsilon=2)

    def interrupted(done, total):
        if done:
            raise KeyboardInterrupt

    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        ledger.create_account("study", Guarantee(question.guarantee.adjacency, epsilon=5))
        with pytest.raises(KeyboardInterrupt):
            ledger.ask("study", question, lambda: cohort.count(interrupted, engine=engine))
        assert ledger.balance("study").spent.epsilon == 0
        answer = ledger.ask("study", question, lambda: cohort.count(engine=engine))
        assert ledger.balance("study").spent.epsilon == 2
    assert answer.receipt is not None


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.monitoring.batch.GROUPS", 2)
    draw = np.random.default_rng(3)
    columns = {
        "slot": draw.integers(0, 9, 6000), "y": draw.integers(0, 2, 6000),
        "epoch": np.zeros(6000, np.int64), "client": draw.integers(0, 500, 6000).astype(str),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "r.parquet", row_group_size=500)
    return tmp_path / "r.parquet"


def same_counts(one, two) -> bool:
    pairs = (one.reports, two.reports), (one.ones, two.ones)
    return one.strange == two.strange and all(np.array_equal(a, b) for a, b in pairs)


def test_counted_reports_are_the_same(reports, unlucky):
    assert same_counts(count_reports(reports, 7), count_reports(reports, 7, engine=unlucky))


def test_the_first_reports_of_clients_are_the_same(reports, unlucky):
    here = count_first_reports(reports, 7, 0)
    assert same_counts(here, count_first_reports(reports, 7, 0, engine=unlucky))
