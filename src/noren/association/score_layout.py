"""A public null model laid out for packed genotypes: who stands where in a file, what each brings.

Only public things are here, so it may be sent to whoever counts. People of the file whom the model
leaves out bring nothing and have nothing to gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from noren.association.null_model import UNIT, NullModel
from noren.association.statistic import Counts, Floats
from noren.errors import NotPrivate, ParameterError

ADDITIVE = "additive"
DOSES = {  # of no copy, a missing genotype, one copy and two copies of the counted allele
    "carrier": (0, 0, 1, 1),
    "recessive": (0, 0, 0, 1),
    "heterozygous": (0, 0, 1, 0),
    ADDITIVE: (0, 0, 1, 2),
}
SYNONYMS = {"dominant": "carrier", "heterozygote": "heterozygous", "dose": ADDITIVE}
CHUNK = 64  # people whose changes are measured together
LANES = 4


def read_dose_coding(given: object) -> str:
    """Take a coding by name: three of carriers (0 or 1), and the dose (0, 1 or 2) itself.

    Examples
    --------
    >>> read_dose_coding("dominant"), read_dose_coding("dose")
    ('carrier', 'additive')
    """
    word = str(given).strip().lower()
    word = SYNONYMS.get(word, word)
    if word == "allelic":
        raise NotPrivate(
            "The allelic coding counts a person twice, but the score test has one row for each "
            "person. Use the coding 'additive', which tests the dose."
        )
    if word not in DOSES:
        raise ParameterError("coding", repr(given), f"one of {', '.join(DOSES)}")
    return word


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """Lay a model out for rows of a file.

    Parameters
    ----------
    model : NullModel
        The public model.
    coding : str
        A name of `DOSES`.
    members : array
        The places of the model's people among those of the file.
    in_file : int
        How many people the file has.
    """

    model: NullModel
    coding: str
    members: Counts
    in_file: int

    def __post_init__(self) -> None:
        if not np.array_equal(self.model.vectors[:, 0], self.model.weights):
            raise ParameterError(
                "model", "one whose first vectors are not its weights", "one with an intercept",
                "Make it with NullModel.fit.",
            )  # fmt: skip
        if not self.model.is_covered:
            raise NotPrivate(
                "The proof of the score test does not cover this null model: it has a negative "
                "weight, or a matrix that is not positive semidefinite. Make it with NullModel.fit."
            )

    @property
    def additive(self) -> bool:
        """Whether doses are tested."""
        return self.coding == ADDITIVE

    @property
    def whole(self) -> int:
        """The largest dose."""
        return 2 if self.additive else 1

    @property
    def doses(self) -> Counts:
        """The dose of each pair of bits, in the kernels' form."""
        return np.array(DOSES[self.coding], dtype=np.int64)

    @property
    def row_words(self) -> int:
        """The 8-byte words of a row in the kernels' form."""
        return -(-self.in_file // 32)

    @property
    def lanes(self) -> int:
        """The padded number of sums: U, w'(g^2) and z."""
        return -(-(self.model.columns + 2) // LANES) * LANES

    @cached_property
    def values(self) -> Counts:
        """What each person of the file brings to the sums."""
        made = np.zeros((32 * self.row_words, self.lanes), np.int64)
        made[self.members, 0] = self.model.residuals
        made[self.members, 1] = self.model.weights
        made[self.members, 2 : 2 + self.model.columns] = self.model.vectors
        return made

    @cached_property
    def order(self) -> Counts:
        """The places in the file of the model's people, by falling |r|."""
        return self.members[self.model.order].astype(np.int64)

    @cached_property
    def signed(self) -> Counts:
        """The residuals in that order."""
        return self.model.residuals[self.model.order]

    @cached_property
    def longest(self) -> Counts:
        """The sums of the first |r| in that order."""
        return np.cumsum(np.abs(self.signed))

    @cached_property
    def matrix(self) -> Floats:
        """The matrix Kc as doubles (it has no more digits)."""
        return np.ldexp(self.model.matrix.astype(np.float64), -self.model.shift)

    @cached_property
    def chunks(self) -> tuple[Floats, Any, Floats, Floats, Floats]:
        """The points (w_i, u_i) in chunks by falling weight, as the kernel takes them.

        Gives the points in units that suit each coordinate, the same in single precision, each
        chunk's largest weight and longest u_i (but for its first entry, which is w_i), those units,
        and the largest absolute value in each coordinate.
        """
        points = np.column_stack([self.model.weights, self.model.vectors]) / UNIT
        reach = np.abs(points).max(axis=0)
        scale = np.sqrt((points[:, 1:] ** 2).mean(axis=0))
        scale[0] = 1
        points[:, 1:] /= scale
        points = points[np.argsort(-points[:, 0], kind="stable")]
        points = np.pad(points, ((0, -len(points) % CHUNK), (0, 0)))
        lengths = np.sqrt((points[:, 2:] ** 2).sum(axis=1)).reshape(-1, CHUNK)
        chunks = np.ascontiguousarray(points.reshape(-1, CHUNK, points.shape[1]).swapaxes(1, 2))
        ends = np.column_stack([chunks[:, 0].max(axis=1), lengths.max(axis=1)])
        return chunks, chunks.astype(np.float32).ravel(), ends, scale, reach

    def genotypes(self, row: Any) -> Counts:
        """Give the doses of the model's people from the bytes of a row in the kernels' form."""
        pairs = (row[self.members >> 2] >> (2 * (self.members & 3)).astype(np.uint8)) & 3
        return np.asarray(self.doses[pairs])
