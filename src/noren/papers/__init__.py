"""The source papers: their experiments, what was published, what we find, and charts of both.

Each paper is a module with two functions, and one line in `PAPERS` below:

    rows(quick, progress, **files) -> iterable of PaperRow
    charts(rows) -> list of (caption, chart)

With `quick` it ends within a minute. It may call `progress(done, in_all)` (None where unknown).
`files` are paths of the reader's own copies of data that cannot be shipped, by the names that the
paper declares (each is an option of the command); a file that was not given is None, and the
rows then stand on generated data and say so in their note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from noren.papers.rows import PaperRow as PaperRow


class Paper(NamedTuple):
    """A reproduction: its module, and the files that its reader may have (name -> help)."""

    module: str
    files: Mapping[str, str]


PAPERS: dict[str, Paper] = {
    "association": Paper(
        "noren.papers.association",
        {"idash": "A folder with your own copy of the 2015 competition's genotype files."},
    ),
    "association-adjusted": Paper("noren.papers.association_adjusted", {}),
    "monitoring": Paper("noren.papers.monitoring", {}),
    "reweighting": Paper("noren.papers.reweighting", {}),
    "similarity": Paper(
        "noren.papers.similarity",
        {"movielens": "Your own copy of the film ratings (u.data)."},
    ),
    "collaboration": Paper(
        "noren.papers.collaboration",
        {"pima": "Your own copy of the diabetes table: 768 lines of eight numbers and a label."},
    ),
}
"""By the name that `noren reproduce NAME` takes."""
