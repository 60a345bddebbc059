"""Shares as files: a folder or a zip with three small files, read without trusting anything.

Nothing is unpacked to disk, so a name in a zip leads nowhere; names other than the three, links,
encrypted members, repeated members and anything above LARGEST bytes (counted while reading, not
as the archive states) are refused. What is read is text; see `noren.collaboration.shares`.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from noren.collaboration.shares import Share
from noren.errors import FileProblem, ShareRefused

MODEL, MANIFEST, SIGNATURE = NAMES = ("model.json", "manifest.json", "SIGNATURE")
LARGEST = 32 * 2**20
DATED = (1980, 1, 1, 0, 0, 0)  # a zip of the same texts has the same bytes


def write_share(path: str | Path, share: Share) -> Path:
    """Write a share as a folder, or as a zip where the name ends in .zip; never over another one.

    Parameters
    ----------
    path
        A new folder or a new zip file.
    share
        From `make_share`.
    """
    target = Path(path)
    require_new(target)
    texts = dict(zip(NAMES, (share.model_text, share.manifest_text), strict=False))
    texts[SIGNATURE] = f"{share.signature}\n".encode("ascii")
    if target.suffix.lower() != ".zip":
        target.mkdir(parents=True)
        for name, text in texts.items():
            (target / name).write_bytes(text)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            entry = zipfile.ZipInfo(name, DATED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return target


def require_new(target: Path) -> None:
    """Refuse to write over a share: others may have it."""
    if target.exists():
        raise FileProblem(f"{target} exists already. Choose another name, or move it away.")


def read_share(path: str | Path) -> Share:
    """Read a share from a folder or a zip. It is not verified: that is `verify_share`.

    Parameters
    ----------
    path
        What a member sent.
    """
    source = Path(path)
    if source.is_dir():
        texts = from_folder(source)
    elif source.is_file():
        texts = from_zip(source)
    else:
        raise FileProblem(f"{source} does not exist. Name the folder or the zip of a share.")
    try:
        signature = texts[SIGNATURE].decode("ascii").strip()
    except UnicodeDecodeError:
        raise ShareRefused(
            "tampered", str(source), "its SIGNATURE is no text. Ask the sender to send it again."
        ) from None
    return Share(
        model_text=texts[MODEL],
        manifest_text=texts[MANIFEST],
        signature=signature,
        source=str(source),
    )


def from_folder(folder: Path) -> dict[str, bytes]:
    """Read the three files of a folder; a link is refused, because it could lead anywhere."""
    names = sorted(entry.name for entry in os.scandir(folder))
    check_names(names, folder)
    texts = {}
    for name in NAMES:
        file = folder / name
        if file.is_symlink() or not file.is_file():
            raise ShareRefused(
                "not a share",
                str(folder),
                f"its {name} is no plain file. Ask the sender to send it again, as a zip.",
            )
        with file.open("rb") as opened:
            texts[name] = limited(opened.read(LARGEST + 1), folder)
    return texts


def from_zip(path: Path) -> dict[str, bytes]:
    """Read the three members of a zip, each up to LARGEST bytes, in memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_names(sorted(archive.namelist()), path)
            return {name: limited(part(archive, name), path) for name in NAMES}
    except ShareRefused:
        raise
    except Exception as error:  # zipfile, zlib and struct fail in many ways
        problem = type(error).__name__
    raise ShareRefused(
        "not a share", str(path), f"it cannot be read as a zip ({problem}). Ask for it again."
    )


def part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one member, stopping just above the limit whatever its header says."""
    with archive.open(name) as member:
        return member.read(LARGEST + 1)


def limited(text: bytes, source: Path) -> bytes:
    """Refuse what is too large to be a model."""
    if len(text) > LARGEST:
        raise ShareRefused("too large", str(source), "a part of it is above 32 MB, as no model is.")
    return text


def check_names(names: list[str], source: Path) -> None:
    """Refuse anything but the three files, each once."""
    if names != sorted(NAMES):
        raise ShareRefused(
            "not a share", str(source),
            f"it must hold {', '.join(NAMES)}, each once and nothing else. A share is never "
            "unpacked and nothing in it is run; ask the sender for one that Noren wrote.",
        )  # fmt: skip
