"""The documentation is whole: whatever is public has an entry in the reference."""

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/_ext"))

from noren_reference import (  # noqa: E402
    architecture_svg,
    commands_text,
    kinds_text,
    levels,
    public_commands,
    public_names,
    question_kinds,
    room_text,
    rooms_text,
)

from noren.cli.topics import TOPICS  # noqa: E402

READMES = ("README.md", "README.ja.md")
HIDDEN = {"cli"}  # documented as commands, not as names
PAGES = {
    found: page
    for page in (ROOT / "docs/reference").rglob("*.md")
    for found in re.findall(r"^```{room} (\S+)$", page.read_text(encoding="utf-8"), re.M)
}
ROOMS = sorted(
    f"noren.{path.stem}"
    for path in (ROOT / "src/noren").iterdir()
    if path.stem not in HIDDEN | {"__init__", "__main__", "__pycache__"}
    and ((path / "__init__.py").exists() or path.suffix == ".py")
)
NAMES = [(room, name) for room in ROOMS for name, _ in public_names(room)]


def all_commands() -> list[tuple[str, click.Command]]:
    return [(" ".join(path), it) for path, it in public_commands(import_module("noren.cli").noren)]


def test_every_room_has_a_page():
    assert set(ROOMS) <= set(PAGES)
    assert "noren" in PAGES


def test_every_page_is_about_a_room_that_exists():
    assert set(PAGES) <= {"noren", *ROOMS}


def test_the_names_of_noren_are_the_names_that_have_an_entry():
    noren = import_module("noren")
    assert {name for name, _ in public_names("noren")} == set(noren.__all__) - {"__version__"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_that_lists_its_names_lists_those_that_have_an_entry(room):
    listed = getattr(import_module(room), "__all__", None)
    if listed is not None:
        assert set(listed) == {name for name, _ in public_names(room)}


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_an_entry(room):
    entry = rf"^\.\. (?:autoclass|autofunction|py:data):: {re.escape(room)}\.(\w+)$"
    entries = re.findall(entry, room_text(room), re.M)
    assert entries
    assert sorted(entries) == sorted(name for name, _ in public_names(room))


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_module_defines_is_found_in_its_source(room):
    module = import_module(room)
    defined = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == room
    }
    assert defined <= {name for name, _ in public_names(room)}


@pytest.mark.parametrize(("room", "name"), NAMES, ids=lambda word: str(word))
def test_every_public_class_and_function_says_what_it_is_for(room, name):
    value = getattr(import_module(room), name)
    if inspect.isclass(value) or inspect.isroutine(value):
        first = (value.__doc__ or "").strip().partition("\n")[0]
        assert first.endswith((".", "!", "?")), f"{room}.{name} begins: {first!r}"
        assert not first.startswith(f"{name}("), f"{room}.{name} has no docstring of its own"


def test_every_command_has_an_entry_and_a_help_text():
    text = commands_text()
    for words, command in all_commands():
        assert f".. program:: {words}\n" in text
        assert (command.help or "").strip(), words


def test_every_option_has_an_entry_and_a_help_text():
    text = commands_text()
    for words, command in all_commands():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert (option.help or "").strip(), f"{words} {option.opts[0]}"
                assert re.search(rf"^\.\. option:: .*{re.escape(option.opts[-1])}\b", text, re.M)


def test_no_page_loads_anything_from_elsewhere():
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"!\[[^\]]*\]\(https?:|<(img|script|link)[^>]*https?:", text), page


def code_of(page: str) -> list[str]:
    """Give a page's Python examples without their remarks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    return [re.sub(r"  # .*$", "", block, flags=re.M) for block in blocks]


def test_both_readmes_run_the_same_five_examples_and_compare_the_same_libraries():
    english, japanese = code_of("README.md"), code_of("README.ja.md")
    assert len(english) == 5
    assert english == japanese
    heads = [re.findall(r"\[([\w -]+)\]: ", (ROOT / page).read_text("utf-8")) for page in READMES]
    assert heads[0] == heads[1]
    assert len(heads[0]) == 6


def test_every_kind_of_json_that_a_command_prints_has_an_entry():
    text = kinds_text()
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src/noren/cli").rglob("*.py")
    )
    sources = re.sub(r'""".*?"""', "", sources, flags=re.S)
    named = set(re.findall(r"\.show(?:_line)?\(\s*\"([\w-]+)\"", sources))
    assert len(named) > 30
    for kind in named:
        assert f"``{kind}``" in text, kind


def test_every_kind_of_question_has_an_entry_that_says_what_it_is():
    text = kinds_text()
    assert {kind.kind for kind in question_kinds()} == set(TOPICS)  # tested to be whole elsewhere
    for kind in question_kinds():
        assert f"``{kind.kind}``" in text
        assert kind.what.endswith((".", "?")), kind


def test_the_picture_of_the_architecture_is_the_folders_and_the_contract():
    drawn = re.findall(r"<text [^>]*>(\w+)</text>", architecture_svg())
    built = {
        path.stem
        for path in (ROOT / "src/noren").iterdir()
        if (path / "__init__.py").exists() or path.suffix == ".py"
    }
    assert sorted(drawn) == sorted(built - {"__init__", "__main__"})
    place = {room: level for level, rooms in enumerate(levels()) for room in rooms}
    assert place["cli"] < place["ledger"] < place["association"] < place["noise"] < place["errors"]
    assert place["association"] == place["collaboration"]
    for room in drawn:
        assert room in rooms_text()


def pages_and_sources() -> list[Path]:
    own = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    return [*own, *(ROOT / name for name in (*READMES, "SECURITY.md", "CHANGELOG.md"))]


@pytest.mark.parametrize("page", pages_and_sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(
        r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text
    )
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        found = (page.parent / name) if name else page
        if not found.exists() and not found.suffix:
            found = found.with_suffix(".md")
        assert found.exists(), f"{page.name} links to {target}"
        if heading and found.suffix == ".md":
            assert heading in headings_of(found), f"{page.name} links to {target}"


def headings_of(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_is_in_the_menu():
    listed = {ROOT / "docs/index.md"}
    for page in (ROOT / "docs").rglob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
        ):
            for entry in [line for line in tree.splitlines() if line and not line.startswith(":")]:
                listed |= set(page.parent.glob(f"{entry}.md" if "**" not in entry else "**/*.md"))
    assert {path for path in pages_and_sources() if (ROOT / "docs") in path.parents} <= listed


def test_the_citation_names_the_paper_of_each_capability_and_this_version():
    import yaml

    import noren

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == noren.__version__
    notes = " ".join(reference["notes"] for reference in cited["references"])
    for room in ("association", "reweighting", "monitoring", "similarity", "collaboration"):
        assert f"noren.{room}" in notes
    assert all(reference["authors"] and reference["title"] for reference in cited["references"])
