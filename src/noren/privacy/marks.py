"""What must be read together with an answer's value, and how it is told from a record."""

from collections.abc import Mapping
from typing import Any

NOT_PRIVATE = "NOT PRIVATE (seeded)"
NO_LEDGER = "charged to no ledger"


def was_secure(record: Mapping[str, Any]) -> bool:
    """Tell whether a stored answer was drawn from secure noise; one that does not say was not."""
    return record.get("secure") is True
