"""Read the lines of a text file in ranges of bytes, each line by itself.

Why not a general CSV reader
    In general CSV a quotation mark that is never closed runs on over the following lines: one
    person's cell then swallows other people's records, and some readers stop with an error that
    quotes them. Here a record is a line, always. What a line holds can change how that line is
    read and nothing else, so one person changes at most their own record.

Rules
    A line ends at a line feed (a carriage return before it belongs to the ending); blank lines are
    no records; bytes that are not UTF-8 become U+FFFD; of a line only the first `LINE_LIMIT` bytes
    are read. A range holds the lines that begin in it, so adjoining ranges share no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from noren.data.cells import Cells
from noren.data.remote import opened

CHUNK = 1 << 22  # bytes read at a time
LINE_LIMIT = 1 << 24
MARK = b"\xef\xbb\xbf"  # the byte-order mark that some programs put before UTF-8


def byte_ranges(begin: int, size: int, piece: int) -> list[tuple[int, int]]:
    """Cut the bytes from `begin` to `size` into adjoining ranges; no bytes make one range too."""
    edges = [*range(begin, size, piece), max(begin, size)]
    return list(pairwise(edges)) or [(begin, begin)]


def line_blocks(path: str | Path, start: int, stop: int) -> Iterator[Cells]:
    """Yield the lines that begin at a byte in [start, stop), as Arrow strings."""
    with opened(path) as file:
        seek_line(file, start)
        if file.tell() < stop:
            if start == 0 and file.read(len(MARK)) != MARK:
                file.seek(0)
            for content in whole_lines(file, stop):
                yield as_lines(content)


def first_line(path: str | Path) -> tuple[str, int]:
    """Give a file's first line, without a byte-order mark, and where the second begins."""
    with opened(path) as file:
        line = file.readline(LINE_LIMIT)
        end = file.tell()
    return line.removeprefix(MARK).decode("utf-8", "replace").rstrip("\r\n"), end


def seek_line(file: BinaryIO, start: int) -> None:
    """Go to the first line that begins at or after a byte."""
    if start == 0:
        return
    file.seek(start - 1)
    while chunk := file.read(CHUNK):
        end = chunk.find(b"\n")
        if end >= 0:
            file.seek(end + 1 - len(chunk), 1)
            return


def whole_lines(file: BinaryIO, stop: int) -> Iterator[bytes]:
    """Yield chunks that end with a line, up to the last line that begins before `stop`."""
    carry, base = b"", file.tell()
    while chunk := file.read(CHUNK):
        last = chunk.find(b"\n", max(stop - 1 - base, 0))
        if last >= 0:
            yield carry + chunk[: last + 1]
            return
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield carry + chunk[:cut]
            carry = b""
        carry = (carry + chunk[cut:])[:LINE_LIMIT]
        base += len(chunk)
    if carry:
        yield carry


def as_lines(content: bytes) -> Cells:
    """Cut whole lines apart, without their endings; leave blank ones out."""
    content = shortened(content)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        content = content.decode("utf-8", "replace").encode("utf-8")
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1
    if not len(ends) or ends[-1] < len(content):
        ends = np.append(ends, len(content))
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(content))
    lines = pc.utf8_rtrim(lines, characters="\r\n")
    return lines.filter(pc.not_equal(pc.binary_length(lines), 0))


def shortened(content: bytes) -> bytes:
    """Cut lines that are too long, which only a damaged file has."""
    if len(content) <= LINE_LIMIT:
        return content
    return b"\n".join(line[:LINE_LIMIT] for line in content.split(b"\n"))
