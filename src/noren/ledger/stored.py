"""How an answer is stored: JSON, with its arrays beside it in parts of at most 8 MB.

What JSON lacks is tagged, so that a question's `restore` is given what its answer's `record`
gave: arrays as arrays, tuples as tuples, fractions as fractions, infinities as infinities. A
nested dataclass comes back as a dictionary of its fields, an enum as its value.
"""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

PART = 8_000_000  # bytes in one row
TAG = "~"
PLAIN = {bool, int, str}

Array = NDArray[Any]


def to_stored(value: Any, arrays: list[Array]) -> Any:
    """Turn a value into JSON; its arrays are appended to `arrays` and referred to by number."""
    if value is None or type(value) in PLAIN:
        return value
    if isinstance(value, np.ndarray):
        return _array(value, arrays)
    if isinstance(value, np.generic):
        return to_stored(value.item(), arrays)
    if isinstance(value, float):
        return value if math.isfinite(value) else {TAG: "float", "is": repr(value)}
    if isinstance(value, tuple):
        return {TAG: "tuple", "is": [to_stored(item, arrays) for item in value]}
    if isinstance(value, list):
        return [to_stored(item, arrays) for item in value]
    if isinstance(value, Enum):
        return to_stored(value.value, arrays)
    if isinstance(value, (Fraction, Decimal)):
        return {TAG: type(value).__name__.lower(), "is": str(value)}
    if isinstance(value, bytes):
        return {TAG: "bytes", "is": value.hex()}
    return _fields(value, arrays)


def _array(value: Array, arrays: list[Array]) -> Any:
    """Put an array aside; one of Python objects is written as a list."""
    if value.dtype.hasobject:
        items = [to_stored(item, arrays) for item in value.ravel().tolist()]
        return {TAG: "objects", "is": [list(value.shape), items]}
    arrays.append(value)
    return {TAG: "array", "is": len(arrays) - 1}


def _fields(value: Any, arrays: list[Array]) -> Any:
    """Write a mapping or a dataclass."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_stored(getattr(value, f.name), arrays) for f in fields(value)}
    if not isinstance(value, Mapping):
        raise TypeError(f"an answer's record holds a {type(value).__name__}: it cannot be stored")
    if all(isinstance(key, str) and key != TAG for key in value):
        return {key: to_stored(item, arrays) for key, item in value.items()}
    pairs = [[to_stored(key, arrays), to_stored(item, arrays)] for key, item in value.items()]
    return {TAG: "mapping", "is": pairs}


def from_stored(value: Any, arrays: list[Array]) -> Any:
    """Turn stored JSON back into the value."""
    if isinstance(value, list):
        return [from_stored(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if TAG in value:
        return UNTAGGED[value[TAG]](value["is"], arrays)
    return {key: from_stored(item, arrays) for key, item in value.items()}


def _objects(stored: Any, arrays: list[Array]) -> Array:
    """Put an array of Python objects together again."""
    shape, items = stored
    made = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        made[place] = from_stored(item, arrays)
    return made.reshape(shape)


UNTAGGED: dict[str, Any] = {
    "float": lambda text, _: float(text),
    "array": lambda number, arrays: arrays[number],
    "objects": _objects,
    "fraction": lambda text, _: Fraction(text),
    "decimal": lambda text, _: Decimal(text),
    "bytes": lambda text, _: bytes.fromhex(text),
    "tuple": lambda items, arrays: tuple(from_stored(item, arrays) for item in items),
    "mapping": lambda pairs, arrays: {
        from_stored(key, arrays): from_stored(item, arrays) for key, item in pairs
    },
}


def parts(array: Array) -> Iterator[bytes | memoryview]:
    """Cut an array into the rows it is stored in."""
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    for start in range(0, len(content), PART):
        yield content[start : start + PART]


def description(array: Array) -> dict[str, Any]:
    """Say what an array is: its type, shape and digest."""
    digest = hashlib.sha256()
    for part in parts(array):
        digest.update(part)
    return {
        "dtype": dtype_text(array.dtype),
        "shape": list(array.shape),
        "sha256": digest.hexdigest(),
    }


@lru_cache(maxsize=256)
def dtype_text(dtype: np.dtype[Any]) -> str:
    """Write an array's type as NumPy's own files do."""
    return repr(npy.dtype_to_descr(dtype))


def assembled(described: dict[str, Any], rows: list[bytes]) -> Array:
    """Put an array together again from its rows."""
    content = np.empty(sum(map(len, rows)), dtype=np.uint8)
    start = 0
    for row in rows:
        content[start : start + len(row)] = np.frombuffer(row, dtype=np.uint8)
        start += len(row)
    kind = npy.descr_to_dtype(ast.literal_eval(described["dtype"]))
    return cast("Array", content.view(kind).reshape(described["shape"]))
