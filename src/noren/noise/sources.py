"""Where the bits come from: uniform independent 64-bit words.

Every sampler of this room is exact given such words, so its privacy rests on them. The default
is ChaCha20 under a key of the operating system. NumPy's generators and Python's `random` never
appear here: their state can be recovered from what they put out.

A source keeps its key and its buffer per process and per thread: after a fork the child forgets
both and takes a fresh key, so parent and child never share a word. No source can be pickled, for
the same reason, and a copy of one is the source itself. A seeded source and a tape are for
tests: `secure` is False and every result drawn from them says NOT PRIVATE.
"""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections.abc import Iterable
from typing import Any, NoReturn, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from noren.errors import DrawRefused, NotPrivateWarning

Words: TypeAlias = npt.NDArray[np.uint64]

BUFFER_WORDS = 1 << 13  # 64 KiB: one call of the operating system, and it stays in the cache
REKEY_BYTES = 1 << 32

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # where processes cannot fork there is nothing to forget
    os.register_at_fork(after_in_child=_count_fork)


@runtime_checkable
class BitSource(Protocol):
    """Anything that gives uniform independent 64-bit words."""

    @property
    def secure(self) -> bool:
        """Whether nobody can predict the words."""

    @property
    def name(self) -> str:
        """The name that a ledger writes beside each answer."""

    def words(self, count: int) -> Words:
        """Give that many fresh words; none is ever given twice."""


class Unshareable:
    """Refuse to be pickled, and stay one when copied: two states would draw the same noise."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} cannot be pickled, because two copies would draw the same "
            "noise. Send statistics between processes, and draw in one place."
        )


class Stream(Unshareable):
    """One thread's words in one process: a buffer over something that makes bytes."""

    def __init__(self) -> None:
        self.forks = _forks
        self.process = os.getpid()
        self._buffer: Words = np.empty(0, np.uint64)

    @property
    def inherited(self) -> bool:
        """Whether this state was made before a fork, hence is known to another process."""
        return self.forks != _forks or self.process != os.getpid()

    def fresh(self, count: int) -> Words:
        """Make new words; implemented by each kind of stream."""
        raise NotImplementedError

    def take(self, count: int) -> Words:
        """Give words, small requests from the buffer."""
        if count > BUFFER_WORDS // 4:
            return self.fresh(count)
        if count > self._buffer.size:
            self._buffer = self.fresh(BUFFER_WORDS)
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken


class SystemStream(Stream):
    """Words of the operating system, never fewer than a buffer at once."""

    def fresh(self, count: int) -> Words:
        """Ask the operating system."""
        made = np.frombuffer(os.urandom(8 * max(count, BUFFER_WORDS)), np.uint64)
        return made[:count]


class ChaChaStream(Stream):
    """The ChaCha20 key stream under a fresh key, renewed long before its counter could wrap."""

    def __init__(self) -> None:
        super().__init__()
        self._left = 0

    def fresh(self, count: int) -> Words:
        """Encrypt zeros."""
        made = np.empty(count, np.uint64)
        target = made.view(np.uint8).data
        for start in range(0, len(target), len(ZEROS)):
            part = target[start : start + len(ZEROS)]
            if self._left < len(part):
                self._rekey()
            self._cipher.update_into(ZEROS[: len(part)], part)
            self._left -= len(part)
        return made

    def _rekey(self) -> None:
        """Take a new key and nonce; the block counter (the first four bytes) starts at zero."""
        algorithm = algorithms.ChaCha20(os.urandom(32), bytes(4) + os.urandom(12))
        self._cipher = Cipher(algorithm, mode=None).encryptor()
        self._left = REKEY_BYTES


ZEROS = memoryview(bytes(1 << 18))


class ShakeStream(Stream):
    """SHAKE-128 of a key and a counter."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key
        self._counter = 0

    def fresh(self, count: int) -> Words:
        """Hash the key with the next counter value."""
        block = self._key + self._counter.to_bytes(16, "little")
        self._counter += 1
        return np.frombuffer(hashlib.shake_128(block).digest(8 * count), np.uint64)


class SecureSource(Unshareable):
    """A source whose streams nobody can predict: one for each thread of each process."""

    secure = True
    name = ""

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int) -> Words:
        """Give that many fresh words."""
        stream: Stream | None = getattr(self._local, "stream", None)
        if stream is None or stream.inherited:
            stream = self._local.stream = self._open()
        return stream.take(count)

    def _open(self) -> Stream:
        raise NotImplementedError


class ChaChaSource(SecureSource):
    """The default: ChaCha20 keyed by the operating system."""

    name = "chacha20"

    def _open(self) -> Stream:
        return ChaChaStream()


class SystemSource(SecureSource):
    """The operating system's own generator, for every word."""

    name = "system"

    def _open(self) -> Stream:
        return SystemStream()


class ShakeSource(SecureSource):
    """SHAKE-128 keyed by the operating system: standard library only."""

    name = "shake128"

    def _open(self) -> Stream:
        return ShakeStream(os.urandom(32))


class SeededTestSource(Unshareable):
    """Words that a seed decides: for tests and reproductions, and never private.

    One stream serves all threads in turn, so that a run in one thread can be repeated. A forked
    child goes on with its parent's stream.
    """

    secure = False
    name = "seeded-test"

    def __init__(self, seed: int | str) -> None:
        warnings.warn(
            f"Noise seeded with {seed!r} can be predicted: nothing drawn from it is private.",
            NotPrivateWarning,
            stacklevel=2,
        )
        self._lock = threading.Lock()
        self._stream = ShakeStream(hashlib.sha256(f"noren test seed {seed}".encode()).digest())

    def words(self, count: int) -> Words:
        """Give the next words of the seed's stream."""
        with self._lock:
            return self._stream.take(count)


class TapeSource(Unshareable):
    """Exactly the words it is given, in order: to reach branches that chance never would."""

    secure = False
    name = "tape"

    def __init__(self, words: Iterable[int]) -> None:
        warnings.warn(
            "Noise read from a tape is known beforehand: nothing drawn from it is private.",
            NotPrivateWarning,
            stacklevel=2,
        )
        self._tape = np.array(list(words), np.uint64)

    def words(self, count: int) -> Words:
        """Give the next words, or refuse when the tape has ended."""
        if count > self._tape.size:
            raise DrawRefused("The tape has ended. Give it as many words as the draw takes.")
        taken, self._tape = self._tape[:count].copy(), self._tape[count:]
        return taken

    @property
    def left(self) -> int:
        """How many words have not been read."""
        return int(self._tape.size)


def one_word(source: BitSource) -> int:
    """Give one word as a Python integer."""
    return int(source.words(1)[0])
