"""The house itself: what importing costs, who may import whom, what must not be in a file."""

import ast
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src/noren").rglob("*.py"))
HEAVY = (
    "numpy", "scipy", "pandas", "pyarrow", "sklearn", "numba", "altair", "vl_convert",
    "sqlalchemy", "psycopg", "dask", "distributed", "fastapi", "starlette", "uvicorn", "jinja2",
    "rich", "cryptography",
)  # fmt: skip


def modules_after(program: str) -> set[str]:
    """Give the top-level modules that a fresh Python holds after a program."""
    ending = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program + ending], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_importing_noren_loads_nothing_heavy():
    assert modules_after("import noren").isdisjoint(HEAVY)


def test_a_public_name_loads_on_first_use_without_the_optional_packages():
    loaded = modules_after("import noren; noren.Adjacency; noren.Guarantee; noren.Noise")
    assert loaded.isdisjoint({"sklearn", "pandas", "numba", "altair", "dask", "fastapi"})


def test_the_check_for_heavy_modules_can_tell():
    assert "numpy" in modules_after("import numpy")


def test_an_unknown_public_name_is_refused_as_python_does():
    import noren

    with pytest.raises(AttributeError, match="no attribute 'Epsilon'"):
        noren.Epsilon  # noqa: B018


def test_every_public_name_of_noren_can_be_had():
    import noren

    assert all(getattr(noren, name) is not None for name in noren.__all__)
    assert set(noren.__all__) <= set(dir(noren))


def processor_seconds(*command: str) -> float:
    """Give the processor time of one child: unlike the clock, it minds no busy neighbours."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_answers_within_three_tenths_of_a_second():
    noren = Path(sys.executable).with_name("noren")
    assert min(processor_seconds(str(noren), "--help") for _ in range(5)) < 0.3


def test_help_loads_nothing_scientific():
    program = "from noren.cli import main\nimport sys\nsys.argv = ['noren', '--help']\n"
    program += "try: main()\nexcept SystemExit as end: assert not end.code, end.code"
    assert modules_after(program).isdisjoint({"numpy", "scipy", "sqlalchemy", "altair", "pyarrow"})


def test_rooms_import_from_below_only():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_why_it_exists(source):
    first = source.read_text(encoding="utf-8").lstrip()[:4]
    assert first.startswith(('"""', 'r"""')), f"{source} begins without a docstring"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_answer_says_by_itself_that_its_noise_was_secure(source):
    """It is the noise that knows, and later the record: `was_secure`."""
    assert "secure=True" not in source.read_text(encoding="utf-8")


CORE = ("noise", "privacy", "mechanisms", "ledger", "collaboration", "estimators")
OF_THE_CORE = [path for path in SOURCES if path.relative_to(ROOT).parts[2] in CORE]


def refusals(source: str) -> list[ast.Call]:
    """Find where a setting is refused."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call for call in calls if getattr(call.func, "id", "") == "ParameterError"]


def says_what_to_do(call: ast.Call) -> bool:
    """Say whether a refusal has its third part."""
    advice = call.args[3:]
    return bool(advice) and getattr(advice[0], "value", None) != ""


@pytest.mark.parametrize("source", OF_THE_CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_refusal_of_a_setting_says_what_to_do(source):
    found = refusals(source.read_text(encoding="utf-8"))
    assert [call.lineno for call in found if not says_what_to_do(call)] == []


def test_a_refusal_without_advice_is_noticed():
    short, empty, whole = refusals(
        "ParameterError('a', 1, 'b'); ParameterError('a', 1, 'b', ''); "
        "ParameterError('a', 1, 'b', 'c')"
    )
    assert [says_what_to_do(call) for call in (short, empty, whole)] == [False, False, True]


def test_no_committed_file_names_a_package_registry():
    names = ("py" + "pi.org", "pythonhosted" + ".org", "registry.npm" + "js.org")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this tree is not a git clone")
    for path in filter(None, listed.stdout.split("\0")):
        file = ROOT / path
        text = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
        assert not any(name in text for name in names), path


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "src/noren/py.typed").exists()
