"""`noren audit` shows the rows that the audit finds, and fails when one is not as expected."""

import pytest

import noren.audit
from noren.audit import AuditRow

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
