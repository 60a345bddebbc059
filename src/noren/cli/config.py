"""`noren config`: what the settings are, and who said so."""

from __future__ import annotations

import click

from noren.cli.output import Output, table, with_output
from noren.cli.policy import Policy, read_policy
from noren.cli.settings import SETTINGS, Setting, read_settings


@click.group()
def config() -> None:
    """See which settings apply, and where each came from."""


@config.command()
@with_output
def show(output: Output) -> None:
    """Show every setting with its source, and the rules of every policy.

    An option comes before an environment variable (NOREN_LEDGER, NOREN_ACCOUNT), that before the
    nearest noren.toml; a policy stands above all three.
    """
    settings, policy = resolved({})
    rows = [
        {
            "setting": name,
            "value": without_password(found.value),
            "source": found.source,
            "meaning": SETTINGS[name],
        }
        for name, found in settings.items()
    ]
    rules = [
        {"rule": rule.name, "value": rule.value, "file": str(rule.file)} for rule in policy.rules
    ]
    people = [table("Settings", list(rows[0]), [list(row.values()) for row in rows])]
    if rules:
        people.append(table("Policy", list(rules[0]), [list(rule.values()) for rule in rules]))
    output.show("config", {"settings": rows, "policy": rules}, people=people)


def without_password(value: str | None) -> str | None:
    """Hide the password of an address."""
    if value is None or "://" not in value:
        return value
    from noren.ledger.place import read_place, shown

    return shown(read_place(value))


def resolved(options: dict[str, str | None]) -> tuple[dict[str, Setting], Policy]:
    """Give the settings as options, environment, files and policies together decide them."""
    settings = read_settings(options)
    named = settings["ledger"].value
    policy = read_policy(named)
    ruled = policy.settle("ledger", settings["ledger"]).value
    if ruled != named:  # a policy names the ledger, beside which there may be another policy
        policy = read_policy(ruled)
    return {name: policy.settle(name, found) for name, found in settings.items()}, policy
