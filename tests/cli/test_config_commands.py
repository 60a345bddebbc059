"""Which settings apply, where they came from, and what no option overrides."""

from __future__ import annotations

import pytest

from noren import Guarantee, Ledger
from noren.cli import policy


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work two folders down, with no settings from outside."""
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT", "NOREN_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(policy, "SYSTEM", tmp_path / "etc" / "policy.toml")
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    return tmp_path


@pytest.fixture
def shown(result_of):
    """Give each setting's value and source, as `noren config show` says."""

    def read():
        rows = result_of("config", "show")["result"]["settings"]
        return {row["setting"]: (row["value"], row["source"]) for row in rows}

    return read


def test_without_anything_nothing_is_set(shown):
    assert shown() == {"ledger": (None, None), "account": (None, None)}


def test_the_nearest_file_upwards_counts_and_its_paths_are_its_own(here, shown):
    (here / "noren.toml").write_text('ledger = "far.sqlite"\naccount = "far"\n')
    (here / "a" / "noren.toml").write_text('ledger = "near.sqlite"\n')
    file = here / "a" / "noren.toml"
    assert shown()["ledger"] == (str(here / "a" / "near.sqlite"), f"file {file}")
    assert shown()["account"] == (None, None)


def test_the_environment_comes_before_the_file(here, shown, monkeypatch):
    (here / "noren.toml").write_text('account = "from-file"\n')
    monkeypatch.setenv("NOREN_ACCOUNT", "from-environment")
    assert shown()["account"] == ("from-environment", "environment variable NOREN_ACCOUNT")


def test_an_option_comes_before_the_environment(run, monkeypatch, here):
    monkeypatch.setenv("NOREN_LEDGER", "environment.sqlite")
    assert "environment.sqlite" in run("ledger", "show").stderr
    assert "option.sqlite" in run("ledger", "show", "--ledger", "option.sqlite").stderr


def test_a_policy_stands_above_all(here, shown, run, monkeypatch):
    (here / "noren-policy.toml").write_text('account = "ruled"\n')
    assert shown()["account"] == ("ruled", f"policy {here / 'noren-policy.toml'}")
    monkeypatch.setenv("NOREN_ACCOUNT", "mine")
    refused = run("config", "show")
    assert refused.exit_code == 3
    assert "must be 'ruled'" in refused.stderr


def test_every_policy_found_applies_so_each_can_only_narrow(here, run, monkeypatch):
    (here / "noren-policy.toml").write_text("epsilon = 1.0\n")
    (here / "a" / "noren-policy.toml").write_text("epsilon = 5\n")
    other = here / "other.toml"
    other.write_text('adjacency = "substitute"\n')
    create = ("ledger", "create", "c", "--ledger", "l.sqlite", "--adjacency", "add-remove")
    assert "epsilon may be 1.0 at most" in run(*create, "--epsilon", "2").stderr
    monkeypatch.setenv("NOREN_POLICY", str(other))
    assert "adjacency must be 'substitute'" in run(*create, "--epsilon", "1").stderr
    monkeypatch.delenv("NOREN_POLICY")
    assert run(*create, "--epsilon", "1").exit_code == 0


def test_a_policy_beside_the_ledger_applies_from_anywhere(here, run):
    data = here / "data"
    data.mkdir()
    (data / "noren-policy.toml").write_text("rho = 0.5\n")
    create = ("ledger", "create", "c", "--ledger", data / "l.sqlite", "--adjacency", "bit")
    refused = run(*create, "--epsilon", "1")
    assert refused.exit_code == 3
    assert "must state rho" in refused.stderr
    assert run(*create, "--rho", "0.5").exit_code == 0


def test_a_ledger_that_a_policy_names_brings_the_policy_beside_it(here, run):
    data = here / "data"
    data.mkdir()
    (here / "noren-policy.toml").write_text('ledger = "data/l.sqlite"\n')
    (data / "noren-policy.toml").write_text("epsilon = 0.5\n")
    refused = run("ledger", "create", "c", "--adjacency", "bit", "--epsilon", "1")
    assert refused.exit_code == 3
    assert "0.5 at most" in refused.stderr


def test_config_show_lists_the_rules_with_their_files(here, result_of):
    file = here / "noren-policy.toml"
    file.write_text('users = ["ann"]\nno-ledger = false\n')
    rules = result_of("config", "show")["result"]["policy"]
    assert rules == [
        {"rule": "users", "value": ["ann"], "file": str(file)},
        {"rule": "no-ledger", "value": False, "file": str(file)},
    ]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("noren.toml", "acount = 'x'", "'acount', which is not known"),
        ("noren.toml", "account = 3", "must be a text"),
        ("noren.toml", "account", "cannot be read as TOML"),
        ("noren-policy.toml", "usres = ['ann']", "'usres', which is not known"),
        ("noren-policy.toml", "no-ledger = 'no'", "cannot be 'no'"),
        ("noren-policy.toml", "epsilon = true", "cannot be True"),
    ],
)
def test_a_slip_in_a_file_is_refused_since_it_would_guard_nothing(here, run, file, text, said):
    (here / file).write_text(text)
    refused = run("config", "show")
    assert refused.exit_code == 3
    assert said in refused.stderr


def test_a_password_is_not_shown(shown, monkeypatch):
    monkeypatch.setenv("NOREN_LEDGER", "postgresql://ann:hunter2@host/db")
    value, _ = shown()["ledger"]
    assert "hunter2" not in value
    assert "ann" in value


def test_who_may_ask_is_what_the_operating_system_says(monkeypatch):
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")
    assert policy.user_name() != "somebody-else"


def test_a_ledger_named_in_two_ways_is_one(here, run):
    with Ledger.open(here / "l.sqlite") as ledger:
        ledger.create_account("c", Guarantee("bit", epsilon=1))
    (here / "noren-policy.toml").write_text('ledger = "l.sqlite"\n')
    assert run("ledger", "show", "--ledger", "../../l.sqlite").exit_code == 0
    assert run("ledger", "show", "--ledger", "../../m.sqlite").exit_code == 3
