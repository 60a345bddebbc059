"""`noren reweight`: from two files to a weighted table, charged once, refitted for nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

from noren import Guarantee
from noren.ledger import Ledger
from noren.reweighting import prepare

ROWS, PUBLIC_ROWS = 3000, 400
TOWNS = ("Nara", "Uji", "Sakai")


def table(rows: int, older: float, seed: int) -> list[list[object]]:
    """Rows with an age, a town that goes with it, and gaps."""
    rng = np.random.default_rng(seed)
    ages = np.clip(rng.normal(40 + older, 12, rows), 18, 90).round(1)
    towns = rng.integers(0, 3, rows) if older == 0 else (ages > 55).astype(int)
    gaps = rng.random(rows) < 0.03
    return [
        ["" if gap else age, TOWNS[town]] for age, town, gap in zip(ages, towns, gaps, strict=True)
    ]


def write(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["age", "town"], *rows])
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A private and a public table, and a schema."""
    folder = tmp_path_factory.mktemp("tables")
    write(folder / "private.csv", table(ROWS, 15, 1))
    write(folder / "public.csv", table(PUBLIC_ROWS, 0, 2))
    (folder / "schema.toml").write_text(
        'missing = "own"\n'
        '[[columns]]\nname = "age"\nkind = "numeric"\nlower = 18\nupper = 90\n'
        '[[columns]]\nname = "town"\nkind = "categorical"\n'
        'categories = ["Nara", "Uji", "Sakai"]\nother = "else"\n'
    )
    return folder


@pytest.fixture(autouse=True)
def account(tmp_path, monkeypatch) -> Path:
    """An account for every test, named by the environment."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        ledger.create_account("survey", Guarantee("add-remove", epsilon=5))
    monkeypatch.setenv("NOREN_LEDGER", str(place))
    monkeypatch.setenv("NOREN_ACCOUNT", "survey")
    return place


def charges(place: Path) -> float:
    with Ledger.open(place) as ledger:
        return float(ledger.balance("survey").spent.epsilon)


def arguments(files: Path, *more: object) -> list[object]:
    price = ["--epsilon", 2, "--adjacency", "add-remove", "--about", 3000]
    return [files / "public.csv", "--schema", files / "schema.toml", *price, *more]


def fitted(result_of, files: Path, out: Path, *more: object) -> dict:
    return result_of(
        "reweight", "fit", files / "private.csv", *arguments(files, "--out", out, *more)
    )


def test_the_public_table_comes_back_with_weights_of_mean_one(result_of, files, tmp_path, account):
    found = fitted(result_of, files, tmp_path / "weighted.parquet")
    weighted = parquet.read_table(tmp_path / "weighted.parquet")
    weights = weighted["weight"].to_numpy()
    assert weighted.column_names == ["age", "town", "weight"]
    assert weights.mean() == pytest.approx(1)
    assert weights.min() >= 0
    assert found["guarantee"]["epsilon"] == 2
    assert charges(account) == 2


def test_the_weights_move_public_means_to_the_private_ones(result_of, files, tmp_path):
    fitted(result_of, files, tmp_path / "w.parquet")
    weighted = parquet.read_table(tmp_path / "w.parquet").to_pydict()
    ages = np.array([float(age) if age else np.nan for age in weighted["age"]])
    known, weights = np.isfinite(ages), np.array(weighted["weight"])
    private = [float(age) for age, _ in table(ROWS, 15, 1) if age != ""]
    plain = np.mean(ages[known])
    reweighted = np.average(ages[known], weights=weights[known])
    assert abs(reweighted - np.mean(private)) < 0.35 * abs(plain - np.mean(private))


def test_the_price_travels_with_the_file(result_of, files, tmp_path):
    fitted(result_of, files, tmp_path / "w.parquet")
    fitted(result_of, files, tmp_path / "w.csv", "--request-id", "again")
    inside = json.loads(parquet.read_schema(tmp_path / "w.parquet").metadata[b"noren"])
    beside = json.loads((tmp_path / "w.csv.about.json").read_text())
    assert inside["guarantee"] == beside["guarantee"]
    assert inside["guarantee"]["epsilon"] == 2


def test_refitting_opens_no_private_file_and_charges_nothing(
    result_of, files, tmp_path, account, monkeypatch
):
    fitted(result_of, files, tmp_path / "w.parquet")
    opened: list[str] = []
    real = Path.open

    def watched(self, *args, **kwargs):
        opened.append(str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", watched)
    (tmp_path / "w.parquet").unlink()
    release = tmp_path / "w.parquet.release.json"
    again = tmp_path / "again.parquet"
    found = result_of(
        "reweight", "refit", release, files / "public.csv", "--out", again, "--target", "table"
    )
    assert again.exists()
    assert found["guarantee"]["epsilon"] == 2
    assert charges(account) == 2
    assert not any("private" in name for name in opened)


def test_the_same_request_is_free_and_gives_the_same_weights(result_of, files, tmp_path, account):
    fitted(result_of, files, tmp_path / "a.parquet", "--request-id", "r1")
    fitted(result_of, files, tmp_path / "b.parquet", "--request-id", "r1")
    one, two = (parquet.read_table(tmp_path / f"{name}.parquet") for name in "ab")
    assert one["weight"].to_pylist() == two["weight"].to_pylist()
    assert charges(account) == 2


def test_a_dry_run_reads_no_private_file(result_of, files, tmp_path, account):
    missing = tmp_path / "not there.csv"
    found = result_of("reweight", "fit", missing, *arguments(files, "--dry-run"))
    assert found["kind"] == "forecast"
    assert charges(account) == 0


def test_a_plan_says_method_price_and_error_from_public_facts(run, result_of, files, account):
    found = result_of("reweight", "plan", *arguments(files, "--queries", 3))
    assert found["result"]["method"] in ("kriging", "calibration", "rake", "adaptive")
    assert found["result"]["reason"]
    assert found["result"]["forecast"]["sentence"]
    assert "direct" in found["result"]
    people = run("reweight", "plan", *arguments(files, "--method", "calibration"))
    assert "pv, the squared noise beside a public spread of 1" in people.stdout
    assert "noise of one share asked directly" in people.stdout
    assert charges(account) == 0


@pytest.mark.parametrize("method", ["kriging", "ridge", "calibration", "rake", "adaptive"])
def test_every_method_runs_from_files(result_of, files, tmp_path, method):
    found = fitted(result_of, files, tmp_path / "w.csv", "--method", method)
    assert found["result"]["diagnostics"]["effective sample size"] > 10


def test_a_query_estimates_a_share_with_an_interval(result_of, files, tmp_path):
    fitted(result_of, files, tmp_path / "w.parquet", "--method", "kriging")
    release = tmp_path / "w.parquet.release.json"
    found = result_of("reweight", "query", release, files / "public.csv", "--where", "age >= 55")
    private = [float(age) for age, _ in table(ROWS, 15, 1) if age != ""]
    truth = np.mean(np.array(private) >= 55)
    low, high = found["result"]["interval"]
    assert low < found["result"]["estimate"] < high
    assert abs(found["result"]["estimate"] - truth) < 0.1
    mean = result_of(
        "reweight", "query", release, files / "public.csv", "--mean", "age", "--where", "town = Uji"
    )
    assert mean["result"]["interval"] is None
    assert mean["result"]["estimate"] > 50


def test_a_condition_reads_two_signs_for_equality_and_must_hold_for_some_public_row(
    run, result_of, files, tmp_path
):
    fitted(result_of, files, tmp_path / "w.parquet")
    asked = ["reweight", "query", tmp_path / "w.parquet.release.json", files / "public.csv"]
    one, two = (result_of(*asked, "--where", f"town {sign} Uji")["result"] for sign in ("=", "=="))
    assert one["estimate"] == two["estimate"] > 0
    nobody = run(*asked, "--where", "town = Osaka")
    assert nobody.exit_code == 3
    assert "must be true of some public row" in nobody.stderr


def test_the_report_opens_offline_and_shows_every_column(result_of, files, tmp_path):
    fitted(result_of, files, tmp_path / "w.csv", "--report", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "age: share of the public rows" in page
    assert "town: share of the public rows" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_proposed_schema_can_be_used_as_it_is(run, result_of, files, tmp_path):
    made = tmp_path / "made.toml"
    assert run("reweight", "schema", files / "public.csv", "--out", made).exit_code == 0
    price = ["--epsilon", 1, "--adjacency", "substitute", "--records", 500]
    again = run("reweight", "schema", files / "public.csv", "--out", made)
    assert (again.exit_code, "corrected by hand" in again.stderr) == (3, True)
    found = result_of("reweight", "plan", files / "public.csv", "--schema", made, *price)
    assert found["guarantee"]["epsilon"] == 1


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--cap", "0.5"], 3),
        (["--epsilon", "0"], 3),
        (["--epsilon", "nan"], 3),
        (["--records", "5"], 3),
        (["--adjacency", "substitute"], 3),
    ],
)
def test_bad_settings_are_refused_and_charge_nothing(run, files, tmp_path, account, more, code):
    out = tmp_path / "w.csv"
    done = run("reweight", "fit", files / "private.csv", *arguments(files, "--out", out, *more))
    assert done.exit_code == code
    assert charges(account) == 0
    assert not out.exists()


def test_nothing_is_paid_for_files_that_cannot_be_written(run, files, tmp_path, account):
    missing = tmp_path / "no such folder"
    for more in (["--out", missing / "w.csv"], ["--out", "w.csv", "--report", missing / "w.html"]):
        done = run("reweight", "fit", files / "private.csv", *arguments(files, *more))
        assert done.exit_code == 3, done.stderr
        assert "folder that exists" in done.stderr
    assert charges(account) == 0


def test_neither_table_is_written_over_and_private_rows_are_never_given_weights(
    run, files, account
):
    before = [(files / f"{name}.csv").read_text() for name in ("private", "public")]
    for target in ("private.csv", "public.csv"):
        out = ["--out", files / target]
        done = run("reweight", "fit", files / "private.csv", *arguments(files, *out))
        assert done.exit_code == 3, done.stderr
    same = run("reweight", "fit", files / "public.csv", *arguments(files, "--out", "w.csv"))
    assert same.exit_code == 3
    assert "another file than PRIVATE" in same.stderr
    assert charges(account) == 0
    assert before == [(files / f"{name}.csv").read_text() for name in ("private", "public")]


def test_a_changed_release_is_refused(run, result_of, files, tmp_path):
    for method in ("kriging", "adaptive"):
        fitted(result_of, files, tmp_path / "w.csv", "--method", method)
        release = tmp_path / "w.csv.release.json"
        whole = release.read_text()
        for other in (whole.replace('"epsilon": "2"', '"epsilon": "1/100"'), whole[:-200]):
            assert other != whole
            release.write_text(other)
            done = run("reweight", "refit", release, files / "public.csv", "--out", "again.csv")
            assert done.exit_code == 3
            assert "saved moments" in done.stderr


def test_a_private_file_without_a_declared_column_is_refused_by_name(run, files, tmp_path, account):
    other = write(tmp_path / "other.csv", [])
    other.write_text("age,village\n50,Nara\n")
    done = run("reweight", "fit", other, *arguments(files, "--out", tmp_path / "w.csv"))
    assert done.exit_code == 3
    assert "town" in done.stderr
    assert charges(account) == 0


def test_an_empty_private_table_is_answered_like_any_other_under_add_remove(
    result_of, files, tmp_path, account
):
    empty = write(tmp_path / "empty.csv", [])
    result_of("reweight", "fit", empty, *arguments(files, "--out", tmp_path / "w.csv"))
    assert charges(account) == 2


def test_files_in_memory_give_the_statistic_of_files_on_disk(files):
    from noren.data import Schema, read_whole

    schema = Schema.read(files / "schema.toml")
    ready = prepare(
        files / "public.csv",
        schema,
        epsilon=1,
        adjacency="add-remove",
        about=ROWS,
        method="kriging",
    )
    disk = ready.count(files / "private.csv")
    memory = ready.count(read_whole(files / "private.csv"))
    assert disk.steps.tolist() == memory.steps.tolist()
