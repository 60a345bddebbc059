"""The parameters that each mechanism's claim is a function of, and how they are written.

Every mechanism has all of COMMON. `epsilon` and `delta` are the total for the unit of the
adjacency (a person with up to `max_records` rows where that is above 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from noren.errors import SchemaError
from noren.privacy.numbers import exact

LONGEST = 400  # characters of a number in a received file
WHOLE, REAL, EXACT, WORD = "whole", "real", "exact", "word"

COMMON = {
    "adjacency": WORD,  # "add-remove" or "substitute"
    "unit": WORD,  # "record" or "user"
    "max_records": WHOLE,
    "epsilon": EXACT,
    "delta": EXACT,
    "dimension": WHOLE,
    "size": WHOLE,  # the declared N
}
RELEASE = {  # of an approximate minimiser, on the grid 2**exponent
    "ridge": REAL,
    "weight": REAL,  # the public bound of sample weights
    "tolerance": REAL,  # tau
    "solver_epsilon": EXACT,
    "exponent": WHOLE,
    "lattice": WHOLE,  # S
}
INTEGER_NOISE = {"law": WORD, "noise": EXACT, "exponent": WHOLE, "weight": REAL}

MECHANISMS: dict[str, dict[str, str]] = {
    "objective-pure": COMMON | RELEASE | {"rate": REAL},
    "objective-gaussian": COMMON | RELEASE | {"sigma": REAL},
    "softmax-pure": COMMON | RELEASE | {"rate": REAL, "classes": WHOLE},
    "softmax-gaussian": COMMON | RELEASE | {"sigma": REAL, "classes": WHOLE},
    "published-cms": COMMON | RELEASE | {"rate": REAL, "ridge_per_row": REAL},
    "published-kst-pure": COMMON | RELEASE | {"rate": REAL},
    "published-kst-gaussian": COMMON | RELEASE | {"sigma": REAL},
    "output": COMMON | INTEGER_NOISE | {"ridge": REAL, "tolerance": REAL},
    "gradient-descent": COMMON
    | INTEGER_NOISE
    | {"ridge": REAL, "steps": WHOLE, "step_size": REAL, "classes": WHOLE},
    "moments": COMMON | INTEGER_NOISE,
    "tuned": COMMON | {"candidates": WORD, "sharing": WORD, "choice_epsilon": EXACT},
    "gram": COMMON | INTEGER_NOISE,
}


def declared(mechanism: Any) -> dict[str, str]:
    """Give the parameters of a mechanism."""
    if mechanism not in MECHANISMS:
        raise SchemaError(
            "The model's mechanism is not one that this version knows, so its claim cannot be "
            f"recomputed. Known are {', '.join(sorted(MECHANISMS))}."
        )
    return MECHANISMS[mechanism]


def require_parameters(mechanism: Any, given: Mapping[str, Any]) -> None:
    """Refuse parameters that are missing or unknown."""
    names = declared(mechanism)
    absent, extra = sorted(names.keys() - given.keys()), sorted(given.keys() - names.keys())
    if absent or extra:
        raise SchemaError(
            f"The parameters of '{mechanism}' lack {absent or 'nothing'} and have {len(extra)} "
            "unknown ones, but the claim can be recomputed from the full list only. Ask the "
            "sender for a complete file."
        )


def parameters_to_text(mechanism: str, given: Mapping[str, Any]) -> dict[str, str]:
    """Write parameters as strings that are read back exactly."""
    require_parameters(mechanism, given)
    kinds = declared(mechanism)
    return {
        name: format(float(value), ".17g") if kinds[name] == REAL else str(value)
        for name, value in given.items()
    }


def parameters_from_text(mechanism: Any, given: Any) -> dict[str, Any]:
    """Read written parameters, each as its kind says."""
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for v in given.values()):
        raise SchemaError("A model's parameters must be a table of strings. Check the file.")
    require_parameters(mechanism, given)
    readers: dict[str, Any] = {WHOLE: int, REAL: float, EXACT: read_exact, WORD: str}
    kinds = declared(mechanism)
    try:
        if any(len(text) > LONGEST for name, text in given.items() if kinds[name] != WORD):
            raise ValueError
        return {name: readers[kinds[name]](text) for name, text in given.items()}
    except (ValueError, ZeroDivisionError):
        raise SchemaError(
            "A model's parameters hold a number that is none. Check the file."
        ) from None


def read_exact(text: str) -> Fraction:
    """Read a number exactly, unless it would be of astronomical length."""
    return exact("a parameter", text)
