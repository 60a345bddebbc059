"""What the members agreed on: one task, who they are, and in how many rolls a person may be.

A consortium is a small public file that every member holds, written by hand:

    name = "hearts"
    label = "ill"                     # one of the columns below
    intercept = 1                     # optional, as is `scale`
    max_overlap = 1                   # how many members may hold rows of one person

    [members]
    north = "<64 hexadecimal digits, printed by keygen>"

    [[columns]]                       # as in every Noren schema
    name = "age"
    kind = "integer"
    lower = 0
    upper = 110
    missing = "own"

    [[expired]]                       # earlier tasks: their files are refused by name
    task = "<SHA-256 of the earlier task>"
    since = "2026-10-01"

Privacy
    Disjoint people: each person has the price of their own organization, however many receivers
    there are, because everybody is sent the same release. Someone in up to k rolls has the sum of
    k prices: shown is the sum of the k largest.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noren.collaboration.shares import read_organization
from noren.collaboration.signing import read_public_key
from noren.collaboration.task import Task
from noren.data import Schema
from noren.errors import FileProblem, SchemaError
from noren.privacy import Guarantee, Relation
from noren.privacy.numbers import whole

OWN = {"name", "label", "intercept", "scale", "max_overlap", "members", "expired"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consortium:
    """Name the members, their keys and their common task.

    Attributes
    ----------
    name : str
        What it is called.
    task : Task
        What is predicted from what.
    members : mapping
        Public key by organization.
    max_overlap : int
        How many members may hold rows of one person.
    expired : mapping
        Since when, by the identity of a task that is no longer used.
    """

    name: str
    task: Task
    members: Mapping[str, str]
    max_overlap: int = 1
    expired: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.members:
            raise SchemaError("A consortium must have members. Add a line for each with its key.")
        for name, key in self.members.items():
            read_organization(name)
            read_public_key(key)
        if len(set(self.members.values())) < len(self.members):
            raise SchemaError("Two members have one key. Each must make a key of its own.")
        whole("max_overlap", self.max_overlap, 1)

    @classmethod
    def read(cls, path: str | Path) -> Consortium:
        """Read the file that the members agreed on (TOML)."""
        return cls.from_dict(written(path))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Consortium:
        """Read its parts; what is not its own is the schema's."""
        require(given, "name", "members")
        return cls(
            name=str(given["name"]),
            task=task_of(given),
            members=dict(given["members"]),
            max_overlap=given.get("max_overlap", 1),
            expired={str(e["task"]): str(e["since"]) for e in given.get("expired", ())},
        )

    def total(self, prices: list[Guarantee]) -> Guarantee | None:
        """Give the price of a person in `max_overlap` rolls: the sum of as many largest prices.

        Where prices speak of different neighbors, the add-remove ones are stated as substitute
        ones first (twice epsilon); there is no way back.
        """
        return overlapping(prices, self.max_overlap)


def written(path: str | Path) -> Any:
    """Read a TOML file; an error quotes nothing of it."""
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except (OSError, ValueError) as error:
        problem = type(error).__name__
    raise FileProblem(
        f"The consortium {path} cannot be read as TOML ({problem}). Check path and spelling."
    )


def require(given: Mapping[str, Any], *names: str) -> None:
    """Refuse a file that lacks something."""
    absent = sorted(set(names) - set(given))
    if absent:
        raise SchemaError(
            f"The consortium lacks {', '.join(absent)}. Its form is shown by "
            "'noren collaborate keygen --help'."
        )


def read_task(path: str | Path) -> Task:
    """Read the task alone: for a file that may have no members yet."""
    return task_of(written(path))


def task_of(given: Mapping[str, Any]) -> Task:
    """Make the task that the file declares."""
    require(given, "label", "columns")
    schema = Schema.from_dict({k: v for k, v in given.items() if k not in OWN})
    settings = {k: given[k] for k in ("intercept", "scale") if k in given}
    label = schema[given["label"]]
    features = schema.select([name for name in schema.names if name != label.name])
    return Task(features, label, **settings)


def overlapping(prices: list[Guarantee], overlap: int) -> Guarantee | None:
    """Add the `overlap` largest prices, epsilon and delta each by itself."""
    stated = [Guarantee(p.adjacency, p.epsilon, p.delta) for p in prices if p.epsilon is not None]
    if not stated or len(stated) < len(prices):
        return None
    if len({price.adjacency for price in stated}) > 1:
        stated = [as_substitute(price) for price in stated]
    if len({price.adjacency for price in stated}) > 1:
        return None
    epsilons = sorted((price.epsilon or 0 for price in stated), reverse=True)[:overlap]
    deltas = sorted((price.delta for price in stated), reverse=True)[:overlap]
    return Guarantee(stated[0].adjacency, sum(epsilons), min(sum(deltas), 1))


def as_substitute(price: Guarantee) -> Guarantee:
    """State a price for substituted records."""
    return price.as_substitute() if price.adjacency.relation is Relation.ADD_REMOVE else price
