"""Make pytest run the examples of Markdown pages, so that the documentation cannot go stale.

A page is one test. Its fenced `python` blocks run in order and share their names: a block with
prompts is a doctest, a block without is run as a program. Each `$ ` line of a fenced `console`
block is run by a shell, and the lines below it are what it must print (`...` stands for anything).
All of it happens in a folder that is empty at first. Other fences are only shown.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)
COMMAND = re.compile(r"^\$ (?P<command>.*(?:(?<=\\)\n.*)*)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.M)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Example(NamedTuple):
    """One fenced block of a page."""

    language: str
    text: str
    line: int


class ExampleFailed(Exception):
    """An example did not do what its page says."""


def examples_of(page: str) -> list[Example]:
    """Find the blocks of a page that must run."""
    return [
        Example(found["language"], found["text"], page.count("\n", 0, found.start("text")))
        for found in FENCE.finditer(page)
        if found["language"] in ("python", "console")
    ]


def run_python(example: Example, page: Path, names: dict[str, Any]) -> None:
    """Run one Python block: as a doctest if it has prompts, else as a program."""
    if ">>> " not in example.text:
        lines = "\n" * example.line + example.text
        exec(compile(lines, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(
        example.text, names, page.name, str(page), example.line
    )
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    if runner.run(test, out=said.append, clear_globs=False).failed:
        raise ExampleFailed("".join(said))
    names.update(test.globs)


def run_console(example: Example) -> None:
    """Run the commands of one console block here, and compare what they print."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for found in COMMAND.finditer(example.text):
        done = subprocess.run(
            found["command"], shell=True, text=True, capture_output=True,
            env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        )  # fmt: skip
        printed = done.stdout + done.stderr
        if not doctest.OutputChecker().check_output(found["printed"], printed, FLAGS):
            raise ExampleFailed(f"$ {found['command']}\nshould print\n{found['printed']}"
                                f"but printed\n{printed}")  # fmt: skip


class Page(pytest.File):
    """A Markdown page with examples."""

    def collect(self) -> Iterator[pytest.Item]:
        """Give one test, if there is anything to run."""
        if examples_of(self.path.read_text(encoding="utf-8")):
            yield Examples.from_parent(self, name="examples")


class Examples(pytest.Item):
    """All examples of one page, in order."""

    def runtest(self) -> None:
        """Run them."""
        names: dict[str, Any] = {"__name__": "__main__"}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for example in examples_of(self.path.read_text(encoding="utf-8")):
                if example.language == "python":
                    run_python(example, self.path, names)
                else:
                    run_console(example)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show an example that failed by what it said, anything else by its traceback."""
        if isinstance(excinfo.value, ExampleFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the test is."""
        return self.path, 0, f"examples of {self.path.name}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    """Collect every Markdown page that pytest comes across."""
    return Page.from_parent(parent, path=file_path) if file_path.suffix == ".md" else None
