"""The evidence is whole: every question has its proof, its audit rows, its forecast, its entry.

Questions, designs and strategies are found by looking through all modules of Noren, never listed.
"""

from __future__ import annotations

import ast
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import noren
from noren.audit import question_faults
from noren.audit.subjects import subjects
from noren.cli.topics import TOPICS
from noren.monitoring.strategies import NAMES as STRATEGIES

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/_ext"))

from noren_reference import public_names  # noqa: E402

PROOFS = ROOT / "docs/proofs"
HEADINGS = ("Claim", "Assumed", "Steps", "Tight", "Tests and audit rows", "Beside the paper")
PARTS = ("guarantee", "forecast", "answer", "restore", "assumed_public", "notes")
DRAWS_NOTHING = {"searcher-charge"}
FAMILIES = {
    "half the noise", "fresh noise on retry", "reused seed", "float noise",
    "noise scaled by the private n", "the factor 2 dropped",
}  # fmt: skip
DATA_WORDS = ("add-remove", "substitute", "bit", "local", "adjacency")


def modules() -> Iterator[ModuleType]:
    """Give every module that may define a question; an audit's have faults put in on purpose."""
    for found in pkgutil.walk_packages(noren.__path__, "noren."):
        if not found.name.startswith(("noren.audit", "noren.cli", "noren.__main__")):
            yield import_module(found.name)


def classes() -> Iterator[type]:
    """Give every class with a kind."""
    for module in modules():
        for value in vars(module).values():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and isinstance(getattr(value, "kind", None), str):
                yield value


@cache
def questions() -> dict[str, type]:
    """Find every question: whatever has a kind, a price, a forecast and an answer."""
    return {
        cls.kind: cls  # type: ignore[attr-defined]
        for cls in classes()
        if all(hasattr(cls, part) for part in PARTS)
    }


def designs() -> dict[str, type]:
    """Find every design of a scan: whatever scores tests and knows their p-values."""
    parts = ("scores", "p_values", "best_tau", "check")
    return {cls.kind: cls for cls in classes() if all(hasattr(cls, part) for part in parts)}  # type: ignore[attr-defined]


def pages() -> list[str]:
    """Name every page that must be there: questions, what a device draws by, its strategies."""
    return sorted([*questions(), "lie-law", *(f"strategy-{name}" for name in STRATEGIES)])


def page(kind: str) -> str:
    return (PROOFS / f"questions/{kind}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """Give what stands under a heading."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].strip()


def test_the_search_finds_the_questions_and_not_their_parts():
    assert len(questions()) >= 35
    assert {"cell-counts", "distance-scores", "adaptive-moments", "plan"} <= set(questions())
    assert not {"numeric", "case-control", "lie-law"} & set(questions())
    assert "case-control" in designs()


@pytest.mark.parametrize("kind", pages())
def test_every_question_has_a_proof_page_of_its_own_with_every_part(kind):
    text = page(kind)
    found = re.findall(r"^## (.*)$", text, re.M)
    assert tuple(found) == HEADINGS
    assert all(section(text, heading) for heading in HEADINGS)
    claim = section(text, "Claim")
    assert any(word in claim for word in DATA_WORDS), "the claim names no adjacency"
    assert "**Public.**" in claim


@pytest.mark.parametrize("kind", pages())
def test_what_a_proof_page_points_to_is_there(kind):
    text, here = page(kind), PROOFS / "questions"
    for target in re.findall(r"\]\(([^)#]+\.md)\)", text):
        assert (here / target).exists(), target
    tests = re.findall(r"`(tests/[\w/]+\.py)`", section(text, "Tests and audit rows"))
    assert tests
    for test in tests:
        tree = ast.parse((ROOT / test).read_text(encoding="utf-8"))
        assert any(
            isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            for node in ast.walk(tree)
        )


def test_no_proof_page_is_about_a_question_that_is_gone():
    there = {path.stem for path in (PROOFS / "questions").glob("*.md")}
    assert there == set(pages())


@pytest.mark.parametrize("kind", sorted(designs()))
def test_every_design_of_a_scan_has_a_proof_audit_rows_tests_and_an_entry(kind):
    cls = designs()[kind]
    name = re.compile(rf"\b{cls.__name__}\b")
    pages = [found for found in PROOFS.rglob("*.md") if names_it(found, kind, cls)]
    assert pages, f"no page of docs/proofs names {cls.__name__}"
    assert any("**Tests.**" in found.read_text("utf-8") for found in pages)
    for folder in ("src/noren/audit", "tests/association"):
        texts = (found.read_text("utf-8") for found in (ROOT / folder).rglob("*.py"))
        assert any(name.search(text) for text in texts), f"{folder} has nothing about it"
    assert cls.__name__ in {found for found, _ in public_names("noren.association")}


def names_it(found: Path, kind: str, cls: type) -> bool:
    """Tell whether a page says in code type that it is about a class or its kind."""
    said = " ".join(re.findall(r"`[^`\n]+`", found.read_text("utf-8")))
    return f"`{kind}`" in said or re.search(rf"\b{cls.__name__}`", said) is not None


@pytest.mark.parametrize("kind", sorted(questions()))
def test_every_question_is_audited_by_the_common_rules_or_draws_nothing(kind):
    """A subject is examined exactly, by its law, through a ledger, and by its faults."""
    assert (kind in subjects()) != (kind in DRAWS_NOTHING)
    if kind not in DRAWS_NOTHING:
        assert type(subjects()[kind].question) is questions()[kind]
        faults = [mutant.fault for mutant in question_faults.faults(subjects()[kind])]
        assert "reused seed" in faults


def test_every_family_of_faults_is_put_in_somewhere_and_half_the_noise_nearly_everywhere():
    found = {
        kind: {mutant.fault for mutant in question_faults.faults(subject)}
        for kind, subject in subjects().items()
    }
    assert set().union(*found.values()) >= FAMILIES
    assert sum("half the noise" in faults for faults in found.values()) >= 0.6 * len(found)


@pytest.mark.parametrize("kind", sorted(questions()))
def test_every_question_has_a_forecast_test(kind):
    text = (ROOT / "tests/audit/test_forecasts.py").read_text(encoding="utf-8")
    assert kind in subjects() or questions()[kind].__name__ in text


@pytest.mark.parametrize("kind", sorted(questions()))
def test_every_question_has_an_entry_in_the_reference_and_is_explained(kind):
    cls = questions()[kind]
    room = ".".join(cls.__module__.split(".")[:2])
    entries = {name for name, _ in public_names(room)}
    assert cls.__name__ in entries or f"{cls.__module__}.{cls.__name__}" in written_entries()
    assert TOPICS[kind] == f"{cls.__module__}:{cls.__name__}"


@cache
def written_entries() -> set[str]:
    """Give the classes that have an entry on a page of the reference that is not made by room."""
    texts = (found.read_text(encoding="utf-8") for found in (ROOT / "docs/reference").glob("*.md"))
    return {name for text in texts for name in re.findall(r"^.. autoclass:: (\S+)$", text, re.M)}


def test_the_count_of_questions_with_all_four_artefacts_is_all_of_them():
    """One number to quote: proof page, audit rows, forecast test, entry in the reference."""
    whole = [
        kind
        for kind in questions()
        if (PROOFS / f"questions/{kind}.md").exists()
        and (kind in subjects() or kind in DRAWS_NOTHING)
        and kind in TOPICS
    ]
    assert len(whole) == len(questions())
