"""Evidence that the privacy claims hold: exact enumeration, sampler laws, held-out audits, mutants.

Every room that releases something has a module here with one function,
`rows(quick: bool) -> Iterator[AuditRow]`, listed below by name. `run` gathers them;
`audit_callable` examines any mechanism, ours or not.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from noren.audit.black_box import audit_callable as audit_callable
from noren.audit.row import AuditRow as AuditRow
from noren.errors import ParameterError

ROOMS = {
    "questions": "noren.audit.questions",
    "noise": "noren.audit.noise",
    "mechanisms": "noren.audit.mechanisms",
    "association": "noren.audit.association",
    "monitoring": "noren.audit.monitoring",
    "reweighting": "noren.audit.reweighting",
    "similarity": "noren.audit.similarity",
    "collaboration": "noren.audit.collaboration",
}

__all__ = ["AuditRow", "audit_callable", "names", "run"]


def names() -> list[str]:
    """List what can be audited by name."""
    return list(ROOMS)


def run(
    name: str | None = None,
    quick: bool = False,
    progress: Callable[[AuditRow], None] | None = None,
) -> list[AuditRow]:
    """Gather the evidence of one room, or of all of them.

    Parameters
    ----------
    name : str, optional
        One of `names()`; all when left out.
    quick : bool
        Use fewer draws: the same rows, with less power.
    progress : callable, optional
        Called with each row as soon as it is known.

    Returns
    -------
    list of AuditRow
        A healthy audit has no row that is not ok.
    """
    if name is not None and name not in ROOMS:
        raise ParameterError("name", name, f"one of {', '.join(ROOMS)}", "Leave it out for all.")
    found = []
    for room in ROOMS if name is None else (name,):
        for row in import_module(ROOMS[room]).rows(quick):
            found.append(row)
            if progress is not None:
                progress(row)
    return found
