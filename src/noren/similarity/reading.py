"""Read records of bits from the files people have.

    form      what                                                          public names
    npz       a SciPy CSR matrix (save_npz), or packed `words` and `n_columns`,  numbers, or arrays
              or one array `bits`; NPY: that array alone                    `ids`, `names`
    wide      CSV or Parquet, a first column of ids, then one column of 0/1 each   header
    long      CSV or Parquet of two columns, id and item: a line is a one   both columns
    movielens tab separated user, item, ... without a header (`u.data`)     both columns
    fps       fingerprints: `#num_bits=`, then hex<TAB>id a line            ids; numbers

The lists of ids and columns are public. In the long forms they are taken from the file, sorted,
unless `names` or `ids` declare them; declare them where the set of items could itself tell
something. Packed words are uint64, or uint8 with the first column lowest, as faiss and chemfp have
them. Errors name the file and at most a column, never a row or a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noren.data.bits import pack_indices, packed, words_for
from noren.data.files import existing_file
from noren.data.lines import first_line, line_blocks
from noren.errors import FileProblem, NorenError, ParameterError, SchemaError
from noren.similarity.statistic import Records, as_words, read_names

FORMS = ("npz", "wide", "long", "movielens", "fps")
ONES, ZEROS = ("1", "True", "true"), ("0", "False", "false")
PAIRS = ("long", "movielens")
ENDINGS = {".npz": "npz", ".npy": "npz", ".fps": "fps", ".data": "movielens"}


def read_records(
    path: Any,
    form: str | None = None,
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    min_weight: int = 0,
) -> Records:
    """Read a file of records.

    Parameters
    ----------
    path
        NPZ, CSV, Parquet, FPS or `u.data`.
    form : str, optional
        "npz", "wide", "long", "movielens" or "fps"; told from the name and the header if left out.
    names, ids : list of str, optional
        The public columns and records. In the long forms they say what counts: a record without
        items is one of them, and what is not named is ignored. Elsewhere they name what the file
        does not.
    min_weight : int, optional
        A public promise that every record has so many ones.
    """
    file = existing_file(path)
    chosen = form or guess(file)
    if chosen not in FORMS:
        raise ParameterError("form", form, f"one of {', '.join(FORMS)}", "Or leave it out.")
    readers: dict[str, Callable[[], dict[str, Any]]] = {
        "npz": lambda: from_npz(file),
        "wide": lambda: from_wide(file),
        "long": lambda: from_pairs(*pairs_of(file), names, ids),
        "movielens": lambda: from_pairs(*tabbed_pairs(file), names, ids),
        "fps": lambda: from_fps(file),
    }
    try:
        found = readers[chosen]()
    except NorenError:
        raise
    except Exception as error:
        problem = type(error).__name__
    else:
        if chosen not in PAIRS:
            found |= declared(found, names=names, ids=ids)
        return Records(**found, min_weight=min_weight, origin=(str(file),))
    raise FileProblem(
        f"{file} cannot be read as '{chosen}' ({problem}). Write it again, or name its true form: "
        f"{', '.join(FORMS)}."
    )


def declared(found: dict[str, Any], **public: Sequence[str] | None) -> dict[str, Any]:
    """Give the public names that were declared; refuse to rename what the file names itself."""
    kept = {key: tuple(given) for key, given in public.items() if given is not None}
    for key in kept:
        if found.get(key) is not None:
            raise ParameterError(key, "declared", "left out", "The file has its own.")
    return kept


def guess(file: Path) -> str:
    """Tell the form from the name and the header."""
    if file.suffix.lower() in ENDINGS:
        return ENDINGS[file.suffix.lower()]
    if file.suffix.lower() in (".parquet", ".pq"):
        return "long" if len(table_of(file).column_names) == 2 else "wide"
    if file.suffix.lower() == ".csv":
        return "long" if first_line(file)[0].count(",") == 1 else "wide"
    raise ParameterError(
        "form", "not stated", f"one of {', '.join(FORMS)}", f"{file.name} does not tell."
    )


def from_npz(file: Path) -> dict[str, Any]:
    """Read a SciPy CSR matrix, packed words, or a matrix of bits."""
    held: dict[str, Any]
    if file.suffix.lower() == ".npy":
        held = {"bits": np.load(file, allow_pickle=False)}
    else:
        with np.load(file, allow_pickle=False) as archive:
            held = {name: archive[name] for name in archive.files}
    public: dict[str, Any] = {
        key: tuple(map(str, held[key].tolist())) for key in ("ids", "names") if key in held
    }
    if "words" in held:
        n_columns = int(held["n_columns"])
        return {"words": as_words(held["words"], n_columns), "n_columns": n_columns, **public}
    if "bits" in held:
        made = Records.of(held["bits"])
        return {"words": made.words, "n_columns": made.n_columns, **public}
    if "indptr" not in held or "shape" not in held:
        raise FileProblem(
            f"{file} holds no records: it needs the arrays of a SciPy CSR matrix, or `words` with "
            "`n_columns`, or `bits`."
        )
    if "format" in held and held["format"].item() not in (b"csr", "csr"):
        raise FileProblem(f"{file} holds a sparse matrix that is not CSR. Save m.tocsr().")
    begins, columns, values = held["indptr"], held["indices"], held["data"]
    if not np.isin(values, (0, 1)).all():
        raise SchemaError(
            "The matrix holds something else than 0 and 1. "
            "Write one for every item that a record has."
        )
    if not values.all():  # stored zeros
        kept = np.concatenate([[0], np.cumsum(values != 0)])
        begins, columns = kept[begins], columns[values != 0]
    n_columns = int(held["shape"][1])
    return {"words": pack_indices(begins, columns, n_columns), "n_columns": n_columns, **public}


def table_of(file: Path) -> Any:
    """Read a CSV or Parquet table with Arrow, everything in a CSV as text."""
    import pyarrow as pa
    import pyarrow.csv as reader
    import pyarrow.parquet as parquet

    if file.suffix.lower() in (".parquet", ".pq"):
        return parquet.read_table(file)
    names = first_line(file)[0].split(",")
    options = reader.ConvertOptions(column_types={n: pa.string() for n in names})
    return reader.read_csv(file, convert_options=options)


def from_wide(file: Path) -> dict[str, Any]:
    """Read ids and one column of 0 and 1 for each bit."""
    table = table_of(file)
    names = list(table.column_names)
    read_names("the header", names, len(names))
    has_ids = names[0].strip().lower() in ("id", "ids", "record", "name", "")
    ids = tuple(map(str, table.column(0).to_pylist())) if has_ids else None
    bits = names[1:] if has_ids else names
    if not bits or not table.num_rows:
        raise FileProblem(f"{file} holds no records: it needs columns of 0 and 1, and rows.")
    dense = np.empty((table.num_rows, len(bits)), bool)
    for place, name in enumerate(bits):
        ones, zeros = (one_of(table.column(name), words) for words in (ONES, ZEROS))
        if not (ones | zeros).all():
            raise SchemaError(
                f"Column {name!r} holds something else than 0 and 1, but every cell must be one of "
                "them. Decide in public what a missing or other value stands for, and write that."
            )
        dense[:, place] = ones
    return {"words": packed(dense), "n_columns": len(bits), "ids": ids, "names": tuple(bits)}


def one_of(column: Any, words: tuple[str, ...]) -> Any:
    """Say which cells of a column, written as text, are one of some words."""
    import pyarrow as pa
    import pyarrow.compute as compute

    text = column.cast(pa.string())
    return compute.is_in(text, value_set=pa.array(words)).to_numpy(zero_copy_only=False)


def pairs_of(file: Path) -> tuple[Any, Any]:
    """Read two columns as text: id, item."""
    import pyarrow as pa

    table = table_of(file)
    if len(table.column_names) != 2:
        raise FileProblem(f"{file} must have two columns, id and item, to be read as 'long'.")
    first, second = (table.column(i).cast(pa.string()) for i in (0, 1))
    if any(column.null_count or one_of(column, ("",)).any() for column in (first, second)):
        raise SchemaError(
            "An id or an item is missing, but each line must be a pair. A record without any item "
            "is declared by `ids`."
        )
    return first, second


def tabbed_pairs(file: Path) -> tuple[Any, Any]:
    """Read the first two fields of each line, tabs between."""
    import pyarrow as pa

    users: list[str] = []
    items: list[str] = []
    for lines in line_blocks(file, 0, file.stat().st_size):
        for line in lines.to_pylist():
            user, item = line.split("\t", 2)[:2]
            users.append(user.strip())
            items.append(item.strip())
    return pa.array(users, pa.string()), pa.array(items, pa.string())


def from_pairs(
    rows: Any, items: Any, names: Sequence[str] | None, ids: Sequence[str] | None
) -> dict[str, Any]:
    """Make records of (id, item) pairs; a repeated pair counts once."""
    own_ids, row = numbered(rows, ids)
    own_names, column = numbered(items, names)
    if not own_ids or not own_names:
        raise FileProblem("The file holds no records. Check the path, and --form.")
    inside = (row >= 0) & (column >= 0)  # what was not declared is ignored
    order = np.argsort(row[inside], kind="stable")
    begins = np.searchsorted(row[inside][order], np.arange(len(own_ids) + 1))
    words = pack_indices(begins.astype(np.int64), column[inside][order], len(own_names))
    return {"words": words, "n_columns": len(own_names), "ids": own_ids, "names": own_names}


def numbered(texts: Any, public: Sequence[str] | None) -> tuple[tuple[str, ...], Any]:
    """Give the names, as declared or as they occur, and the place of each text among them."""
    coded = texts.dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    occurring = coded.dictionary.to_pylist()
    own = tuple(public) if public is not None else ordered(occurring)
    place_of = {name: place for place, name in enumerate(own)}
    places = np.array([place_of.get(name, -1) for name in occurring], np.int64)
    return own, places[coded.indices.to_numpy(zero_copy_only=False)]


def ordered(distinct: list[str]) -> tuple[str, ...]:
    """Sort distinct names, numbers as numbers."""
    if all(name.isdecimal() for name in distinct):
        return tuple(sorted(distinct, key=lambda name: (int(name), name)))
    return tuple(sorted(distinct))


def from_fps(file: Path) -> dict[str, Any]:
    """Read fingerprints in hexadecimal, the first bit being the lowest of the first byte."""
    bits, prints, ids = 0, bytearray(), []
    for lines in line_blocks(file, 0, file.stat().st_size):
        for line in lines.to_pylist():
            if line.startswith("#"):
                bits = int(line.partition("=")[2]) if line.startswith("#num_bits=") else bits
                continue
            text, _, rest = line.partition("\t")
            bits = bits or 4 * len(text)
            if len(text) != 2 * -(-bits // 8):
                raise FileProblem(
                    f"{file} has fingerprints of another length than its num_bits. "
                    "Write the file again."
                )
            prints += bytes.fromhex(text).ljust(words_for(bits) * 8, b"\0")
            ids.append(rest.partition("\t")[0])
    words = np.frombuffer(bytes(prints), "<u8").reshape(-1, words_for(bits)).astype(np.uint64)
    words = as_words(words, bits)
    return {"words": words, "n_columns": bits, "ids": tuple(ids)}
