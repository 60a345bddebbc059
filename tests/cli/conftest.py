"""Run `noren` as a person would, and lend it commands that exist only in a test."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

from noren.cli import commands, noren

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Run `noren ARGS` in this process; standard output and error are kept apart."""
    return lambda *args: CliRunner().invoke(noren, [str(arg) for arg in args])


@pytest.fixture
def lend(monkeypatch: pytest.MonkeyPatch) -> Callable[[click.Command], None]:
    """Add a command to `noren` for one test, under its own name."""

    def add(command: click.Command) -> None:
        module = ModuleType("lent_command")
        module.command = command
        monkeypatch.setitem(sys.modules, "lent_command", module)
        entry = commands.Entry("lent_command:command", "Lent.")
        monkeypatch.setitem(commands.COMMANDS, str(command.name), entry)

    return add


@pytest.fixture
def result_of(run: Run) -> Callable[..., dict]:
    """Run a command with --json, hold its output against the contract, and give the object."""

    def read(*args: object, code: int = 0) -> dict:
        done = run(*args, "--json")
        assert done.exit_code == code, done.stderr
        found = json.loads(done.stdout)
        assert list(found) == ["noren", "kind", "guarantee", "result"]
        assert isinstance(found["kind"], str)
        assert isinstance(found["result"], dict)
        if found["guarantee"] is not None:
            assert list(found["guarantee"]) == ["adjacency", "epsilon", "delta", "rho"]
        return found

    return read
