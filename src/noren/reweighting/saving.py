"""Releases as files: what was released, for which price, on which basis, and nothing else.

A file carries the SHA-256 of its own content, so that one that was damaged or changed is refused
instead of being read as another release at another price. It is no signature.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from noren.errors import FileProblem, NorenError
from noren.privacy import Adjacency, Relation, Unit
from noren.question import Receipt
from noren.reweighting.adaptive import AdaptiveMoments
from noren.reweighting.adaptive_release import AdaptiveRelease, read_adaptive
from noren.reweighting.basis_forms import basis_form, read_basis
from noren.reweighting.coded_columns import CodedColumn
from noren.reweighting.moments import MomentRelease, Moments

FORM = "noren moments 1"
ADAPTIVE_FORM = "noren adaptive moments 1"


def adjacency_form(adjacency: Adjacency) -> list[Any]:
    """Give neighbours as plain JSON."""
    return [
        adjacency.relation.value, adjacency.unit.value, adjacency.max_records, adjacency.within
    ]  # fmt: skip


def read_adjacency(form: list[Any]) -> Adjacency:
    """Read neighbours."""
    relation, unit, rows, within = form
    return Adjacency(Relation(relation), Unit(unit), rows, within)


def price_form(question: Any) -> dict[str, Any]:
    """Give neighbours, price and public number of rows as plain JSON."""
    return {
        "adjacency": adjacency_form(question.adjacency),
        "epsilon": None if question.epsilon is None else str(question.epsilon),
        "rho": None if question.rho is None else str(question.rho),
        "records": question.records,
    }


def moments_form(release: MomentRelease) -> dict[str, Any]:
    """Give moments as plain JSON."""
    return {
        "basis": basis_form(release.basis),
        **price_form(release.question),
        "steps": release.steps.tolist(),
        "secure": release.secure,
    }


def moments_of(form: dict[str, Any], receipt: Receipt | None = None) -> MomentRelease:
    """Read moments from plain JSON."""
    adjacency = read_adjacency(form["adjacency"])
    question = Moments(
        basis=read_basis(form["basis"]),
        adjacency=adjacency,
        epsilon=form["epsilon"],
        rho=form["rho"],
        records=form["records"],
    )
    steps = np.array(form["steps"], np.int64)
    wanted = (question.basis.released_size(adjacency),)
    if steps.shape != wanted or not isinstance(form["secure"], bool):
        raise ValueError
    return MomentRelease(question=question, secure=form["secure"], steps=steps, receipt=receipt)


def adaptive_form(release: AdaptiveRelease) -> dict[str, Any]:
    """Give an adaptive release as plain JSON, its question's public rows among it."""
    question = release.question
    return {
        "question": {
            **price_form(question),
            "about": question.about,
            "seed": question.seed,
            "columns": [[c.name, c.kind, c.start, c.stop] for c in question.coded],
            "public": question.public.tolist(),
        },
        **release.record(),
    }


def adaptive_of(form: dict[str, Any], receipt: Receipt | None) -> AdaptiveRelease:
    """Read an adaptive release from plain JSON."""
    own = form["question"]
    question = AdaptiveMoments(
        public=np.array(own["public"], np.float64),
        coded=tuple(CodedColumn(*column) for column in own["columns"]),
        adjacency=read_adjacency(own["adjacency"]),
        epsilon=own["epsilon"],
        rho=own["rho"],
        records=own["records"],
        about=own["about"],
        seed=own["seed"],
    )
    found = read_adaptive(question, form)
    return AdaptiveRelease(
        question=question,
        secure=found.secure,
        receipt=receipt,
        count=found.count,
        derivation=found.derivation,
        stages=found.stages,
    )


def write_release(path: str | Path, release: Any, about: dict[str, Any] | None = None) -> None:
    """Write a release, and public words about it that a reader wants back (`saved_about`)."""
    adaptive = isinstance(release, AdaptiveRelease)
    receipt = release.receipt
    form = {
        "form": ADAPTIVE_FORM if adaptive else FORM,
        **(adaptive_form(release) if adaptive else moments_form(release)),
        "receipt": receipt and [receipt.account, receipt.request_id, receipt.head],
        "about": about or {},
    }
    text = json.dumps({**form, "sha256": digest(form)}, sort_keys=True, indent=1) + "\n"
    Path(path).write_text(text, encoding="utf-8")


def digest(form: dict[str, Any]) -> str:
    """Give the SHA-256 of everything that a file says, itself apart."""
    content = {name: value for name, value in form.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_release(path: str | Path) -> MomentRelease | AdaptiveRelease:
    """Read a saved release, of either kind; fitting from it reads nothing private.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.
    """
    form = read_form(path)
    try:
        receipt = Receipt(*form["receipt"]) if form["receipt"] else None
        read: Any = adaptive_of if form["form"] == ADAPTIVE_FORM else moments_of
        return read(form, receipt)  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError, IndexError, NorenError) as error:
        raise damaged(path, error) from None


def saved_about(path: str | Path) -> dict[str, Any]:
    """Give the public words that were saved with a release.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.
    """
    about = read_form(path).get("about", {})
    return about if isinstance(about, dict) else {}


def read_form(path: str | Path) -> dict[str, Any]:
    """Read the JSON of a saved release."""
    try:
        form = json.loads(Path(path).read_text(encoding="utf-8"))
        if form["form"] not in (FORM, ADAPTIVE_FORM) or form["sha256"] != digest(form):
            raise ValueError
        return form  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from None


def damaged(path: str | Path, error: Exception) -> FileProblem:
    """Say that a file is no saved release."""
    return FileProblem(
        f"{path} cannot be read as saved moments ({type(error).__name__}), but it must be a "
        "file that a release's `save` wrote. Check the path."
    )
