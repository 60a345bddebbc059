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
    "First steps": {
        "demo": Entry("noren.cli.demo:demo", "Ask questions of generated data; write a report."),
        "init": Entry("noren.cli.init:init", "Write commented settings, a policy and a schema."),
        "doctor": Entry("noren.cli.doctor:doctor", "Check this installation, and the sampling."),
        "explain": Entry("noren.cli.explain:explain", "Show a question's mathematics and proof."),
    },
    "Questions": {
        "associate": Entry(
            "noren.cli.associate:associate", "Find the variants that go with a disease."
        ),
        "collaborate": Entry(
            "noren.cli.collaborate:collaborate", "Learn together without pooling rows, by files."
        ),
        "monitor": Entry(
            "noren.cli.monitor:monitor", "Tell when a share of people is above a threshold."
        ),
        "similar": Entry("noren.cli.similar:similar", "Search private bits; see what leaks."),
        "reweight": Entry(
            "noren.cli.reweight:reweight", "Make a public table speak for a private one."
        ),
        "statistic": Entry(
            "noren.cli.statistic:statistic", "Count now, ask later: hand over what was counted."
        ),
    },
    "Budget": {
        "config": Entry("noren.cli.config:config", "See which settings apply, and from where."),
        "ledger": Entry("noren.cli.ledger:ledger", "Open accounts, see and check the spending."),
    },
    "Evidence": {
        "audit": Entry("noren.cli.audit:audit", "Measure what each mechanism leaks."),
        "reproduce": Entry("noren.cli.reproduce:reproduce", "Repeat a paper's experiments."),
    },
}

COMMANDS: dict[str, Entry] = {
    name: entry for section in SECTIONS.values() for name, entry in section.items()
}
