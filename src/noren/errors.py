"""Every error that Noren raises on purpose.

A message has three parts: what was given, what is accepted, what to do next. It may repeat a
public setting; it never repeats a private value, a row number or a count, because whether an
error appears, and what it says, can itself leak.

Each class carries the exit code of the command line: 2 usage, 3 a bad setting, schema or file,
4 budget refused, 5 a stored record damaged. No code ever depends on private data.
"""

from __future__ import annotations

from typing import ClassVar

LONGEST = 200  # characters of what was given that a message repeats


class NorenError(Exception):
    """The parent of every error raised on purpose."""

    exit_code: ClassVar[int] = 3


class ParameterError(NorenError, ValueError):
    """A public setting lies outside what is accepted.

    Examples
    --------
    >>> raise ParameterError("epsilon", -1, "a positive, finite number", "Smaller is more private.")
    Traceback (most recent call last):
    ...
    noren.errors.ParameterError: epsilon is -1, but it must be a positive, finite number. Smaller...
    """

    def __init__(self, name: str, given: object, accepted: str, advice: str = "") -> None:
        super().__init__(f"{name} is {shown(given)}, but it must be {accepted}. {advice}".rstrip())
        self.name = name


def shown(given: object) -> str:
    """Write what was given in at most a few lines, however long it is.

    Examples
    --------
    >>> shown(10**5000), shown("9" * 300)[-6:]
    ('very long', '99 ...')
    """
    if given is None:
        return "left out"
    try:
        text = str(given)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "very long"
    if len(text) > LONGEST and getattr(given, "denominator", 1) != 1:  # a fraction
        text = f"about {float(given):.6g}"  # type: ignore[arg-type]
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


class SchemaError(NorenError, ValueError):
    """A declared schema is wrong, or a file does not have its public shape."""


class FileProblem(NorenError, ValueError):
    """A file cannot be read as what it is said to be."""


class ShareRefused(NorenError, ValueError):
    """A received model is not used; `reason` is a fixed word, such as 'tampered'."""

    def __init__(self, reason: str, source: str, why: str) -> None:
        super().__init__(f"{source} is refused ({reason}): {why}")
        self.reason = reason


class PartitionFailed(NorenError):
    """Counting a partition hit a bug; what exactly is said where only the data's keeper looks."""

    exit_code = 1

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"Counting a partition stopped with a {problem}, but a statistic must exist for all "
            "records. Its text is held back, because it could quote one: to see it, let the "
            "data's keeper count the partitions one by one, outside the engine."
        )


class MissingExtra(NorenError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra [{extra}], which is not installed. "
            f"Install it with: pip install 'noren[{extra}]'"
        )


class AdjacencyMismatch(NorenError, ValueError):
    """Two statements about different neighbours were put together."""

    def __init__(self, first: object, second: object, advice: str) -> None:
        super().__init__(f"One side protects '{first}', the other '{second}'. {advice}")


class GuaranteeMismatch(NorenError, ValueError):
    """Two guarantees of different form were put together, or a conversion does not exist."""


class NotPrivate(NorenError, ValueError):
    """Something that was asked for cannot be proved private, so it is refused."""


class DrawRefused(NorenError, ValueError):
    """A draw left the range in which its arithmetic is exact; its charge stays."""


class BudgetRefused(NorenError):
    """A charge would pass the account's total."""

    exit_code = 4


class LedgerError(NorenError):
    """A ledger, an account or a request id cannot be used as asked."""


class ReleaseLost(LedgerError):
    """A request was charged, but its answer was never stored; the id is spent."""


class RecordDamaged(NorenError):
    """A stored record does not agree with what the chain says of it; `findings` say where."""

    exit_code = 5

    def __init__(self, message: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings or (message,)


class NotPrivateWarning(UserWarning):
    """Randomness that can be predicted is in use: nothing drawn from it is private."""
