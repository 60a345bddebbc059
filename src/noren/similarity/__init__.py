"""Who resembles this record, and what does answering leak: search over private bit vectors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noren.similarity.as_published import published_loss as published_loss
    from noren.similarity.attacks import detecting_matrix as detecting_matrix
    from noren.similarity.attacks import determined_columns as determined_columns
    from noren.similarity.attacks import revealed_columns as revealed_columns
    from noren.similarity.confidence import rank_confidence as rank_confidence
    from noren.similarity.confidence import score_confidence as score_confidence
    from noren.similarity.laws import clamped_geometric as clamped_geometric
    from noren.similarity.laws import top_one_cap as top_one_cap
    from noren.similarity.laws import top_set_inclusion as top_set_inclusion
    from noren.similarity.scoring import dense_ranks as dense_ranks
    from noren.similarity.scoring import scores as scores
    from noren.similarity.standin import stand_in as stand_in
    from noren.similarity.statistic import Records as Records

ROOMS = {
    "as_published": "published_loss",
    "attacks": "detecting_matrix determined_columns revealed_columns",
    "confidence": "rank_confidence score_confidence",
    "laws": "clamped_geometric top_one_cap top_set_inclusion",
    "scoring": "dense_ranks scores",
    "standin": "stand_in",
    "statistic": "Records",
}
HOMES = {name: room for room, names in ROOMS.items() for name in names.split()}

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use, so that commands start quickly."""
    if name not in HOMES:
        raise AttributeError(f"module 'noren.similarity' has no attribute {name!r}")
    return getattr(import_module(f"noren.similarity.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
