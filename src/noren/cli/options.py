"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.errors import ParameterError

if TYPE_CHECKING:
    from noren.noise import Noise


def insecure_seed_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--insecure-seed N`, for commands that draw; give its value to `noise_from`."""
    text = "Draw from a seed: repeatable, so every result is NOT PRIVATE. For tests and teaching."
    add = click.option("--insecure-seed", type=click.IntRange(min=0), metavar="N", help=text)
    return add(function)


def noise_from(insecure_seed: int | None) -> Noise:
    """Give secure noise, or, when a seed was spelled out, noise that marks all it touches."""
    if insecure_seed is None:
        from noren.noise import Noise

        return Noise()
    from noren.testing import seeded_noise

    return seeded_noise(insecure_seed)


ROOM = "." * 16  # what is added to a name while its file is not whole yet
SHOWN = 40


def require_folder(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is paid for what it is to hold.

    Examples
    --------
    >>> require_folder("--out", Path("no such folder/scan.csv"))
    Traceback (most recent call last):
    ...
    noren.errors.ParameterError: --out is no such folder/scan.csv, but it must be...
    """
    if path is None:
        return
    require_name(option, path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ParameterError(option, path, "a file in a folder that exists", "Make the folder.")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ParameterError(option, path, "a file that you may write", "Choose another folder.")


def require_name(option: str, path: Path) -> None:
    """Refuse a name that no file can have, or not while what is added to it stands there."""
    try:
        path.absolute().with_name(path.name + ROOM).lstat()
    except OSError as error:
        possible = error.errno != errno.ENAMETOOLONG
    except ValueError:
        possible = False
    else:
        possible = True
    if not possible:
        raise ParameterError(
            option,
            f"{path.name[:SHOWN]}...",
            "a name that a file can have",
            "Choose a shorter one.",
        )


class NewFile(click.Path):
    """A file to be written: its folder must be there before anything is computed or spent."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a file whose folder is missing."""
        path = Path(str(super().convert(value, param, ctx)))
        require_folder(param.get_error_hint(ctx) if param and ctx else "the file", path)
        return path


class TableFile(click.Path):
    """A table that is read by a schema: a file, or the URL of a CSV or Parquet file."""

    def __init__(self, exists: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=False, exists=exists)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave a URL as it is: whoever opens it says what is wrong with it."""
        from noren.data.remote import is_url, refuse_credentials

        if not is_url(value):
            return super().convert(value, param, ctx)
        refuse_credentials(value)
        return value


def is_one_file(one: Path | str, other: Path | str) -> bool:
    """Tell whether two names, one of which may be a URL, mean the same file."""
    from noren.data.remote import local_file

    here, there = local_file(one), local_file(other)
    if here is None or there is None:
        return str(one) == str(other)
    try:
        return here.samefile(there)
    except (OSError, ValueError):  # one of them is not there, or no file can have its name
        return False


def spare(target: Path | None, *inputs: Path | str) -> None:
    """Refuse to write a result over a file that it is made from."""
    for own in inputs:
        if target is not None and is_one_file(target, own):
            raise ParameterError(
                "the file to write", target, "another one than what it is made from",
                "It would be lost. Choose a new name.",
            )  # fmt: skip
