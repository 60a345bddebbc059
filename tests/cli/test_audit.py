"""`noren audit` shows the rows that the audit finds, and fails when one is not as expected."""

from dataclasses import replace

import numpy as np
import pytest

import noren.audit
from noren import Adjacency, Guarantee, Ledger
from noren.audit import AuditRow
from noren.cli import audit_commands
from noren.noise import Noise

FIELDS = {"mechanism", "adjacency", "claimed", "measured", "method", "ok"}


def row(**changed) -> AuditRow:
    settings = {
        "mechanism": "demo: coin", "adjacency": "any other input", "claimed": 1.0,
        "measured": 0.9, "method": "exact", "ok": True,
    }  # fmt: skip
    return AuditRow(**settings | changed)


@pytest.fixture
def audited(monkeypatch):
    """Replace the evidence by rows that a test chooses; record what was asked for."""
    asked = {}

    def choose(*rows):
        def run(name=None, quick=False, progress=None):
            asked.update(name=name, quick=quick)
            for found in rows:
                progress(found)
            return list(rows)

        monkeypatch.setattr(noren.audit, "run", run)
        monkeypatch.setattr(noren.audit, "names", lambda: ["demo"])
        monkeypatch.setattr(audit_commands, "rows", lambda quick: iter(()))
        return asked

    return choose


def test_rows_have_the_contract_s_fields(audited, result_of):
    asked = audited(row(), row(measured=float("inf"), expected="fails"))
    rows = result_of("audit", "demo", "--quick")["result"]["rows"]
    assert all(set(found) >= FIELDS for found in rows)
    assert rows[1]["measured"] == "infinite"
    assert asked == {"name": "demo", "quick": True}


def test_all_as_expected_is_said_in_one_line(audited, run):
    audited(row(), row(expected="fails"))
    done = run("audit")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("All 2 rows did what was expected.\n")


def test_a_row_that_is_not_as_expected_ends_with_one_and_says_which(audited, run, result_of):
    audited(row(), row(mechanism="demo: broken", ok=False, note="half the noise"))
    done = run("audit")
    assert done.exit_code == 1
    assert "demo: broken: half the noise" in done.stdout
    assert len(result_of("audit", code=1)["result"]["rows"]) == 2


def test_an_unknown_name_is_wrong_usage(audited, run):
    audited(row())
    done = run("audit", "nothing")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "demo" in done.stderr


def test_an_audit_that_examined_nothing_has_not_passed(audited, run):
    audited()
    done = run("audit")
    assert done.exit_code == 1
    assert "Nothing was examined" in done.stdout


COMMANDS = {command.name: command for command in audit_commands.commands()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_spending_command_runs_on_both_sides_and_says_what_was_drawn(name, tmp_path):
    command = COMMANDS[name]
    for side in audit_commands.SIDES:
        (tmp_path / side).mkdir()
        command.write(tmp_path / side, side == "data")
        adjacency = Adjacency.read(command.adjacency)
        with Ledger.open(tmp_path / side / audit_commands.UNSPENT) as ledger:
            budget = Guarantee(replace(adjacency, within=command.within), epsilon=1)
            ledger.create_account("all", budget, columns=command.columns)
        said = audit_commands.output_of(command, tmp_path / side)
        assert command.released(tmp_path / side, said) is not None
        if not command.said:
            with Ledger.open(tmp_path / side / "l.sqlite") as ledger:
                assert len(ledger.history("all")) >= 2  # opened, and charged


def test_a_command_without_noise_is_caught_from_outside(tmp_path, monkeypatch):
    monkeypatch.setattr(Noise, "discrete_laplace", lambda self, scale, size: np.zeros(size, int))
    row = audit_commands.audited(COMMANDS["associate scan"], tmp_path, 100)
    assert not row.ok
    assert row.measured > 1


def test_a_command_that_fails_stops_the_audit_and_quotes_nothing(tmp_path):
    command = replace(COMMANDS["associate scan"], words=("associate", "scan", "@nothing"))
    with pytest.raises(RuntimeError, match="ended with"):
        audit_commands.audited(command, tmp_path, 100)


def test_one_room_is_the_commands_themselves(audited, monkeypatch, result_of):
    audited(row())
    own = row(mechanism="commands: demo")
    monkeypatch.setattr(audit_commands, "rows", lambda quick: iter([own]))
    assert [it["mechanism"] for it in result_of("audit", "commands")["result"]["rows"]] == [
        "commands: demo"
    ]
    assert len(result_of("audit")["result"]["rows"]) == 2


def test_the_report_counts_rows_by_question_and_lists_every_fault_by_name(audited, run, tmp_path):
    audited(
        row(mechanism="questions: cell-counts"),
        row(mechanism="mechanisms: cell-counts, discrete Laplace", method="statistical", detects=2),
        row(mechanism="questions: cell-counts, fault: half the noise", method="mutant",
            expected="fails", measured=2.0),
    )  # fmt: skip
    done = run("audit", "--report", tmp_path / "out.html")
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert "<td>cell-counts</td><td>1 of 1</td><td>-</td><td>1 of 1</td><td>1 of 1</td>" in page
    assert "<td>half the noise</td><td>questions: cell-counts</td>" in page
