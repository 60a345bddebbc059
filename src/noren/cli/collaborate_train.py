"""`noren collaborate train`: one private model, signed as a share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.associate_scan import options
from noren.cli.collaborate_files import consortium_option
from noren.cli.engines import engine_options, one_source, statistic_option
from noren.cli.options import TableFile, require_name
from noren.cli.output import Output, answer_lines, with_output
from noren.cli.spending import Spending, spending_options

if TYPE_CHECKING:
    from noren.collaboration import Consortium, PrivateModel, Task
    from noren.engine import Engine

WAYS = (
    "auto", "logistic", "softmax", "gradient-descent", "output", "moments", "gram",
    "published-cms", "published-kst",
)  # fmt: skip
TRAVELS = ("uncertainty", "assumed_public", "marks", "receipt")  # with each answer, but its value
adjacency_options = options(
    click.option(
        "--adjacency",
        type=click.Choice(["add-remove", "substitute"]),
        required=True,
        help="Who is protected: a record more or less, or a record replaced.",
    ),
    click.option("--max-records", type=int, default=1, help="Up to how many rows a person has."),
)


@click.command()
@click.argument("rows", type=TableFile(exists=True), required=False)
@consortium_option
@statistic_option
@engine_options
@click.option("--organization", required=True, help="Your name in the consortium's file.")
@click.option("--key", type=click.Path(path_type=Path), required=True, help="Your private key.")
@click.option("--epsilon", required=True, help="The price of the model.")
@click.option("--delta", default="0", help="Its delta; 0 unless given. 1e-6 is usual.")
@adjacency_options
@click.option(
    "--size",
    type=click.IntRange(min=1),
    required=True,
    help="The declared number of rows: exact with substitute, a public guess with add-remove.",
)
@click.option("--way", type=click.Choice(WAYS), default="auto", help="How to learn; auto: chosen.")
@click.option("--ridge", help="Its regularization in total; a public rule unless given.")
@click.option("--out", type=click.Path(path_type=Path), help="The share: a folder, or NAME.zip.")
@spending_options
@with_output
def train(
    output: Output, spending: Spending, rows: Path | str | None, consortium: Path,
    organization: str, key: Path, out: Path | None, statistic: Path | None, engine: Engine | None,
    **settings: Any,
) -> None:  # fmt: skip
    """Train one private model on ROWS (CSV, Parquet or NPZ) and sign it.

    The first release is stored in the ledger and sent again each time, for nothing: fresh noise for
    each receiver would cost each time. To train anew, and pay anew, give another --request-id.
    """
    from noren.collaboration import Consortium
    from noren.collaboration.share_files import require_new

    members = Consortium.read(consortium)
    one_source(rows, statistic, "ROWS")
    signer = None
    if not spending.dry_run:
        if out is None:
            raise click.UsageError("Name the new share with --out, such as --out north.zip.")
        require_name("--out", out)
        require_new(out)
        signer = signing_key(members, organization, key)
    question = question_of(members.task, settings)
    if spending.charged and spending.request_id is None:
        spending = replace(spending, request_id=release_id(members, organization))
    with ExitStack() as opened:
        count = counter(members.task, rows, statistic, engine, opened)
        answer = spending.ask(output, question, count)
    if answer is not None and out is not None:
        write(output, answer, organization, signer, out)


def signing_key(members: Consortium, organization: str, key: Path) -> Any:
    """Read the key, and refuse one that the consortium does not list: nobody would accept it."""
    from noren.collaboration import read_key
    from noren.collaboration.signing import public_key_of
    from noren.errors import SchemaError

    found = read_key(key)
    if members.members.get(organization) != public_key_of(found):
        raise SchemaError(
            f"The consortium does not list '{organization}' with this key, so nobody would accept "
            "the share. Nothing was spent. Put the line that keygen printed into its file."
        )
    return found


def release_id(members: Consortium, organization: str) -> str:
    """Name the one release of this organization for this task."""
    return f"collaborate/{members.name}/{organization}/{members.task.identity[:16]}"


def counter(
    task: Task,
    rows: Path | str | None,
    statistic: Path | None,
    engine: Engine | None,
    opened: ExitStack,
) -> Callable[[], Any]:
    """Give a function that opens the rows: in memory, or where they lie until the fit is over."""
    from noren.collaboration.filed_rows import EncodedPart, opened_rows
    from noren.collaboration.handover import open_rows
    from noren.data import partitions

    if statistic is not None:
        handed = open_rows(statistic, task)
        return lambda: opened.enter_context(opened_rows(task, handed, engine))
    assert rows is not None
    if engine is None:
        return lambda: counted(task, rows)
    parts = [EncodedPart(task, part) for part in partitions(rows, task.schema)]
    return lambda: opened.enter_context(opened_rows(task, parts, engine))


def counted(task: Task, path: Path | str) -> Any:
    """Encode the rows of a file."""
    from noren.collaboration import TrainingRows
    from noren.data import read

    return TrainingRows.counted(task, read(path, task.schema))


def question_of(task: Task, settings: dict[str, Any]) -> Any:
    """Make the question that the options describe."""
    adjacency = neighbours_of(settings["adjacency"], settings["max_records"])
    own = {name: settings[name] for name in ("epsilon", "delta", "size")}
    own |= {"task": task, "adjacency": adjacency}
    if settings["ridge"] is not None:
        own["ridge"] = settings["ridge"]
    return maker_of(settings["way"])(**own)


def neighbours_of(word: str, max_records: int) -> Any:
    """Give the neighbours, of records or of persons with several rows."""
    from noren.privacy import RECORD, USER, Adjacency

    relation = Adjacency.read(word).relation
    return Adjacency(relation, USER if max_records > 1 else RECORD, max_records)


def maker_of(way: str) -> Any:
    """Find how a question of this way is made."""
    from functools import partial
    from importlib import import_module

    homes = {
        "auto": "choice:choose_training",
        "logistic": "logistic:LogisticTraining",
        "softmax": "softmax:SoftmaxTraining",
        "gradient-descent": "descent:GradientDescent",
        "output": "output:OutputPerturbation",
        "moments": "moments:MomentLearner",
        "gram": "regression:GramRegression",
        "published-cms": "as_published:PublishedTraining",
        "published-kst": "as_published:PublishedTraining",
    }
    module, name = homes[way].split(":")
    found = getattr(import_module(f"noren.collaboration.{module}"), name)
    return partial(found, variant=way[-3:]) if way.startswith("published") else found


def write(output: Output, answer: Any, organization: str, signer: Any, out: Path) -> None:
    """Sign and write the share, and say what it holds."""
    from noren.collaboration import make_share, write_share

    model: PrivateModel = answer.model
    share = make_share(model, organization, signer)
    made = write_share(out, share)
    travels = {name: answer.to_dict()[name] for name in TRAVELS}
    result = {"file": str(made), "release": share.release, "organization": organization,
              "mechanism": model.mechanism, **travels}  # fmt: skip
    people = [*answer_lines(answer), f"The share is {made} (release {share.release[:16]})"]
    output.show("share", result, guarantee=answer.guarantee, people=people)
