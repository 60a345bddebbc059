"""Run every benchmark, one after the other: `python -m benchmarks [NAME ...]`."""

import os
import platform
import subprocess
import sys
from pathlib import Path

HELPERS = {"__init__", "__main__", "rounds"}  # what the benchmarks share


def names() -> list[str]:
    """List the benchmarks."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py")
                  if path.stem not in HELPERS)  # fmt: skip


def machine() -> str:
    """Say what the figures were taken on."""
    load = ", ".join(f"{figure:.2f}" for figure in os.getloadavg())
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, load average {load}"


def main(chosen: list[str]) -> int:
    """Run the benchmarks chosen, or all; end with an error if one did."""
    failed = []
    for name in chosen or names():
        print(f"\n== {name} ({machine()})", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode:
            failed.append(name)
    if failed:
        print(f"\nDid not finish: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
