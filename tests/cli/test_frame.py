"""How `noren` starts and how it ends: exit codes, streams, and what an error may say."""

import json
import os
import signal
import subprocess
import sys
import threading
import warnings

import click
import pytest

from noren import __version__, errors
from noren.cli.commands import COMMANDS
from noren.cli.output import with_output
from noren.errors import NotPrivateWarning

SECRET = "patient-4711"
NOREN = (sys.executable, "-m", "noren")


def fresh(*args: str, **settings) -> subprocess.CompletedProcess:
    """Run `noren` in a process of its own."""
    return subprocess.run([*NOREN, *args], capture_output=True, text=True, timeout=60, **settings)


def failing(error: BaseException) -> click.Command:
    """Make a command that ends with an error."""

    @click.command("fail")
    @with_output
    def fail(output):
        print("data")
        raise error

    return fail


def test_help_lists_every_command_without_importing_one(run):
    done = run("--help")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in COMMANDS)
    program = (
        "import sys; from noren.cli import noren\n"
        "try: noren(['--help'])\nexcept SystemExit: pass\n"
        "print(*[m for m in sys.modules if m.startswith('noren.cli.')], file=sys.stderr)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert set(loaded.stderr.split()) == {"noren.cli.commands", "noren.cli.failures"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_takes_json(run, name):
    done = run(name, "--help")
    assert done.exit_code == 0, done.stderr
    assert "--json" in done.stdout or "Commands:" in done.stdout


def test_version_is_one_line(run):
    assert run("--version").stdout == f"noren {__version__}\n"


def test_an_unknown_command_is_wrong_usage_and_says_what_may_have_been_meant(run):
    done = run("dcotor")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Did you mean 'noren doctor'?" in done.stderr


@pytest.mark.parametrize("args", [("doctor", "--what"), ("--what",), ("explain", "a", "b")])
def test_wrong_usage_is_two(run, args):
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: " in done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ParameterError("epsilon", -1, "positive", "Smaller is more private."), 3),
        (errors.SchemaError("The schema has no columns."), 3),
        (errors.FileProblem("This is not a .bed file."), 3),
        (errors.MissingExtra("VCF", "genomics"), 3),
        (errors.NotPrivate("No."), 3),
        (errors.BudgetRefused("Requested epsilon 1, remaining 0.5."), 4),
        (errors.ReleaseLost("Charged, never stored."), 3),
        (errors.RecordDamaged("Entry 7 was changed."), 5),
    ],
)
def test_an_error_raised_on_purpose_says_its_message_and_has_its_code(run, lend, error, code):
    lend(failing(error))
    done = run("fail", "--json")
    assert (done.exit_code, done.stdout) == (code, "data\n")
    assert done.stderr == f"Error: {error}\n"


@pytest.mark.parametrize(
    "error",
    [ValueError(SECRET), KeyError(SECRET), RuntimeError(SECRET), OSError(SECRET), MemoryError()],
)
def test_a_bug_shows_neither_its_message_nor_a_traceback(run, lend, error):
    lend(failing(error))
    done = run("fail")
    assert done.exit_code == 1
    assert SECRET not in done.output
    assert "Traceback" not in done.output
    assert type(error).__name__ in done.stderr
    assert "NOREN_TRACEBACK=1" in done.stderr


def test_a_traceback_can_be_asked_for(run, lend, monkeypatch):
    monkeypatch.setenv("NOREN_TRACEBACK", "1")
    lend(failing(ValueError(SECRET)))
    done = run("fail")
    assert done.exit_code == 1
    assert "Traceback" in done.stderr
    assert SECRET in done.stderr


def test_a_failure_in_a_thread_is_as_quiet(run, lend):
    @click.command("thread")
    @with_output
    def thread(output):
        def fail():
            raise ValueError(SECRET)

        worker = threading.Thread(target=fail)
        worker.start()
        worker.join()

    lend(thread)
    done = run("thread")
    assert SECRET not in done.output
    assert "ValueError" in done.stderr


def test_a_failure_that_no_caller_can_notice_is_as_quiet(run, lend):
    class Closing:
        def __del__(self):
            raise ValueError(SECRET)

    @click.command("close")
    @with_output
    def close(output):
        Closing()

    lend(close)
    done = run("close")
    assert SECRET not in done.output
    assert "ValueError" in done.stderr


def test_only_the_warning_about_privacy_is_shown(run, lend):
    @click.command("warn")
    @with_output
    def warn(output):
        warnings.warn(f"overflow in {SECRET}", RuntimeWarning, stacklevel=1)
        warnings.warn("The noise is seeded.", NotPrivateWarning, stacklevel=1)

    lend(warn)
    done = run("warn")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "Warning: The noise is seeded.\n"


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_cannot_be_opened_is_three_and_named(run, lend, tmp_path, kind):
    path = tmp_path / "no.csv" if kind == "missing" else tmp_path

    @click.command("read")
    @with_output
    def read(output):
        path.read_text()

    lend(read)
    done = run("read")
    assert done.exit_code == 3
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_control_c_is_130(run, lend):
    lend(failing(KeyboardInterrupt()))
    assert run("fail").exit_code == 130


def test_a_command_that_draws_to_an_end_of_its_own_keeps_its_code(run, lend):
    lend(failing(click.exceptions.Exit(1)))
    done = run("fail")
    assert (done.exit_code, done.stderr) == (1, "")


STREAM = """
import sys, types, click
from noren.cli import commands, noren
from noren.cli.output import with_output

@click.command()
@with_output
def stream(output):
    slot = 0
    while True:
        output.show_line("slot", {"slot": slot}, people=f"slot {slot}")
        slot += 1

sys.modules["lent"] = types.SimpleNamespace(stream=stream)
commands.COMMANDS["stream"] = commands.Entry("lent:stream", "Lent.")
noren(["stream", "--json"])
"""


def test_a_reader_that_leaves_ends_a_stream_quietly():
    writer = subprocess.Popen(
        [sys.executable, "-c", STREAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    first = json.loads(writer.stdout.readline())
    writer.stdout.close()
    assert first["result"] == {"slot": 0}
    assert writer.wait(30) == 141
    assert writer.stderr.read() == ""
    writer.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a child")
def test_control_c_ends_a_process_quietly():
    writer = subprocess.Popen(
        [sys.executable, "-c", STREAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    writer.stdout.readline()
    writer.send_signal(signal.SIGINT)
    _, said = writer.communicate(timeout=30)
    assert writer.returncode == 130
    assert "Traceback" not in said


def test_the_command_runs_as_a_module_too():
    assert fresh("--version").stdout == f"noren {__version__}\n"


def test_output_survives_a_terminal_that_knows_ascii_only():
    settings = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = fresh("explain", env=settings)
    assert done.returncode == 0, done.stderr


def test_a_file_that_a_library_cannot_write_is_no_bug(run, lend):
    lend(failing(FileNotFoundError(2, f"Failed to open {SECRET}")))
    done = run("fail")
    assert done.exit_code == 3
    assert "A file: No such file or directory. Check the path." in done.stderr
    assert SECRET not in done.stderr
