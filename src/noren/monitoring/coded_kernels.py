"""The loops over bytes of a Parquet column: headers of pages, packed codes, pairs of codes.

Each checks that it stays inside the bytes that it was given, and says so (-1 or False) instead of
reading beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Compile = Callable[[Any], Any]
MOST = 1 << 40  # rows in one run: more would be a damaged page


class Kernels(NamedTuple):
    """The compiled loops."""

    list_pages: Any
    unpack: Any
    count_pairs: Any


@lru_cache(maxsize=1)
def kernels() -> Kernels:
    """Compile the loops."""
    from numba import njit

    compiled: Compile = njit(nogil=True, cache=True)
    varint = compiled(read_varint)
    return Kernels(page_lister(compiled, varint), unpacker(compiled, varint), compiled(add_pairs))


def read_varint(raw: Any, i: Any) -> Any:
    """Read a number of seven bits a byte; -1 where it does not end."""
    value, shift = np.int64(0), 0
    while i < raw.size and shift < 63:
        byte = np.int64(raw[i])
        i += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, i
        shift += 7
    return np.int64(-1), raw.size


def add_pairs(first: Any, second: Any, width: Any, cells: Any) -> None:
    """Count pairs of codes in four lanes."""
    whole = first.size // 4 * 4
    for i in range(0, whole, 4):
        for lane in range(4):
            cells[lane, np.uint64(first[i + lane]) * np.uint64(width) + second[i + lane]] += 1
    for i in range(whole, first.size):
        cells[0, np.uint64(first[i]) * np.uint64(width) + second[i]] += 1


def header_reader(compiled: Compile, varint: Any) -> Any:
    """Make the reader of one header (Thrift, compact); fields that are not wanted are skipped."""

    @compiled
    def header(raw: Any, i: Any, page: Any) -> Any:
        ids, depth, n = np.zeros(16, np.int64), 0, raw.size
        while 0 <= i < n:
            kind, step = raw[i] & 15, raw[i] >> 4
            i += 1
            if kind == 0:
                depth -= 1
                if depth < 0:
                    return i
                continue
            if step:
                ids[depth] += step
            else:
                value, i = varint(raw, i)
                ids[depth] = (value >> 1) ^ -(value & 1)
            if kind == 3:
                i += 1
            elif 4 <= kind <= 6:
                value, i = varint(raw, i)
                value = (value >> 1) ^ -(value & 1)
                if depth == 0 and 1 <= ids[0] <= 3:
                    page[ids[0] - 1] = value
                elif depth == 1 and (ids[0] == 5 or ids[0] == 7) and 1 <= ids[1] <= 2:
                    page[2 + ids[1]] = value
            elif kind == 7:
                i += 8
            elif kind == 8:
                value, i = varint(raw, i)
                i = i + value if 0 <= value < n else n
            elif kind == 12 and depth < 14:
                depth += 1
                ids[depth] = 0
            elif kind != 1 and kind != 2:
                return -1
        return -1

    return header


def page_lister(compiled: Compile, varint: Any) -> Any:
    """Make the loop that finds kind, sizes, number of values, encoding and place of each page."""
    header = header_reader(compiled, varint)

    @compiled
    def list_pages(raw: Any, pages: Any) -> Any:
        i, number = 0, 0
        while i < raw.size:
            if number == pages.shape[0]:
                return -1
            i = header(raw, i, pages[number])
            size = pages[number, 2]
            if i < 0 or size < 0 or i + size > raw.size:
                return -1
            pages[number, 5] = i
            i += size
            number += 1
        return number

    return list_pages


def group_unpacker(compiled: Compile, width: int) -> Any:
    """Make the loop that unpacks groups of eight codes of so many bits."""
    mask = (1 << width) - 1

    @compiled
    def groups(data: Any, out: Any) -> None:
        i, done = np.uint64(0), np.uint64(0)
        for _ in range(out.size // 8):
            word = np.uint64(0)
            for j in range(width):
                word |= np.uint64(data[i + np.uint64(j)]) << np.uint64(8 * j)
            for j in range(8):
                out[done + np.uint64(j)] = (word >> np.uint64(j * width)) & np.uint64(mask)
            i += np.uint64(width)
            done += np.uint64(8)

    return groups


def any_group_unpacker(compiled: Compile) -> Any:
    """Make the loop for every number of bits from 1 to 8."""
    one, two, three, four, five, six, seven, eight = (
        group_unpacker(compiled, width) for width in range(1, 9)
    )

    @compiled
    def groups(width: Any, data: Any, out: Any) -> None:
        if width == 1:
            one(data, out)
        elif width == 2:
            two(data, out)
        elif width == 3:
            three(data, out)
        elif width == 4:
            four(data, out)
        elif width == 5:
            five(data, out)
        elif width == 6:
            six(data, out)
        elif width == 7:
            seven(data, out)
        else:
            eight(data, out)

    return groups


def after_levels(data: Any, optional: Any) -> Any:
    """Skip the marks of missing values (there are none); -1 if the page is too short."""
    if not optional:
        return np.int64(0)
    if data.size < 4:
        return np.int64(-1)
    size = np.int64(0)
    for j in range(4):
        size |= np.int64(data[j]) << (8 * j)
    return 4 + size if 4 + size < data.size else np.int64(-1)


def unpacker(compiled: Compile, varint: Any) -> Any:
    """Make the loop over runs and groups of a page; each code has at most 8 bits."""
    groups, start = any_group_unpacker(compiled), compiled(after_levels)

    @compiled
    def unpack(data: Any, optional: Any, out: Any) -> Any:
        i, done, total = start(data, optional), np.int64(0), np.int64(out.size)
        if i < 0 or i >= data.size or data[i] > 8:
            return False
        width, last = np.int64(data[i]), np.empty(8, np.uint8)
        i += 1
        while done < total:
            length, i = varint(data, i)
            count = length >> 1
            if (
                not 1 <= count < MOST
                or i + (count * width if length & 1 else width > 0) > data.size
            ):
                return False
            if length & 1 and width:
                whole = min(count, (total - done) // 8)
                groups(width, data[i : i + whole * width], out[done : done + 8 * whole])
                done += 8 * whole
                if whole < count and done < total:
                    groups(width, data[i + whole * width : i + count * width], last)
                    rest = total - done
                    out[done:total] = last[:rest]
                    done = total
                i += count * width
            else:
                end = min(total, done + (count * 8 if length & 1 else count))
                out[done:end] = data[i] if width else np.uint8(0)
                done = end
                i += 1 if width else 0
        return True

    return unpack
