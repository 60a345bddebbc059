"""How time and memory grow over three decades of work, for each capability.

Each point is the best of three processes of its own; time is that of the work alone, memory the
largest the process ever had, libraries and all. Straight lines of slope one in the first picture
mean linear time, flat ones in the second flat memory.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.growth_work import WORKS

DOCS = Path(__file__).parents[1] / "docs"
RUNS = 3
Row = dict[str, Any]


def points(name: str) -> Iterator[Row]:
    """Measure one capability at its sizes."""
    work = WORKS[name]
    for size in work.sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = "cohort" if name == "association" else "data.parquet"
            place = ("benchmarks.growth_work", name, str(size), f"{folder}/{file}")
            told(place, "make")
            runs = [json.loads(told(place, "run")) for _ in range(RUNS)]
        seconds, most = (min(run[figure] for run in runs) for figure in ("seconds", "peak"))
        yield {"capability": name, "unit": work.unit, "size": size, "seconds": seconds, "MB": most}
        print(
            f"    {name:14} {size:>12,} {work.unit:9} {seconds:9.3f} s {most:7.0f} MB", flush=True
        )


def told(place: tuple[str, ...], what: str) -> str:
    """Run one step in a process of its own."""
    module, *arguments = place
    command = [sys.executable, "-m", module, what, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def slope(rows: list[Row], figure: str) -> float:
    """Give the growth over the last decade, in powers of the work."""
    last, end = rows[-2:]
    return math.log(end[figure] / last[figure]) / math.log(end["size"] / last["size"])


def picture(name: str, rows: list[Row]) -> Any:
    """Draw time and memory over work, on logarithmic scales."""
    import altair as alt

    data = alt.Data(values=rows)
    across = (
        alt.X("size:Q", title=WORKS[name].unit).scale(type="log").axis(format="~s", tickCount=4)
    )

    def drawn(figure: str, title: str) -> Any:
        y = alt.Y(f"{figure}:Q", title=title).scale(type="log")
        return alt.Chart(data, width=270, height=200).mark_line(point=True).encode(x=across, y=y)

    return (drawn("seconds", "seconds") | drawn("MB", "peak memory, MB")).properties(
        title=WORKS[name].title
    )


def write(measured: dict[str, list[Row]]) -> None:
    """Write the pictures and their page."""
    from noren.page import save_chart

    lines = ["# How time and memory grow", "", *(__doc__ or "").strip().splitlines()[2:], ""]
    lines.append(
        "Measured by `make bench` on the machine that [the benchmarks](benchmarks.md) name."
    )
    for name, rows in measured.items():
        save_chart(picture(name, rows), DOCS / "_static" / f"growth-{name}.svg")
        lines += ["", f"## {WORKS[name].title}", ""]
        lines += [f"![Seconds and memory over {WORKS[name].unit}](_static/growth-{name}.svg)", ""]
        lines += [f"| {WORKS[name].unit} | seconds | peak MB |", "|---:|---:|---:|"]
        lines += [f"| {r['size']:,} | {r['seconds']:.3f} | {r['MB']:.0f} |" for r in rows]
        time, memory = slope(rows, "seconds"), slope(rows, "MB")
        lines += ["", f"Over the last decade time grew as the work to the power of {time:.2f}, "
                  f"memory to that of {memory:.2f}."]  # fmt: skip
    (DOCS / "growth.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(chosen: list[str]) -> int:
    """Measure all capabilities, or those named (then no page is written)."""
    print("\nBest of three processes each")
    measured = {name: list(points(name)) for name in chosen or WORKS}
    if not chosen:
        write(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
