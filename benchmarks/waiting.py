"""Peers run in environments of their own, and wait for their turn.

`make bench` makes an environment for each file in `benchmarks/peers`. A peer is a program that
reads a line, works, and prints a line; it starts once, so its imports are not in any time.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ENVIRONMENTS = Path(__file__).parents[1] / ".peers"
Ask = Callable[[str], str]


@contextmanager
def peer(name: str, program: str, *arguments: object) -> Iterator[Ask | None]:
    """Give a way to send a line to a peer and hear its answer; None without its environment."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        print(f"\nSKIPPED: no environment of {name} at {python}: `make bench` makes one.")
        yield None
        return
    with (
        tempfile.TemporaryDirectory() as elsewhere,  # where no module of ours is found
        subprocess.Popen(
            [python, "-c", program, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=elsewhere,
        ) as process,
    ):  # fmt: skip
        told, heard = process.stdin, process.stdout
        assert told is not None and heard is not None  # noqa: PT018

        def ask(line: str) -> str:
            told.write(f"{line}\n")
            told.flush()
            answer = heard.readline()
            if not answer:
                raise RuntimeError(f"{name} ended before it answered")
            return answer

        yield ask
        told.close()
