"""Pages in a real browser: they draw, in light and dark, and ask the network for nothing."""

import json
import shutil
import subprocess
from pathlib import Path

import altair as alt
import pytest
from click.testing import CliRunner

from noren.cli import noren
from noren.page import Chart, Page, Text

pytestmark = pytest.mark.web

POINTS = alt.Chart(alt.Data(values=[{"x": 1, "y": 2}, {"x": 2, "y": 1}])).mark_line()
POINTS = POINTS.encode(x="x:Q", y="y:Q")
BROWSER_ITSELF = "not an origin"  # what Chromium calls its own errands in its log


class Visit:
    """Open a page in headless Chromium and keep what happened."""

    def __init__(self, page: Path, folder: Path, *, dark: bool = False, width: int = 1000):
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        log = folder / "net.json"
        done = subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                f"--window-size={width},1000", "--enable-logging=stderr",
                "--virtual-time-budget=5000", "--dump-dom", page.as_uri(),
            ],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        self.document = done.stdout
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.fetched = fetched_by_page(log.read_text(encoding="utf-8"))


def fetched_by_page(log: str) -> list[str]:
    """List the addresses that the page itself asked for."""
    try:
        events = json.loads(log)["events"]
    except json.JSONDecodeError:  # the browser left before it closed its log
        events = json.loads(log.rstrip().rstrip(",") + "]}")["events"]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return [found["url"] for found in asked if found["initiator"] != BROWSER_ITSELF]


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_draws_its_charts_offline_without_a_script_error(tmp_path, dark):
    page = Page(title="Page", parts=[Text("Hello"), Chart(POINTS, "a"), Chart(POINTS, "b")])
    visit = Visit(page.write(tmp_path / "page.html"), tmp_path, dark=dark)
    assert visit.document.count('aria-roledescription="visualization"') == 2
    assert ('fill="#e8e6e1"' in visit.document) == dark
    assert visit.console == []
    assert visit.fetched == []


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1200, False)])
def test_the_report_of_the_demo_draws_offline_without_a_script_error(tmp_path, dark, width):
    done = CliRunner().invoke(noren, ["demo", "--out", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.stderr
    visit = Visit(tmp_path / "demo/report.html", tmp_path, dark=dark, width=width)
    assert visit.document.count('aria-roledescription="visualization"') == 5
    assert "could not be drawn" not in visit.document.partition("<script>")[0]
    assert visit.console == []
    assert visit.fetched == []


def test_the_browser_would_have_noticed_a_fetch_and_an_error(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://example.invalid/x.png"><script>throw Error("x")</script>')
    visit = Visit(bad, tmp_path)
    assert visit.fetched == ["http://example.invalid/x.png"]
    assert len(visit.console) == 1


def test_a_page_s_policy_stops_a_fetch_that_got_in(tmp_path):
    page = Page(title="Page", parts=[Text("HERE")]).html()
    path = tmp_path / "page.html"
    path.write_text(page.replace("HERE", '<img src="http://example.invalid/x.png">'), "utf-8")
    visit = Visit(path, tmp_path)
    assert visit.fetched == []
    assert "Content Security Policy" in visit.console[0]
