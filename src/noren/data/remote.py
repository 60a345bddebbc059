"""Files of an object store, named by a URL such as s3://bucket/name.parquet, read by ranges.

They are opened through fsspec, which the extra [dask] brings; each kind of store needs its own
package (s3fs, gcsfs, ...), and takes its credentials from the environment, never from the URL: a
URL may be repeated in messages. CSV and Parquet tables can be read so; other forms need a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from noren.errors import FileProblem, MissingExtra, ParameterError

MARK = "://"
BUFFER = 1 << 22


@dataclass(frozen=True, slots=True)
class Url:
    """A file elsewhere, where a path is expected."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def suffix(self) -> str:
        """The ending of its name."""
        return PurePosixPath(self.text.partition(MARK)[2]).suffix


def is_url(given: object) -> bool:
    """Say whether a name is a URL."""
    return isinstance(given, str) and MARK in given


def local_file(given: str | Path) -> Path | None:
    """Give the path of a file of this machine, named by a URL or not; None for one elsewhere.

    Examples
    --------
    >>> local_file("file:///data/rows.csv").name, local_file("s3://bucket/rows.csv")
    ('rows.csv', None)
    """
    if not is_url(given):
        return Path(given)
    scheme, _, name = str(given).rpartition("::")[2].partition(MARK)
    return Path(name) if scheme in ("file", "local") else None


def read_url(text: str) -> Url:
    """Take a URL without credentials, of a file that is there."""
    refuse_credentials(text)
    problem = ""
    try:
        with opened(text):
            return Url(text)
    except MissingExtra:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise FileProblem(
        f"{text} cannot be opened ({problem}), but it must be a file. Check the URL, and that the "
        "package for this kind of store is installed."
    )


def refuse_credentials(text: str) -> None:
    """Refuse a URL that names a user, without repeating it."""
    if "@" in text.partition(MARK)[2].partition("/")[0]:
        raise ParameterError(
            "the URL", "one with credentials", "one without",
            "Messages may repeat it: let the environment hold them, as its file system describes.",
        )  # fmt: skip


def opened(path: str | Path) -> Any:
    """Open a file for reading bytes, wherever it lies."""
    if not is_url(path):
        return Path(path).open("rb")
    try:
        import fsspec
    except ImportError:
        raise MissingExtra("Reading from a URL", "dask") from None
    return fsspec.open(str(path), "rb", block_size=BUFFER).open()


def size_of(path: Path | Url) -> int:
    """Give the size in bytes."""
    with opened(str(path)) as file:
        return int(file.seek(0, 2))
