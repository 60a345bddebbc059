"""What a command shows: data on standard output, all else on standard error.

With `--json` a command prints one object, the same for every command,

    {"noren": version, "kind": ..., "guarantee": {...} or null, "result": {...}}

and a stream prints one such object a line. Without it, people get a table. Progress bars and
remarks go to standard error, bars only when that is a terminal.

A command is written as

    @click.command()
    @click.option("--quick", is_flag=True, help="...")
    @with_output
    def audit(output: Output, quick: bool) -> None:
        ...
        output.show("audit", {"rows": rows}, people=table)
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from noren import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from noren.privacy.guarantee import Guarantee

PIPE_WIDTH = 10_000  # a table in a pipe is never wrapped
Progress = Callable[[int, int | None], None]  # (done, in all: None where nobody knows)


class Output:
    """Where a command puts its results and its remarks."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def show(
        self, kind: str, result: Any, *, guarantee: Guarantee | None = None, people: Any = None
    ) -> None:
        """Print one result: the JSON object, or `people` (text or anything that rich can print).

        `people` may be several things in a list; without it people see the JSON result indented.
        """
        if self.as_json:
            click.echo(json_text(kind, result, guarantee, indent=2))
        elif people is None:
            click.echo(json.dumps(plain(result), indent=2, ensure_ascii=False))
        else:
            self.say(*(people if isinstance(people, list) else [people]))

    def show_line(
        self, kind: str, result: Any, *, guarantee: Guarantee | None = None, people: str
    ) -> None:
        """Print one result of a stream: an object on one line, or one line of text, at once."""
        click.echo(json_text(kind, result, guarantee) if self.as_json else people)
        sys.stdout.flush()

    def show_answer(self, answer: Any) -> None:
        """Print an answer with its price, its error, what was taken as public, and every mark."""
        made = answer.to_dict()
        result = {key: made[key] for key in made if key not in ("kind", "guarantee")}
        people = answer_lines(answer)
        self.show(answer.question.kind, result, guarantee=answer.guarantee, people=people)

    def show_forecast(self, question: Any, forecast: Any) -> None:
        """Print what an answer would cost and how far off it may be; nothing is spent."""
        result = {"question": question.kind, **forecast.to_dict()}
        people = [f"Forecast: {forecast}", f"Price: {question.guarantee}", "Nothing was spent."]
        self.show("forecast", result, guarantee=question.guarantee, people=people)

    def say(self, *parts: Any) -> None:
        """Print for people, on standard output; nothing when JSON is asked for."""
        if not self.as_json:
            console = console_on(sys.stdout)
            for part in parts:
                shown = part if hasattr(part, "__rich_console__") else str(part)
                console.print(
                    shown, markup=False, highlight=False, soft_wrap=not sys.stdout.isatty()
                )

    def remark(self, text: str) -> None:
        """Say something beside the data, on standard error."""
        click.echo(text, err=True)

    @contextmanager
    def progress(self, doing: str) -> Iterator[Progress]:
        """Show a bar on standard error while something long runs, if that is a terminal."""
        if not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.progress import Progress as Bar

        with Bar(console=console_on(sys.stderr), transient=True) as bar:
            task = bar.add_task(doing, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def with_output(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command its `--json` option and an `Output` as first argument."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object for programs.")
    @functools.wraps(function)
    def run(*args: Any, as_json: bool, **settings: Any) -> None:
        function(Output(as_json=as_json), *args, **settings)

    return run


def answer_lines(answer: Any, headline: str | None = None) -> list[str]:
    """Say an answer in lines, the marks first: they must not be missed."""
    public = "; ".join(answer.question.assumed_public)
    receipt = answer.receipt
    charged = f"{receipt.account}, request {receipt.request_id}" if receipt else ""
    facts = {
        "Price": str(answer.guarantee or "no guarantee"),
        "Expected error": str(answer.uncertainty),
        "Assumed public": public,
        "Charged to": charged,
        "Ledger head": receipt.head if receipt else "",
    }
    marks = [f"! {mark}" for mark in answer.marks]
    said = answer.headline if headline is None else headline
    return [*marks, said, *(f"{name}: {text}" for name, text in facts.items() if text)]


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Build a table for people; a cell is written as its `str`, a float to six digits."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for column in columns:
        made.add_column(column)
    for row in rows:
        made.add_row(*(Text(cell_text(cell)) for cell in row))
    return made


def cell_text(value: object) -> str:
    """Write one cell: floats to six digits, truth as yes or no, nothing as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def json_text(
    kind: str, result: Any, guarantee: Guarantee | None, indent: int | None = None
) -> str:
    """Write the object that every command prints with `--json`."""
    price = guarantee.to_dict() if guarantee is not None else None
    made = {"noren": __version__, "kind": kind, "guarantee": price, "result": plain(result)}
    return json.dumps(made, indent=indent, allow_nan=False)


def plain(value: Any) -> Any:
    """Turn a result into strict JSON: what JSON has no number for becomes a word."""
    from noren.question import as_json

    return finite(as_json(value))


def finite(value: Any) -> Any:
    """Write infinities and not-a-number as words, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "infinite" if value > 0 else "-infinite"
    return value


def console_on(stream: Any) -> Console:
    """Print with rich: as wide as the terminal, and unwrapped into a pipe."""
    from rich.console import Console

    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH)


def owner_only(path: Path) -> Path:
    """Make a file that its owner alone may read, before anything secret is written to it."""
    path.touch(0o600)
    path.chmod(0o600)
    return path
