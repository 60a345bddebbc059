"""`noren init`: three commented files to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from noren.cli.output import Output, with_output
from noren.errors import FileProblem

SETTINGS = """\
# Settings of this folder and of those below it. An option or an environment variable
# (NOREN_LEDGER, NOREN_ACCOUNT) comes before what stands here; a policy stands above all.

# Where budgets and answers are kept: a file (relative to this one), or, where several machines
# share it, postgresql://user@host/database
ledger = "ledger.sqlite"

# The account that questions are charged to: one for each protected dataset. Make it once:
#   noren ledger create people --ledger ledger.sqlite --adjacency add-remove --epsilon 1
account = "people"
"""

POLICY = """\
# Rules that no option, variable or noren.toml overrides, for the ledgers in this folder and
# below. Rules can only narrow what others allow. Take away the # of those that you want.

# Every question must be charged.
no-ledger = false

# The only account that may be used.
# account = "people"

# Who must be protected: "add-remove", "substitute", ...
# adjacency = "add-remove"

# The most that an account's budget may state.
# epsilon = 1
# delta = "1e-6"

# Who may ask: names of the operating system.
# users = ["ada", "kenji"]
"""

SCHEMA = """\
# What a private table may hold, settled before anyone looks at it. Bounds and categories are
# public: take them from a code book, never from the private table. A value out of bounds is
# moved to the nearer one, an undeclared word counts as `other`, and nothing is said when that
# happens. `noren reweight schema PUBLIC` proposes one from a public table.

# What becomes of an empty or unreadable cell: "own" (a level or flag of its own), "drop" (the
# record; not where the number of records is public), or { fill = a public value }.
missing = "own"

[[columns]]
name = "age"
kind = "integer"            # or numeric, boolean, categorical, ordered, text
lower = 0
upper = 110

[[columns]]
name = "town"
kind = "categorical"
categories = ["Nara", "Uji"]
other = "elsewhere"
"""

FILES = {"noren.toml": SETTINGS, "noren-policy.toml": POLICY, "schema.toml": SCHEMA}


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), required=False
)
@with_output
def init(output: Output, folder: Path) -> None:
    """Write commented settings, a policy and an example schema into FOLDER (here unless given).

    Files that exist already are never touched: then nothing is written at all.
    """
    standing = [name for name in FILES if (folder / name).exists()]
    if standing:
        raise FileProblem(
            f"{folder / standing[0]} exists already, and init never writes over a file. Move it "
            "away, or name another folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    written = [str(folder / name) for name in FILES]
    people = [*(f"Wrote {name}" for name in written), "", "Read them; then make an account:"]
    people.append("  noren ledger create people --adjacency add-remove --epsilon 1")
    output.show("init", {"files": written}, people=people)
