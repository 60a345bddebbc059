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

from noren_reference import commands_text, public_commands, public_names, room_text  # noqa: E402

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
