"""The public null model of the adjusted score test, in whole numbers.

Maths
    From public covariates C and public status: residuals r, weights w (`null_fit`), the vectors
    u_i = w_i c_i and a positive semidefinite matrix Kc near (C'WC)^-1. All are rounded once, to
    multiples of 2^-30 (Kc to multiples of 2^-shift), and these rounded numbers *are* the model.
    A genotype vector g then has U = r'g, w'g and z = sum g_i u_i, exact whole numbers whatever the
    order of summation, and everything else follows from them and from the model:
        w_i h_i = u_i' Kc z          the fitted genotype, in the model's own numbers
        theta2  = max_i u_i' Kc u_i  how far one person moves w_i h_i at most (Cauchy-Schwarz)
        Omega   = sum of w_i

Privacy
    The model is public: it is made without the genotypes and costs nothing. The score test is
    private for any public r, w and C (docs/proofs/association/score_test.md), however badly they
    fit. Principal components or kinship computed from the study's own genotypes are not public:
    one person's row moves them, and with them everybody's weights. They are refused by their
    names, unless declared public side information, which every answer then states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noren.association.null_fit import basis_of, capped, fitted, inverse_of, read_family
from noren.association.public_covariates import declared_public
from noren.association.statistic import Counts, Floats
from noren.errors import ParameterError
from noren.privacy.numbers import positive

BITS = 30
UNIT = 2**BITS
MATRIX_BITS = 50  # of the largest number of Kc
MOST_PEOPLE = 2**31  # up to here sums fit 63 bits


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NullModel:
    """Hold the public numbers of a null model; `NullModel.fit` makes one.

    Parameters
    ----------
    family : str
        "logistic" or "linear".
    residuals, weights : arrays
        r and w in units of 2^-30.
    vectors : array
        The u_i, one row for each person, in the same units.
    matrix, shift : array, int
        Kc, in units of 2^-shift.
    cap : Fraction, optional
        The largest residual, where one was set.
    names, declared : tuple, dict
        The covariates that were kept, and which of them were declared public, with the reason.
    source : str
        The SHA-256 of covariates and status as they were given.
    """

    family: str
    residuals: Counts
    weights: Counts
    vectors: Counts
    matrix: Counts
    shift: int
    cap: Fraction | None = None
    names: tuple[str, ...] = ()
    declared: Mapping[str, str]
    source: str = ""

    @classmethod
    def fit(
        cls,
        covariates: Any,
        status: Any,
        family: str = "logistic",
        *,
        cap: object = None,
        names: Sequence[str] | None = None,
        declared: Mapping[str, str] | None = None,
    ) -> NullModel:
        """Fit status to public covariates, once, without budget.

        Parameters
        ----------
        covariates
            One row for each person, one column for each covariate, with a column of ones. Columns
            that others span are left out.
        status
            1 for a case, 0 for a control.
        family
            "logistic" or "linear".
        cap
            The largest residual allowed (0.5 to 0.6 is advised where the price of a test is at
            most 0.05); fix it before the genotypes are seen.
        names
            What the columns are called. Names of principal components, kinship and the like are
            refused unless declared.
        declared
            Names of such columns that are in fact published, with the reason.

        Examples
        --------
        >>> model = NullModel.fit([[1, 0], [1, 1], [1, 0], [1, 1]], [1, 1, 0, 0], "logistic")
        >>> model
        NullModel(logistic, 4 people, 2 columns)
        >>> model.residuals.tolist() == [2**29, 2**29, -(2**29), -(2**29)]
        True
        """
        columns, marked = read_columns(covariates), read_status(status)
        if len(columns) != len(marked):
            raise ParameterError("status", f"of {len(marked)} people", f"of {len(columns)}")
        called = read_names(names, columns.shape[1])
        reasons = declared_public(called, declared or {})
        basis, kept = basis_of(columns)
        residuals, weights = fitted(basis, marked, read_family(family))
        largest = None if cap is None else positive("cap", cap)
        if largest is not None:
            residuals = capped(basis, residuals, float(largest))
            weights = residuals**2
        numbers = in_units(basis, residuals, weights)
        return cls(
            family=family,
            **numbers,
            cap=largest,
            names=tuple(called[j] for j in kept),
            declared=reasons,
            source=hashlib.sha256(columns.tobytes() + marked.tobytes()).hexdigest(),
        )

    @property
    def people(self) -> int:
        """How many people the model has, N."""
        return len(self.residuals)

    @property
    def columns(self) -> int:
        """How many covariates were kept, p, the intercept included."""
        return int(self.vectors.shape[1])

    def __repr__(self) -> str:
        return f"NullModel({self.family}, {self.people} people, {self.columns} columns)"

    @property
    def omega(self) -> int:
        """The sum of all weights, in units of 2^-30."""
        return int(self.weights.sum())

    @cached_property
    def is_covered(self) -> bool:
        """Whether the proof holds for these numbers: weights from 0 on, and a Kc as it must be."""
        alike = np.array_equal(self.matrix, self.matrix.T)
        return alike and int(self.weights.min()) >= 0 and is_semidefinite(self.matrix.tolist())

    @cached_property
    def theta2(self) -> int:
        """max_i u_i' Kc u_i, in units of 2^-(60 + shift), exactly."""
        vectors = self.distinct[:, 1:]
        wide = vectors.astype(np.float64)
        matrix = self.matrix.astype(np.float64)
        near = np.einsum("ij,jk,ik->i", wide, matrix, wide)
        terms = np.einsum("ij,jk,ik->i", np.abs(wide), np.abs(matrix), np.abs(wide))
        candidates = vectors[near >= near.max() - 1e-12 * terms.max()]
        return max(self.form(row, row) for row in candidates.tolist())

    @cached_property
    def distinct(self) -> Counts:
        """The different rows (w_i, u_i) there are; few where covariates are categories."""
        return np.unique(np.column_stack([self.weights, self.vectors]), axis=0)

    def form(self, left: Sequence[int], right: Sequence[int]) -> int:
        """Give left' Kc right in whole numbers of any length."""
        pairs = zip(left, self.matrix.tolist(), strict=True)
        return sum(a * sum(k * b for k, b in zip(row, right, strict=True)) for a, row in pairs if a)

    @cached_property
    def order(self) -> Counts:
        """Everybody in the public order of falling |r|; equal ones as they stand."""
        return np.argsort(-np.abs(self.residuals), kind="stable")

    def public_form(self) -> dict[str, Any]:
        """Give what stands for the model in a question's identity and in an answer's record."""
        content = hashlib.sha256()
        for array in (self.residuals, self.weights, self.vectors, self.matrix):
            content.update(np.ascontiguousarray(array).tobytes())
        return {
            "family": self.family,
            "people": self.people,
            "covariates": list(self.names),
            "declared_public": dict(self.declared),
            "cap": None if self.cap is None else str(self.cap),
            "shift": self.shift,
            "source_sha256": self.source,
            "sha256": content.hexdigest(),
        }


def in_units(basis: Floats, residuals: Floats, weights: Floats) -> dict[str, Any]:
    """Round everything to whole numbers, and make the matrix positive semidefinite exactly."""
    scaled = basis / np.abs(basis).max(axis=0)
    weighted = scaled * weights[:, None]
    matrix = inverse_of(weighted, scaled)
    shift = MATRIX_BITS - int(np.ceil(np.log2(np.abs(matrix).max())))
    whole = np.rint(np.ldexp(matrix, shift)).astype(np.int64)
    numbers = {
        "residuals": np.rint(residuals * UNIT).astype(np.int64),
        "weights": np.rint(weights * UNIT).astype(np.int64),
        "vectors": np.rint(weighted * UNIT).astype(np.int64),
        "matrix": raised(whole),
    }
    for array in numbers.values():
        array.flags.writeable = False
    return {**numbers, "shift": shift}


def raised(matrix: Counts) -> Counts:
    """Add the least power of two to the diagonal that makes a matrix positive semidefinite."""
    extra = 0
    while not is_semidefinite((matrix + extra * np.eye(len(matrix), dtype=np.int64)).tolist()):
        extra = max(1, 2 * extra)
    return np.asarray(matrix + extra * np.eye(len(matrix), dtype=np.int64))


def is_semidefinite(matrix: list[list[int]]) -> bool:
    """Eliminate in whole numbers (as Bareiss does): every pivot is positive, or its row is zero.

    Examples
    --------
    >>> is_semidefinite([[2, 1], [1, 1]]), is_semidefinite([[1, 2], [2, 1]])
    (True, False)
    >>> is_semidefinite([[0, 0], [0, 1]]), is_semidefinite([[0, 1], [1, 1]])
    (True, False)
    """
    rest, last = matrix, 1
    while rest:
        pivot, *beside = rest[0]
        if pivot < 0 or (pivot == 0 and any(beside)):
            return False
        rest = [
            [(pivot * entry - row[0] * top) // last if pivot else entry
             for entry, top in zip(row[1:], beside, strict=True)]
            for row in rest[1:]
        ]  # fmt: skip
        last = pivot or last
    return True


def read_columns(given: Any) -> Floats:
    """Read public covariates: finite numbers, one row for each person."""
    accepted = "a table of finite numbers, one row for each person, one column for each covariate"
    try:
        columns = np.array(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise ParameterError("covariates", "not made of numbers", accepted) from None
    if columns.ndim != 2 or not columns.size or len(columns) >= MOST_PEOPLE:
        raise ParameterError("covariates", "of another shape", accepted)
    if not np.isfinite(columns).all():
        raise ParameterError(
            "covariates", "missing or infinite for somebody", accepted,
            "Leave people with a missing covariate out, or give 'missing' a column of its own: "
            "a public rule, settled without the genotypes.",
        )  # fmt: skip
    return columns


def read_status(given: Any) -> Floats:
    """Read public status: 1 for a case, 0 for a control, and some of each."""
    status = np.asarray(given)
    if status.ndim != 1 or not np.isin(status, (0, 1)).all() or status.min() == status.max():
        raise ParameterError(
            "status", "not that of cases and controls", "1 for each case and 0 for each control",
            "There must be at least one of each.",
        )  # fmt: skip
    return status.astype(np.float64)


def read_names(given: Sequence[str] | None, columns: int) -> tuple[str, ...]:
    """Name the columns; c1, c2, ... unless names are given."""
    if given is None:
        return tuple(f"column {j + 1}" for j in range(columns))
    names = tuple(str(name) for name in given)
    if len(names) != columns or len(set(names)) != columns:
        raise ParameterError("names", f"{len(names)} names", f"{columns} different names")
    return names
