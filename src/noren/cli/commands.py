"""Which commands there are, and where each one lives.

This table is all that `noren --help` reads: a command's module is imported when the command is
called. To add a command, add a line; a group such as `noren ledger` is one line too.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Where a command lives ("module:attribute") and what it does, in one line."""

    home: str
    help: str


SECTIONS: dict[str, dict[str, Entry]] = {
    "First steps": {},
    "Questions": {},
    "Budget": {},
    "Evidence": {},
}

COMMANDS: dict[str, Entry] = {
    name: entry for section in SECTIONS.values() for name, entry in section.items()
}
