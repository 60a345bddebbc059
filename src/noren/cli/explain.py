"""`noren explain`: the mathematics, the privacy proof and the accuracy of a question."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from noren.cli.output import Output, table, with_output
from noren.cli.topics import TOPICS


@click.command()
@click.argument("name", required=False)
@with_output
def explain(output: Output, name: str | None) -> None:
    """Explain a question: its mathematics, why it is private, how accurate it is.

    NAME is a kind (cell-counts) or a class (CellCounts). Without it, list the names.
    """
    if name is None:
        listed = [(kind, class_name(kind), summary(kind)) for kind in TOPICS]
        topics = [{"kind": kind, "class": cls, "summary": text} for kind, cls, text in listed]
        people = table("noren explain NAME", ("kind", "class", "what it asks"), listed)
        output.show("topics", {"topics": topics}, people=people)
        return
    kind = find(name)
    text, proof = explanation(kind), proof_page(kind)
    result = {"kind": kind, "class": class_name(kind), "text": text, "proof": proof}
    closing = f"\nProof page: {proof}" if proof else ""
    output.show("explanation", result, people=f"{kind} ({class_name(kind)})\n\n{text}{closing}")


def find(name: str) -> str:
    """Give the kind that was meant, by kind or by class."""
    names = {kind.lower(): kind for kind in TOPICS}
    names |= {class_name(kind).lower(): kind for kind in TOPICS}
    given = name.strip().lower().replace("_", "-")
    if given in names:
        return names[given]
    near = dict.fromkeys(names[name] for name in get_close_matches(given, names, cutoff=0.5))
    advice = f"Did you mean {' or '.join(near)}?" if near else "See 'noren explain' for the names."
    raise click.BadParameter(f"'{name}' is not a question of Noren. {advice}", param_hint="NAME")


def home(kind: str) -> tuple[str, str]:
    """Give the module and the class of a kind."""
    module, cls = TOPICS[kind].split(":")
    return module, cls


def class_name(kind: str) -> str:
    """Name the class of a kind."""
    return home(kind)[1]


def summary(kind: str) -> str:
    """Give the first line of the question's own docstring."""
    module, cls = home(kind)
    return (inspect.getdoc(getattr(import_module(module), cls)) or "").partition("\n")[0]


def explanation(kind: str) -> str:
    """Give the docstring that holds mathematics, privacy and accuracy."""
    return inspect.getdoc(import_module(home(kind)[0])) or ""


def proof_page(kind: str) -> str | None:
    """Give the path of the question's proof page, where this is a source tree."""
    page = Path("docs/proofs/questions") / f"{kind}.md"
    return str(page) if (Path(__file__).parents[3] / page).exists() else None
