"""Everything that reads what somebody else wrote, with valid inputs to begin from."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from commands import options
from fuzzing import Target, through_file
from studies import handed, studies

from noren.association import count_tables, simulate
from noren.association.summary import read_tables
from noren.cli.audit_callable import read_neighbours
from noren.cli.monitor_collect import read_roster
from noren.cli.monitor_plan import read_plan as read_plan_file
from noren.cli.policy import rules_of
from noren.cli.settings import SETTINGS, read_toml
from noren.collaboration import (
    LogisticTraining,
    TrainingRows,
    keygen,
    make_share,
    read_key,
    read_share,
    verify_share,
    write_share,
)
from noren.collaboration.combined import read_combination
from noren.collaboration.consortium import Consortium
from noren.data import Schema, inspect_table, propose, read, read_whole
from noren.data.bed import read_bim
from noren.ledger.place import read_place
from noren.monitoring import Client
from noren.monitoring.client import ClientError, pseudonym, tag_of
from noren.monitoring.messages import read_message
from noren.monitoring.planning import plan
from noren.monitoring.plans import MonitoringPlan, Timetable
from noren.noise import Noise
from noren.reweighting import BasisSums, LevelBasis, Moments
from noren.reweighting.saving import load_release, write_release
from noren.similarity import Records, publish_randomised
from noren.similarity.published import Published

SCHEMA = """missing = "own"
missing_words = ["NA"]
[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
[[columns]]
name = "town"
kind = "categorical"
categories = ["Uji", "Nara"]
other = "else"
[[columns]]
name = "note"
kind = "integer"
lower = 0
upper = 9999999
missing = { fill = 1 }
"""
CSV = b"age,town,note\n73.10477,Uji,7310477\n,SECRETWORD,NA\n12,Nara,3\n"
KEY = b"an enrolment key"
Made = dict[str, Any]


def targets(folder: Path) -> list[Target]:
    """Make every target, with files in a folder of its own."""
    groups = (
        tables, records, plink, studies, handed, texts, monitoring, collaboration, releases, options
    )  # fmt: skip
    return [target for group in groups for target in group(folder)]


def schema() -> Schema:
    """Read the schema of all tables here."""
    import tomllib

    return Schema.from_dict(tomllib.loads(SCHEMA))


def bytes_of(write: Any) -> bytes:
    """Give what is written to a file in memory."""
    made = io.BytesIO()
    write(made)
    return made.getvalue()


def tables(folder: Path) -> Iterator[Target]:
    """Give the readers of tables."""
    declared = schema()

    def blocks(path: Path) -> list[Any]:
        return list(read(path, declared))

    table = pa.table(
        {
            "age": [73.10477, None, 12.0],
            "town": ["Uji", "SECRETWORD", None],
            "note": [7310477, 2, 3],
        }
    )
    parquet = bytes_of(lambda to: pq.write_table(table, to))
    plain = bytes_of(lambda to: pq.write_table(table, to, compression="none", use_dictionary=False))
    columns: Made = {"age": np.array([73.10477, 1.0]), "town": np.array(["Uji", "SECRETWORD"]),
                     "note": np.array([7310477, 2])}  # fmt: skip
    archive = bytes_of(lambda to: np.savez(to, **columns))
    yield Target("CSV", [CSV], through_file(folder / "t.csv", blocks))
    yield Target("TSV", [CSV.replace(b",", b"\t")], through_file(folder / "t.tsv", blocks), 0.3)
    yield Target("Parquet", [parquet, plain], through_file(folder / "t.parquet", blocks))
    yield Target("NPZ", [archive], through_file(folder / "t.npz", blocks))
    look = through_file(folder / "look.csv", lambda path: inspect_table(path, declared))
    yield Target("inspected CSV", [CSV], look)
    public = b"age,town,note\n33.5,Uji,7\n,Nara,NA\n12,Nara,3\n"
    made = through_file(folder / "p.csv", lambda path: propose(read_whole(path)))
    yield Target("proposed CSV", [public], made, 0.5)
    counts = b"variant,a,b\nrs1,7,3\nrs2,1,2\n"
    yield Target(
        "tables of counts", [counts],
        through_file(folder / "counts.csv", lambda path: read_tables(path, 10, 10)), 0.3,
    )  # fmt: skip


def records(folder: Path) -> Iterator[Target]:
    """Give the readers of bit records, and of published ones."""
    wide = b"id,d0,d1,d2\nSECRETWORD,1,0,1\np2,0,0,1\n"
    long = b"id,item\nSECRETWORD,d0\np2,d1\n"
    films = b"7310477\t2\t3\t881250949\n3\t4\t1\t881250950\n"
    fps = b"#FPS1\n#num_bits=16\n0a1f\tSECRETWORD\nffff\tp2\n"
    bits = Records.of([[1, 0, 1], [0, 1, 1]])
    packed = bytes_of(lambda to: np.savez(to, bits=np.array([[1, 0, 1], [0, 1, 1]], np.uint8)))
    yield Target("wide records", [wide], through_file(folder / "w.csv", Records.read), 0.5)
    long_form = through_file(folder / "l.csv", lambda path: Records.read(path, "long"))
    yield Target("long records", [long], long_form, 0.5)
    film = through_file(folder / "u.data", lambda path: Records.read(path, "movielens"))
    yield Target("u.data", [films], film)
    yield Target("FPS", [fps], through_file(folder / "r.fps", Records.read))
    yield Target("NPZ records", [packed], through_file(folder / "r.npz", Records.read), 0.5)
    made = folder / "published.npz"
    publish_randomised(bits, 2).published().save(made)
    yield Target(
        "published records", [made.read_bytes()],
        through_file(folder / "q.npz", Published.read), 0.5,
    )  # fmt: skip


def plink(folder: Path) -> Iterator[Target]:
    """Give the readers of genotypes: each of three files changed while the others stay."""
    simulate(folder / "study", cases=6, controls=6, variants=4, seed=5, hits=1, block=1)

    def whole(path: Path) -> Any:
        return count_tables(path.with_suffix(".bed"), workers=1)

    for ending in (".bed", ".bim", ".fam"):
        seed = (folder / f"study{ending}").read_bytes()
        own = folder / f"own{ending[1:]}"
        own.mkdir()
        for other in (".bed", ".bim", ".fam"):
            (own / f"s{other}").write_bytes((folder / f"study{other}").read_bytes())
        yield Target(f"PLINK {ending}", [seed], through_file(own / f"s{ending}", whole), 0.4)
    bim = b"1\trs1\t0\t100\tA\tG\n1\trs2\t0\t7310\tC\tT\n"  # public
    yield Target("sites", [bim], through_file(folder / "x.bim", read_bim), 0.4)


def texts(folder: Path) -> Iterator[Target]:
    """Give the readers of schemas, settings, policies and addresses."""
    as_json = json.dumps(schema().to_dict()).encode()
    words = tuple(SCHEMA.encode().split())
    toml = through_file(folder / "s.toml", Schema.read)
    yield Target("schema, TOML", [SCHEMA.encode()], toml, 1.5, words)
    yield Target(
        "schema, JSON", [as_json], through_file(folder / "s.json", Schema.read), 1.5, words
    )
    settings = b'ledger = "l.sqlite"\naccount = "cohort"\n'
    known = through_file(folder / "settings.toml", lambda path: read_toml(path, SETTINGS))
    yield Target("settings", [settings], known, 1.5)
    policy = b'no-ledger = false\naccount = "cohort"\nledger = "l.sqlite"\n'
    ruled = through_file(folder / "policy.toml", lambda path: list(rules_of(path)))
    yield Target("policy", [policy], ruled)
    places = (
        b"ledger.sqlite", b"sqlite:///l.sqlite", b"postgresql://u:SECRETWORD@host:5432/db",
        b"postgresql+psycopg://u:SECRETWORD@h/db?sslmode=require",
    )  # fmt: skip
    yield Target("ledger URL", places, lambda data: read_place(data.decode("utf-8", "replace")), 6)
    neighbours = b'{"data": [1, 1], "neighbour": [1]}'
    pairs = through_file(folder / "pair.json", read_neighbours)
    yield Target("neighbours, JSON", [neighbours], pairs, 0.5)
    pair = bytes_of(lambda to: np.savez(to, data=np.array([1, 2]), neighbour=np.array([1])))
    yield Target("neighbours, NPZ", [pair], through_file(folder / "pair.npz", read_neighbours), 0.3)


def monitoring(folder: Path) -> Iterator[Target]:
    """Give what a collector and a device read."""
    made = plan(100, 4, 2, 0.5, strategy="block", reports=2, task="home",
                timetable=Timetable(origin=0.0, slot_seconds=60.0)).to_dict()  # fmt: skip
    whole = json.dumps(made).encode()
    body = {"v": 1, "task": "home", "epoch": 0, "slot": 1, "client": pseudonym(KEY, "home", 0),
            "class": 0, "y": 1}  # fmt: skip
    message = json.dumps(body | {"tag": tag_of(KEY, body)}).encode()
    yield Target("message", [message], lambda data: read_message(data, "home"), 20)
    yield Target("plan, JSON", [whole], lambda data: parsed_plan(data), 1.5)
    yield Target("plan, file", [whole], clicks(folder / "plan.json", read_plan_file), 0.5)
    roster = b'{"client": "SECRETWORD", "key": "00ff00ff00ff00ff00ff00ff00ff00ff"}\n'
    yield Target("roster", [roster], clicks(folder / "roster.jsonl", read_roster), 0.5)
    state = folder / "state.json"

    def device(path: Path) -> object:
        try:
            client = Client(path, made, device="d", key=KEY, lifetime_epsilon=9, clock=lambda: 1.0)
            return client.begin({"task": "home", "epoch": 0, "slots": [1, 2]})
        except ClientError as error:
            return no_secret(error)

    device(state)
    yield Target("state of a device", [state.read_bytes()], through_file(state, device))
    ticket = json.dumps({"task": "home", "epoch": 0, "slots": [1, 2]}).encode()

    def begun(data: bytes) -> object:
        state.unlink(missing_ok=True)
        try:
            given = json.loads(data)
        except (ValueError, RecursionError):
            return None
        try:
            client = Client(state, made, device="d", key=KEY, lifetime_epsilon=9, clock=lambda: 1.0)
            return client.begin(given)
        except ClientError as error:
            return no_secret(error)

    yield Target("ticket", [ticket], begun, 0.2)


def no_secret(error: Exception) -> None:
    """Let the errors of a device pass: it stands alone and has errors of its own."""
    assert "SECRETWORD" not in str(error)


def parsed_plan(data: bytes) -> object:
    """Read a plan from its JSON, where it is JSON at all."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return MonitoringPlan.from_dict(given)


def clicks(path: Path, reader: Any) -> Any:
    """Feed a reader of a command, whose refusals may also be those of usage."""

    def read_it(at: Path) -> object:
        try:
            return reader(at)
        except click.ClickException as error:
            return no_secret(error)

    return through_file(path, read_it)


def collaboration(folder: Path) -> Iterator[Target]:
    """Give what organizations send each other."""
    public = keygen(folder / "own.key")
    key = read_key(folder / "own.key")
    text = (f'name = "hearts"\nlabel = "ill"\nmax_overlap = 2\n[members]\nnorth = "{public}"\n'
            '[[columns]]\nname = "age"\nkind = "integer"\nlower = 20\nupper = 90\n'
            'missing = "own"\n'
            '[[columns]]\nname = "ill"\nkind = "boolean"\n'
            'missing = { fill = false }\n')  # fmt: skip
    (folder / "hearts.toml").write_text(text)
    agreed = Consortium.read(folder / "hearts.toml")
    rows = TrainingRows.of(agreed.task, {"age": [30, 60], "ill": ["no", "yes"]})
    asked = LogisticTraining(task=agreed.task, epsilon=1, adjacency="add-remove", size=2)
    write_share(folder / "north.zip", make_share(asked.answer(rows, Noise()).model, "north", key))

    def verified(path: Path) -> object:
        return verify_share(read_share(path), agreed)

    zipped = (folder / "north.zip").read_bytes()
    yield Target("share, zip", [zipped], through_file(folder / "s.zip", verified), 0.5)
    parts = folder / "parts"
    parts.mkdir()
    with zipfile.ZipFile(folder / "north.zip") as archive:
        archive.extractall(parts)
    for part in sorted(parts.iterdir()):
        own = folder / f"folder of {part.name}"
        own.mkdir()
        for other in parts.iterdir():
            (own / other.name).write_bytes(other.read_bytes())
        feed = through_file(own / part.name, lambda path: verified(path.parent))
        yield Target(f"share, {part.name}", [part.read_bytes()], feed, 0.5)
    read_it = through_file(folder / "c.toml", Consortium.read)
    yield Target("consortium", [text.encode()], read_it, 0.7)
    secret = (folder / "own.key").read_bytes()
    yield Target("key", [secret], through_file(folder / "k.key", read_key), 0.3)


def releases(folder: Path) -> Iterator[Target]:
    """Give the reader of a stored release, and of a combined model."""
    basis = LevelBasis((3, 2))
    question = Moments(basis=basis, adjacency="add-remove", epsilon=1)
    answer = question.answer(BasisSums.of(np.array([[0.0, 1.0]]), basis), Noise())
    write_release(folder / "release.json", answer)
    seed = (folder / "release.json").read_bytes()
    yield Target("release", [seed], through_file(folder / "r.json", load_release), 0.5)
    made = json.dumps({"kind": "combination", "coefficients": [1.0], "method": "mean"}).encode()

    def combined(data: bytes) -> object:
        try:
            return read_combination(json.loads(data))
        except (ValueError, RecursionError) as error:
            return str(error)

    yield Target("combined model", [made], combined, 0.3)
