"""Each capability counts on a cluster what it counts in this process, whatever befalls a worker."""

import os
import signal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noren import Guarantee
from noren.association import DistanceScores, open_adjusted, simulate
from noren.association.counting import prepare
from noren.association.scoring import CaseControl
from noren.association.study import open_study
from noren.collaboration import LogisticTraining, Task, TrainingRows
from noren.collaboration.filed_rows import EncodedPart, opened_rows
from noren.collaboration.logistic_loss import logistic_slope
from noren.data import OWN, Boolean, Numeric, Schema, fill, partitions
from noren.engine import LocalEngine
from noren.ledger import Ledger
from noren.monitoring.batch import count_first_reports, count_reports
from noren.question import as_json
from noren.reweighting import prepare as prepare_weights
from noren.similarity import Records
from noren.similarity.handover import open_records, write_records
from noren.similarity.scoring import score_columns
from noren.testing import seeded_noise


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
def people(cohort, tmp_path):
    """Write a file of three strata, which serves as covariates too."""
    names = [line.split()[:2] for line in (tmp_path / "study.fam").read_text().splitlines()]
    lines = [f"{a} {b} {'nse'[i % 3]} {30 + i * 7 % 40}" for i, (a, b) in enumerate(names)]
    (tmp_path / "people.txt").write_text("\n".join(["FID IID site age", *lines]) + "\n")
    return tmp_path / "people.txt"


@pytest.mark.parametrize("status", [None, "swap"])
def test_tables_of_strata_are_the_same_counts(status, people, tmp_path, engine):
    study = open_study(tmp_path / "study", strata=people, private_status=status)
    here, there = study.count(None), study.count(None, engine=engine)
    assert (here.strata, here.a.tolist()) == (3, there.a.tolist())
    assert here.b.tolist() == there.b.tolist()


@pytest.mark.parametrize("status", ["swap", "any"])
def test_tables_with_private_status_are_the_same_counts(status, cohort, tmp_path, engine):
    study = open_study(tmp_path / "study", private_status=status)
    here, there = study.count(None), study.count(None, engine=engine)
    assert type(here) is type(there)
    assert here.cases == there.cases
    assert here.a.tolist() == there.a.tolist()
    assert here.b.tolist() == there.b.tolist()


def test_scores_with_covariates_are_the_same(people, tmp_path, engine):
    study = open_adjusted(tmp_path / "study", people, categorical=["site"])
    tau = study.design.read_tau(3)
    here, there = study.count(None), study.count(None, engine=engine)
    assert not here.is_small
    for one, two in (
        (here.added.sums, there.added.sums),
        (here.added.measured, there.added.measured),
    ):
        assert one.tolist() == two.tolist()
    scores = study.design.scores(here, tau)
    assert scores.tolist() == study.design.scores(there, tau).tolist()
    assert len(scores) == 300


@pytest.fixture
def reports(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.monitoring.batch.GROUPS", 2)
    draw = np.random.default_rng(3)
    columns = {
        "slot": draw.integers(0, 9, 6000), "y": draw.integers(0, 2, 6000),
        "class": draw.integers(0, 2, 6000),
        "epoch": np.zeros(6000, np.int64), "client": draw.integers(0, 500, 6000).astype(str),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "r.parquet", row_group_size=500)
    return tmp_path / "r.parquet"


def same_counts(one, two) -> bool:
    pairs = (one.reports, two.reports), (one.ones, two.ones)
    return one.strange == two.strange and all(np.array_equal(a, b) for a, b in pairs)


def test_counted_reports_are_the_same(reports, unlucky):
    here = count_reports(reports, 7, classes=2)
    assert same_counts(here, count_reports(reports, 7, classes=2, engine=unlucky))


def test_the_first_reports_of_clients_are_the_same(reports, unlucky):
    here = count_first_reports(reports, 7, 0)
    assert same_counts(here, count_first_reports(reports, 7, 0, engine=unlucky))


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr("noren.similarity.handover.BATCH_ROWS", 100)
    monkeypatch.setattr("noren.similarity.filed_records.GROUPS", 2)
    bits = np.random.default_rng(5).random((1000, 130)) < 0.3
    held = Records.of(bits, ids=[f"r{i}" for i in range(1000)])
    return held, write_records(tmp_path / "records.parquet", held)


def test_scores_of_records_are_the_same(records, unlucky):
    held, path = records
    query = [0, 3, 64, 129]
    there = open_records(path, unlucky)
    assert score_columns(there, query).tolist() == score_columns(held, query).tolist()
    assert there.weights().tolist() == held.weights().tolist()
    assert there.column_counts().tolist() == held.column_counts().tolist()


def table_of(path, rows: int, seed: int):
    draw = np.random.default_rng(seed)
    columns = [draw.uniform(0, 1, rows).round(4) for _ in "abcd"]
    ill = (columns[0] + draw.normal(0, 0.3, rows) > 0.5).astype(int)
    lines = ["a,b,c,d,ill", *(",".join(map(str, row)) for row in zip(*columns, ill, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


FEATURES = Schema([Numeric(name=name, lower=0, upper=1, missing=OWN) for name in "abcd"])


@pytest.fixture
def tables(tmp_path, monkeypatch):
    partitions_of = partial(partitions, piece_bytes=5000)
    monkeypatch.setattr("noren.reweighting.weighting.partitions", partitions_of)
    return table_of(tmp_path / "private.csv", 2000, 1), table_of(tmp_path / "public.csv", 300, 2)


def test_sums_of_a_basis_are_the_same(tables, unlucky):
    private, public = tables
    asked = prepare_weights(public, FEATURES, adjacency="add-remove", epsilon=1, about=2000,
                            method="kriging")  # fmt: skip
    here, there = asked.count(private), asked.count(private, engine=unlucky)
    assert here.steps.tolist() == there.steps.tolist()
    assert here.records == there.records == 2000


def test_an_adaptive_release_looks_at_the_same_rows_again_and_again(tables, engine):
    private, public = tables
    asked = prepare_weights(public, FEATURES, adjacency="substitute", epsilon=4, records=2000,
                            method="adaptive")  # fmt: skip
    here = asked.plan.question.answer(asked.count(private), seeded_noise(1))
    with asked.counter(private, engine=engine) as count:
        there = asked.plan.question.answer(count(), seeded_noise(1))
    assert as_json(here.to_dict()) == as_json(there.to_dict())


TASK = Task(FEATURES, Boolean(name="ill", missing=fill(False)))


def killing_once(x, y, w, flag, of):
    """Kill the worker in the first round that adds up gradients."""
    if len(y):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return of(x, y, w)
        os.kill(os.getpid(), signal.SIGKILL)
    return of(x, y, w)


def encoded(path):
    return [EncodedPart(TASK, part) for part in partitions(path, TASK.schema, piece_bytes=9000)]


def test_a_fit_has_the_same_bits_on_a_cluster(tables, engine):
    parts = encoded(tables[0])
    question = LogisticTraining(task=TASK, epsilon=3, adjacency="substitute", size=2000)
    models = []
    for where in (LocalEngine(1), LocalEngine(2), engine):
        with opened_rows(TASK, [*parts[::-1], *parts], where) as rows:
            models.append(question.answer(rows, seeded_noise(4)).coefficients.tolist())
    assert models[0] == models[1] == models[2]
    blocks = (block for part in parts for block in part.source.read())
    in_memory = TrainingRows.counted(TASK, blocks)
    alike = question.answer(in_memory, seeded_noise(4)).coefficients
    assert models[0] == pytest.approx(alike.tolist(), rel=1e-9)


def test_a_fit_survives_a_killed_worker(tables, engine, tmp_path):
    parts, flag = encoded(tables[0]), str(tmp_path / "crashed")
    point = np.linspace(-1, 1, TASK.dimension)
    own = partial(logistic_slope, t=point)
    with opened_rows(TASK, parts) as rows:
        here = rows.summed(own)
    with opened_rows(TASK, parts, engine) as rows:
        assert rows.records == 2000
        there = rows.summed(partial(killing_once, flag=flag, of=own))
        assert rows.summed(own).tolist() == there.tolist() == here.tolist()
    assert (tmp_path / "crashed").exists()


def test_rows_that_stay_in_files_can_be_read_for_ways_that_take_them_apart(tables):
    parts = encoded(tables[0])
    with opened_rows(TASK, [*parts[::-1], *parts]) as rows:
        found = np.concatenate([x for x, _, _ in rows.chunks()])
        assert repr(rows) == f"FiledRows({TASK.dimension} features)"
    here = TrainingRows.counted(TASK, (block for part in parts for block in part.source.read()))
    assert found.tolist() == np.concatenate([x for x, _, _ in here.parts]).tolist()
