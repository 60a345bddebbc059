"""Releases as files: what was released, for which price, on which basis, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from noren.errors import FileProblem, NorenError
from noren.privacy import Adjacency, Relation, Unit
from noren.question import Receipt
from noren.reweighting.grid_basis import LevelBasis, NormalizedBasis
from noren.reweighting.moments import MomentRelease, Moments

FORM = "noren moments 1"


def release_form(release: MomentRelease) -> dict[str, Any]:
    """Give a release as plain JSON."""
    question, receipt = release.question, release.receipt
    adjacency = question.adjacency
    return {
        "form": FORM,
        "basis": basis_form(question.basis),
        "adjacency": [
            adjacency.relation.value, adjacency.unit.value, adjacency.max_records, adjacency.within
        ],
        "epsilon": None if question.epsilon is None else str(question.epsilon),
        "rho": None if question.rho is None else str(question.rho),
        "records": question.records,
        "steps": release.steps.tolist(),
        "secure": release.secure,
        "receipt": receipt and [receipt.account, receipt.request_id, receipt.head],
    }  # fmt: skip


def basis_form(basis: Any) -> dict[str, Any]:
    """Give a basis as plain JSON; floats are written so that they are read back bit for bit."""
    if isinstance(basis, LevelBasis):
        return {"kind": basis.kind, "levels": list(basis.levels)}
    return {
        "kind": basis.kind,
        "centres": basis.centres.tolist(),
        "width": basis.width,
        "precision": basis.precision,
    }


def read_basis(form: dict[str, Any]) -> NormalizedBasis | LevelBasis:
    """Read a basis."""
    if form["kind"] == LevelBasis.kind:
        return LevelBasis(tuple(form["levels"]))
    return NormalizedBasis(np.array(form["centres"]), form["width"], form["precision"])


def read_release(path: str | Path) -> MomentRelease:
    """Read a saved release; refuse a file that is none."""
    try:
        form = json.loads(Path(path).read_text(encoding="utf-8"))
        if form["form"] != FORM:
            raise ValueError
        return release_of(form)
    except (OSError, ValueError, KeyError, TypeError, NorenError) as error:
        raise FileProblem(
            f"{path} cannot be read as saved moments ({type(error).__name__}), but it must be a "
            "file that `MomentRelease.save` wrote. Check the path."
        ) from None


def release_of(form: dict[str, Any]) -> MomentRelease:
    """Read a release from plain JSON."""
    relation, unit, rows, within = form["adjacency"]
    question = Moments(
        basis=read_basis(form["basis"]),
        adjacency=Adjacency(Relation(relation), Unit(unit), rows, within),
        epsilon=form["epsilon"],
        rho=form["rho"],
        records=form["records"],
    )
    receipt = Receipt(*form["receipt"]) if form["receipt"] else None
    steps = np.array(form["steps"], np.int64)
    if steps.shape != (question.basis.size,) or not isinstance(form["secure"], bool):
        raise ValueError
    return MomentRelease(question=question, secure=form["secure"], steps=steps, receipt=receipt)
