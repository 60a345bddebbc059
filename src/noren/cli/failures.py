"""How a command ends when it does not end well.

Errors raised on purpose (`noren.errors`) print their message and end with their own exit code.
Anything else is a bug: its message and its traceback may quote private values, so neither is
printed, unless NOREN_TRACEBACK=1 asks for it.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from noren.errors import NorenError, NotPrivateWarning

BUG, USAGE, BAD_FILE = 1, 2, 3
INTERRUPTED, READER_GONE = 130, 141  # as shells show SIGINT and SIGPIPE

TRACEBACK_VARIABLE = "NOREN_TRACEBACK"
FILE_ADVICE = {
    errno.ENOENT: "Check the path.",
    errno.EACCES: "Check its permissions.",
    errno.EPERM: "Check its permissions.",
    errno.EISDIR: "Name a file, not a folder.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.EEXIST: "Choose another name, or move it away.",
    errno.ENOSPC: "Free some space, or write elsewhere.",
    errno.EROFS: "Write elsewhere.",
}


class ReaderGone(Exception):  # not an error: `noren ... | head` is fine
    """Whoever read our output has closed it."""


def exit_code_of(run: Callable[[], Any]) -> int:
    """Run a command and turn how it ended into an exit code, with a message on standard error."""
    try:
        code = run()
    except click.ClickException as error:  # wrong usage
        error.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except ReaderGone:
        discard_output()
        return READER_GONE
    except NorenError as error:
        return say(str(error), error.exit_code)
    except Exception as error:
        return unexpected(error)
    return code if isinstance(code, int) else 0


def unexpected(error: Exception) -> int:
    """Explain a file that cannot be opened; apologize for everything else."""
    if isinstance(error, OSError) and error.errno in FILE_ADVICE:
        name = "A file" if error.filename is None else os.fsdecode(error.filename)  # Arrow: None
        reason, advice = os.strerror(error.errno), FILE_ADVICE[error.errno]
        return say(f"{name}: {reason}. {advice}", BAD_FILE)
    if wants_traceback():
        traceback.print_exception(error)
        return BUG
    return say(apology(type(error).__name__), BUG)


def apology(what: str) -> str:
    """Say that a bug was met, and nothing that might be private."""
    return (
        f"Sorry, this is a bug in Noren ({what}). No detail is shown, since it may hold private "
        f"values. To see it, run again with {TRACEBACK_VARIABLE}=1, and read the text before you "
        "share it."
    )


def say(message: str, code: int) -> int:
    """Print one message on standard error."""
    click.echo(f"Error: {message}", err=True)
    return code


def wants_traceback() -> bool:
    """Tell whether the person asked to see tracebacks, which may hold private values."""
    return os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")


@contextmanager
def quiet_machinery() -> Iterator[None]:
    """Keep private values out of warnings and of failures in threads.

    A library's warning may quote data or depend on it, so only Noren's own warning is shown.
    """
    if wants_traceback():
        yield
        return
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook = sys.unraisablehook = complain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", NotPrivateWarning)
        warnings.showwarning = lambda message, *_, **__: click.echo(f"Warning: {message}", err=True)
        try:
            yield
        finally:
            threading.excepthook, sys.unraisablehook = hooks


def complain(failure: Any) -> None:
    """Say that something failed where no caller could notice."""
    click.echo(f"Error: {apology(failure.exc_type.__name__)}", err=True)


def discard_output() -> None:
    """Send what is still buffered nowhere, so that closing it stays quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
