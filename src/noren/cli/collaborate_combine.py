"""`noren collaborate combine` and `predict`: use what others sent."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.collaborate_files import consortium_option, seeded_option, shares_argument
from noren.cli.options import TableFile
from noren.cli.output import Output, owner_only, table, with_output
from noren.errors import FileProblem, SchemaError

if TYPE_CHECKING:
    from noren.collaboration import Combination, SecretCombination, Task

METHODS = (
    "auto", "mirror", "ewa", "stack", "best-single", "local", "mean", "clipped-mean",
    "coordinate-median", "geometric-median", "precision", "uniform-vote",
)  # fmt: skip
PAGE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@shares_argument
@consortium_option
@click.option("--rows", type=TableFile(exists=True), help="Your own rows.")
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", help="How; auto unless given."
)
@click.option(
    "--form", type=click.Choice(["unit", "score", "sign"]), default="unit",
    help="For mirror and ewa; as published: score or sign.",
)  # fmt: skip
@click.option("--beta", type=float, help="For mirror and ewa; e unless given, 3 as published.")
@click.option("--from-row-1", is_flag=True, help="For mirror: leave out the start, as published.")
@click.option("--ridge", type=float, default=1.0, help="For stack and local; 1 unless given.")
@click.option("--out", type=PAGE, help="Write the combined model (JSON) to this file.")
@click.option("--report", type=PAGE, help="Write 'does joining help?' as an HTML page.")
@seeded_option
@with_output
def combine(
    output: Output, shares: tuple[Path, ...], consortium: Path, rows: Path | str | None,
    method: str, out: Path | None, report: Path | None, allow_seeded: bool, **options: Any,
) -> None:  # fmt: skip
    """Verify SHARES, combine them with your own rows, and say whether joining helps.

    Everything that used your rows is SECRET: the model, the weights and the verdict stay with
    you. Spends nothing.
    """
    from noren.collaboration import Consortium, SecretCombination, read_share, verify_shares
    from noren.collaboration import combine as run

    members = Consortium.read(consortium)
    read = [read_share(path) for path in shares]
    verified = verify_shares(read, members, allow_seeded=allow_seeded)
    own, labels = (None, None) if rows is None else own_rows(members.task, rows)
    with output.progress("Combining"):
        made = run(verified.shares, own, labels, method, **way_options(options))
    written_to(out, made)
    total = members.total([price for price in verified.prices if price is not None])
    facts = {"overlap": members.max_overlap, "price of a person": str(total or "unknown"),
             "left out as older or repeated": list(verified.repeated)}  # fmt: skip
    if isinstance(made, SecretCombination):
        show_secret(output, made, facts, report)
        return
    if report is not None:
        raise click.UsageError(f"'{method}' looks at the files alone, so there is no verdict.")
    result = made.to_dict() | {"consortium": facts}
    people = [f"Combined {len(made.sources)} files by {method}: each organization keeps its price."]
    output.show("combination", result, guarantee=total, people=people)


def way_options(options: dict[str, Any]) -> dict[str, Any]:
    """Give the options in the words of `Way`."""
    beta = {} if options["beta"] is None else {"beta": options["beta"]}
    start = not options["from_row_1"]
    return {"form": options["form"], "ridge": options["ridge"], "include_start": start} | beta


def own_rows(task: Task, path: Path | str) -> tuple[Any, Any]:
    """Encode the receiver's rows."""
    import numpy as np

    from noren.cli.collaborate_train import counted

    parts = counted(task, path).parts
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def written_to(out: Path | None, made: Combination | SecretCombination) -> None:
    """Write a combined model; only its owner may read a secret one."""
    if out is None:
        return
    form = made.to_dict()
    if form["kind"].startswith("secret"):
        owner_only(out)
    out.write_text(json.dumps(form, indent=1) + "\n", encoding="ascii")


def show_secret(
    output: Output, made: SecretCombination, facts: dict[str, Any], report: Path | None
) -> None:
    """Show the verdict, both models and the files."""
    from noren.collaboration.joining import SECRET
    from noren.collaboration.joining_page import FILE_COLUMNS, file_rows, joining_page

    joining = made.joining
    people: list[Any] = [f"! {SECRET}", *(f"! {note}" for note in made.notes)]
    if joining is None:
        people.append("One row cannot say whether joining helps.")
    else:
        people += [joining.sentence, table("The files", FILE_COLUMNS, file_rows(joining))]
    people += [f"{name}: {value}" for name, value in facts.items() if value]
    if report is not None:
        if joining is None:
            raise click.UsageError("One row cannot say whether joining helps: there is no report.")
        notes = [f"{name}: {value}" for name, value in facts.items() if value]
        joining_page(joining, [*made.notes, *notes]).write(owner_only(report))
        output.remark(f"The report is {report}")
    output.show("secret-combination", made.to_dict() | {"consortium": facts}, people=people)


@click.command()
@click.argument("model", type=click.Path(path_type=Path, exists=True))
@click.argument("rows", type=TableFile(exists=True))
@click.option("--out", type=PAGE, help="Write the predictions (CSV) to this file.")
@with_output
def predict(output: Output, model: Path, rows: Path | str, out: Path | None) -> None:
    """Predict the label of each row of ROWS by MODEL: a combined model's file, or a share.

    Predictions by a secret combination are as secret as your rows. A share is used as it is; check
    it with 'verify' first.
    """
    from noren.collaboration.joining import SECRET

    task, decide, secret = opened(model)
    if any(column.missing.action == "drop" for column in task.features):
        raise SchemaError(
            "A feature's missing values are dropped, so predictions would not line up with rows. "
            "Predict with a schema that fills them, or keeps them as their own."
        )
    words = list(predicted(task, decide, rows))
    if out is not None:
        target = owner_only(out) if secret else out
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([[task.label.name], *([word] for word in words)])
        output.remark(f"The predictions are {out}")
    if secret:
        output.remark(f"! {SECRET}")
    result = {"label": task.label.name, "predictions": words, "secret": secret}
    output.show("predictions", result, people="\n".join(str(word) for word in words))


def opened(path: Path) -> tuple[Task, Any, bool]:
    """Open a combined model, or the model of a share, and say whether it is secret."""
    if path.is_file() and path.suffix.lower() != ".zip":
        found = read_model(path)
        if found.task is None:
            raise FileProblem(f"{path} is of no task, so it cannot read rows.")
        return found.task, found.predict, type(found).__name__.startswith("Secret")
    from noren.collaboration import read_share

    share = read_share(path)
    return share.model.task, share.model.predict, False


def read_model(path: Path) -> Any:
    """Read a combined or a merged model."""
    from noren.collaboration.combined import read_combination
    from noren.collaboration.merging import MERGED, Merged

    try:
        given = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise FileProblem(f"{path} is no model. 'combine --out' and 'publish --out' write one.")
    return (Merged.from_dict if given.get("kind") == MERGED else read_combination)(given)


def predicted(task: Task, decide: Any, rows: Path | str) -> Iterator[Any]:
    """Predict block by block."""
    from noren.data import read

    for block in read(rows, task.features):
        yield from decide(block).tolist()
