"""Rules that a data keeper lays down, and that no option, variable or `noren.toml` overrides.

A policy is a TOML file. All that are found apply together, so each can only narrow what the
others allow: `/etc/noren/policy.toml`; every `noren-policy.toml` in the working folder, in the
folder of the ledger's file, and in the folders above both; and the file that NOREN_POLICY names.

    ledger, account     the only ones that may be used
    adjacency           who must be protected, in words ("add-remove", "substitute", ...)
    within              words that may narrow those neighbors; without this rule, none may
    epsilon, delta, rho the most that an account's budget may state
    users               who may ask (names of the operating system)
    no-ledger           false forbids --no-ledger

A policy guards the command line. Whoever may write the ledger's file can write a program, too:
keep the file to those whom you trust with the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noren.cli.settings import Setting, beside, folders_up, read_toml
from noren.errors import LedgerError, SchemaError

if TYPE_CHECKING:
    from noren.privacy.adjacency import Adjacency
    from noren.privacy.guarantee import Guarantee

FILE = "noren-policy.toml"
SYSTEM = Path("/etc/noren/policy.toml")
VARIABLE = "NOREN_POLICY"
RULES: dict[str, type | tuple[type, ...]] = {
    "ledger": str,
    "account": str,
    "adjacency": str,
    "within": str,
    "epsilon": (int, float, str),
    "delta": (int, float, str),
    "rho": (int, float, str),
    "users": list,
    "no-ledger": bool,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a policy, and the file that it stands in."""

    name: str
    value: Any
    file: Path

    def refuse(self, what: str) -> LedgerError:
        """Say that something breaks this rule."""
        return LedgerError(f"The policy {self.file} does not allow it: {what}")


@dataclass(frozen=True, slots=True)
class Policy:
    """Every rule that applies."""

    rules: tuple[Rule, ...] = ()

    def of(self, name: str) -> Iterable[Rule]:
        """Give the rules of one name."""
        return (rule for rule in self.rules if rule.name == name)

    def settle(self, name: str, chosen: Setting) -> Setting:
        """Put a rule in the place of a setting; a setting that was spelled out must agree."""
        for rule in self.of(name):
            if chosen.value is not None and not same(name, chosen.value, rule.value):
                raise rule.refuse(
                    f"{name} must be '{rule.value}', but {chosen.source} says '{chosen.value}'."
                )
            chosen = Setting(rule.value, f"policy {rule.file}")
        return chosen

    def allow_user(self) -> None:
        """Refuse whoever may not ask."""
        for rule in self.of("users"):
            if user_name() not in rule.value:
                raise rule.refuse(f"'{user_name()}' is not among its users.")

    def allow_no_ledger(self) -> None:
        """Refuse `--no-ledger` where it is forbidden."""
        for rule in self.of("no-ledger"):
            if not rule.value:
                raise rule.refuse("every question must be charged, and --no-ledger is not.")

    def allow_budget(self, budget: Guarantee) -> None:
        """Refuse an account that protects someone else, or may spend more."""
        for rule in self.of("adjacency"):
            self._allow_adjacency(rule, budget.adjacency)
        for name, amount in stated(budget).items():
            for rule in self.of(name):
                self._allow_amount(rule, name, amount)

    def _allow_adjacency(self, rule: Rule, adjacency: Adjacency) -> None:
        from noren.privacy.adjacency import Adjacency

        if Adjacency.read(rule.value).word != adjacency.word:
            raise rule.refuse(
                f"adjacency must be '{rule.value}', but the account's is '{adjacency}'."
            )
        beside_it = {other.value for other in self.of("within") if other.file == rule.file}
        if adjacency.within and adjacency.within not in beside_it:
            raise rule.refuse(
                f"the account protects '{adjacency}' only, and narrower neighbors are not "
                f"'{rule.value}'. Its keeper may allow them by a rule 'within'."
            )

    def _allow_amount(self, rule: Rule, name: str, amount: Fraction | None) -> None:
        from noren.privacy.numbers import exact, shown

        if amount is None:
            raise rule.refuse(f"the account's budget must state {name}, at most {rule.value}.")
        if amount > exact(name, rule.value):
            raise rule.refuse(f"{name} may be {rule.value} at most, but it is {shown(amount)}.")


def stated(budget: Guarantee) -> dict[str, Fraction | None]:
    """Give the amounts that a budget states."""
    return {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho}


def read_policy(ledger: str | None) -> Policy:
    """Read every policy that applies to a ledger from here."""
    rules = [rule for file in policy_files(ledger) for rule in rules_of(file)]
    return Policy(tuple(rules))


def policy_files(ledger: str | None) -> list[Path]:
    """Find the policies: the machine's, those around the work and the ledger, and a named one."""
    from noren.ledger.place import at_home

    starts = [Path.cwd()]
    if ledger is not None and "://" not in ledger:
        starts.append(at_home(Path(ledger)).resolve().parent)
    found = [SYSTEM, *(folder / FILE for start in starts for folder in folders_up(start))]
    existing = [file for file in found if file.is_file()]
    if os.environ.get(VARIABLE):
        existing.append(Path(os.environ[VARIABLE]))
    return list(dict.fromkeys(existing))


def rules_of(file: Path) -> Iterable[Rule]:
    """Read one policy's rules; refuse what is misspelled, since it would guard nothing."""
    for name, value in read_toml(file, RULES).items():
        right = isinstance(value, RULES[name]) and isinstance(value, bool) == (name == "no-ledger")
        if not right:
            raise SchemaError(f"{file}: '{name}' cannot be {value!r}.")
        yield Rule(name, beside(file, value) if name == "ledger" else value, file)


def same(name: str, chosen: str, ruled: str) -> bool:
    """Say whether two values are one: equal, or names of the same file."""
    if name != "ledger" or "://" in chosen or "://" in ruled:
        return chosen == ruled
    from noren.ledger.place import at_home

    return at_home(Path(chosen)).resolve() == at_home(Path(ruled)).resolve()


def user_name() -> str:
    """Ask the operating system who this is; an environment variable could be made to lie."""
    try:
        import pwd
    except ImportError:  # Windows has no such list
        return os.getlogin()
    return pwd.getpwuid(os.getuid()).pw_name
