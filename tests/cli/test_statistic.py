"""`noren statistic`: counted in one place, asked in another, the same answer, nothing quoted."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from noren.association import simulate

FREE = ("--no-ledger", "--insecure-seed", 3)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def cohort(folder) -> Path:
    simulate(folder / "study", cases=120, controls=80, variants=60, seed=5, hits=2)
    return folder / "study"


def same_answer(one: dict, two: dict) -> bool:
    return one["guarantee"] == two["guarantee"] and one["result"] == two["result"]


def test_a_scan_of_a_statistic_is_the_scan_of_its_cohort(cohort, result_of):
    written = result_of("statistic", "write", "associate", cohort, "--coding", "allelic",
                        "--out", "tables.parquet")  # fmt: skip
    assert written["result"] == {
        "file": "tables.parquet", "kind": "association-tables", "secret": True,
    }  # fmt: skip
    asked = ("--epsilon", 3, "--counts", *FREE)
    from_data = result_of("associate", "scan", cohort, "--coding", "allelic", *asked)
    handed = result_of("associate", "scan", "--statistic", "tables.parquet", *asked)
    assert same_answer(from_data, handed)


def test_check_shows_what_is_public_and_no_count(cohort, run, result_of):
    result_of("statistic", "write", "associate", cohort, "--out", "tables.parquet")
    found = result_of("statistic", "check", "tables.parquet")
    assert found["kind"] == "statistic"
    assert found["guarantee"] is None
    assert found["result"]["public"] == {
        "variants": 60, "cases": 120, "controls": 80, "coding": "carrier",
    }  # fmt: skip
    assert "SECRET" in run("statistic", "check", "tables.parquet").stdout


def test_a_count_out_of_range_is_refused_unquoted(cohort, run, result_of):
    result_of("statistic", "write", "associate", cohort, "--out", "tables.parquet")
    table = pq.read_table("tables.parquet")
    spoiled = [918273, *table["a"].to_pylist()[1:]]
    place = table.schema.get_field_index("a")
    pq.write_table(table.set_column(place, table.schema.field("a"), [spoiled]), "spoiled.parquet")
    done = run("statistic", "check", "spoiled.parquet")
    assert done.exit_code == 3
    assert "918273" not in done.stdout + done.stderr


def test_options_of_counting_do_not_go_with_a_statistic(cohort, run, result_of):
    result_of("statistic", "write", "associate", cohort, "--out", "tables.parquet")
    asked = ("associate", "scan", "--statistic", "tables.parquet", "--epsilon", 1, *FREE)
    assert "leave it out" in run(*asked, "--coding", "recessive").stderr
    assert run(*asked[:2], cohort, *asked[2:]).exit_code == 2
    assert "either COHORT" in run("associate", "scan", "--epsilon", 1, *FREE).stderr
    assert "belongs to --engine dask" in run(*asked, "--scheduler", "tcp://a:1").stderr


@pytest.fixture
def reports(folder, result_of) -> Path:
    result_of("monitor", "plan", "--people", 60, "--horizon", 4, "--epsilon", 2, "--threshold",
              "0.5", "--reports", 2, "--task", "home", "--out", "plan.json")  # fmt: skip
    rows = {"slot": [1, 1, 2, 3, 4, 4, 9], "y": [1, 0, 1, 1, 0, 0, 1]}
    pq.write_table(pa.table({n: pa.array(v, pa.int64()) for n, v in rows.items()}), "r.parquet")
    return folder / "r.parquet"


def test_counted_reports_decide_as_the_reports_do(reports, result_of):
    result_of("statistic", "write", "monitor", reports, "--plan", "plan.json", "--out", "c.parquet")
    from_data = result_of("monitor", "show", "--reports", reports, "--plan", "plan.json")
    handed = result_of("monitor", "show", "--statistic", "c.parquet", "--plan", "plan.json")
    assert same_answer(from_data, handed)
    assert handed["result"]["uncounted"] == {"strange": 1}
    found = result_of("statistic", "check", "c.parquet")["result"]
    assert (found["secret"], found["public"]) == (False, {"horizon": 4, "classes": 1})


def test_a_table_that_a_warehouse_grouped_is_the_same_statistic(reports, result_of, run):
    grouped = pq.read_table(reports).group_by(["slot", "y"]).aggregate([([], "count_all")])
    pa.csv.write_csv(grouped.rename_columns(["slot", "y", "reports"]), "grouped.csv")
    for out, data in (("a.parquet", (reports,)), ("b.parquet", ("grouped.csv", "--grouped"))):
        result_of("statistic", "write", "monitor", *data, "--plan", "plan.json", "--out", out)
    assert pq.read_table("a.parquet").equals(pq.read_table("b.parquet"))
    Path("short.csv").write_text("slot,y\n1,1\n")
    done = run("statistic", "write", "monitor", "short.csv", "--grouped", "--plan", "plan.json",
               "--out", "c.parquet")  # fmt: skip
    assert done.exit_code == 3
    assert "no column 'reports'" in done.stderr


def test_a_statistic_of_another_plan_or_kind_is_refused(reports, cohort, run, result_of):
    result_of("statistic", "write", "monitor", reports, "--plan", "plan.json", "--out", "c.parquet")
    result_of("monitor", "plan", "--people", 60, "--horizon", 5, "--epsilon", 2, "--threshold",
              "0.5", "--reports", 2, "--task", "home", "--out", "other.json")  # fmt: skip
    done = run("monitor", "show", "--statistic", "c.parquet", "--plan", "other.json")
    assert (done.exit_code, "other slots" in done.stderr) == (3, True)
    done = run("associate", "scan", "--statistic", "c.parquet", "--epsilon", 1, *FREE)
    assert (done.exit_code, "'report-counts'" in done.stderr) == (3, True)
    pq.write_table(pa.table({"a": [1]}), "none.parquet")
    assert run("statistic", "check", "none.parquet").exit_code == 3
