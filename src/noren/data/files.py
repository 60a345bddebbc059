"""Open files so that nothing of what they hold can come out in an error.

Libraries quote what they could not read: a bad row, a wrong value, the number of a line. An error
that reaches a log or a screen would then release a record. Whatever a reader raises is therefore
replaced here by a `FileProblem` that names the file and what was expected of it, and is raised
outside the handler so that not even its `__context__` keeps the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from noren.errors import FileProblem, NorenError

T = TypeVar("T")

HINTS = {
    "csv": "a text file in UTF-8 with one record a line",
    "parquet": "a complete Parquet file",
    "npz": "a complete NPZ archive of one-dimensional arrays without pickled objects",
}


def existing_file(given: str | Path) -> Path:
    """Refuse what is not a file; give its absolute path, so that one file has one name."""
    try:
        path = Path(given)
        found, is_folder = path.is_file(), path.is_dir()
        path = path.resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        path, found, is_folder = Path("the given path"), False, False
    if found:
        return path
    what = "is a folder" if is_folder else "does not exist"
    raise FileProblem(f"{given} {what}, but it must be a file. Check the path.")


def safely(path: str | Path, form: str, items: Iterator[T]) -> Iterator[T]:
    """Pass on what a reader yields; turn what it raises into an error that quotes nothing."""
    try:
        yield from items
    except NorenError:
        raise
    except Exception as error:
        problem = type(error).__name__
    else:
        return
    raise unreadable(path, form, problem)


def safe(path: str | Path, form: str, read: Callable[[], T]) -> T:
    """Give what a reader returns, with the same protection."""
    try:
        return read()
    except NorenError:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise unreadable(path, form, problem)


def unreadable(path: str | Path, form: str, problem: str) -> FileProblem:
    """Say that a file is not what it is said to be, naming the class of the error only."""
    return FileProblem(
        f"{path} cannot be read as {form.upper()} ({problem}), but it must be {HINTS[form]}. "
        "Write it again, or name its true format."
    )
