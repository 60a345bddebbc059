"""`noren monitor collect`: reports in, decisions out."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.monitor_plan import FILE, read_plan
from noren.cli.output import Output, with_output
from noren.errors import FileProblem, ParameterError

if TYPE_CHECKING:
    from noren.monitoring.collector import Collector

AT_ONCE = 10_000
PATIENCE = 0.2  # seconds to wait for more messages before those at hand are counted


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--counts", type=FILE, required=True, help="The file of counts; made if it is new.")
@click.option(
    "--plan", "plans", type=FILE, multiple=True, help="The plan (of each class of people)."
)
@click.option("--open", "epoch", type=int, help="Open this epoch for the people of --roster.")
@click.option("--roster", type=FILE, help='JSON lines {"client": ..., "key": hex, "class": 0}.')
@click.option("--tickets", type=FILE, help="Write everyone's ticket here, as JSON lines.")
@click.option(
    "--seal", type=click.Choice(["end", "clock", "flush"]), default="end", show_default=True,
    help='When slots are sealed: at the end of the input, by the clock, or by lines of the input: '
    '{"flush": {"epoch": 0, "slot": 3}}.',
)  # fmt: skip
@click.option("--random-classes", is_flag=True, help="People were put into classes at random.")
@click.option("--smooth", is_flag=True, help="Show a smoothed share beside the raw one.")
@with_output
def collect(
    output: Output, files: tuple[Path, ...], counts: Path, plans: tuple[Path, ...],
    epoch: int | None, roster: Path | None, tickets: Path | None, seal: str, **settings: bool,
) -> None:  # fmt: skip
    """Count reports from FILES (JSON lines; - or none: standard input); print each decision.

    One line for each slot that is sealed. Messages may come twice, late or malformed: they are
    counted once or not at all, also when this program is stopped and started again. With --open
    and no FILES, only the epoch is opened.
    """
    from noren.monitoring.collector import Collector

    clock = time.time if seal == "clock" else None
    known = [read_plan(path) for path in plans] or None
    with Collector(counts, known, clock=clock, **settings) as collector:
        if epoch is not None:
            opened(output, collector, epoch, roster, tickets)
            if not files:
                return
        receipts: Counter[str] = Counter()
        for batch in batches(lines(files)):
            take(collector, batch, receipts, seal)
            say(output, collector)
        if seal == "end":
            seal_all(collector)
        say(output, collector)
    told = ", ".join(f"{name} {number}" for name, number in sorted(receipts.items()))
    output.remark(f"Messages: {told or 'none'}")


def opened(
    output: Output, collector: Collector, epoch: int, roster: Path | None, tickets: Path | None
) -> None:
    """Open an epoch for the people of a roster, and write their tickets."""
    if roster is None:
        raise click.UsageError("--open needs --roster: the people of the epoch and their keys.")
    clients, kinds = read_roster(roster)
    made = collector.open_epoch(epoch, clients, kinds)
    if tickets is not None:
        text = "".join(f"{json.dumps(ticket)}\n" for ticket in made)
        tickets.write_text(text, encoding="utf-8")
    if output.as_json:
        result = {"epoch": epoch, "people": len(made), "tickets": str(tickets) if tickets else None}
        output.show_line("monitoring-epoch", result, people="")
    else:
        output.remark(f"Epoch {epoch} is open for {len(made)} people.")


def read_roster(path: Path) -> tuple[dict[str, bytes], dict[str, int]]:
    """Read names, keys and classes; a name stands once."""
    clients: dict[str, bytes] = {}
    kinds: dict[str, int] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            name = str(row["client"])
            if name in clients:
                raise KeyError
            clients[name], kinds[name] = bytes.fromhex(row["key"]), int(row.get("class", 0))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileProblem(
            f"{path} cannot be read as a roster ({type(error).__name__}), but it must hold lines "
            '{"client": name, "key": hex}, each name once. Check the file.'
        ) from None
    return clients, kinds


def lines(files: tuple[Path, ...]) -> Iterator[bytes]:
    """Give the lines of all files, or of standard input."""
    for path in files or (Path("-"),):
        if str(path) == "-":
            yield from sys.stdin.buffer
            continue
        try:
            with path.open("rb") as file:
                yield from file
        except OSError as error:
            raise FileProblem(
                f"{path} cannot be read ({type(error).__name__}). Check the path."
            ) from None


def batches(given: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Gather lines as they come: many when there are many, few when they come slowly.

    An empty batch says that time has passed.
    """
    waiting: queue.Queue[bytes | BaseException | None] = queue.Queue(2 * AT_ONCE)

    def read() -> None:
        try:
            for line in given:
                waiting.put(line)
            waiting.put(None)
        except BaseException as error:
            waiting.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        batch: list[bytes] = []
        try:
            item = waiting.get(timeout=PATIENCE)
            while isinstance(item, bytes):
                batch.append(item)
                if len(batch) == AT_ONCE:
                    break
                item = waiting.get(timeout=PATIENCE if len(batch) < 2 else 0.01)
        except queue.Empty:
            yield batch
            continue
        yield batch
        if isinstance(item, BaseException):
            raise item
        if item is None:
            return


def take(collector: Collector, batch: list[bytes], receipts: Counter[str], seal: str) -> None:
    """Count a batch; obey the lines that flush; seal what is due."""
    messages: list[bytes] = []
    for line in batch:
        place = flush_line(line) if seal == "flush" else None
        if place is None:
            if line.strip():
                messages.append(line)
            continue
        receipts.update(receipt.value for receipt in collector.receive(messages))
        messages = []
        try:
            collector.flush(*place)
        except ParameterError:  # an epoch that is not open, or no slot: the line says nothing
            receipts["malformed"] += 1
    if messages:
        receipts.update(receipt.value for receipt in collector.receive(messages))
    if seal == "clock":
        collector.seal()


def flush_line(line: bytes) -> tuple[int, int] | None:
    """Read a line that seals slots; None for any other."""
    if not line.lstrip().startswith(b'{"flush"'):
        return None
    try:
        found = json.loads(line)["flush"]
        return int(found["epoch"]), int(found["slot"])
    except (ValueError, KeyError, TypeError):
        return None


def seal_all(collector: Collector) -> None:
    """Seal every slot up to the last one that has a report."""
    for epoch, slot in collector.last_counted().items():
        collector.flush(epoch, slot)


def say(output: Output, collector: Collector) -> None:
    """Print the decisions that were not printed yet."""
    for decision in collector.unannounced():
        output.show_line(
            "monitoring-decision", decision, guarantee=collector.plans[0].guarantee,
            people=sentence(decision),
        )  # fmt: skip


def sentence(decision: dict[str, Any]) -> str:
    """Say a decision in one line."""
    from noren.monitoring.decisions import displayed

    place = f"epoch {decision['epoch']} slot {decision['slot']}"
    if decision["share"] is None:
        return f"{place}: no data"
    share = displayed(decision["share"])
    parts = [
        f"{place}: {decision['verdict']}",
        f"share {share:.4f} ({decision['low']:.4f} to {decision['high']:.4f})",
        f"{decision['reports']} reports",
    ]
    if decision.get("smoothed") is not None:
        parts.append(
            f"smoothed {displayed(decision['smoothed']):.4f} {decision['smoothed_verdict']}"
        )
    if decision["silence_alarm"]:
        parts.append("! silence differs from before")
    return ", ".join([*parts, *(f"! {remark}" for remark in decision["remarks"])])
