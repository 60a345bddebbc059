"""`noren similar`: from a file to a paid answer; free views, refusals, publishing, plans."""

from __future__ import annotations

import json

import numpy as np
import pytest

from noren.ledger import Ledger

WIDTH = 12


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A file of 60 records."""
    monkeypatch.chdir(tmp_path)
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    bits = np.random.default_rng(3).integers(0, 2, (60, WIDTH))
    lines = ["id," + ",".join(f"d{column}" for column in range(WIDTH))]
    lines += [f"p{row},{','.join(map(str, own))}" for row, own in enumerate(bits)]
    file = tmp_path / "clinic.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture
def account(records, run, monkeypatch):
    """The file, and an account with a cap of 4 for each column, named by the environment."""
    done = run(
        "similar", "open", records, "--ledger", "l.sqlite", "--account", "clinic",
        "--adjacency", "bit", "--epsilon", 4,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    monkeypatch.setenv("NOREN_LEDGER", "l.sqlite")
    monkeypatch.setenv("NOREN_ACCOUNT", "clinic")
    return records


def spent():
    with Ledger.open("l.sqlite") as ledger:
        return {name: float(used) for name, used in ledger.balance("clinic").columns.items()}


def asking(records, *more, query="d1,d2"):
    return ("similar", "search", records, "--query", query, *more)


def test_without_an_account_the_command_that_opens_one_is_printed(run, records):
    done = run(*asking(records, "--top", 3, "--epsilon", 1))
    assert done.exit_code == 3
    assert "noren similar open RECORDS --account NAME" in done.stderr


def test_a_search_charges_the_columns_of_its_query_and_a_repeat_is_free(result_of, account):
    first = result_of(*asking(account, "--top", 3, "--epsilon", 2))
    again = result_of(*asking(account, "--top", 2, "--epsilon", 2, query="d2,d1"))
    above = result_of(*asking(account, "--threshold", 1, "--epsilon", 2))
    assert first["kind"] == "similar-search"
    assert first["guarantee"]["epsilon"] == 2
    assert first["result"]["charged"] == {"epsilon": 2, "columns": ["d1", "d2"]}
    assert again["result"]["hits"] == first["result"]["hits"][:2]
    assert again["result"]["charged"]["epsilon"] == above["result"]["charged"]["epsilon"] == 0
    assert all(hit["score"] >= 1 for hit in above["result"]["hits"])
    assert first["result"]["receipt"] == again["result"]["receipt"]
    assert {name for name, used in spent().items() if used} == {"d1", "d2"}


def test_the_forecast_alone_spends_nothing(result_of, account):
    found = result_of(*asking(account, "--top", 3, "--epsilon", 1, "--dry-run"))
    assert found["kind"] == "forecast"
    assert not any(spent().values())
    result_of(*asking(account, "--set", 3, "--epsilon", 1, "--dry-run"))
    assert not any(spent().values())


def test_a_forecast_needs_no_account_but_a_word_on_who_is_protected(result_of, run, records):
    none = ("--top", 3, "--epsilon", 1, "--dry-run", "--ledger", "l.sqlite", "--account", "later")
    found = result_of(*asking(records, *none, "--adjacency", "bit"))
    assert found["kind"] == "forecast"
    assert not (records.parent / "l.sqlite").exists()
    done = run(*asking(records, *none))
    assert done.exit_code == 2
    assert "--adjacency bit" in done.stderr


def test_the_forecast_of_a_publication_is_of_no_more_columns_than_there_are(run, account):
    done = run("similar", "publish", account, "o.npz", "--epsilon", 1, "--dry-run")
    assert f"each score of {WIDTH} columns" in done.stdout


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(("--best",), "best-record"), (("--set", "3"), "top-set"), (("--count", "2"), "similar-count"),
     (("--histogram",), "score-histogram")],
)  # fmt: skip
def test_every_way_of_asking_has_its_answer(result_of, run, account, mode, kind):
    found = result_of(*asking(account, *mode, "--epsilon", 1))
    assert found["kind"] == kind
    assert len(found["result"]["records"]) == {"best-record": 1, "top-set": 3}.get(kind, 0)
    assert all(name.startswith("p") for name in found["result"]["records"])
    shown = run(*asking(account, *mode, "--epsilon", 1, "--report", "page.html"))
    assert shown.exit_code == 0
    assert "for a whole record" in shown.stdout
    assert "<svg" in (account.parent / "page.html").read_text()


def test_a_budget_that_is_used_up_is_refused_with_the_columns(run, account):
    assert run(*asking(account, "--top", 3, "--epsilon", 3)).exit_code == 0
    done = run(*asking(account, "--top", 3, "--epsilon", 2, query="d2,d3"))
    assert done.exit_code == 4
    assert "Columns that cannot pay: 'd2'" in done.stderr
    assert spent()["d3"] == 0


def test_a_query_by_example_is_refused_before_anything_is_charged(run, account):
    by_id = run(*asking(account, "--top", 3, "--epsilon", 1, query="p7"))
    by_file = run("similar", "search", account, "--query-file", account, "--top", 3, "--epsilon", 1)
    for done in (by_id, by_file):
        assert done.exit_code == 3
        assert "query by example" in done.stderr
    assert not any(spent().values())
    assert "query by example" in run("similar", "search", "--help").stdout.replace("\n ", "")


def test_similarities_use_a_pair_of_counts_or_weights_released_before(result_of, account):
    by_pair = result_of(*asking(account, "--top", 3, "--epsilon", 1, "--similarity", "jaccard"))
    assert by_pair["result"]["charged"]["columns"] is None
    assert set(spent().values()) == {1}
    released = result_of("similar", "weights", account, "--epsilon", 1)
    assert released["kind"] == "row-weights"
    view = ("--top", 3, "--epsilon", 1, "--similarity", "tversky", "--alpha", 0.5, "--beta", 0)
    by_weights = result_of(*asking(account, *view))
    assert by_weights["result"]["charged"]["columns"] == ["d1", "d2"]
    assert spent()["d3"] == 2
    assert spent()["d1"] == 3


@pytest.mark.parametrize(
    "wrong",
    [("--epsilon", 1), ("--epsilon", 1, "--top", 3, "--best"),
     ("--epsilon", 1, "--best", "--similarity", "dice"),
     ("--epsilon", 1, "--top", 3, "--request-id", "mine"),
     ("--epsilon", 1, "--top", 3, "--no-ledger"),
     ("--epsilon", 1, "--top", 3, "--no-ledger", "--adjacency", "bit", "--searcher", "ann"),
     ("--epsilon", 1, "--top", 3, "--query-file", "other.txt")],
)  # fmt: skip
def test_options_that_do_not_go_together_are_wrong_usage(run, account, monkeypatch, wrong):
    if "--no-ledger" in wrong:
        monkeypatch.delenv("NOREN_ACCOUNT")
    (account.parent / "other.txt").write_text("d1\n")
    assert run(*asking(account, *wrong)).exit_code == 2
    assert not any(spent().values())


@pytest.mark.parametrize(
    "wrong", [("--epsilon", 0, "--top", 3), ("--epsilon", 1, "--top", 61), ("--epsilon", "nan",
     "--top", 3), ("--epsilon", 1, "--top", 0), ("--epsilon", 1, "--threshold", 1.5),
     ("--epsilon", 1, "--threshold", "nan"), ("--epsilon", 1, "--threshold", "inf"),
     ("--epsilon", 1, "--top", 3, "--similarity", "tversky", "--alpha", -5),
     ("--epsilon", 1, "--top", 3, "--similarity", "tversky", "--beta", "nan"),
     ("--epsilon", 1, "--top", 3, "--report", "no such folder/page.html")],
)  # fmt: skip
def test_bad_settings_are_refused_and_nothing_is_charged(run, account, wrong):
    assert run(*asking(account, *wrong)).exit_code == 3
    assert not any(spent().values())


def test_a_searcher_can_be_held_to_a_lower_cap(run, result_of, account):
    own = ("similar", "open", account, "--adjacency", "bit", "--epsilon", 1, "--searcher", "ann")
    assert result_of(*own)["result"]["account"] == "clinic / ann"
    result_of(*asking(account, "--top", 1, "--epsilon", 1, "--searcher", "ann"))
    again = run(*asking(account, "--top", 1, "--epsilon", 0.5, "--searcher", "ann"))
    assert again.exit_code == 4
    assert run(*asking(account, "--top", 1, "--epsilon", 0.5)).exit_code == 0
    assert spent()["d1"] == 1.5


def test_the_state_of_the_budget_is_shown(result_of, run, account):
    result_of(*asking(account, "--top", 1, "--epsilon", 1))
    found = result_of("similar", "status")["result"]
    assert found["largest_spent_epsilon"] == 1
    assert found["record_epsilon"] == 2
    assert found["untouched_columns"] == WIDTH - 2
    done = run("similar", "status", "--report", "state.html")
    assert "10 of 12 columns are untouched" in done.stdout
    assert (account.parent / "state.html").exists()


def test_records_are_published_once_and_looked_up_for_nothing(result_of, run, account):
    made = result_of("similar", "publish", account, "out.npz", "--epsilon", 3)
    again = result_of("similar", "publish", account, "again.npz", "--epsilon", 3)
    assert made["guarantee"]["epsilon"] == 3
    told = run("similar", "publish", account, "again.npz", "--epsilon", 3)
    assert "It was answered before: nothing was charged." in told.stderr
    assert made["result"]["manifest"]["sha256"] == again["result"]["manifest"]["sha256"]
    assert set(spent().values()) == {3}
    beside = json.loads((account.parent / "out.npz.manifest.json").read_text())
    assert beside == made["result"]["manifest"]
    assert beside["receipts"][0]["account"] == "clinic"
    found = result_of("similar", "lookup", "out.npz", "--query", "d1,d2", "--top", 4)
    assert found["guarantee"]["epsilon"] == 3
    assert len(found["result"]["hits"]) == 4
    plain = run("similar", "lookup", "out.npz", "--query", "d1,d2", "--unbiased")
    assert "Paid when published: epsilon 3" in plain.stdout
    assert set(spent().values()) == {3}


def test_holders_publish_their_own_records_and_the_files_are_gathered(result_of, run, records):
    lines = records.read_text().split("\n")
    for name, part in (("a", lines[1:3]), ("b", lines[3:4])):
        (records.parent / f"{name}.csv").write_text("\n".join([lines[0], *part]) + "\n")
        free = ("--no-ledger", "--adjacency", "bit", "--epsilon", 2)
        result_of("similar", "publish", f"{name}.csv", f"{name}.npz", *free)
    made = result_of("similar", "gather", "all.npz", "a.npz", "b.npz")["result"]["manifest"]
    assert (made["records"], made["columns"], made["epsilon"]) == (3, WIDTH, "2")
    found = result_of("similar", "lookup", "all.npz", "--query", "d0", "--top", 3)
    assert {hit["id"] for hit in found["result"]["hits"]} == {"p0", "p1", "p2"}
    assert run("similar", "gather", "twice.npz", "a.npz", "a.npz").exit_code == 3
    seeded = ("--no-ledger", "--adjacency", "bit", "--epsilon", 2, "--insecure-seed", 4)
    result_of("similar", "publish", "b.csv", "c.npz", *seeded)
    mixed = result_of("similar", "gather", "mixed.npz", "a.npz", "c.npz")
    assert mixed["guarantee"] is None
    assert mixed["result"]["manifest"]["marks"][0].startswith("NOT PRIVATE")
    result_of("similar", "publish", "b.csv", "d.npz", *free[:3], "--epsilon", 1)
    assert run("similar", "gather", "mixed.npz", "a.npz", "d.npz").exit_code == 3


def test_a_changed_file_of_randomized_records_is_refused(run, result_of, records):
    free = ("--no-ledger", "--adjacency", "bit", "--epsilon", 2)
    result_of("similar", "publish", records, "out.npz", *free)
    with np.load("out.npz") as held:
        arrays = dict(held)
    arrays["words"][0, 0] ^= np.uint64(1)
    np.savez("changed.npz", **arrays)
    arrays["words"][0, 0] ^= np.uint64(1)
    cheaper = arrays["manifest"].item().replace('"epsilon": "2"', '"epsilon": "1/100"')
    assert cheaper != arrays["manifest"].item()
    np.savez("cheaper.npz", **(arrays | {"manifest": cheaper}))
    (records.parent / "text.npz").write_text("no archive")
    for file in ("changed.npz", "cheaper.npz", "text.npz"):
        done = run("similar", "lookup", file, "--query", "d1")
        assert done.exit_code == 3
        assert "noren similar publish" in done.stderr


def test_a_plan_compares_ways_from_public_facts_and_its_trial_is_secret(result_of, run, records):
    sizes = ("--epsilon", 1, "--queries", 3, "--size", 4)
    public = result_of("similar", "plan", "--n-records", 1000, "--n-columns", 50, *sizes)["result"]
    assert public["advised"] == "randomized-records"
    assert public["randomized_records_from"] == 2
    assert public["secret_part"] is None
    assert {way["name"] for way in public["ways"]} >= {"noisy-scores", "randomized-records"}
    tried = result_of("similar", "plan", records, *sizes, "--try", 5)["result"]
    assert tried["secret_part"]["secret"].startswith("SECRET")
    shown = run("similar", "plan", records, *sizes, "--try", 5, "--report", "plan.html")
    assert shown.exit_code == 0
    assert "SECRET" in (records.parent / "plan.html").read_text()
    assert run("similar", "plan", *sizes).exit_code == 2
    (records.parent / "work.txt").write_text("d1,d2\nd2,d3,d4\n\nd5\n")
    work = ("similar", "plan", records, "--epsilon", 1, "--workload", "work.txt")
    made = result_of(*work)["result"]
    assert (made["queries_sharing_a_column"], made["query_size"]) == (2, 3)
    assert run(*work, "--size", 4).exit_code == 2
    assert run("similar", "plan", "--n-records", 9, "--n-columns", 3, *sizes).exit_code == 3


def test_a_workload_is_read_as_queries_are(result_of, run, records):
    """As sets of columns, by name or as 0s and 1s; an unknown column is no column."""
    file = records.parent / "work.txt"
    file.write_text("d1,d2,d2\n011000000000\n# a comment\n")
    work = ("--epsilon", 1, "--workload", "work.txt")
    for given in ((records,), ("--n-records", 60, "--n-columns", WIDTH)):
        made = result_of("similar", "plan", *given, *work)["result"]
        assert made["query_size"] == 2
    assert result_of("similar", "plan", records, *work)["result"]["queries_sharing_a_column"] == 2
    file.write_text("d1,nothing\n")
    wrong = run("similar", "plan", records, *work)
    assert wrong.exit_code == 3
    assert "nothing" in wrong.stderr
    for empty in ("", "\n# nothing\n", ","):
        file.write_text(empty)
        assert run("similar", "plan", "--n-records", 9, "--n-columns", 3, *work).exit_code == 3


def test_nothing_is_paid_for_a_file_that_cannot_be_written(run, account):
    for target in ("no such folder/out.npz", account):
        done = run("similar", "publish", account, target, "--epsilon", 1)
        assert done.exit_code == 3, done.stderr
    assert not any(spent().values())
    assert account.read_text().startswith("id,d0")  # the records were not written over


def test_a_seeded_search_is_marked(result_of, records):
    seeded = ("--no-ledger", "--adjacency", "bit", "--insecure-seed", 3)
    found = result_of(*asking(records, "--top", 3, "--epsilon", 1, *seeded))
    assert found["guarantee"] is None
    assert found["result"]["marks"][0].startswith("NOT PRIVATE")
    record = ("--no-ledger", "--adjacency", "substitute")
    count = result_of(*asking(records, "--count", 1, "--epsilon", 1, *record))
    assert "record is replaced" in count["guarantee"]["adjacency"]


def test_a_window_of_scores_is_public_and_lowers_the_noise(result_of, records):
    record = ("--no-ledger", "--adjacency", "substitute", "--dry-run", "--top", 3)
    query = ",".join(f"d{column}" for column in range(8))
    whole = result_of(*asking(records, *record, "--epsilon", 1, query=query))
    part = result_of(*asking(records, *record, "--epsilon", 1, "--window", 6, 8, query=query))
    assert part["result"]["forecast"]["margin_95"] < whole["result"]["forecast"]["margin_95"]


def test_a_policy_binds_searches(run, account):
    (account.parent / "noren-policy.toml").write_text('no-ledger = false\nepsilon = "3"\n')
    free = ("--no-ledger", "--adjacency", "bit")
    assert run(*asking(account, "--top", 1, "--epsilon", 1, *free)).exit_code != 0
    assert run(*asking(account, "--top", 1, "--epsilon", 1)).exit_code == 3
    own = ("similar", "open", account, "--account", "x", "--adjacency", "bit", "--epsilon", 9)
    assert run(*own).exit_code == 3
