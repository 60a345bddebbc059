"""How far one person may move the variance of the adjusted test, compiled.

Maths
    V = w'(g^2) - z' Kc z, and the largest change q is the largest |t_i| over people, where
    t_i = w_i - 2 u_i' y and y = Kc z (doses: the largest of |t_i|, |t_i + 2 w_i|, 2 |t_i + w_i|).
    People stand in chunks, by falling weight. A chunk is passed over if even the bound of its
    largest weight and its longest u_i is less than what was found. The rest are compared in single
    precision, many people at once, and only chunks whose largest lies within the rounding of the
    best are measured again in doubles. Beside each number stands the size of the terms that entered
    it, by which near ties are known.

Loading this module loads the compiler, so it is imported only where there is much to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

ONE = 2.0**-30  # the unit of whole numbers
CHUNK = 64  # people
ROUNDING = 1e-5  # of single precision, relative to the size of all terms
SINGLE = ir.FloatType()


def largest(additive: bool) -> Any:
    """Write the code for a chunk: the largest change that one of its people may make."""

    def typed(typing_context: Any, points: Any, begin: Any, slope: Any, width: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds, (held, first, slopes, _) = signature.args, arguments
            data = context.make_array(kinds[0])(context, builder, held).data
            steps = context.make_array(kinds[2])(context, builder, slopes).data
            people = ir.VectorType(SINGLE, CHUNK)

            def row(k: int) -> Any:
                place = builder.add(first, ir.Constant(ir.IntType(64), k * CHUNK))
                start = builder.bitcast(builder.gep(data, [place]), people.as_pointer())
                return builder.load(start, align=4)

            def spread(k: int) -> Any:
                one = builder.load(builder.gep(steps, [ir.Constant(ir.IntType(64), k)]))
                held = builder.insert_element(
                    ir.Constant(people, ir.Undefined), one, ir.Constant(ir.IntType(32), 0)
                )
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), CHUNK), [0] * CHUNK)
                return builder.shuffle_vector(held, ir.Constant(people, ir.Undefined), zeros)

            weight = row(0)
            moved = weight
            for k in range(len(width)):
                part = builder.fmul(spread(k), row(k + 1), flags=("contract",))
                moved = builder.fadd(moved, part, flags=("contract",))
            found = size(builder, moved)
            if additive:
                once = size(builder, builder.fadd(moved, weight))
                twice = builder.fadd(builder.fadd(moved, weight), weight)
                found = larger(builder, found, builder.fadd(once, once))
                found = larger(builder, found, size(builder, twice))
            return folded(builder, found, CHUNK)

        return types.float32(points, begin, slope, width), generate

    return typed


def size(builder: Any, value: Any) -> Any:
    """Write the absolute value."""
    return larger(builder, value, builder.fsub(ir.Constant(value.type, None), value))


def larger(builder: Any, one: Any, other: Any) -> Any:
    """Write the larger of two, in each place."""
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def folded(builder: Any, value: Any, lanes: int) -> Any:
    """Write the largest in all places."""
    while lanes > 1:
        lanes //= 2
        places = ir.VectorType(ir.IntType(32), lanes)
        halves = [
            builder.shuffle_vector(
                value, ir.Constant(value.type, ir.Undefined),
                ir.Constant(places, list(range(start, start + lanes))),
            )
            for start in (0, lanes)
        ]  # fmt: skip
        value = larger(builder, *halves)
    return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))


largest_of_chunk: Any = intrinsic(largest(False))
largest_of_doses: Any = intrinsic(largest(True))


@njit(cache=True, nogil=True)
def measured_again(points: Any, chunk: int, slope: Any, additive: bool) -> float:
    """Give the largest change of a chunk in doubles."""
    best = 0.0
    for i in range(CHUNK):
        weight = points[chunk, 0, i]
        moved = weight
        for k in range(slope.size):
            moved += slope[k] * points[chunk, k + 1, i]
        best = max(best, abs(moved))
        if additive:
            best = max(best, 2 * abs(moved + weight), abs(moved + 2 * weight))
    return best


@njit(cache=True, nogil=True)
def largest_change(
    points: Any, single: Any, ends: Any, slope: Any, near: Any, width: Any, doubt: float,
    additive: bool, bounds: Any,
) -> float:  # fmt: skip
    """Give the largest change over all chunks."""
    level, length, most = 1.0 + slope[0], 0.0, np.float32(0)
    for k in range(1, slope.size):
        length += slope[k] * slope[k]
    length = np.sqrt(length)
    times = max(abs(level), abs(level + 2), 2 * abs(level + 1)) if additive else abs(level)
    room = (2 if additive else 1) * length
    stride = (len(width) + 1) * CHUNK
    for chunk in range(points.shape[0]):
        bounds[chunk] = ends[chunk, 0] * times + ends[chunk, 1] * room
        if bounds[chunk] < most - doubt:
            continue
        if additive:
            found = largest_of_doses(single, chunk * stride, near, width)
        else:
            found = largest_of_chunk(single, chunk * stride, near, width)
        bounds[chunk] = found
        most = max(most, found)
    best = 0.0
    for chunk in range(points.shape[0]):
        if bounds[chunk] >= most - doubt:
            best = max(best, measured_again(points, chunk, slope, additive))
    return best


@njit(cache=True, nogil=True)
def measure(
    sums: Any, matrix: Any, points: Any, single: Any, ends: Any, scale: Any, reach: Any,
    width: Any, additive: bool, out: Any,
) -> None:  # fmt: skip
    """From each row's sums give V, the size of its terms, the largest change and the size of its.

    All in units of one; V is not clipped, the largest change is without theta2. The points stand
    in units of `scale`, `reach` is the largest absolute value of each.
    """
    slope, near = np.empty(len(width)), np.empty(len(width), np.float32)
    bounds = np.empty(points.shape[0])
    for row in range(sums.shape[0]):
        weight, fitted, terms, change = sums[row, 1] * ONE, 0.0, 0.0, reach[0]
        for j in range(len(width)):
            y, size, here = 0.0, 0.0, sums[row, j + 2] * ONE
            for k in range(len(width)):
                part = matrix[j, k] * (sums[row, k + 2] * ONE)
                y += part
                size += abs(part)
            fitted += y * here
            terms += size * abs(here)
            change += size * reach[j + 1]
            slope[j] = -2 * y * scale[j]
            near[j] = slope[j]
        out[row, 0], out[row, 1], out[row, 3] = weight - fitted, weight + terms, 4 * change
        out[row, 2] = largest_change(
            points, single, ends, slope, near, width, ROUNDING * change, additive, bounds
        )
