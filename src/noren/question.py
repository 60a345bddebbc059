"""The five nouns, as protocols and one small base for answers.

    records --count--> Statistic --+
                                   |            charge first, then draw
    Question (what, at what price) +--> Ledger ----> Noise ----> Answer

A **Statistic** is what the data says before privacy: secret, mergeable with `+`, its `repr`
shows shapes only. A **Question** is a frozen dataclass of public parameters; its guarantee is
the total price of one asking, fixed before the first draw. **Noise** (`noren.noise`) is the only
door to secret randomness. An **Answer** is frozen and carries its price, its uncertainty and what
was assumed public. Whoever can charge a question and answer it (a ledger) is called **Asks**.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from noren.privacy.adjacency import Adjacency
from noren.privacy.guarantee import Guarantee
from noren.privacy.marks import NO_LEDGER as NO_LEDGER
from noren.privacy.marks import NOT_PRIVATE as NOT_PRIVATE
from noren.privacy.marks import was_secure as was_secure

if TYPE_CHECKING:
    from noren.noise import Noise


class Statistic(Protocol):
    """What the data says, before privacy. Never printed, logged or released."""

    def __add__(self, other: Self, /) -> Self: ...


def card(value: str, facts: Mapping[str, str], marks: Sequence[str] = ()) -> str:
    """Write a value and what travels with it as HTML for a notebook: marks first, escaped."""
    told = {name: text for name, text in facts.items() if text}
    lines = [*(f"! {mark}" for mark in marks), value]
    heads = "".join(f"<div><strong>{escape(line)}</strong></div>" for line in lines)
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in told.items())
    return f"<div>{heads}<dl>{rows}</dl></div>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The error to expect, said before anything is spent, from public facts alone."""

    sentence: str
    variance: float | None = None
    margin_95: float | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return card(self.sentence, {"Forecast": "nothing is spent yet"})

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return as_json({name: getattr(self, name) for name in names_of(type(self))})  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One law of noise in a question, for accountants outside: sensitivity and scale apart.

    `sensitivity` is in the norm that `norm` names ("L1", "L2 squared", "Linf"). A law with a
    scale states `scale`, one with a variance `variance`, one with neither its `epsilon`.

    A law may be used in several `rounds`, each with this sensitivity (or epsilon), one after the
    other or on other statistics of the same people; `draws` counts the numbers drawn in all of
    them. So rounds * sensitivity / scale is the epsilon of a Laplace law, rounds * sensitivity /
    (2 variance) the rho of a Gaussian one (whose sensitivity is squared).
    """

    law: str
    sensitivity: Fraction
    norm: str = "L1"
    scale: Fraction | None = None
    variance: Fraction | None = None
    epsilon: Fraction | None = None
    draws: int = 1
    rounds: int = 1


@runtime_checkable
class Question(Protocol):
    """A frozen dataclass of public parameters that knows its price before it is asked.

    Two class attributes say what it is: `kind`, its public name ("cell-counts"), and `notes`,
    marks that must travel with every answer (what is unproved, idealized or approximate).

    It may have three more. `mechanisms` is a tuple of `Mechanism` that a ledger exports for
    outside accountants; `columns` are the named columns to charge where an account keeps a budget
    for each (None: all). `check(statistic)` refuses a statistic that does not fit, before anything
    is charged: a ledger calls it first, and `answer` calls it again. It looks at the public shape
    alone (how many cells, which grid), never at a private value: whether it raises can be seen.
    """

    kind: ClassVar[str]

    @property
    def guarantee(self) -> Guarantee:
        """The total price of one asking."""

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """What the proof takes to be public, in words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Marks that travel with every answer; usually none."""

    def forecast(self, facts: Any = None) -> Forecast:
        """Say the expected error, from own fields and public facts."""

    def answer(self, statistic: Any, noise: Noise) -> Any:
        """Draw, and give the released answer. The ledger has been charged."""

    def restore(self, record: dict[str, Any]) -> Any:
        """Give back the answer that a ledger stored, `secure` as its record says (`was_secure`)."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the ledger wrote: keep `head` elsewhere, and a rolled-back copy can be noticed."""

    account: str
    request_id: str
    head: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A released value that cannot travel without its price.

    A concrete answer adds its released fields and defines `headline` and `chart`. Its `record`
    (those fields, arrays as arrays, and `secure`) is what a ledger stores and `question.restore`
    takes back, so that an answer of seeded noise never comes back as a private one.
    """

    question: Any
    secure: bool
    receipt: Receipt | None = None

    @property
    def guarantee(self) -> Guarantee | None:
        """The price; None when the noise was seeded, because then nothing is private."""
        return self.question.guarantee if self.secure else None

    @property
    def uncertainty(self) -> Forecast:
        """The error to expect; an answer that knows more than its question says more."""
        return self.question.forecast()  # type: ignore[no-any-return]

    @property
    def headline(self) -> str:
        """Say the released value in one line."""
        raise TypeError(f"{type(self).__name__} has no headline")

    def chart(self) -> Any:
        """Draw the released value (an Altair chart)."""
        raise TypeError(f"{type(self).__name__} has no chart")

    @property
    def marks(self) -> tuple[str, ...]:
        """Everything that must be read together with the value."""
        unsafe = () if self.secure else (NOT_PRIVATE,)
        unpaid = () if self.receipt or not self.secure else (NO_LEDGER,)
        return unsafe + unpaid + tuple(self.question.notes)

    def record(self) -> dict[str, Any]:
        """Give the released fields, and `secure`, as `question.restore` takes them."""
        own = [name for name in names_of(type(self)) if name not in NOT_RECORDED]
        return {name: getattr(self, name) for name in own}

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: value, price, uncertainty, what was assumed public, receipt."""
        return {
            "kind": self.question.kind,
            "value": as_json(self.record()),
            "guarantee": self.guarantee.to_dict() if self.guarantee else None,
            "uncertainty": self.uncertainty.to_dict(),
            "assumed_public": list(self.question.assumed_public),
            "marks": list(self.marks),
            "receipt": as_json(self.receipt),
        }

    def __str__(self) -> str:
        price = str(self.guarantee) if self.guarantee else "no guarantee"
        return "; ".join((self.headline, price, *self.marks))

    def _repr_html_(self) -> str:
        """Show it in a notebook, with its price; `chart()` draws it."""
        facts = {
            "Price": str(self.guarantee or "no guarantee"),
            "Error to expect": str(self.uncertainty),
            "Assumed public": "; ".join(self.question.assumed_public),
            "Charged to": str(self.receipt.account) if self.receipt else "",
        }
        return card(self.headline, facts, self.marks)


class Asks(Protocol):
    """Whoever charges a question, answers it and stores the answer: a ledger."""

    def ask(
        self, account: str, question: Any, statistic: Any, *, request_id: str | None = None
    ) -> Any:
        """Charge, then answer, then store; the same request id gives the stored answer free."""


PLAIN, EXACT, SEQUENCES = {bool, int, float, str}, {Fraction, Decimal}, {list, tuple}
NOT_RECORDED = {"question", "receipt"}
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def _names_of(kind: type) -> tuple[str, ...]:
    """Name the fields of a dataclass; looking them up anew costs as much as writing them."""
    return tuple(f.name for f in fields(kind))


names_of: Callable[[type], tuple[str, ...]] = lru_cache(maxsize=1024)(_names_of)


def as_json(value: Any) -> Any:
    """Turn a value into plain JSON: fractions and enums as words, arrays as lists."""
    kind = type(value)
    if value is None or kind in PLAIN:
        return value
    if kind in EXACT:
        return str(value)
    if kind in SEQUENCES:
        return [as_json(item) for item in value]
    if hasattr(value, "public_form"):  # too long for a record: it stands by a digest of its own
        return value.public_form()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(getattr(value, name)) for name in names_of(type(value))}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):  # with named fields
        return [as_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value.tolist() if hasattr(value, "tolist") else value


adjacency_form = lru_cache(maxsize=128)(as_json)


def public_form(question: Any) -> dict[str, Any]:
    """Give a question's parameters as JSON, a public array standing by its own SHA-256."""
    return {
        "kind": question.kind,
        **{name: _plain(getattr(question, name)) for name in names_of(type(question))},
    }


def identity(question: Any) -> str:
    """Name a question by the SHA-256 of its canonical JSON: equal questions, equal names."""
    return identity_of_form(public_form(question))


def identity_of_form(form: Mapping[str, Any]) -> str:
    """Name a question by its public form, where that was made already."""
    return hashlib.sha256(CANONICAL.encode(form).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Give one parameter as JSON, with arrays by their digest."""
    kind = type(value)
    if value is None or kind in PLAIN or kind in EXACT:
        return as_json(value)
    if kind in SEQUENCES:
        return [_plain(item) for item in value]
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        if value.dtype.hasobject:  # its bytes are only where the objects lie
            return [_plain(item) for item in value.tolist()]
        content = hashlib.sha256(value.tobytes("C")).hexdigest()
        return {"array": str(value.dtype), "shape": list(value.shape), "sha256": content}
    if isinstance(value, Adjacency):
        return adjacency_form(value)
    if hasattr(value, "public_form"):  # a long public list that stands by a digest of its own
        return value.public_form()
    if is_dataclass(value) and not isinstance(value, type):
        own = {name: _plain(getattr(value, name)) for name in names_of(type(value))}
        return {"kind": getattr(value, "kind", type(value).__name__), **own}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):  # with named fields
        return [_plain(item) for item in value]
    return as_json(value)
