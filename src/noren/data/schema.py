"""Public schemas: what a private table may contain, settled before anyone looks at it.

A `Schema` is a frozen list of columns (`noren.data.columns`) and the words that mean "no value".
It is public. Sensitivities, encodings and readers are built from it, never from the data, and
its identity (SHA-256 of its canonical JSON) says that two parties mean the same table.

It is written by hand as TOML or JSON:

    missing = "drop"                  # the rule for columns that state none

    [[columns]]
    name = "age"
    kind = "integer"
    lower = 0
    upper = 110

    [[columns]]
    name = "town"
    kind = "categorical"
    categories = ["Nara", "Uji"]
    other = "elsewhere"
    missing = "own"
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from noren.data.columns import KINDS, Column
from noren.data.missing import Missing, is_word
from noren.errors import FileProblem, SchemaError

FORMAT = 1  # of the written form; a later one that older versions misread gets a new number
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
TOP_LEVEL = {"format", "columns", "missing", "missing_words"}


@dataclass(frozen=True, slots=True)
class Schema:
    """Declare the columns of a table.

    Examples
    --------
    >>> from noren.data import DROP, Integer, Schema
    >>> schema = Schema([Integer(name="age", lower=0, upper=110, missing=DROP)])
    >>> schema["age"].upper
    110
    >>> Schema.from_dict(schema.to_dict()) == schema
    True
    """

    columns: tuple[Column, ...]
    missing_words: tuple[str, ...] = MISSING_WORDS

    def __init__(
        self, columns: Sequence[Column], missing_words: Sequence[str] = MISSING_WORDS
    ) -> None:
        object.__setattr__(self, "columns", read_columns(columns))
        object.__setattr__(self, "missing_words", read_missing_words(missing_words))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(
            f"The schema has no column {name!r}; it declares {listed(self.names)}. "
            "Use one of these, or declare it."
        )

    def select(self, names: Sequence[str]) -> Schema:
        """Keep some columns, in the order asked for."""
        return Schema([self[name] for name in names], self.missing_words)

    @property
    def identity(self) -> str:
        """The SHA-256 of the canonical JSON: equal schemas, equal identities."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form, with every rule spelled out."""
        return {
            "format": FORMAT,
            "missing_words": list(self.missing_words),
            "columns": [column_to_dict(column) for column in self.columns],
        }

    @classmethod
    def from_dict(cls, given: object) -> Schema:
        """Read the JSON form."""
        table = read_top_level(given)
        default = table.get("missing")
        columns = [column_from_dict(entry, default) for entry in table["columns"]]
        return cls(columns, table.get("missing_words", MISSING_WORDS))

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read a schema file: TOML if its name ends in .toml, else JSON."""
        return cls.from_dict(parsed(Path(path)))

    def write(self, path: str | Path) -> None:
        """Write the JSON form."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        Path(path).write_text(text, encoding="utf-8")


def read_columns(given: object) -> tuple[Column, ...]:
    """Refuse what is not a list of columns with names of their own."""
    if not isinstance(given, (list, tuple)) or not given:
        raise SchemaError("A schema must be a non-empty list of columns. Declare at least one.")
    for column in given:
        if not isinstance(column, tuple(KINDS.values())):
            raise SchemaError(
                f"A schema holds a {type(column).__name__}, but its columns must be one of "
                f"{listed([kind.__name__ for kind in KINDS.values()])} (noren.data)."
            )
    seen = set()
    for column in given:
        if column.name in seen:
            raise SchemaError(
                f"Column {column.name!r} is declared twice, but a name must be unique. Remove one."
            )
        seen.add(column.name)
    return tuple(given)


def read_missing_words(given: object) -> tuple[str, ...]:
    """Refuse what is not a list of words."""
    if not isinstance(given, (list, tuple)) or not all(is_word(word) for word in given):
        raise SchemaError(
            "missing_words must be a list of strings, such as ['', 'NA']. They are compared "
            "after spaces around a cell have been removed."
        )
    return tuple(dict.fromkeys(given))


def column_to_dict(column: Column) -> dict[str, Any]:
    """Give one column's JSON form."""
    own = {f.name: getattr(column, f.name) for f in fields(column)}
    own["missing"] = column.missing.to_json()
    if "categories" in own:
        own["categories"] = list(own["categories"])
    return {"kind": column.kind, **own}


def column_from_dict(given: object, default_missing: object) -> Column:
    """Read one column's JSON form."""
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise SchemaError(
            "Each column must be a table with at least a name (a string) and a kind. "
            "See the example in noren.data.schema."
        )
    name, kind = given["name"], KINDS.get(str(given.get("kind")))
    if kind is None:
        raise SchemaError(f"Column {name!r} has no known kind: it must be {listed(KINDS)}.")
    known = {f.name: f for f in fields(kind)}
    settings = {"missing": default_missing, **{k: v for k, v in given.items() if k != "kind"}}
    for key in settings.keys() - known.keys():
        raise SchemaError(
            f"Column {name!r} has {key!r}, but a {kind.kind} column takes {listed(known)} only."
        )
    for key, field in known.items():
        if key not in settings and field.default is MISSING:
            raise SchemaError(f"Column {name!r} lacks {key!r}, which every {kind.kind} one needs.")
    settings["missing"] = Missing.read(name, settings["missing"])
    return kind(**settings)


def read_top_level(given: object) -> Mapping[str, Any]:
    """Check the frame of the written form; quote nothing, it may be the wrong file."""
    if (
        not isinstance(given, Mapping)
        or not set(given) <= TOP_LEVEL
        or not isinstance(given.get("columns"), list)
    ):
        raise SchemaError(
            f"A schema must be a table with a list 'columns' and nothing but {listed(TOP_LEVEL)} "
            "beside it. Check that this is the schema and not another file."
        )
    if given.get("format", FORMAT) != FORMAT:
        raise SchemaError(
            f"The schema's format is not {FORMAT}, the only one this version reads. "
            "Write it again with this version, or use a newer Noren."
        )
    return given


def parsed(path: Path) -> object:
    """Read a TOML or JSON file; an error quotes nothing of it."""
    is_toml = path.suffix.lower() == ".toml"
    try:
        text = path.read_bytes().decode("utf-8")
        result: object = tomllib.loads(text) if is_toml else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        problem = type(error).__name__
    else:
        return result
    raise FileProblem(
        f"The schema {path} cannot be read as {'TOML' if is_toml else 'JSON'} ({problem}), but it "
        "must be a UTF-8 file in that form. Check the path and the spelling."
    )


def listed(words: Any) -> str:
    """Write some public words in one line, in a fixed order."""
    ordered = sorted(words) if isinstance(words, (set, frozenset)) else list(words)
    shown = [repr(word) for word in ordered[:20]]
    return ", ".join(shown) + (", ..." if len(ordered) > 20 else "")
