"""`noren collaborate`: two providers and a receiver, from files, each in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from noren.collaboration import read_key, read_share
from noren.collaboration.shares import Share, canonical
from noren.collaboration.signing import sign

COLUMNS = """
[[columns]]
name = "age"
kind = "integer"
lower = 20
upper = 90
missing = "own"

[[columns]]
name = "smoker"
kind = "boolean"
missing = "own"

[[columns]]
name = "ill"
kind = "boolean"
missing = { fill = false }
"""
PRICE = ("--epsilon", "2", "--adjacency", "add-remove", "--size", "300")


def table(path: Path, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    age, smoker = rng.integers(20, 90, rows), rng.random(rows) < 0.3
    ill = rng.random(rows) < 1 / (1 + np.exp(-(0.12 * (age - 60) + 2 * smoker)))
    word = {True: "yes", False: "no"}
    lines = [f"{a},{word[bool(s)]},{word[bool(i)]}" for a, s, i in zip(age, smoker, ill)]  # noqa: B905
    path.write_text("\n".join(["age,smoker,ill", *lines]) + "\n")


@pytest.fixture
def place(tmp_path, monkeypatch, result_of) -> Path:
    """Two providers with keys and rows, a receiver with few rows, and what they agreed on."""
    monkeypatch.chdir(tmp_path)
    keys = {}
    for name, rows in (("north", 300), ("south", 300), ("hub", 40)):
        (tmp_path / name).mkdir()
        table(tmp_path / name / "rows.csv", rows, len(keys))
        keys[name] = result_of("collaborate", "keygen", f"{name}/{name}.key")["result"][
            "public_key"
        ]
    members = "\n".join(f'{name} = "{keys[name]}"' for name in ("north", "south"))
    text = f'name = "hearts"\nlabel = "ill"\nmax_overlap = 2\n[members]\n{members}\n{COLUMNS}'
    (tmp_path / "hearts.toml").write_text(text)
    return tmp_path


def train(result_of, name="north", out=None, *more, price=PRICE, code=0, pay=("--no-ledger",)):
    return result_of(
        "collaborate", "train", f"{name}/rows.csv", "--consortium", "hearts.toml", "--organization",
        name, "--key", f"{name}/{name}.key", "--out", out or f"hub/{name}.zip", *price, *pay, *more,
        code=code,
    )  # fmt: skip


def shares(result_of) -> list[str]:
    for name in ("north", "south"):
        train(result_of, name)
    return ["hub/north.zip", "hub/south.zip"]


HUB = ("--consortium", "hearts.toml")


def test_a_receiver_is_told_whether_joining_helps(place, result_of, run):
    files = shares(result_of)
    made = result_of("collaborate", "combine", *files, *HUB, "--rows", "hub/rows.csv",
                     "--out", "hub/combined.json", "--report", "hub/report.html")  # fmt: skip
    assert made["kind"] == "secret-combination"
    assert made["guarantee"] is None
    joining = made["result"]["joining"]
    assert joining["verdict"] in ("joining helps", "no evidence", "joining hurts")
    assert len(joining["files"]) == 2
    assert made["result"]["consortium"]["price of a person"].startswith("epsilon 4 ")
    page = (place / "hub/report.html").read_text()
    assert "SECRET" in page
    assert "does not prove that noise was added" in page
    assert 'http-equiv="Content-Security-Policy"' in page
    assert (place / "hub/combined.json").stat().st_mode & 0o077 == 0
    shown = run("collaborate", "combine", *files, *HUB, "--rows", "hub/rows.csv")
    assert shown.stdout.startswith("! SECRET")


def test_the_verdict_is_in_no_exit_code(place, result_of):
    files = shares(result_of)
    turned = Path("hub/rows.csv").read_text().replace(",yes\n", ",NO\n").replace(",no\n", ",yes\n")
    Path("hub/turned.csv").write_text(turned.replace(",NO\n", ",no\n"))
    for rows in ("hub/rows.csv", "hub/turned.csv"):
        result_of("collaborate", "combine", *files, *HUB, "--rows", rows, "--method", "ewa")


@pytest.mark.parametrize("method", ["mirror", "ewa", "stack", "best-single", "local"])
def test_every_way_can_be_asked_for(place, result_of, method):
    made = result_of("collaborate", "combine", *shares(result_of), *HUB, "--rows", "hub/rows.csv",
                     "--method", method, "--form", "score", "--beta", "3",
                     "--from-row-1")  # fmt: skip
    assert made["result"]["method"] == method


def test_a_way_that_needs_rows_says_so(place, run, result_of):
    done = run("collaborate", "combine", *shares(result_of), *HUB)
    assert done.exit_code == 3
    assert "geometric-median" in done.stderr


def test_predictions_come_by_a_combined_model_and_by_a_share(place, result_of):
    files = shares(result_of)
    result_of("collaborate", "combine", *files, *HUB, "--rows", "hub/rows.csv", "--out", "c.json")
    result_of("collaborate", "publish", *files, *HUB, "--out", "p.json")
    truth = [line.split(",")[2] for line in Path("south/rows.csv").read_text().splitlines()[1:]]
    for model in ("c.json", "p.json", "hub/north.zip"):
        made = result_of("collaborate", "predict", model, "south/rows.csv", "--out", "words.csv")
        words = made["result"]["predictions"]
        assert Path("words.csv").read_text().splitlines() == ["ill", *words]
        assert made["result"]["secret"] == (model == "c.json")
        assert bool(Path("words.csv").stat().st_mode & 0o077) == (model != "c.json")
        Path("words.csv").unlink()
        right = np.mean([(a == "true") == (b == "yes") for a, b in zip(words, truth, strict=True)])
        assert right > 0.7


def test_the_ledger_sends_one_release_again_and_charges_another(place, result_of, run):
    pay = ("--ledger", "north/budget.sqlite", "--account", "people")
    run("ledger", "create", "people", "--ledger", "north/budget.sqlite", "--adjacency",
        "add-remove", "--epsilon", "5")  # fmt: skip
    first, again = (train(result_of, out=f"hub/{i}.zip", pay=pay)["result"] for i in (1, 2))
    assert first["release"] == again["release"]
    assert first["receipt"]["account"] == "people"
    assert first["receipt"] == again["receipt"]
    assert first["uncertainty"]["sentence"]
    assert first["assumed_public"]
    anew = train(result_of, "north", "hub/3.zip", "--request-id", "second", pay=pay)["result"]
    assert anew["release"] != first["release"]
    files = ("hub/1.zip", "hub/2.zip", "hub/3.zip")
    made = result_of("collaborate", "publish", *files, *HUB)
    assert made["result"]["prices"]["north"]["epsilon"] == 4
    shown = result_of("ledger", "show", "people", "--ledger", "north/budget.sqlite")
    assert shown["result"]["accounts"][0]["spent"]["epsilon"] == pytest.approx(4)
    done = run("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north", "--key",
               "north/north.key", "--out", "hub/5.zip", *PRICE, *pay, "--request-id",
               "4th")  # fmt: skip
    assert done.exit_code == 4
    assert not Path("hub/5.zip").exists()


def test_a_share_that_stands_is_not_written_over_and_nothing_is_paid(place, run, result_of):
    pay = ("--ledger", "north/budget.sqlite", "--account", "people")
    train(result_of, out="hub/1.zip")
    run("ledger", "create", "people", *pay[:2], "--adjacency", "add-remove", "--epsilon", "5")
    done = run("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north", "--key",
               "north/north.key", "--out", "hub/1.zip", *PRICE, *pay)  # fmt: skip
    assert (done.exit_code, "exists already" in done.stderr) == (3, True)
    shown = result_of("ledger", "show", "people", "--ledger", "north/budget.sqlite")
    assert shown["result"]["accounts"][0]["spent"]["epsilon"] == 0


def test_the_account_that_is_advised_affords_the_model(place, run):
    asked = ("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north", "--key",
             "north/north.key", "--out", "hub/6.zip", "--epsilon", "2", "--delta", "1e-6",
             "--adjacency", "substitute", "--size", 300)  # fmt: skip
    refused = run(*asked).stderr
    line = next(part for part in refused.splitlines() if "noren ledger create" in part)
    assert run(*line.split()[1:]).exit_code == 0
    done = run(*asked, "--ledger", "ledger.sqlite", "--account", "NAME")
    assert done.exit_code == 0, done.stderr


def test_other_settings_under_the_same_release_are_refused(place, run, result_of):
    pay = ("--ledger", "budget.sqlite", "--account", "people")
    run("ledger", "create", "people", *pay[:2], "--adjacency", "add-remove", "--epsilon", "5")
    train(result_of, pay=pay)
    other = ("--epsilon", "1", *PRICE[2:])
    done = run("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north", "--key",
               "north/north.key", "--out", "hub/b.zip", *other, *pay)  # fmt: skip
    assert done.exit_code == 3
    assert "new id" in done.stderr


def test_a_dry_run_shows_the_forecast_and_needs_no_key(place, result_of):
    made = result_of("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north",
                     "--key", "none.key", *PRICE, "--dry-run")  # fmt: skip
    assert made["kind"] == "forecast"
    assert made["guarantee"]["epsilon"] == 2


def test_nothing_is_spent_for_a_key_that_nobody_would_accept(place, run):
    done = run("collaborate", "train", "north/rows.csv", *HUB, "--organization", "north", "--key",
               "south/south.key", "--out", "x.zip", *PRICE, "--no-ledger")  # fmt: skip
    assert done.exit_code == 3
    assert "Nothing was spent" in done.stderr


def changed(path: Path, out: Path, key: Path | None, **fields) -> None:
    """Write a share with other fields: signed again by its owner, or not."""
    share = read_share(path)
    text = canonical(share.manifest | fields)
    signature = share.signature if key is None else sign(read_key(key), share.model_text, text)
    from noren.collaboration import write_share

    write_share(out, Share(model_text=share.model_text, manifest_text=text, signature=signature))


def test_bad_files_are_refused_by_name_among_good_ones(place, result_of, run):
    files = shares(result_of)
    north, key = Path("hub/north.zip"), Path("north/north.key")
    claim = read_share(north).manifest["claim"]
    changed(north, Path("hub/tampered.zip"), None, created="2030-01-01T00:00:00Z")
    changed(north, Path("hub/low.zip"), key, claim=claim | {"epsilon": "1"})
    with zipfile.ZipFile("hub/evil.zip", "w") as archive:
        archive.writestr("../evil.py", "print(1)")
    names = [*files, "hub/tampered.zip", "hub/low.zip", "hub/evil.zip"]
    made = result_of("collaborate", "verify", *names, *HUB, code=3)
    verdicts = [row["verdict"] for row in made["result"]["files"]]
    assert verdicts == ["accepted", "accepted", "refused: tampered", "refused: understated claim",
                        "refused: not a share"]  # fmt: skip
    done = run("collaborate", "combine", *names[:3], *HUB, "--rows", "hub/rows.csv")
    assert done.exit_code == 3
    assert "hub/tampered.zip is refused (tampered)" in done.stderr


def test_a_share_shows_what_it_says_of_itself(place, result_of, run):
    shares(result_of)
    made = result_of("collaborate", "inspect", "hub/north.zip")["result"]
    assert made["verified"] is False
    assert made["share"]["organization"] == "north"
    assert [name for name, _ in made["coefficients"]][-1] == "intercept"
    assert "Not verified" in run("collaborate", "inspect", "hub/north.zip").stdout


def test_arrays_for_other_programs_hold_the_coefficients_and_no_pickle(place, result_of, run):
    files = shares(result_of)
    result_of("collaborate", "combine", *files, *HUB, "--rows", "hub/rows.csv", "--out", "c.json")
    for model, is_secret in (("hub/north.zip", False), ("c.json", True)):
        made = result_of("collaborate", "export", model, "--out", "arrays.npz")["result"]
        assert made["secret"] is is_secret
        with np.load("arrays.npz", allow_pickle=False) as arrays:
            assert arrays["coefficients"].shape == arrays["names"].shape
            assert arrays["names"][-1] == "intercept"
    assert np.array_equal(read_share("hub/north.zip").coefficients,
                          arrays_of("hub/north.zip", result_of))  # fmt: skip
    assert run("collaborate", "export", "c.json", "--out", "x.csv").exit_code == 2


def arrays_of(model, result_of) -> np.ndarray:
    result_of("collaborate", "export", model, "--out", "again.npz")
    with np.load("again.npz", allow_pickle=False) as arrays:
        return arrays["coefficients"]


def test_a_private_draw_names_one_file_and_is_charged(place, result_of, run):
    files = shares(result_of)
    pay = ("--ledger", "budget.sqlite", "--account", "hub")
    run("ledger", "create", "hub", *pay[:2], "--adjacency", "substitute", "--epsilon", "5")
    made = result_of("collaborate", "draw", *files, *HUB, "--rows", "hub/rows.csv", "--epsilon", 1,
                     "--adjacency", "substitute", "--weights", "mirror", "--draws", 3,
                     *pay)  # fmt: skip
    assert made["guarantee"]["epsilon"] == 1
    drawn = [one["organization"] for one in made["result"]["drawn"]]
    assert len(drawn) == 3
    assert set(drawn) <= {"north", "south"}


def test_a_simulation_shows_the_curve_and_stays_secret(place, result_of):
    Path("task.toml").write_text('name = "x"\nlabel = "ill"\n' + COLUMNS)
    arguments = ("collaborate", "simulate", "north/rows.csv", "--consortium", "task.toml",
                 "--organizations", 3, "--epsilons", "0.5,5", "--adjacency", "substitute",
                 "--receivers", 2, "--data-seed", 1)  # fmt: skip
    made = result_of(*arguments, "--report", "curve.html")["result"]
    assert made["simulated"] is True
    assert len(made["points"]) == 2 * 5
    same = [point["standard_error"] for point in made["points"] if "pooled" in point["way"]]
    assert same == [0, 0]  # the same model for every receiver
    assert "SECRET" in Path("curve.html").read_text()
    assert not Path("curve.html").stat().st_mode & 0o077
    assert result_of(*arguments)["result"]["points"] == made["points"]


SCRIPT = """
set -eu
cd north
noren collaborate train rows.csv --consortium ../hearts.toml --organization north --key north.key \\
    --epsilon 2 --adjacency add-remove --size 300 --no-ledger --out ../post/north.zip
cd ../south
noren collaborate train rows.csv --consortium ../hearts.toml --organization south --key south.key \\
    --epsilon 2 --adjacency add-remove --size 300 --no-ledger --out ../post/south.zip
cd ../hub
noren collaborate verify ../post/*.zip --consortium ../hearts.toml
noren collaborate combine ../post/*.zip --consortium ../hearts.toml --rows rows.csv \\
    --out combined.json --report report.html
noren collaborate predict combined.json rows.csv --out words.csv
sed 's/upper = 90/upper = 95/' ../hearts.toml > ../new.toml
old=$(noren collaborate inspect ../post/north.zip --json | sed -n 's/.*"task": "\\(.*\\)",/\\1/p')
printf '\\n[[expired]]\\ntask = "%s"\\nsince = "2026-10-01"\\n' "$old" >> ../new.toml
if noren collaborate verify ../post/north.zip --consortium ../new.toml; then exit 9; fi
"""


def test_two_providers_and_a_receiver_work_from_a_shell_script(place):
    (place / "post").mkdir()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(["sh", "-c", SCRIPT], cwd=place, capture_output=True, text=True,
                          env={**os.environ, "PATH": path})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "refused: expired schema" in done.stdout
    assert "replaced on 2026-10-01" in done.stdout
    assert {p.name for p in (place / "hub").iterdir()} >= {
        "combined.json", "report.html", "words.csv"}  # fmt: skip
    assert json.loads((place / "hub/combined.json").read_text())["kind"] == "secret-combination"
