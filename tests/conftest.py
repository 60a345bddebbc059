"""What every test shares: how Hypothesis searches, peers, and what this machine cannot test.

A test marked `postgres` or `web` needs a program that Noren itself does not. Where that program
is missing the test is skipped, and the run ends by saying so, so that a green run on a bare
machine is not taken for a whole one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

PEERS = Path(__file__).parents[1] / ".peers"

# No deadline: the machine may be busy. The search stays random; what it finds, it prints in a
# form that can be replayed.
hypothesis.settings.register_profile("noren", deadline=None, print_blob=True)
hypothesis.settings.load_profile("noren")


@pytest.fixture(scope="session")
def peer() -> Callable[..., Any]:
    """Run a program in the environment of a peer (`benchmarks/peers/NAME.txt`).

    `peer("opendp", program, given)` runs the text with the name `given` set, and gives back what it
    printed, as JSON. For slow tests: `make slow` makes the environments.
    """

    def run(name: str, program: str, given: Any = None) -> Any:
        python = PEERS / name / "bin/python"
        if not python.exists():
            pytest.skip(f"there is no environment of {name}; `make slow` makes one")
        begin = "import json, sys\ngiven = json.load(sys.stdin)\n"
        done = subprocess.run(
            [python, "-c", begin + program], input=json.dumps(given), text=True,
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """Run `noren demo --json` once for all tests; give how it ended, and its folder."""
    from click.testing import CliRunner

    from noren.cli import noren

    folder = tmp_path_factory.mktemp("demo") / "noren-demo"
    return CliRunner().invoke(noren, ["demo", "--out", str(folder), "--json"]), folder


def postgresql_program(name: str) -> Path | None:
    """Find one of PostgreSQL's server programs: on the path, or where Debian puts them."""
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    return max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None)


def missing_services() -> dict[str, str]:
    """Name, by marker, what this machine lacks."""
    missing = {}
    if not (postgresql_program("initdb") and postgresql_program("postgres")):
        missing["postgres"] = "PostgreSQL's server binaries (Debian: postgresql)"
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        missing["web"] = "Chromium (Debian: chromium)"
    return missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a missing program."""
    for marker, program in missing_services().items():
        skip = pytest.mark.skip(reason=f"this machine lacks {program}")
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End by saying loudly what was not tested, and why."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    if not reasons:
        return
    terminalreporter.section("NOT TESTED ON THIS MACHINE", sep="*", red=True, bold=True)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason}", red=True)
