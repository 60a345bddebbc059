"""`noren monitor client`: what a device does in a slot, for trying it out and for small set-ups."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from noren.cli.monitor_plan import FILE, read_json
from noren.cli.output import Output, with_output
from noren.errors import BudgetRefused, FileProblem, ParameterError


@click.command()
@click.option("--plan", "plan_file", type=FILE, required=True, help="The published plan.")
@click.option("--ticket", type=FILE, required=True, help="Which slots are this client's.")
@click.option("--state", type=FILE, required=True, help="The state file. Never copy it.")
@click.option("--key", type=FILE, required=True, help="A file with the enrolment key, in hex.")
@click.option("--device", required=True, help="The name of this device.")
@click.option("--lifetime-epsilon", required=True, help="What this person may spend in all.")
@click.option("--charges", type=FILE, help="A second place for the charges.")
@with_output
def client(
    output: Output, plan_file: Path, ticket: Path, state: Path, key: Path, device: str,
    lifetime_epsilon: str, charges: Path | None,
) -> None:  # fmt: skip
    """Make the report of the slot that it is now; the bit (0 or 1) comes on standard input.

    The bit is read only in a slot of this client, and once. Run it at a fixed moment of every slot,
    whatever the bit is. Prints the message to send; again in the same slot, the same message.
    Silence prints nothing. The work is done by one file that needs the standard library only,
    noren/monitoring/client.py: copy that into your program.
    """
    from noren.monitoring.client import Client, ClientError, Refused
    from noren.privacy.numbers import positive

    budget = positive("lifetime-epsilon", lifetime_epsilon)
    try:
        device_client = Client(
            state, read_json(plan_file), device=device, key=read_key(key),
            lifetime_epsilon=budget, charges=charges,
        )  # fmt: skip
        takes_part = device_client.begin(read_json(ticket))
        message = device_client.report(read_bit)
    except Refused as refusal:
        raise BudgetRefused(str(refusal)) from None
    except ClientError as error:
        raise FileProblem(str(error)) from None
    result: dict[str, Any] = {
        "message": None if message is None else json.loads(message),
        "takes_part": takes_part,
        "spent": str(device_client.spent),
    }
    if message is None:
        output.remark("Silent: not the time, or not the epoch, of this client.")
    output.show("monitoring-report", result, people=message if message is not None else [])


def read_bit() -> int:
    """Read the bit from standard input; never quote it."""
    text = sys.stdin.readline().strip()
    if text not in ("0", "1"):
        raise ParameterError("the bit", "not readable", "0 or 1 on standard input")
    return int(text)


def read_key(path: Path) -> bytes:
    """Read a key in hexadecimal; never quote it."""
    try:
        return bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise FileProblem(
            f"{path} cannot be read as a key in hex ({type(error).__name__}). Check the file."
        ) from None
