"""Records: vectors of private bits, packed, with public names of rows and columns.

The statistic of this room. The number of records, their ids, the columns and their names are
public; the bits are secret, and `repr` shows sizes only. Partitions of rows are put one below the
other with `+`. Two layouts: rows packed into 64-bit words (always), and the list of records of
each column (`prepare` builds it), which is faster for short queries on sparse data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noren.data.bits import (
    check_words,
    column_counts,
    pack_indices,
    packed,
    row_counts,
    unpack,
    words_for,
)
from noren.errors import ParameterError, SchemaError
from noren.noise import Noise
from noren.privacy.numbers import whole
from noren.similarity.scoring import Indexes, Postings, Words, make_postings

LARGEST = 2**31 - 1
BLOCK_WORDS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Records:
    """Hold bit vectors that must not leave their owner.

    Parameters
    ----------
    words
        uint64, one row a record; column h is bit h mod 64 of word h // 64.
    n_columns
        The public number of columns.
    ids, names
        Public names of the records and of the columns; numbers from 0 where left out.
    min_weight
        A public promise that every record has at least so many ones, checked here.
    origin
        The files that they were read from: no query is taken from one.

    Examples
    --------
    >>> Records.of([[1, 0, 1], [0, 1, 1]], ids=["ann", "bob"])
    Records(2 records, 3 columns)
    """

    words: Words
    n_columns: int
    ids: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    min_weight: int = 0
    origin: tuple[str, ...] = ()
    _cache: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "n_columns", whole("n_columns", self.n_columns, 1))
        check_words(self.words, self.n_columns)
        if not 0 < len(self.words) <= LARGEST:
            raise ParameterError("the number of records", len(self.words), "at least 1")
        put(self, "ids", read_names("ids", self.ids, len(self.words)))
        put(self, "names", read_names("names", self.names, self.n_columns))
        put(self, "min_weight", whole("min_weight", self.min_weight, 0))
        if self.min_weight and row_counts(self.words).min() < self.min_weight:
            raise SchemaError(
                f"min_weight {self.min_weight} was promised, but the records do not keep it. It is "
                "a public promise about all possible data: promise less, or nothing."
            )

    @classmethod
    def of(cls, rows: Any, **public: Any) -> Records:
        """Pack a matrix of 0 and 1 (or texts of them, or fingerprints that list their on-bits)."""
        given = list(rows) if not hasattr(rows, "dtype") else rows
        if len(given) and hasattr(given[0], "GetOnBits"):  # RDKit's ExplicitBitVect
            return cls.of_sets(
                [list(one.GetOnBits()) for one in given], int(given[0].GetNumBits()), **public
            )
        if len(given) and isinstance(given[0], str):
            given = [[int(bit) if bit in "01" else 2 for bit in row] for row in given]
        dense = checked_bits(given)
        return cls(packed(dense), dense.shape[1], **public)

    @classmethod
    def of_sets(cls, rows: Sequence[Iterable[int]], n_columns: int, **public: Any) -> Records:
        """Pack records given as the column numbers of their ones; a repeated one counts once."""
        listed = [list(row) for row in rows]
        begins = np.concatenate([[0], np.cumsum([len(row) for row in listed])]).astype(np.int64)
        flat = np.array([column for row in listed for column in row], np.int64)
        if flat.size and not 0 <= flat.min() <= flat.max() < n_columns:
            raise SchemaError(
                f"Columns must be numbers from 0 to {n_columns - 1}. Number them from 0, or state "
                "n_columns."
            )
        return cls(pack_indices(begins, flat, n_columns), n_columns, **public)

    @classmethod
    def of_packed(cls, rows: Any, n_columns: int, **public: Any) -> Records:
        """Take packed rows: uint64, or uint8 with the first column lowest."""
        return cls(as_words(np.asarray(rows), n_columns), n_columns, **public)

    @classmethod
    def read(cls, path: Any, form: str | None = None, **public: Any) -> Records:
        """Read a file: NPZ, CSV, Parquet, FPS or `u.data`. See `noren.similarity.reading`."""
        from noren.similarity.reading import read_records

        made: Records = read_records(path, form, **public)
        return made

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Records({len(self)} records, {self.n_columns} columns)"

    def __add__(self, other: Records) -> Records:
        """Put the records of another partition below these."""
        if not isinstance(other, Records):
            return NotImplemented
        if (self.n_columns, self.names) != (other.n_columns, other.names):
            raise ParameterError("the columns", "not the same", "the same in every partition")
        ids = None
        if self.ids is not None and other.ids is not None:
            ids = self.ids + other.ids
        words = np.concatenate([self.words, other.words])
        least = min(self.min_weight, other.min_weight)
        return Records(words, self.n_columns, ids, self.names, least, self.origin + other.origin)

    def shuffled(self, noise: Noise) -> tuple[Records, Indexes]:
        """Put the records into a secret random order, in which a record's place says nothing.

        Gives the shuffled records, ids with their rows, and where each came from: row i was row
        order[i]. Keep the order secret, and shuffle once, before an account is opened.

        Examples
        --------
        >>> from noren import Noise
        >>> records = Records.of([[1, 0], [0, 1], [1, 1]], ids=["a", "b", "c"])
        >>> mixed, order = records.shuffled(Noise())
        >>> [records.id_of(int(row)) for row in order] == list(mixed.ids)
        True
        """
        order: Indexes = noise.permutation(len(self))
        ids = None if self.ids is None else tuple(self.ids[row] for row in order.tolist())
        return replace(self, words=self.words[order], ids=ids), order

    def with_names(self, names: Iterable[str]) -> Records:
        """Name the columns."""
        return replace(self, names=tuple(names))

    def select(self, columns: Any) -> Records:
        """Keep some columns, chosen in public."""
        bits = unpack(self.words, self.n_columns)[:, columns]
        names = tuple(np.asarray(self.column_names)[columns].tolist())
        kept = packed(bits.astype(bool))
        return Records(kept, bits.shape[1], self.ids, names, origin=self.origin)

    def word_blocks(self) -> Iterator[Words]:
        """Yield packed rows, some at a time, from the first to the last."""
        step = max(1, BLOCK_WORDS // self.words.shape[1])
        return (self.words[first : first + step] for first in range(0, len(self), step))

    def bits(self) -> Any:
        """Give the matrix of 0 and 1, for small data."""
        return unpack(self.words, self.n_columns)

    @property
    def postings(self) -> Postings | None:
        """The records of each column, where `prepare` has listed them."""
        return self._cache.get("postings")

    def prepare(self) -> Records:
        """List the records of each column, so that short queries are scored faster."""
        if self.postings is None:
            counts = self.column_counts()
            self._cache["postings"] = make_postings(self.words, self.n_columns, counts)
        return self

    def column_counts(self) -> Indexes:
        """Count the ones of each column (secret)."""
        if "columns" not in self._cache:
            self._cache["columns"] = column_counts(self.words, self.n_columns)
        counts: Indexes = self._cache["columns"]
        return counts

    def weights(self) -> Indexes:
        """Count the ones of each record (secret)."""
        if "weights" not in self._cache:
            self._cache["weights"] = row_counts(self.words)
        counts: Indexes = self._cache["weights"]
        return counts

    @property
    def column_names(self) -> tuple[str, ...]:
        """The public names of the columns; their numbers where they have none."""
        return self.names or tuple(map(str, range(self.n_columns)))

    def name_of(self, column: int) -> str:
        """Name a column."""
        return self.names[column] if self.names is not None else str(column)

    def column(self, name: str) -> int | None:
        """Find a column by its name."""
        if self.names is None:
            return int(name) if name.isdecimal() and int(name) < self.n_columns else None
        places: Mapping[str, int] = self._cache.setdefault(
            "places", {known: number for number, known in enumerate(self.names)}
        )
        return places.get(name)

    def id_of(self, row: int) -> str:
        """Name a record."""
        return self.ids[row] if self.ids is not None else str(row)

    def has_id(self, name: str) -> bool:
        """Say whether a word is the id of a record; ids are public."""
        if self.ids is None:
            return False
        known: set[str] = self._cache.setdefault("ids", set(self.ids))
        return name in known


def as_words(rows: Any, n_columns: int) -> Words:
    """Turn packed rows into words; refuse what no column explains."""
    given = np.ascontiguousarray(rows)
    width = whole("n_columns", n_columns, 1)
    if given.ndim != 2 or given.dtype not in (np.dtype(np.uint64), np.dtype(np.uint8)):
        raise ParameterError("words", f"of type {given.dtype}", "a matrix of uint64 or uint8")
    if given.dtype == np.uint8:
        if given.shape[1] != -(-width // 8):
            raise ParameterError("words", f"{given.shape[1]} bytes wide", f"{-(-width // 8)}")
        octets = np.zeros((len(given), 8 * words_for(width)), np.uint8)
        octets[:, : given.shape[1]] = given
        given = octets.view("<u8").astype(np.uint64, copy=False)
    check_words(given, width)
    spare = 64 * given.shape[1] - width
    if spare and (given[:, -1] >> np.uint64(64 - spare)).any():
        raise SchemaError(
            "The packed rows have ones past their last column. "
            "Pad with zeros, or state the right number of columns."
        )
    return given


def read_names(what: str, given: Any, count: int) -> tuple[str, ...] | None:
    """Take public names, one for each, none twice."""
    if given is None:
        return None
    names = tuple(map(str, given))
    if len(names) != count:
        raise ParameterError(what, f"a list of {len(names)}", f"one name for each of {count}")
    if len(set(names)) != count:
        said = "one of them" if what == "ids" else repr(twice_of(names))  # a person's id is private
        raise ParameterError(what, f"a list with {said} twice", "names that differ")
    return names


def twice_of(names: tuple[str, ...]) -> str:
    """Find a name that stands twice in a list."""
    return next(name for place, name in enumerate(names) if name in names[:place])


def checked_bits(rows: Any) -> Any:
    """Take a matrix of 0 and 1; name the column of anything else, and nothing of its content."""
    try:
        given = np.asarray(rows)
    except ValueError:
        given = np.zeros(0)
    if given.ndim != 2 or given.shape[1] < 1 or given.dtype.kind not in "buif":
        raise ParameterError(
            "the records",
            f"{given.ndim}-dimensional, of type {given.dtype}",
            "a matrix of 0 and 1: one row a record, of one length",
        )
    wrong = np.flatnonzero(~((given == 0) | (given == 1)).all(axis=0))
    if wrong.size:
        raise SchemaError(
            f"Column {wrong[0]} holds something else than 0 and 1, but every cell must be one of "
            "them. Decide in public what a missing or other value stands for, and write that."
        )
    return given.astype(bool)
