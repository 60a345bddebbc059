"""`noren collaborate export`: a model's coefficients as plain arrays, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from noren.cli.collaborate_combine import read_model
from noren.cli.output import Output, owner_only, with_output
from noren.errors import FileProblem


@click.command()
@click.argument("model", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="A new .npz file."
)
@with_output
def export(output: Output, model: Path, out: Path) -> None:
    """Write the coefficients of MODEL (a share, or a combined model) as arrays in an NPZ file.

    The arrays are `coefficients` and `names` (of the encoded coordinates, the intercept last), and
    the released sums if there are any. A federated job elsewhere can load them with NumPy; rows
    must be encoded by the task's schema. What was secret stays secret.
    """
    import numpy as np

    if out.suffix.lower() != ".npz":
        raise click.UsageError("Name a file that ends in .npz with --out.")
    arrays, is_secret = arrays_of(model)
    with (owner_only(out) if is_secret else out).open("wb") as file:
        np.savez(file, **arrays)
    if is_secret:
        output.remark("! SECRET: made with the receiver's rows. It stays with the receiver.")
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    people = [f"Wrote {name} {shape}" for name, shape in shapes.items()]
    output.show(
        "exported", {"file": str(out), "arrays": shapes, "secret": is_secret}, people=people
    )


def arrays_of(path: Path) -> tuple[dict[str, Any], bool]:
    """Give a model's arrays, and whether they are secret."""
    import numpy as np

    if path.is_file() and path.suffix.lower() != ".zip":
        found = read_model(path)
        if found.coefficients is None or found.task is None:
            raise FileProblem(f"{path} is a vote or has no task, so it is no single array.")
        own = {"coefficients": found.coefficients, "names": np.array(found.task.names)}
        return own, type(found).__name__.startswith("Secret")
    from noren.collaboration import read_share

    model = read_share(path).model
    names = np.array(model.task.names)
    return {"coefficients": model.coefficients, "names": names, **model.sums}, False
