"""The number of ones of a word by the processor's own instruction, for compiled loops.

Loading this module loads the compiler, so it is imported only by kernels.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def population_count(typing_context: Any, word: Any) -> Any:
    """Tell the compiler to count the ones of a 64-bit word in one instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


ones: Any = intrinsic(population_count)
