"""Pages in a real browser: they draw, in light and dark, and ask the network for nothing."""

import json
import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import altair as alt
import pytest

from noren.page import Chart, Page, Text

pytestmark = pytest.mark.web

POINTS = alt.Chart(alt.Data(values=[{"x": 1, "y": 2}, {"x": 2, "y": 1}])).mark_line()
POINTS = POINTS.encode(x="x:Q", y="y:Q")
TALL = 9000
PICTURES = Path(__file__).parents[2] / "build/screenshots"
MEASURE = """<script>setTimeout(() => parent.document.body.append(
  `MEASURED ${window.innerWidth} ${document.documentElement.scrollWidth}`), 2000);
</script></body>"""
BROWSER_ITSELF = "not an origin"  # what Chromium calls its own errands in its log


class Visit:
    """Open a page in headless Chromium and keep what happened."""

    def __init__(
        self, page: Path, folder: Path, *, dark: bool = False, width: int = 1000,
        picture: bool = False,
    ):  # fmt: skip
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        log, self.picture = folder / "net.json", folder / "picture.png"
        kept = [f"--screenshot={self.picture}", "--hide-scrollbars"] if picture else []
        done = subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                f"--window-size={width},{TALL if picture else 1000}", "--enable-logging=stderr",
                "--virtual-time-budget=5000", *kept, "--dump-dom", page.as_uri(),
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


@pytest.fixture(scope="module")
def report(demo) -> Path:
    done, folder = demo
    assert done.exit_code == 0, done.stderr
    return folder / "report.html"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_the_report_of_the_demo_draws_offline_without_a_script_error(report, tmp_path, width, dark):
    visit = Visit(report, tmp_path, dark=dark, width=width, picture=True)
    assert visit.document.count('aria-roledescription="visualization"') == 6
    assert "could not be drawn" not in visit.document.partition("<script>")[0]
    assert visit.console == []
    assert visit.fetched == []
    name = f"demo-{width}-{'dark' if dark else 'light'}.png"
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture = visit.picture.rename(PICTURES / name)  # kept, to be looked at
    assert picture.stat().st_size > 100_000


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_no_part_of_the_report_is_wider_than_the_screen(report, tmp_path, width):
    text = report.read_text("utf-8").replace("Content-Security-Policy", "none-here")
    inner, needed = measured(text, tmp_path, width)
    assert (inner, needed <= inner) == (width, True)  # a scroll bar takes some of it
    wide = text.replace("</main>", f'<div style="width: {width + 100}px">wide</div></main>')
    assert measured(wide, tmp_path, width)[1] > width  # so the check can fail


def measured(text: str, folder: Path, width: int) -> tuple[int, int]:
    """Say how wide a page's frame is, and how wide what it holds: no window is as narrow."""
    inside = escape(text.replace("</body>", MEASURE))
    frame = folder / "frame.html"
    frame.write_text(f'<iframe width="{width}" height="900" style="border: 0" srcdoc="{inside}">')
    document = Visit(frame, folder, width=width + 100).document
    inner, needed = re.search(r"MEASURED (\d+) (\d+)", document).groups()
    return int(inner), int(needed)


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
