"""Errors say what was given, what is accepted and what to do next: each message is read here."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SENTENCES = {
    "SchemaError", "FileProblem", "NotPrivate", "LedgerError", "GuaranteeMismatch", "DrawRefused",
    "BudgetRefused", "RecordDamaged", "ReleaseLost", "ClientError", "Refused", "ShareRefused",
}  # fmt: skip
SHOWN = "{}"  # what a message fills in


def words_of(node: ast.expr) -> str | None:
    """Give a literal text, what is filled in as {}; None for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else SHOWN for part in node.values]
        return "".join(map(str, parts))
    return None


def raised(source: str) -> list[tuple[str, str]]:
    """List the errors that a source raises with words of its own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = getattr(node.exc.func, "id", "")
            words = words_of(node.exc.args[-1])
            if name in SENTENCES and words is not None and re.search(r"[a-z]", words):
                found.append((name, words))
    return found


def is_whole(words: str) -> bool:
    """Tell whether a message says what is wrong, and then something more."""
    more = re.search(r"[.:;,] \S", words)
    return (more is not None and words.endswith((".", SHOWN))) or bool(re.search(r": \S", words))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "src/noren").rglob("*.py")), ids=lambda path: path.stem
)
def test_every_message_says_more_than_what_is_wrong(path):
    for name, words in raised(path.read_text(encoding="utf-8")):
        assert is_whole(words), f"{name}: {words}"


def test_the_check_can_tell():
    assert not is_whole("The file holds no records.")
    assert not is_whole("{} cannot be read.")
    assert is_whole("{} cannot be read. Check the path.")
    assert raised('raise FileProblem(f"{path} is empty.")') == [("FileProblem", "{} is empty.")]
