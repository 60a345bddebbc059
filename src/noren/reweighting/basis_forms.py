"""Bases as plain JSON; floats are written so that they are read back bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.reweighting.coded_columns import Cells, CodedColumn
from noren.reweighting.grid_basis import LevelBasis, NormalizedBasis
from noren.reweighting.rows import frozen
from noren.reweighting.table_basis import TableBasis
from noren.reweighting.whitened_basis import WhitenedBasis
from noren.reweighting.whitening import Whitening


def basis_form(basis: Any) -> dict[str, Any]:
    """Give a basis as plain JSON."""
    match basis:
        case LevelBasis():
            return {"kind": basis.kind, "levels": list(basis.levels)}
        case TableBasis():
            cells = [
                [c.column.name, c.column.kind, c.column.start, c.column.stop, list(c.cuts)]
                for c in basis.cells
            ]
            return {"kind": basis.kind, "cells": cells, "dimension": basis.dimension}
        case WhitenedBasis():
            own = basis.whitening
            arrays = {name: getattr(own, name).tolist() for name in ("shift", "turn", "root")}
            return {"kind": basis.kind, "order": own.order, "radius": own.radius, **arrays}
        case _:
            return {
                "kind": basis.kind,
                "centres": basis.centres.tolist(),
                "width": basis.width,
                "precision": basis.precision,
            }


def read_basis(form: dict[str, Any]) -> Any:
    """Read a basis."""
    match form["kind"]:
        case LevelBasis.kind:
            return LevelBasis(tuple(form["levels"]))
        case TableBasis.kind:
            cells = tuple(
                Cells(CodedColumn(*column), tuple(cuts)) for *column, cuts in form["cells"]
            )
            return TableBasis(cells, int(form["dimension"]))
        case WhitenedBasis.kind:
            shift, turn, root = (
                frozen(np.array(form[name], np.float64)) for name in ("shift", "turn", "root")
            )
            return WhitenedBasis(Whitening(form["order"], shift, turn, float(form["radius"]), root))
        case _:
            return NormalizedBasis(np.array(form["centres"]), form["width"], form["precision"])
