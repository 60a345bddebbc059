"""Where settings come from: options, then the environment, then `noren.toml` found upwards.

`noren.toml` is looked for in the working folder and then in each folder above it; the nearest
counts, and paths in it are relative to it. What a policy says stands above all of them: see
`noren.cli.policy`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noren.errors import FileProblem, SchemaError

FILE = "noren.toml"
SETTINGS = {
    "ledger": "where the ledger is: a file, or postgresql://user@host/database",
    "account": "the account that questions are charged to",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and who said it; both are None where nobody did."""

    value: str | None
    source: str | None


def variable(name: str) -> str:
    """Name the environment variable of a setting."""
    return f"NOREN_{name.upper()}"


def read_settings(options: Mapping[str, str | None]) -> dict[str, Setting]:
    """Give every setting, with where its value came from."""
    file = nearest_file()
    in_file = read_toml(file, SETTINGS) if file else {}
    return {name: setting(name, options.get(name), file, in_file) for name in SETTINGS}


def setting(
    name: str, option: str | None, file: Path | None, in_file: Mapping[str, Any]
) -> Setting:
    """Choose one setting: option, environment, file."""
    if option is not None:
        return Setting(option, f"option --{name}")
    if os.environ.get(variable(name)):
        return Setting(os.environ[variable(name)], f"environment variable {variable(name)}")
    if name in in_file and file is not None:
        value = in_file[name]
        if not isinstance(value, str):
            raise SchemaError(f"{file}: {name} must be a text, but it is {value!r}.")
        return Setting(beside(file, value) if name == "ledger" else value, f"file {file}")
    return Setting(None, None)


def beside(file: Path, place: str) -> str:
    """Read a ledger's file name as relative to the file that names it."""
    return place if "://" in place else str(file.parent / place)


def nearest_file() -> Path | None:
    """Find the nearest `noren.toml`."""
    return next((f / FILE for f in folders_up(Path.cwd()) if (f / FILE).is_file()), None)


def folders_up(start: Path) -> Iterator[Path]:
    """Give a folder and every folder above it."""
    yield start
    yield from start.parents


def read_toml(file: Path, known: Mapping[str, Any]) -> dict[str, Any]:
    """Read a settings file; refuse a name that nobody reads, since it may be a slip."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileProblem(f"{file} cannot be read as TOML: {error}.") from None
    strange = [name for name in found if name not in known]
    if strange:
        raise SchemaError(
            f"{file} sets '{strange[0]}', which is not known. It may set: {', '.join(known)}."
        )
    return found
