"""Run every benchmark, one after the other, and write what they print to docs/benchmarks.md.

    python -m benchmarks            all of them
    python -m benchmarks NAME ...   these; their sections of the page are written anew

What is printed is what is written: nothing is left out, least of all the bars that were missed.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

HELPERS = {  # what the benchmarks share, and what is run by itself
    "__init__", "__main__", "rounds", "waiting", "growth_work", "large",
}  # fmt: skip
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SECTION = re.compile(r"^## `(?P<name>\w+)`\n.*?(?=^## `|\Z)", re.M | re.S)
INTRODUCTION = """# Benchmarks

What `make bench` printed, whole: Noren beside named peers and beside the physical limit. Each table
comes from one run in which all its ways took turns in random order; a ratio is taken within a
round, and its median is shown with the least and the most, so that a busy neighbor slows both
sides. Rates differ from machine to machine, ratios much less. Rows that we lose stay. Where it is
not said otherwise a time is that of the work alone, warm: imports and compiling are done. Whole
processes are cold: they count all.

How time and memory grow with the work is drawn on [a page of its own](growth.md).
"""


def names() -> list[str]:
    """List the benchmarks."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py")
                  if path.stem not in HELPERS)  # fmt: skip


def machine() -> str:
    """Say in words what the figures were taken on."""
    load = ", ".join(f"{figure:.1f}" for figure in os.getloadavg())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} on {platform.machine()}, "
        f"{os.cpu_count()} cores (a virtual machine), {memory:.0f} GB of memory, "
        f"Python {platform.python_version()}; load average at the start {load}"
    )


def printed(name: str) -> tuple[str, bool]:
    """Run one benchmark, show its lines as they come, and give them."""
    lines = []
    command = [sys.executable, "-u", "-m", f"benchmarks.{name}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return "\n".join(lines).strip(), not running.returncode


def section(name: str, where: str, text: str, finished: bool) -> str:
    """Write the section of one benchmark: what it compares, where, and what it printed."""
    told = (import_module(f"benchmarks.{name}").__doc__ or "").strip()
    title, _, rest = told.partition("\n")
    ended = "" if finished else "\n**It did not finish.**\n"
    body = f"{title}\n{rest}".rstrip()
    return (
        f"## `{name}`\n\n```text\n{body}\n```\n\nMeasured {where}.\n{ended}\n"
        f"```text\n{text}\n```\n\n"
    )


def write(sections: dict[str, str]) -> None:
    """Write the page: new sections, and those of benchmarks that were not run this time."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    kept = {found["name"]: found[0] for found in SECTION.finditer(old)}
    known = {name: text for name, text in (kept | sections).items() if name in names()}
    body = "".join(known[name] for name in sorted(known))
    PAGE.write_text(f"{INTRODUCTION}\n{body}".rstrip() + "\n", encoding="utf-8")


def main(chosen: list[str]) -> int:
    """Run the benchmarks chosen, or all; end with an error if one did."""
    failed = []
    for name in chosen or names():
        where = machine()
        print(f"\n== {name} ({where})", flush=True)
        text, finished = printed(name)
        write({name: section(name, where, text, finished)})
        if not finished:
            failed.append(name)
    print(f"\nWritten to {PAGE}")
    if failed:
        print(f"\nDid not finish: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
