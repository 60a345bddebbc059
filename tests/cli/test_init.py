"""`noren init` writes files that work as they are, and never over anything."""

from __future__ import annotations

import pytest

from noren.cli import policy
from noren.data import Schema


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty folder, with no settings from outside."""
    for name in ("NOREN_LEDGER", "NOREN_ACCOUNT", "NOREN_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(policy, "SYSTEM", tmp_path / "etc" / "policy.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_schema_can_be_read_as_it_is(result_of, here):
    result_of("init")
    assert Schema.read(here / "schema.toml").names == ("age", "town")


def test_the_settings_and_the_policy_apply_at_once(result_of, here):
    result_of("init")
    found = result_of("config", "show")["result"]
    assert {row["setting"]: row["value"] for row in found["settings"]} == {
        "ledger": str(here / "ledger.sqlite"),
        "account": "people",
    }
    assert [(rule["rule"], rule["value"]) for rule in found["policy"]] == [("no-ledger", False)]


def test_every_rule_of_the_policy_holds_once_its_mark_is_taken_away(result_of, here):
    result_of("init")
    file = here / "noren-policy.toml"
    rules = ("account =", "adjacency =", "epsilon =", "delta =", "users =")
    lines = [
        line.removeprefix("# ") if line.removeprefix("# ").startswith(rules) else line
        for line in file.read_text().splitlines()
    ]
    file.write_text("\n".join(lines) + "\n")
    found = {rule.name for rule in policy.rules_of(file)}
    assert found == {"no-ledger", "account", "adjacency", "epsilon", "delta", "users"}


def test_what_it_says_to_do_next_makes_the_account(run, here):
    said = run("init").stdout
    command = said.split("  noren ")[1].split()
    assert run(*command).exit_code == 0
    assert run("ledger", "show").exit_code == 0


def test_a_file_that_stands_is_never_touched(run, here):
    (here / "schema.toml").write_text("mine")
    done = run("init")
    assert done.exit_code == 3
    assert "exists already" in done.stderr
    assert (here / "schema.toml").read_text() == "mine"
    assert not (here / "noren.toml").exists()


def test_another_folder_can_be_named(run, here):
    assert run("init", "study").exit_code == 0
    assert (here / "study" / "noren.toml").exists()
