"""Examples of Markdown pages really run, and one that is wrong really fails."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("examples", Path(__file__).parents[1] / "conftest.py")
examples = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(examples)

PAGE = """# Page

```python
one = 1
```

```text
never run
```

```python
>>> one + 1
2
```

```console
$ echo a; echo b >&2
a
b
$ echo long \\
    line
...line
```
"""


def run(page: str) -> None:
    names: dict = {}
    for example in examples.examples_of(page):
        if example.language == "python":
            examples.run_python(example, Path("page.md"), names)
        else:
            examples.run_console(example)


def test_a_page_is_run_from_top_to_bottom():
    assert [it.language for it in examples.examples_of(PAGE)] == ["python", "python", "console"]
    run(PAGE)


@pytest.mark.parametrize(
    ("right", "wrong"), [("\n2\n", "\n3\n"), ("echo a;", "echo c;"), ("long", "longer\necho")]
)
def test_an_example_that_does_something_else_fails(right, wrong):
    assert right in PAGE
    with pytest.raises(examples.ExampleFailed):
        run(PAGE.replace(right, wrong))


def test_a_program_that_raises_fails():
    with pytest.raises(AssertionError):
        run("```python\nassert 1 == 2\n```\n")


def test_the_line_of_an_example_is_its_line_in_the_page():
    assert [it.line for it in examples.examples_of(PAGE)] == [3, 11, 16]
