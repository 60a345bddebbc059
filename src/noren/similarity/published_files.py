"""Files of randomized records: arrays for programs, a manifest that says what they are.

    words      uint64, a row a record; column h is bit h mod 64 of word h // 64
    n_columns  how many columns
    left, right the factors of the prior (`noren.similarity.published_prior`), float32
    ids, names public names, where there are any
    manifest   JSON: the price, the chance of a flip, sizes, SHA-256 of `words`, receipts, marks
    manifest_sha256  its own SHA-256, so that a changed price is noticed, too (no signature)

The manifest also stands beside the file as FILE.manifest.json, for people. NumPy alone reads both;
`read` checks the digest. Holders who randomized their own records are put together by `joined`:
each paid for the own bits only, and nobody had to see them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noren.data.files import existing_file
from noren.errors import FileProblem, ParameterError
from noren.privacy.guarantee import Guarantee
from noren.privacy.marks import NOT_PRIVATE
from noren.similarity.asked import ONE_BIT, pure
from noren.similarity.statistic import Records, as_words

if TYPE_CHECKING:
    from noren.similarity.published import Published

MARK = "noren randomized records"
READ_IT = (
    "Each bit was flipped with probability `flip`, independently. An unbiased score of a query is "
    "the sum over its columns of (bit - flip) / (1 - 2 flip). Searching costs nothing: "
    "noren similar lookup FILE."
)


def manifest_of(published: Published) -> dict[str, Any]:
    """Say what a file of randomized records holds."""
    records = published.records
    return {
        "what": MARK,
        "noren": version("noren"),
        "guarantee": published.guarantee.to_dict() if published.guarantee else None,
        "epsilon": str(published.epsilon),
        "flip": published.flip,
        "records": len(records),
        "columns": records.n_columns,
        "bits": "column h is bit h mod 64 of word h // 64",
        "sha256": digest(records.words),
        "prior_sha256": [digest(part) for part in published.factors()],
        "marks": list(published.marks),
        "receipts": [dict(receipt) for receipt in published.receipts],
        "how_to_read": READ_IT,
    }


def digest(array: Any) -> str:
    """Name an array, whatever the order of bytes in this machine."""
    content = np.asarray(array)
    little = content.astype(content.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes()).hexdigest()


def text_digest(text: str) -> str:
    """Name a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def save(published: Published, path: Any) -> Path:
    """Write the file, and its manifest beside it."""
    target = Path(path)
    made = manifest_of(published)
    records, factors = published.records, published.factors()
    held: dict[str, Any] = {
        "words": records.words,
        "n_columns": records.n_columns,
        "left": factors[0],
        "right": factors[1],
        "manifest": json.dumps(made),
        "manifest_sha256": text_digest(json.dumps(made)),
    }
    for name in ("ids", "names"):
        if getattr(records, name) is not None:
            held[name] = np.array(getattr(records, name))
    with target.open("wb") as file:
        np.savez_compressed(file, **held)
    beside(target).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return target


def beside(target: Path) -> Path:
    """Name the manifest of a file."""
    return target.with_name(target.name + ".manifest.json")


def read(path: Any) -> tuple[Records, dict[str, Any], tuple[Any, Any]]:
    """Read what `save` wrote: the randomized records, their manifest, and their prior."""
    file = existing_file(path)
    try:
        with np.load(file, allow_pickle=False) as archive:
            held = {name: archive[name] for name in archive.files}
        text = held["manifest"].item()
        made, factors = json.loads(text), (held["left"], held["right"])
        whole = made["what"] == MARK and text_digest(text) == held["manifest_sha256"].item()
        whole = whole and digest(held["words"]) == made["sha256"]
        whole = whole and [digest(part) for part in factors] == made["prior_sha256"]
        n_columns = int(held["n_columns"])
        Fraction(made["epsilon"])
    except Exception:  # numpy, zipfile, zlib and json fail in many ways
        whole = False
    if not whole:
        raise FileProblem(
            f"{file} holds no randomized records, or they were changed. Make them with: noren "
            "similar publish"
        )
    ids, names = (
        tuple(map(str, held[key].tolist())) if key in held else None for key in ("ids", "names")
    )
    return Records(as_words(held["words"], n_columns), n_columns, ids, names), made, factors


def joined(parts: Sequence[Published]) -> dict[str, Any]:
    """Put the randomized records of several holders one below the other."""
    if not parts:
        raise ParameterError("the files", "none", "at least one")
    first = parts[0]
    if any(part.epsilon != first.epsilon for part in parts):
        raise ParameterError(
            "epsilon", "not the same in all files", "one for all", "Scores could not be compared."
        )
    records = first.records
    for part in parts[1:]:
        records = records + part.records
    marks = dict.fromkeys(mark for part in parts for mark in part.marks)
    return {
        "records": records,
        "epsilon": first.epsilon,
        "marks": tuple(sorted(marks, key=lambda mark: mark != NOT_PRIVATE)),
        "receipts": tuple(receipt for part in parts for receipt in part.receipts),
        "secure": all(part.secure for part in parts),
    }


def price_of(epsilon: Fraction, secure: bool) -> Guarantee | None:
    """Give what each bit paid; None where the flips could be predicted."""
    return pure(ONE_BIT, epsilon) if secure else None
