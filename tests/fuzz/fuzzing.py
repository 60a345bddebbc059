"""A small fuzzer: valid files and texts, mutated byte by byte, fed to whatever reads them.

An input *escapes* if the reader fails in any other way than by an error that Noren raises on
purpose, or if such an error repeats a private value. The private values of all seeds hold one of
`SECRETS`, so that they can be looked for in what was said.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noren.errors import NorenError

SECRETS = ("SECRETWORD", "7310477", "73.10477")
ODD = (
    b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r\n", b"\r", b"\t", b",", b";", b'"',
    b"'", b"\\", b"/", b"..", b"{", b"}", b"[", b"]", b"-", b"-1", b"0", b"1e999", b"nan", b"inf",
    b"-inf", b"null", b"true", b"1" * 400, b"9223372036854775808", b"%s", b"%00", b"{0}", b"$(id)",
    b"\xf0\x9f\x92\xa9", b"\xc3\x28", b"\x1b[31m", b"PK\x03\x04", b"PAR1", b"#", b"//", b"@", b"?",
    b"e", b"0x", b"1_0", "\u0661".encode(), "\u202e".encode(), b"[" * 300, b"\x80\x05",
)  # fmt: skip
WORD = re.compile(rb'"[^"\n]*"|[\w.+-]+')
VALUES = (
    b"null", b"true", b"false", b"[]", b"{}", b'""', b'"x"', b"0", b"-1", b"2", b"1e999", b"-1e999",
    b"NaN", b"0.5", b"1e-400", b"1/3", b"1/0", b'"1/0"', b'"1e9999999"', b"9" * 30, b"[1, 2]",
    b'{"a": 1}', b'["x", "x"]', b"1979-05-27", b"inf", b"x" * 70, b"\xff",
    b"x" * 300,
)  # fmt: skip


@dataclass(repr=False)
class Target:
    """Something that reads: its valid inputs, and how to feed it."""

    name: str
    seeds: Sequence[bytes]
    feed: Callable[[bytes], object]
    share: float = 1.0
    words: Sequence[bytes] = ()


@dataclass
class Findings:
    """What came of some inputs."""

    fed: int = 0
    accepted: int = 0
    refused: int = 0
    escapes: list[str] = field(default_factory=list)


def mutated(seed: bytes, words: Sequence[bytes], draw: random.Random) -> bytes:
    """Change a valid input at one place or several."""
    data = bytearray(seed)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        place = draw.randrange(len(data) + 1)
        match draw.randrange(11):
            case 0 if data:
                data[place % len(data)] ^= 1 << draw.randrange(8)
            case 1 if data:
                data[place % len(data)] = draw.randrange(256)
            case 2:
                data[place:place] = draw.choice(ODD)
            case 3:
                data[place:place] = draw.randbytes(draw.randrange(1, 9))
            case 4:
                del data[place : place + draw.choice((1, 1, 2, 7, 60))]
            case 5:
                there = draw.randrange(len(data) + 1)
                data[place:place] = data[there : there + draw.randrange(1, 40)]
            case 6:
                del data[place:]
            case 7 | 8 | 9 if len(data) < 20_000:  # a whole word or number becomes another
                there = list(WORD.finditer(data))
                if there:
                    first, last = draw.choice(there).span()
                    data[first:last] = draw.choice((*VALUES, *words))
            case _:
                data[place : place + draw.randrange(4)] = draw.choice(words or ODD)
    return bytes(data)


def fed(target: Target, data: bytes, found: Findings) -> None:
    """Feed one input, and judge how it ended."""
    found.fed += 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.feed(data)
    except NorenError as error:
        found.refused += 1
        said = str(error)
        leaked = [secret for secret in SECRETS if secret in said]
        if leaked:
            found.escapes.append(f"{target.name}: said {leaked[0]}: {said[:200]!r} for {data!r}")
    except Exception as error:
        kind = type(error).__name__
        found.escapes.append(f"{target.name}: {kind}: {str(error)[:120]} for {data[:2000]!r}")
    else:
        found.accepted += 1


def fuzz(target: Target, count: int, seed: int) -> Findings:
    """Feed a target so many inputs: its seeds, mutants of them, and a few of random bytes."""
    draw, found = random.Random(f"{target.name} {seed}"), Findings()
    for data in target.seeds:
        fed(target, data, found)
    if found.accepted == 0:
        found.escapes.append(f"{target.name}: none of its valid inputs is accepted")
    while found.fed < count:
        if draw.random() < 0.02:
            fed(target, draw.randbytes(draw.randrange(300)), found)
        else:
            fed(target, mutated(draw.choice(target.seeds), target.words, draw), found)
    return found


def through_file(path: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Feed bytes by way of a file, as a reader of files is fed."""

    def feed(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return feed
