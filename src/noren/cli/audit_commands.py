"""The commands themselves, audited from outside: files in, ledger charged, files and JSON out.

Each is run many times on two folders that differ by one record, in this process, by the code that
a person's shell would start; only what it writes is looked at.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Any

from noren.audit import AuditRow, audit_callable
from noren.audit.law import FALSE_ALARM

ROOM = "commands"
MEMORY = Path("/dev/shm")  # where files cost little, if there is such a folder
UNSPENT = "unspent.sqlite"
BED = bytes((0x6C, 0x1B, 0x01))
HOMOZYGOUS, OTHER = 0b00, 0b11  # two counted alleles, and none
AGE = '[[columns]]\nname = "age"\nkind = "numeric"\nlower = 0\nupper = 100\nmissing = "own"\n'
HEARTS = """name = "hearts"
label = "ill"
max_overlap = 2
[members]
north = "KEY"
[[columns]]
name = "age"
kind = "integer"
lower = 20
upper = 90
missing = { fill = 20 }
[[columns]]
name = "ill"
kind = "boolean"
missing = { fill = false }
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, how two neighbors are written into a folder, and what it released."""

    name: str
    words: Sequence[str]
    adjacency: str
    write: Callable[[Path, bool], None]
    released: Callable[[Path, str], Any]
    columns: tuple[str, ...] | None = None
    within: str = ""
    said: str = ""


def rows(quick: bool) -> Iterator[AuditRow]:
    """Audit every spending command."""
    draws = 100 if quick else 1_500
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        for place, command in enumerate(commands()):
            yield audited(command, Path(folder) / str(place), draws)


def audited(command: Command, folder: Path, draws: int) -> AuditRow:
    """Run one command on both sides, and bound its epsilon by what it wrote."""
    from noren import Adjacency, Guarantee, Ledger

    adjacency = replace(Adjacency.read(command.adjacency), within=command.within)
    for side in SIDES:
        (folder / side).mkdir(parents=True)
        command.write(folder / side, side == SIDES[0])
        with Ledger.open(folder / side / UNSPENT) as ledger:
            budget = Guarantee(adjacency, epsilon=1)
            ledger.create_account("all", budget, columns=command.columns)

    def run(side: str) -> Any:
        return command.released(folder / side, output_of(command, folder / side))

    return audit_callable(
        run, *SIDES, 1, draws=draws, alpha=FALSE_ALARM, name=f"{ROOM}: {command.name}",
        adjacency=adjacency,
        note=f"{draws} runs of each, files and ledger included; a right command fails with chance "
        f"{FALSE_ALARM:g}",
    )  # fmt: skip


SIDES = ("data", "neighbour")


def output_of(command: Command, place: Path) -> str:
    """Run a command as a shell would, in this process; give its standard output."""
    from noren.cli import noren

    renew(place)
    words = [str(place / word[1:]) if word.startswith("@") else word for word in command.words]
    spending = [] if command.said else ["--ledger", str(place / "l.sqlite"), "--account", "all"]
    said, heard, keyboard = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.StringIO((place / command.said).read_text()) if command.said else keyboard
    try:
        with redirect_stdout(said), redirect_stderr(heard):
            noren([*words, *spending, "--json"], prog_name="noren")
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"noren {command.name} ended with {ended.code}") from None
    finally:
        sys.stdin = keyboard
    return said.getvalue()


def renew(place: Path) -> None:
    """Put an unspent ledger in place: a ledger would answer the same request from its store."""
    for file in place.glob("l.sqlite*"):
        file.unlink()
    copyfile(place / UNSPENT, place / "l.sqlite")


def commands() -> Iterator[Command]:
    """Give every spending command, small, at epsilon 1."""
    scan = ["associate", "scan", "@study", "--epsilon", "1", "--tau", "2", "--mode", "agreement"]
    yield Command("associate scan", scan, "substitute", study, scores, within="same status")
    search = ["similar", "search", "@bits.csv", "--query", "d0", "--top", "1", "--epsilon", "1"]
    yield Command("similar search", search, "bit", bits, hits, columns=("d0", "d1"))
    publish = ["similar", "publish", "@bits.csv", "@out.npz", "--epsilon", "1"]
    yield Command("similar publish", publish, "bit", bits, flipped, columns=("d0", "d1"))
    fit = ["reweight", "fit", "@private.csv", "@public.csv", "--schema", "@schema.toml",
           "--epsilon", "1", "--adjacency", "add-remove", "--about", "2", "--method", "kriging",
           "--out", "@w.csv"]  # fmt: skip
    yield Command("reweight fit", fit, "add-remove", tables, moments)
    train = ["collaborate", "train", "@rows.csv", "--consortium", "@hearts.toml", "--organization",
             "north", "--key", "@north.key", "--out", "@s.zip", "--epsilon", "1", "--adjacency",
             "substitute", "--size", "1"]  # fmt: skip
    yield Command("collaborate train", train, "substitute", patient, coefficients)
    report = [
        "monitor",
        "client",
        "--plan",
        "@plan.json",
        "--ticket",
        "@ticket.json",
        "--state",
        "@state.json",
        "--key",
        "@key",
        "--device",
        "d",
        "--lifetime-epsilon",
        "1",
    ]
    yield Command("monitor client", report, "local", device, reported, within="one epoch",
                  said="bit")  # fmt: skip


def study(place: Path, more: bool) -> None:
    """Write six cases and six controls; one case carries the variant, or not."""
    genotypes = [HOMOZYGOUS] * (4 if more else 3) + [OTHER] * (2 if more else 3)
    genotypes += [HOMOZYGOUS] + [OTHER] * 5
    packed = bytes(
        sum(code << (2 * i) for i, code in enumerate(genotypes[first : first + 4]))
        for first in range(0, 12, 4)
    )
    (place / "study.bed").write_bytes(BED + packed)
    (place / "study.bim").write_text("1\trs1\t0\t100\tA\tG\n")
    people = (f"f{i}\tp{i}\t0\t0\t1\t{2 if i < 6 else 1}\n" for i in range(12))
    (place / "study.fam").write_text("".join(people))


def scores(place: Path, said: str) -> Any:
    """Give the scores of a scan."""
    return [row["score"] for row in json.loads(said)["result"]["rows"]]


def bits(place: Path, more: bool) -> None:
    """Write two records; one bit of the first differs."""
    (place / "bits.csv").write_text(f"id,d0,d1\np1,{int(more)},0\np2,0,1\n")


def hits(place: Path, said: str) -> Any:
    """Give the one hit of a search: whose, and its score."""
    found = json.loads(said)["result"]["hits"][0]
    return [found["id"] == "p1", found["score"]]


def flipped(place: Path, said: str) -> Any:
    """Give the randomized bit, and make room for the next file."""
    from noren.similarity.published import Published

    found = Published.read(place / "out.npz").records.bits()
    (place / "out.npz").unlink()
    return found[0]


def tables(place: Path, more: bool) -> None:
    """Write a private table of two rows, or of one."""
    (place / "private.csv").write_text("age\n" + "99\n" * (2 if more else 1))
    (place / "public.csv").write_text("age\n1\n20\n55\n99\n30\n")
    (place / "schema.toml").write_text(AGE)


def moments(place: Path, said: str) -> Any:
    """Give the released moments, from the file beside the weighted table."""
    from noren.reweighting.saving import load_release

    found: Any = load_release(place / "w.csv.release.json")
    for file in place.glob("w.csv*"):
        file.unlink()
    return found.steps


def patient(place: Path, more: bool) -> None:
    """Write one row, ill or not, a key, and what the members agreed on."""
    from noren.collaboration import keygen

    (place / "rows.csv").write_text(f"age,ill\n90,{'yes' if more else 'no'}\n")
    (place / "hearts.toml").write_text(HEARTS.replace("KEY", keygen(place / "north.key")))


def coefficients(place: Path, said: str) -> Any:
    """Give the coefficients that the share holds."""
    from noren.collaboration import read_share

    found = read_share(place / "s.zip").model.coefficients
    (place / "s.zip").unlink()
    return found


def device(place: Path, more: bool) -> None:
    """Write a plan, a ticket, a key and a bit; the state is written before every report."""
    from noren.monitoring.planning import plan
    from noren.monitoring.plans import Timetable

    hour = Timetable(origin=time.time() - 600, slot_seconds=36_000.0)
    made = plan(100, 1, 1, 0.5, strategy="independent", reports=1, task="audit", timetable=hour)
    (place / "plan.json").write_text(json.dumps(made.to_dict()))
    (place / "ticket.json").write_text(json.dumps({"task": "audit", "epoch": 0, "slots": [1]}))
    (place / "key").write_text("00" * 16)
    (place / "bit").write_text(f"{int(more)}\n")
    reported(place, '{"result": {"message": {"y": 0}}}')


def reported(place: Path, said: str) -> Any:
    """Give what the device said, and let it begin anew."""
    state = {"format": 1, "device": "d", "created": 0.0, "marks": [], "charges": {}, "tasks": {}}
    (place / "state.json").write_text(json.dumps(state))
    return json.loads(said)["result"]["message"]["y"]
