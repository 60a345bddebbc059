"""Write the reference from the code itself: directives for Markdown pages.

    ```{room} noren.privacy        every public name of one room, below what its modules say
    ```

    ```{commands}                  every command of `noren`, with every option
    ```

    ```{kinds}                     every kind of JSON object that commands print
    ```

    ```{architecture}              the rooms, level by level, as a picture
    ```

A room's public names are what its `__init__.py` (or the one file that it is) imports as itself,
`from noren.privacy.guarantee import Guarantee as Guarantee`, and the classes and functions that it
defines without a leading underscore. They are read from the source, so a name that loads on first
use is found without loading it.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective


class Name(NamedTuple):
    """A public name, and the module that defines it."""

    name: str
    home: str


def source_of(module: str) -> Path:
    """Find a module's file without importing the module."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin)


def public_names(room: str) -> list[Name]:
    """List the public names of a room, in the order of its source."""
    tree = ast.parse(source_of(room).read_text(encoding="utf-8"))
    imported = [
        Name(alias.name, node.module or room)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    defined = [
        Name(node.name, room)
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")
    ]
    return imported + defined


def public_commands(
    command: click.Command, path: tuple[str, ...] = ("noren",)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Walk a command and all below it, as ("noren", "ledger", "open") and the command."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from public_commands(below, (*path, name))


def indented(text: str) -> str:
    """Indent a text as the content of a directive."""
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())


def literal(text: str) -> str:
    """Show a text as it is written, formulas aligned."""
    return f".. code-block:: text\n\n{indented(text)}\n"


def prose(text: str) -> str:
    """Show plain text: paragraphs flow, indented parts keep their lines, formulas aligned."""
    groups = re.split(r"((?:^[ ]+.*\n?(?:[ ]*\n(?=[ ]))*)+)", text, flags=re.M)
    return "\n\n".join(
        literal(inspect.cleandoc("\n" + group)) if number % 2 else escaped(group.strip())
        for number, group in enumerate(groups)
    )


def room_text(room: str) -> str:
    """Write the entries of a room, as reStructuredText."""
    parts = [prose(inspect.getdoc(import_module(room)) or "")]
    described = {room}
    for name, home in public_names(room):
        if home not in described:
            described.add(home)
            parts.append(f".. rubric:: {home}\n")
            parts.append(prose(inspect.getdoc(import_module(home)) or ""))
        parts.append(entry(room, name))
    return "\n\n".join(parts)


def entry(room: str, name: str) -> str:
    """Write one entry: a class with its members, a function, or a constant with its value."""
    value = getattr(import_module(room), name)
    full = f"{room}.{name}"
    if inspect.isclass(value):
        return f".. autoclass:: {full}\n   :members:\n"
    if inspect.isroutine(value):
        return f".. autofunction:: {full}\n"
    return f".. py:data:: {full}\n   :value: {value!r}\n"


def names_text(room: str) -> str:
    """Write one line for each name that a room passes on from the rooms below it."""
    lines = []
    for name, home in public_names(room):
        value = getattr(import_module(home), name)
        summary = (inspect.getdoc(value) or "").partition("\n")[0]
        lines.append(f".. py:data:: {room}.{name}\n\n   {summary} See :py:obj:`{home}.{name}`.\n")
    return "\n".join(lines)


def commands_text() -> str:
    """Write every command and every option, as reStructuredText."""
    root = import_module("noren.cli").noren
    return "\n".join(command_text(path, command) for path, command in public_commands(root))


def command_text(path: tuple[str, ...], command: click.Command) -> str:
    """Write one command: usage, what it does, its options."""
    words = " ".join(path)
    context = click.Context(command, info_name=words)
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f".. rubric:: {words}\n", literal(usage), help_text(command.help), ""]
    parts.append(f".. program:: {words}\n")
    for option in command.params:
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record:
            parts.append(f".. option:: {record[0]}\n\n   {escaped(record[1])}\n")
    return "\n".join(parts)


def help_text(text: str | None) -> str:
    """Write a command's help: paragraphs as such, those that keep their lines as they are."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(
        literal(part.lstrip("\b\n")) if part.startswith("\b") else escaped(part)
        for part in paragraphs
    )


class Kind(NamedTuple):
    """A kind of JSON object: who makes it, and in which fields its value comes."""

    kind: str
    home: str
    what: str


PACKAGE = Path(__file__).parents[2]


def question_kinds() -> list[Kind]:
    """List the kinds that questions have: what their answers are called, in JSON and ledgers."""
    found = []
    for kind, home in import_module("noren.cli.topics").TOPICS.items():
        module, name = home.split(":")
        what = (inspect.getdoc(getattr(import_module(module), name)) or "").partition("\n")[0]
        room = ".".join(module.split(".")[:2])
        found.append(Kind(kind, f"{room}.{name}", what))
    return sorted(found)


def shown_kinds() -> list[Kind]:
    """List the kinds that commands print by name: `output.show("kind", ...)`."""
    found: dict[str, Kind] = {}
    for path in sorted((PACKAGE / "src/noren/cli").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            for kind in map(shown_kind, ast.walk(function)):
                if kind is not None:
                    what = (ast.get_docstring(function) or "").partition("\n")[0]
                    found.setdefault(kind, Kind(kind, f"noren.cli.{path.stem}", what))
    return [found[kind] for kind in sorted(found)]


def shown_kind(node: ast.AST) -> str | None:
    """Give the kind that a call of `show` or `show_line` names in words."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if not called or node.func.attr not in ("show", "show_line") or not node.args:  # type: ignore[attr-defined]
        return None
    first = node.args[0]  # type: ignore[attr-defined]
    return first.value if isinstance(first, ast.Constant) else None


def kinds_text() -> str:
    """Write both lists as tables, as reStructuredText."""
    parts = [".. rubric:: What commands print\n", table_text(shown_kinds())]
    parts += [".. rubric:: Answers, by the kind of their question\n", table_text(question_kinds())]
    return "\n\n".join(parts)


def table_text(kinds: list[Kind]) -> str:
    """Write one table of kinds."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 25 45 30", ""]
    rows = [("kind", "what it is", "made by"), *((k.kind, k.what, k.home) for k in kinds)]
    for number, (kind, what, home) in enumerate(rows):
        cells = (code(kind), escaped(what), code(home)) if number else (kind, what, home)
        lines += [f"   {'* -' if not place else '  -'} {cell}" for place, cell in enumerate(cells)]
    return "\n".join(lines) + "\n"


def levels() -> list[list[str]]:
    """Give the rooms, level by level from the top, as the layer contract has them."""
    settings = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    named = [[room.strip(" ()") for room in layer.split("|")] for layer in layers]
    built = [[room for room in level if room_path(room) is not None] for level in named]
    return [level for level in built if level]


def room_path(room: str) -> Path | None:
    """Find a room's folder or file; None if it is not built yet."""
    places = (PACKAGE / "src/noren" / room / "__init__.py", PACKAGE / f"src/noren/{room}.py")
    return next((place for place in places if place.exists()), None)


WIDE, TALL, GAP = 760, 46, 10


def architecture_svg() -> str:
    """Draw the rooms: a row for each level, a box for each room."""
    rows = levels()
    height = len(rows) * (TALL + GAP) - GAP
    boxes = "".join(
        box(room, place, number, len(level))
        for number, level in enumerate(rows)
        for place, room in enumerate(level)
    )
    label = "; ".join(", ".join(level) for level in rows)
    return (
        f'<svg class="rooms" viewBox="0 0 {WIDE} {height}" role="img" '
        f'aria-label="The rooms, from top to bottom: {label}">{boxes}</svg>'
    )


def box(room: str, place: int, level: int, among: int) -> str:
    """Draw one room."""
    width = (WIDE - GAP * (among - 1)) / among
    x, y = place * (width + GAP), level * (TALL + GAP)
    text = f'<text x="{x + width / 2:g}" y="{y + TALL / 2 + 5:g}">{room}</text>'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{TALL}" rx="6"/>{text}'


def rooms_text() -> str:
    """Write a line for each room: what it is for."""
    lines = [".. list-table::", "   :widths: 20 80", ""]
    for room in (room for level in levels() for room in level):
        found = room_path(room)
        tree = ast.parse(found.read_text(encoding="utf-8") if found else "")
        what = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
        lines += [f"   * - {code(room)}", f"     - {escaped(what)}"]
    return "\n".join(lines) + "\n"


class Kinds(SphinxDirective):
    """Every kind of JSON object."""

    def run(self) -> list[nodes.Node]:
        return in_restructured_text(self, kinds_text())


class Architecture(SphinxDirective):
    """The rooms as a picture, and what each is for."""

    def run(self) -> list[nodes.Node]:
        picture = nodes.raw("", architecture_svg(), format="html")
        return [picture, *in_restructured_text(self, rooms_text())]


class Room(SphinxDirective):
    """Every public name of one room."""

    required_arguments = 1
    option_spec = {"names-only": lambda given: True}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        room = self.arguments[0]
        self.env.note_dependency(str(source_of(room)))
        text = names_text(room) if "names-only" in self.options else room_text(room)
        return in_restructured_text(self, text)


class Commands(SphinxDirective):
    """Every command of `noren`."""

    def run(self) -> list[nodes.Node]:
        return in_restructured_text(self, commands_text())


def in_restructured_text(directive: SphinxDirective, text: str) -> list[nodes.Node]:
    """Parse a text as reStructuredText inside a Markdown page."""
    return directive.parse_text_to_nodes(f"``````{{eval-rst}}\n{text}\n``````\n")


PLAIN = Config(napoleon_use_param=False, napoleon_use_rtype=False)  # types are words, not links
CODE = re.compile(r"``(.+?)``|`([^`]+)`", re.S)


def escaped(text: str) -> str:
    """Escape what plain text uses but reStructuredText reads as marks: * | and a final _."""
    pieces, end = [], 0
    for found in CODE.finditer(text):
        pieces += [without_marks(text[end : found.start()]), code(found[1] or found[2])]
        end = found.end()
    return "".join([*pieces, without_marks(text[end:])])


def without_marks(text: str) -> str:
    """Escape a stretch of text that holds no code."""
    return re.sub(r"([*|\\]|_(?!\w))", r"\\\1", text)


def code(text: str) -> str:
    """Write a stretch of code; the spaces that vanish let letters follow it at once."""
    return rf"\ ``{text}``\ "


def read_docstring(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Let a docstring be plain text in NumPy form; its examples stay as they are."""
    blocks = re.split(r"(^ *>>> .*?(?:\n\s*\n|\Z))", "\n".join(lines), flags=re.M | re.S)
    blocks[::2] = [escaped(block) for block in blocks[::2]]
    # A property is read like any text: as an attribute, its words before a colon would be a type.
    what = "method" if what == "property" else what
    read = NumpyDocstring("".join(blocks), PLAIN, what=what, name=name, obj=thing)
    lines[:] = read.lines()


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about the directives."""
    app.add_directive("room", Room)
    app.add_directive("commands", Commands)
    app.add_directive("kinds", Kinds)
    app.add_directive("architecture", Architecture)
    app.connect("autodoc-process-docstring", read_docstring)
    return {"parallel_read_safe": True}
