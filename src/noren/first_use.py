"""Public names of a room that load on first use, so that importing the room costs nothing.

A room lists its names twice: for type checkers as imports under `TYPE_CHECKING`, and as a table
from its modules to the names that live there. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(
    room: str, modules: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Give a room's `__all__`, `__getattr__` and `__dir__`.

    Parameters
    ----------
    room
        The room's own name, `__name__`.
    modules
        The names that live in each of its modules, set apart by spaces.

    Examples
    --------
    >>> names, load, _ = on_first_use("noren.engine", {"local": "LocalEngine run"})
    >>> names, load("run").__module__
    (['LocalEngine', 'run'], 'noren.engine.local')
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}
    every = sorted(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return every, load, lambda: list(every)
