"""Where a ledger may live: a file on a local disk, the memory of one process, or PostgreSQL.

SQLite keeps its promises through file locks and shared memory, and network file systems keep
neither: two machines could spend the same budget. So a file there is refused. So is one with
several names (hard links): under each name SQLite would keep a log of its own, blind to the charges
in the other. A new file is created readable and writable by its owner only (SQLite gives its side
files the same mode), and it must stay the same file while it is open: what is charged to one that
was deleted or replaced would be lost, and its budget given back.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from noren.errors import FileProblem, LedgerError, ParameterError

ACCEPTED = (
    "a file name, 'sqlite:///file', 'sqlite://' (memory, for one process), "
    "or 'postgresql://user@host/database'"
)
MOUNTS = Path("/proc/self/mounts")
OWNER_ONLY = 0o600

NETWORK = """
    9p afs auristorfs beegfs ceph cifs coda davfs drvfs gfs gfs2 glusterfs gpfs lustre ncp ncpfs
    nfs nfs3 nfs4 ocfs2 orangefs prl_fs pvfs2 smb smb2 smb3 smbfs vboxsf vmhgfs
"""
NETWORK_FUSE = """
    blobfuse blobfuse2 ceph ceph-fuse curlftpfs davfs davfs2 gcsfuse glusterfs
    google-drive-ocamlfuse goofys gvfsd-fuse hdfs juicefs lizardfs mfsmount moosefs mount-s3
    onedriver rclone s3fs seaweedfs smbnetfs sshfs vmhgfs-fuse
"""
NETWORK_KINDS = {*NETWORK.split(), *(f"fuse.{name}" for name in NETWORK_FUSE.split())}


def read_place(given: str | os.PathLike[str] | URL) -> URL:
    """Read where a ledger lives; a plain name is a file.

    Examples
    --------
    >>> read_place("sqlite://").database is None
    True
    >>> read_place("postgresql://ann@host/ledgers").drivername
    'postgresql+psycopg'
    """
    if isinstance(given, URL):
        url = given
    elif not isinstance(given, (str, os.PathLike)):
        raise ParameterError(
            "ledger",
            f"a {type(given).__name__}",
            ACCEPTED,
            "Name a file for one machine, PostgreSQL for several.",
        )
    elif isinstance(given, os.PathLike) or "://" not in given:
        name = os.fspath(given)
        if not name or name == ":memory:":
            raise ParameterError(
                "ledger",
                repr(name),
                ACCEPTED,
                "Name a file for one machine, PostgreSQL for several.",
            )
        url = URL.create("sqlite", database=name)
    else:
        url = parsed(given)
    if url.get_backend_name() == "sqlite":
        return sqlite_place(url)
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ParameterError(  # names, passwords and settings of a mistyped address are not repeated
        "ledger", "an address of another kind", ACCEPTED,
        "Name a file for one machine, PostgreSQL for several.",
    )  # fmt: skip


def parsed(text: str) -> URL:
    """Parse an address, without repeating it in an error: it may hold a password."""
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        raise ParameterError(
            "ledger",
            "not an address that can be read",
            ACCEPTED,
            "Name a file for one machine, PostgreSQL for several.",
        ) from None


def sqlite_place(url: URL) -> URL:
    """Make a file's path absolute; keep memory as it is."""
    database = url.database
    if url.query or (database or "").startswith("file:"):
        raise ParameterError("ledger", repr(shown(url)), ACCEPTED, "SQLite settings are fixed.")
    memory = database in (None, "", ":memory:")
    place = None if memory else str(at_home(Path(database or "")).absolute())
    return URL.create("sqlite", database=place)


def at_home(path: Path) -> Path:
    """Put a person's folder in the place of a leading ~, where there is such a person."""
    try:
        return path.expanduser()
    except (RuntimeError, ValueError):
        raise ParameterError(
            "ledger", "in the folder of a person unknown here", ACCEPTED, "Write the path in full."
        ) from None


def shown(url: URL) -> str:
    """Write an address for people, its password hidden."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


def prepare_file(path: Path, *, create: bool) -> None:
    """Refuse what cannot hold a ledger, and create a missing file for its owner alone."""
    if not path.parent.is_dir():
        raise FileProblem(f"{path} cannot be a ledger: its folder does not exist. Make it first.")
    if path.is_dir():
        raise FileProblem(f"{path} is a folder, but a ledger is a file. Name a file in it.")
    refuse_network(path)
    if path.exists():
        return
    if not create:
        raise FileProblem(
            f"There is no ledger at {path}. Check the name, or make one there: noren ledger create."
        )
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_ONLY))
    except FileExistsError:  # another process was faster
        pass
    except OSError as error:
        raise FileProblem(f"{path} cannot be created: {error.strerror}.") from None


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The file that a ledger was opened on, known by its place on the disk."""

    path: Path
    device: int
    number: int

    @classmethod
    def of(cls, path: Path) -> OpenFile:
        """Remember which file this is."""
        found = path.stat()
        return cls(path, found.st_dev, found.st_ino)

    def require_same(self) -> None:
        """Refuse to go on when another file, or none, has the name now, or it has a second one."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 (half the time of Path.stat, at every ask)
        except FileNotFoundError:
            raise self._changed("moved or deleted") from None
        if (found.st_dev, found.st_ino) != (self.device, self.number):
            raise self._changed("replaced")
        if found.st_nlink > 1:
            raise LedgerError(
                f"{self.path} has {found.st_nlink} names (hard links), and processes that use "
                "different ones could spend the same budget. Keep one name; copy it for a backup."
            )

    def _changed(self, how: str) -> LedgerError:
        return LedgerError(
            f"{self.path} was {how} while it was open, so a charge to it would be lost. Nothing "
            "was written. Find out what happened to it, then open the ledger again and check it: "
            "noren ledger verify --head HASH."
        )


def refuse_network(path: Path) -> None:
    """Refuse a file on a network file system."""
    where = path.resolve()
    kind = network_kind(where, mounts())
    if kind or str(where).startswith(("\\\\", "//")):
        raise LedgerError(
            f"{path} lies on a network file system ({kind or 'a share'}), where file locks cannot "
            "be trusted and two machines could spend the same budget. Put the ledger on a local "
            "disk, or use PostgreSQL when several machines share it."
        )


def mounts() -> str:
    """Read the table of mounted file systems, where the system has one."""
    return MOUNTS.read_text(errors="surrogateescape") if MOUNTS.exists() else ""


def network_kind(path: Path, table: str) -> str | None:
    """Name the network file system that holds a path, if one does.

    Examples
    --------
    >>> network_kind(Path("/data/x.sqlite"), "server:/a /data nfs4 rw 0 0")
    'nfs4'
    >>> network_kind(Path("/home/x.sqlite"), "server:/a /data nfs4 rw 0 0")
    """
    point, kind = Path("/"), ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mounted = Path(unescaped(fields[1]))
        if path.is_relative_to(mounted) and len(mounted.parts) >= len(point.parts):
            point, kind = mounted, fields[2]  # a later mount hides an earlier one
    own_root = kind == "9p" and point == Path("/")  # a sandbox's own disk, seen by it alone
    return kind if kind in NETWORK_KINDS and not own_root else None


def unescaped(field: str) -> str:
    """Read a mount point: spaces and tabs are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
