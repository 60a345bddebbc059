"""`noren collaborate keygen`, `inspect` and `verify`: keys, and files that others sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from noren.cli.output import Output, table, with_output

if TYPE_CHECKING:
    from noren.collaboration import Share

NOT_VERIFIED = "Not verified: this is what the file says of itself. 'verify' checks it."
shares_argument = click.argument(
    "shares", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True)
)
consortium_option = click.option(
    "--consortium",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="What the members agreed on (see 'keygen --help').",
)
seeded_option = click.option(
    "--allow-seeded", is_flag=True, help="Accept models of predictable noise: lessons and tests."
)


@click.command()
@click.argument("key", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--organization", default="NAME", help="The name for the printed line.")
@with_output
def keygen(output: Output, key: Path, organization: str) -> None:
    """Make a key pair: the private key in KEY, the public one for the consortium's file.

    The consortium's file is TOML, the same at every member:

    \b
        name = "hearts"
        label = "ill"              # one of the columns
        max_overlap = 1            # how many members may hold rows of one person
        [members]
        north = "64 hexadecimal digits, as keygen prints them"
        [[columns]]                # as in every schema of Noren
        name = "age"
        kind = "integer"
        lower = 0
        upper = 110
        missing = "own"

    Compare fingerprints by telephone before you trust a key.
    """  # noqa: D301
    from noren.collaboration.signing import fingerprint
    from noren.collaboration.signing import keygen as make

    public = make(key)
    result = {"key": str(key), "public_key": public, "fingerprint": fingerprint(public)}
    people = [
        f"The private key is {key}: keep it, and send it to nobody.",
        "For [members] in the consortium's file:",
        f'{organization} = "{public}"',
        f"Fingerprint: {result['fingerprint']}",
    ]
    output.show("key", result, people=people)


@click.command()
@click.argument("share", type=click.Path(path_type=Path, exists=True))
@with_output
def inspect(output: Output, share: Path) -> None:
    """Show what a share says of itself, without checking any of it."""
    from noren.collaboration import read_share
    from noren.collaboration.signing import SIGNATURE_SAYS

    found = read_share(share)
    model, manifest = found.model, found.manifest
    shown = {
        "organization": found.organization,
        "created": manifest["created"],
        "release": found.release,
        "fingerprint": manifest["fingerprint"],
        "task": model.task.identity,
        "mechanism": model.mechanism,
        **{f"parameter {name}": text for name, text in sorted(manifest["parameters"].items())},
        "claim": str(model.guarantee or "none"),
        "marks": "; ".join(model.marks),
    }
    coefficients = coefficient_rows(found)
    result = {"verified": False, "share": shown, "schema": model.task.to_dict(),
              "coefficients": coefficients}  # fmt: skip
    people: list[Any] = [
        NOT_VERIFIED,
        table(str(share), ("", "stated"), list(shown.items())),
        table("Coefficients", ("coordinate", "value"), coefficients),
        SIGNATURE_SAYS,
    ]
    output.show("share", result, people=people)


def coefficient_rows(share: Share) -> list[list[Any]]:
    """Name each coefficient; of many classes, each by its class."""
    model = share.model
    if model.coefficients.ndim == 1:
        return [list(pair) for pair in zip(model.task.names, model.coefficients.tolist())]  # noqa: B905
    return [
        [f"{word}: {name}", value]
        for word, own in zip(model.task.classes, model.coefficients.tolist(), strict=True)
        for name, value in zip(model.task.names, own, strict=True)
    ]


@click.command()
@shares_argument
@consortium_option
@seeded_option
@with_output
def verify(output: Output, shares: tuple[Path, ...], consortium: Path, allow_seeded: bool) -> None:
    """Check shares: signer, schema, numbers, and that no claim is understated.

    Exit code 3 when one is refused; the reason is named.
    """
    from noren.collaboration import Consortium, read_share, verify_share
    from noren.collaboration.signing import SIGNATURE_SAYS
    from noren.errors import ShareRefused

    members, rows, refusals = Consortium.read(consortium), [], []
    for path in shares:
        try:
            good = verify_share(read_share(path), members, allow_seeded=allow_seeded)
            price = str(good.model.guarantee or "no guarantee")
            rows.append((str(path), good.organization, "accepted", price))
        except ShareRefused as refusal:
            rows.append((str(path), "", f"refused: {refusal.reason}", ""))
            refusals.append(str(refusal))
    columns = ("file", "organization", "verdict", "claim")
    files = [dict(zip(columns, row, strict=True)) for row in rows]
    result = {"files": files, "refusals": refusals, "signature_proves": SIGNATURE_SAYS}
    people: list[Any] = [table(members.name, columns, rows), *refusals, SIGNATURE_SAYS]
    output.show("verification", result, people=people)
    if refusals:
        raise click.exceptions.Exit(ShareRefused.exit_code)
