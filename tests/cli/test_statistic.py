"""`noren statistic`: counted in one place, asked in another, the same answer, nothing quoted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from noren.association import simulate
from noren.collaboration.handover import open_rows

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
def strata(folder) -> Path:
    lines = [" ".join(line.split()[:2]) for line in (folder / "study.fam").read_text().splitlines()]
    sites = ("north", "south", "NA")
    told = (f"{line} {sites[(i // 7) % 3]}" for i, line in enumerate(lines))
    (folder / "strata.txt").write_text("\n".join(["FID IID site", *told]) + "\n")
    return folder / "strata.txt"


KINDS = {
    "association-strata": ("--strata", "strata.txt"),
    "association-swapped": ("--private-status", "swap"),
    "association-any-record": ("--private-status", "any", "--coding", "recessive"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_statistic_of_strata_or_private_status_asks_the_same_question(
    kind, cohort, strata, result_of
):
    written = result_of(
        "statistic", "write", "associate", cohort, *KINDS[kind], "--out", "s.parquet"
    )
    assert written["result"]["kind"] == kind
    asked = ("--epsilon", 3, "--bits", "--tau", "3.84", *FREE)
    from_data = result_of("associate", "scan", cohort, *KINDS[kind], *asked)
    handed = result_of("associate", "scan", "--statistic", "s.parquet", *asked)
    assert same_answer(from_data, handed)


def test_strata_with_a_private_status_keep_both_protections(cohort, strata, run, result_of):
    both = ("--strata", strata, "--private-status", "swap")
    result_of("statistic", "write", "associate", cohort, *both, "--out", "s.parquet")
    asked = ("--epsilon", 3, "--bits", "--tau", "3.84")
    handed = ("--statistic", "s.parquet")
    for free in (FREE, ("--dry-run",)):
        one = result_of("associate", "scan", cohort, *both, *asked, *free)
        assert same_answer(one, result_of("associate", "scan", *handed, *asked, *free))
    assert "same number of cases in each stratum" in one["guarantee"]["adjacency"]
    found = result_of("statistic", "check", "s.parquet")["result"]["public"]
    assert (found["strata"], found["private_status"], found["cases"]) == (3, "swap", 120)
    advice = run("associate", "scan", "--statistic", "s.parquet", *asked).stderr
    assert "same number of cases in each stratum" in advice


def test_how_many_cases_there_are_is_nowhere_public_where_any_record_may_change(
    cohort, run, result_of
):
    result_of("statistic", "write", "associate", cohort, "--private-status", "any",
              "--out", "s.parquet")  # fmt: skip
    about = pq.read_schema("s.parquet").metadata[b"noren.statistic"].decode()
    public = json.loads(about)["public"]
    assert public == {"people": 200, "coding": "carrier"}
    checked = run("statistic", "check", "s.parquet").stdout
    assert "120" not in checked
    assert "people" in checked


@pytest.mark.parametrize("cases", [[120] * 59 + [119], [987654] * 60, [-5] * 60])
def test_a_secret_number_of_cases_that_does_not_fit_is_refused_unquoted(
    cases, cohort, run, result_of
):
    result_of("statistic", "write", "associate", cohort, "--private-status", "any",
              "--out", "s.parquet")  # fmt: skip
    table = pq.read_table("s.parquet")
    place = table.schema.get_field_index("cases")
    pq.write_table(table.set_column(place, table.schema.field("cases"), [cases]), "t.parquet")
    done = run("statistic", "check", "t.parquet")
    assert done.exit_code == 3
    assert not any(str(number) in done.stdout + done.stderr for number in {120, *cases})


def test_strata_in_another_order_are_refused(cohort, strata, run, result_of):
    result_of("statistic", "write", "associate", cohort, "--strata", strata, "--out", "s.parquet")
    table = pq.read_table("s.parquet")
    pq.write_table(table.take(list(range(len(table)))[::-1]), "t.parquet")
    done = run("associate", "scan", "--statistic", "t.parquet", "--epsilon", 1, "--top", 2, *FREE)
    assert (done.exit_code, "the same variants in each stratum" in done.stderr) == (3, True)


def test_alleles_are_refused_where_no_score_of_them_is_proved(cohort, run, result_of):
    result_of("statistic", "write", "associate", cohort, "--private-status", "swap",
              "--out", "s.parquet")  # fmt: skip
    table = pq.read_table("s.parquet")
    about = table.schema.metadata[b"noren.statistic"].replace(b"carrier", b"allelic")
    pq.write_table(table.replace_schema_metadata({b"noren.statistic": about}), "t.parquet")
    done = run("statistic", "check", "t.parquet")
    assert (done.exit_code, "counts of alleles" in done.stderr) == (3, True)


def test_scores_with_covariates_are_refused_by_name_with_the_reason(cohort, strata, run, result_of):
    out = ("--out", "s.parquet")
    done = run("statistic", "write", "associate", cohort, "--covariates", strata, *out)
    assert (done.exit_code, "largest residuals" in done.stderr) == (2, True)
    assert not Path("s.parquet").exists()
    result_of("statistic", "write", "associate", cohort, *out)
    done = run("associate", "scan", "--statistic", "s.parquet", "--covariates", strata,
               "--epsilon", 1, "--top", 2, *FREE)  # fmt: skip
    assert (done.exit_code, "largest residuals" in done.stderr) == (2, True)


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


@pytest.fixture
def records(folder) -> Path:
    lines = [
        "id,c0,c1,c2,c3",
        *(f"r{i},{i % 2},{i % 3 == 0:d},1,{i % 5 == 0:d}" for i in range(40)),
    ]
    (folder / "records.csv").write_text("\n".join(lines) + "\n")
    return folder / "records.csv"


def test_records_in_a_statistic_are_searched_as_the_file_is(records, result_of, run):
    result_of("statistic", "write", "similar", records, "--out", "records.parquet")
    asked = ("--query", "c0,c1", "--epsilon", 4, "--adjacency", "bit", "--top", 5, *FREE)
    from_data = result_of("similar", "search", records, *asked)
    handed = result_of("similar", "search", "--statistic", "records.parquet", *asked)
    assert from_data["result"]["hits"] == handed["result"]["hits"]
    assert same_answer(
        result_of("similar", "leaks", records, "--query", "c0,c1"),
        result_of("similar", "leaks", "--statistic", "records.parquet", "--query", "c0,c1"),
    )
    found = result_of("statistic", "check", "records.parquet")["result"]
    assert found["public"] == {"records": 40, "columns": 4, "min_weight": 0}
    assert (
        "needs --statistic" in run("similar", "search", records, *asked, "--engine", "dask").stderr
    )


def test_randomized_records_of_a_statistic_are_those_of_the_file(records, result_of):
    result_of("statistic", "write", "similar", records, "--out", "records.parquet")
    price = ("--epsilon", 1, "--adjacency", "bit", *FREE)
    for given, out in ((records, "a.npz"), ("records.parquet", "b.npz")):
        result_of("similar", "publish", given, out, *price)
    one, two = (np.load(name)["words"] for name in ("a.npz", "b.npz"))
    assert one.tolist() == two.tolist()


def test_a_query_copied_from_a_statistic_is_refused(records, run, result_of):
    result_of("statistic", "write", "similar", records, "--out", "records.parquet")
    asked = ("--epsilon", 4, "--adjacency", "bit", "--top", 5, *FREE)
    done = run("similar", "search", "--statistic", "records.parquet", "--query-file",
               "records.parquet", *asked)  # fmt: skip
    assert done.exit_code == 3
    assert run("similar", "search", "--statistic", "records.parquet", "--query", "r3",
               *asked).exit_code == 3  # fmt: skip


SCHEMA = """
[[columns]]
name = "age"
kind = "integer"
lower = 0
upper = 99
missing = "own"
[[columns]]
name = "ill"
kind = "boolean"
missing = "own"
"""


@pytest.fixture
def people(folder) -> Path:
    (folder / "schema.toml").write_text("format = 1\n" + SCHEMA)
    for name, shift in (("private", 30), ("public", 10)):
        rows = [f"{(i * 7 + shift) % 100},{'true' if i % 3 else 'false'}" for i in range(300)]
        (folder / f"{name}.csv").write_text("\n".join(["age,ill", *rows]) + "\n")
    return folder


@pytest.mark.parametrize(
    ("method", "kind"), [("kriging", "basis-sums"), ("adaptive", "encoded-rows")]
)
def test_weights_from_a_statistic_are_those_from_the_private_table(people, result_of, method, kind):
    question = ("--schema", "schema.toml", "--adjacency", "substitute", "--records", 300,
                "--epsilon", 9, "--method", method)  # fmt: skip
    made = result_of("statistic", "write", "reweight", "private.csv", "public.csv", *question,
                     "--out", "s.parquet")  # fmt: skip
    assert made["result"]["kind"] == kind
    result_of("reweight", "fit", "private.csv", "public.csv", *question, "--out", "a.csv", *FREE)
    result_of("reweight", "fit", "public.csv", "--statistic", "s.parquet", *question, "--out",
              "b.csv", *FREE)  # fmt: skip
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert result_of("statistic", "check", "s.parquet")["result"]["secret"] is True


def test_sums_of_another_basis_are_refused_before_anything_is_asked(people, run, result_of):
    price = ("--schema", "schema.toml", "--adjacency", "substitute", "--method", "kriging",
             "--epsilon", 9)  # fmt: skip
    result_of("statistic", "write", "reweight", "private.csv", "public.csv", *price, "--records",
              300, "--out", "s.parquet")  # fmt: skip
    rows = Path("public.csv").read_text().splitlines()
    Path("other.csv").write_text("\n".join(rows[:100]) + "\n")
    done = run("reweight", "fit", "other.csv", "--statistic", "s.parquet", *price, "--records", 300,
               "--out", "b.csv", *FREE)  # fmt: skip
    assert (done.exit_code, "another basis" in done.stderr) == (3, True)
    assert run("reweight", "fit", "other.csv", *price, "--out", "b.csv", *FREE).exit_code == 2


@pytest.fixture
def consortium(people, result_of) -> Path:
    key = result_of("collaborate", "keygen", "north.key", "--organization", "north")["result"]
    head = f'name = "hearts"\nlabel = "ill"\n[members]\nnorth = "{key["public_key"]}"\n'
    (people / "hearts.toml").write_text(head + SCHEMA)
    return people / "hearts.toml"


@pytest.mark.parametrize("way", ["auto", "logistic", "moments"])
def test_a_model_of_a_statistic_is_that_of_the_rows(consortium, result_of, run, way):
    result_of("statistic", "write", "collaborate", "private.csv", "--consortium", "hearts.toml",
              "--out", "rows.parquet")  # fmt: skip
    asked = ("--consortium", "hearts.toml", "--organization", "north", "--key", "north.key",
             "--epsilon", 2, "--adjacency", "substitute", "--size", 300, *FREE)  # fmt: skip
    asked = (*asked, "--way", way)
    result_of("collaborate", "train", "private.csv", *asked, "--out", "a.zip")
    result_of("collaborate", "train", "--statistic", "rows.parquet", *asked, "--out", "b.zip")
    one, two = (result_of("collaborate", "inspect", name)["result"] for name in ("a.zip", "b.zip"))
    assert [v for _, v in one["coefficients"]] == pytest.approx([v for _, v in two["coefficients"]])
    public = result_of("statistic", "check", "rows.parquet")["result"]["public"]
    assert (public["target"], public["classes"]) == ("binary", 2)
    done = run("collaborate", "train", "private.csv", "--statistic", "rows.parquet", *asked)
    assert done.exit_code == 2


def test_rows_longer_than_the_proof_allows_are_scaled_down(consortium, result_of):
    result_of("statistic", "write", "collaborate", "private.csv", "--consortium", "hearts.toml",
              "--out", "rows.parquet")  # fmt: skip
    table = pq.read_table("rows.parquet")
    x = table["x0"].to_numpy().copy()
    x[:3] = [1e200, np.nan, -50.0]
    y = table["y"].to_numpy().copy()
    y[:3] = [7.0, np.nan, -3.0]
    columns = {name: table[name] for name in table.column_names} | {"x0": x, "y": y}
    pq.write_table(pa.table(columns).replace_schema_metadata(table.schema.metadata), "wild.parquet")
    rows, targets, _ = next(open_rows("wild.parquet")[0].read())
    assert np.linalg.norm(rows, axis=1).max() <= 1
    assert set(targets.tolist()) <= {-1.0, 1.0}
    plain, before, _ = next(open_rows("rows.parquet")[0].read())
    assert rows[3:].tolist() == plain[3:].tolist()
    assert targets[3:].tolist() == before[3:].tolist()
    assert rows[1].tolist() == [0.0, *plain[1, 1:].tolist()]


def url(name: str) -> str:
    return f"file://{Path(name).absolute()}"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_named_by_urls_are_reweighted_as_the_files_are(people, result_of, form):
    for name in ("private", "public"):
        if form == "parquet":
            pq.write_table(pa.csv.read_csv(f"{name}.csv"), f"{name}.parquet")
    tables = [f"{name}.{form}" for name in ("private", "public")]
    question = ("--schema", "schema.toml", "--adjacency", "substitute", "--records", 300,
                "--epsilon", 9, "--method", "kriging")  # fmt: skip
    for names, out in ((tables, "a.csv"), (map(url, tables), "b.csv")):
        result_of("reweight", "fit", *names, *question, "--out", out, *FREE)
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    for names, out in ((tables, "a.sums"), (map(url, tables), "b.sums")):
        result_of("statistic", "write", "reweight", *names, *question, "--out", out)
    assert pq.read_table("a.sums").equals(pq.read_table("b.sums"))
    plans = [result_of("reweight", "plan", name, *question) for name in (tables[1], url(tables[1]))]
    assert plans[0] == plans[1]


def test_rows_named_by_a_url_train_the_model_of_the_file(consortium, result_of):
    asked = ("--consortium", "hearts.toml", "--organization", "north", "--key", "north.key",
             "--epsilon", 2, "--adjacency", "substitute", "--size", 300, *FREE)  # fmt: skip
    for rows, out in (("private.csv", "a.zip"), (url("private.csv"), "b.zip")):
        result_of("collaborate", "train", rows, *asked, "--out", out)
    one, two = (result_of("collaborate", "inspect", name)["result"] for name in ("a.zip", "b.zip"))
    assert one["coefficients"] == two["coefficients"]
    told = [result_of("collaborate", "predict", "a.zip", rows)["result"]["predictions"]
            for rows in ("private.csv", url("private.csv"))]  # fmt: skip
    assert told[0] == told[1]


def test_a_url_hides_neither_that_a_file_would_be_lost_nor_that_both_are_one(people, run):
    question = ("--schema", "schema.toml", "--adjacency", "substitute", "--records", 300,
                "--epsilon", 9, *FREE)  # fmt: skip
    before = Path("private.csv").read_text()
    for tables, out, says in (
        ((url("private.csv"), "public.csv"), "private.csv", "It would be lost"),
        ((url("private.csv"), "private.csv"), "c.csv", "another file than PRIVATE"),
        (("s3://a/p.csv", "s3://a/p.csv"), "c.csv", "another file than PRIVATE"),
    ):
        done = run("reweight", "fit", *tables, *question, "--out", out)
        assert (done.exit_code, says in done.stderr) == (3, True), done.stderr
    assert Path("private.csv").read_text() == before


def test_a_url_of_nothing_and_one_with_credentials_are_refused_in_words(people, run):
    question = ("--schema", "schema.toml", "--adjacency", "substitute", "--records", 300,
                "--epsilon", 9, "--out", "c.csv", *FREE)  # fmt: skip
    done = run("reweight", "fit", url("absent.csv"), "public.csv", *question)
    assert (done.exit_code, "cannot be opened" in done.stderr) == (3, True)
    done = run("reweight", "fit", "ftp://me:PRIVATE-7731@host/a.csv", "public.csv", *question)
    assert (done.exit_code, "PRIVATE-7731" in done.stdout + done.stderr) == (3, False)
    named = ("ftp://me:PRIVATE-7731@host/a.csv",) * 2
    done = run("reweight", "fit", *named, *question)
    assert (done.exit_code, "PRIVATE-7731" in done.stdout + done.stderr) == (3, False)
