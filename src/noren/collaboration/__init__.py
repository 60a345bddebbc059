"""What can we learn together without pooling rows: private models, sent as files and combined."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.collaboration.model import PrivateModel as PrivateModel
    from noren.collaboration.task import Task as Task

ROOMS = {
    "model": "PrivateModel",
    "task": "Task",
}
HOMES = {name: room for room, names in ROOMS.items() for name in names.split()}

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren.collaboration' has no attribute {name!r}")
    return getattr(import_module(f"noren.collaboration.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
