"""Where a story is told: it runs real commands against a real ledger, and gathers a report.

A story asks by `stage.run("associate", "scan", ...)`: the command that anybody could type, with
`--json`, in this process. For each question the forecast comes first, before anything is spent;
then the answer with its price; then, only because the data is generated, what is true.
"""

from __future__ import annotations

import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from noren.cli.output import Output
from noren.errors import FileProblem
from noren.noise.public import generator
from noren.page import Card, Chart, Code, Part, Section, Table, Text

TRUTH = "The truth, known only because this data is made up"
LEDGER = "ledger.sqlite"
REFUSED = 4  # the exit code of what an account cannot pay
Facts = dict[str, Any]


class Stage:
    """Run, say and show. Parts of the report and rows of the result grow as a story goes on."""

    def __init__(self, output: Output, data_seed: int, number: int) -> None:
        self.output, self.data_seed, self.number = output, data_seed, number
        self.parts: list[Part] = []
        self.answers: list[Facts] = []
        self.accounts: list[str] = []
        self.commands: list[str] = []
        self.shown = 0  # how many of them the report has

    def generator(self) -> Any:
        """Give public randomness, for generated data only."""
        return generator(self.data_seed)

    @property
    def folder(self) -> str:
        """The folder of this run's files: each run has one of its own."""
        return f"run-{self.number}"

    def file(self, name: str) -> str:
        """Name a file of this run."""
        return f"{self.folder}/{name}"

    def account(self, name: str) -> str:
        """Name an account of this run: data that was just generated has a new one."""
        made = f"{name}-{self.number}"
        self.accounts.append(made)
        return made

    def chapter(self, title: str, text: str) -> None:
        """Start a story."""
        self.parts += [Section(title), Text(text)]
        self.output.say("", title, "=" * len(title), text, "")

    def note(self, text: str) -> None:
        """Say something after the commands that show it."""
        self.parts += [*self._commands(), Text(text)]
        self.output.say("", text, "")

    def run(self, *words: object, ends: int = 0) -> Any:
        """Run `noren WORDS` and give its JSON: an object, or a list where it prints a stream.

        `ends` is the exit code that the story expects; another ends the demo with what the command
        said (a policy may forbid it). A command that is refused gives its message.
        """
        said = [str(word) for word in words]
        command = shlex.join(["noren", *said])
        self.commands.append(command)
        self.output.say(f"$ {command}")
        code, out, err = in_this_process([*said, "--json"])
        if code != ends:
            raise FileProblem(f"'{command}' ended with exit code {code}, and so the demo: {err}")
        return read(out) if code == 0 else err.partition("Error: ")[2].strip()

    def answered(
        self, asked: str, value: str, truth: str, *, forecast: str, told: Facts,
        chart: Any = None, caption: str = "",
    ) -> None:  # fmt: skip
        """Show what was asked, forecast, answered and paid, then what is true.

        `told` is the JSON object of the command that answered.
        """
        result, price = told["result"], price_text(told["guarantee"])
        marks, receipt = result.get("marks") or [], result.get("receipt")
        where = f", charged to {receipt['account']}" if receipt else ""
        self.output.say(
            f"  asked     {asked}",
            f"  forecast  {forecast}",
            *(f"  !         {mark}" for mark in marks),
            f"  answer    {value}",
            f"  price     {price}{where}",
            f"  truth     {truth}",
            "",
        )
        picture = Chart(chart, caption, asked) if chart is not None else None
        facts = [("Forecast", forecast), ("Price", price), *facts_of(result)]
        card = Card(value=value, facts=facts, asked=asked, marks=marks, chart=picture)
        self.parts += [*self._commands(), card, Text(f"{TRUTH}: {truth}.")]
        row = {"kind": told["kind"], "asked": asked, "forecast": forecast, "answer": value}
        self.answers.append(row | {"guarantee": told["guarantee"], "receipt": receipt,
                                   "marks": marks, "truth": truth})  # fmt: skip

    def refused(self, asked: str, message: str) -> None:
        """Show the refusal of what an account cannot pay."""
        self.note(f"{asked} is refused, and nothing is drawn. {message}")

    def close(self) -> list[Facts]:
        """End with what was spent, and give the accounts' balances."""
        title = "What was spent"
        self.output.say("", title, "=" * len(title))
        shown = self.run("ledger", "show", "--ledger", LEDGER)["result"]["accounts"]
        balances = {row["account"]: row for row in shown}
        mine = [balances[name] for name in self.accounts]
        rows = [
            (row["account"], row["adjacency"], *(amount(row[part]) for part in PARTS))
            for row in mine
        ]
        self.parts += [Section(title), Table(HEADS, rows)]
        self.output.say(*(f"  {row[0]}: {row[3]} spent of {row[2]} ({row[1]})" for row in rows))
        return mine

    def _commands(self) -> list[Part]:
        """Give the commands that were typed since the last time."""
        lines, self.shown = self.commands[self.shown :], len(self.commands)
        return [Code(lines)] if lines else []


HEADS = ("account", "who is protected", "budget", "spent", "left")
PARTS = ("total", "spent", "remaining")


def in_this_process(words: list[str]) -> tuple[int, str, str]:
    """Run `noren` as a shell would: exit code, standard output, standard error."""
    from noren.cli import noren

    out, err, code = StringIO(), StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            noren.main(words, prog_name="noren")
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def read(text: str) -> Any:
    """Read what a command printed: one object, or an object a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def amount(guarantee: Facts) -> str:
    """Say how much of a budget something is."""
    named = [(name, guarantee[name]) for name in ("epsilon", "delta", "rho")]
    return ", ".join(f"{name} {value:.6g}" for name, value in named if value) or "nothing"


def price_text(guarantee: Facts | None) -> str:
    """Say a guarantee as `str` of one does."""
    return f"{amount(guarantee)} ({guarantee['adjacency']})" if guarantee else "nothing"


def facts_of(result: Facts) -> list[tuple[str, str]]:
    """Say what else travels with an answer."""
    facts = []
    if result.get("assumed_public"):
        facts.append(("Assumed public", "; ".join(result["assumed_public"])))
    receipt = result.get("receipt")
    if receipt:
        facts.append(("Charged to", f"{receipt['account']}, request {receipt['request_id']}"))
        facts.append(("Ledger head", receipt["head"]))
    return facts
