"""Noren: five questions about private data, answered privately, each with its price.

The public names load on first use, so that importing Noren, and `noren --help`, cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from noren.ledger import Ledger as Ledger
    from noren.noise import Noise as Noise
    from noren.privacy import Adjacency as Adjacency
    from noren.privacy import Guarantee as Guarantee

HOMES = {
    "Adjacency": "noren.privacy",
    "Guarantee": "noren.privacy",
    "Ledger": "noren.ledger",
    "Noise": "noren.noise",
}

__all__ = ["Adjacency", "Guarantee", "Ledger", "Noise", "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
