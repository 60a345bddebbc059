"""`noren audit --for`: a function of the user's own, or of another library, held to its claim."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from noren.errors import FileProblem

SIDES = ("data", "neighbour")


def audited(
    target: str,
    neighbours: Path,
    epsilon: str,
    delta: str,
    draws: int,
    alpha: float,
    values_only: bool,
) -> dict[str, Any]:
    """Audit a function on two datasets, and give the row."""
    from noren.audit import audit_callable

    data, neighbour = read_neighbours(neighbours)
    row = audit_callable(
        found(target),
        data,
        neighbour,
        epsilon,
        delta,
        draws=draws,
        alpha=alpha,
        name=f"yours: {target}",
        bits=not values_only,
    )
    return row.to_dict()


def found(target: str) -> Callable[[Any], Any]:
    """Import "module:function", modules of the working folder included."""
    module, sign, name = target.partition(":")
    if not sign or not module or not name:
        raise click.BadParameter(
            "it must read module:function, such as my_module:count.", param_hint="--for"
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        given = import_module(module)
        for part in name.split("."):
            given = getattr(given, part)
    except (ImportError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise click.BadParameter(
            f"'{target}' is not there ({problem}).", param_hint="--for"
        ) from None
    finally:
        sys.path.pop(0)
    if not callable(given):
        raise click.BadParameter(
            f"'{target}' cannot be called. Name a function of one argument, the data.",
            param_hint="--for",
        )
    return given


def read_neighbours(path: Path) -> tuple[Any, Any]:
    """Read two datasets: a JSON object or an NPZ archive with `data` and `neighbour`."""
    try:
        sides = read_npz(path) if path.suffix.lower() == ".npz" else read_json(path)
        return sides[SIDES[0]], sides[SIDES[1]]
    except Exception as error:  # json, numpy, zipfile and zlib fail in many ways
        problem = type(error).__name__
    raise FileProblem(
        f"{path} cannot be read as two datasets ({problem}), but it must be a JSON object or an "
        "NPZ archive with the entries 'data' and 'neighbour'. Your function is called with each."
    )


def read_json(path: Path) -> Any:
    """Read a JSON object."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_npz(path: Path) -> Any:
    """Read arrays."""
    import numpy as np

    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
