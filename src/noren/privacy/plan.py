"""Several questions fixed before the first answer, paid as one.

Maths
    Questions chosen one by one are added up by a filter, which cannot use the exact law of their
    sum. When all of them, with all their parameters, are registered before anything is drawn,
    every bound on a fixed composition applies, and the smallest is the price
    (`noren.privacy.bounds`; proof: docs/proofs/privacy/plan.md).

Privacy (the adjacency of the questions, which must be one)
    The plan is one question to a ledger: charged once, as one entry, at a total that its
    questions fix. What an early part answers may not change a later one: there is no way to.

    `delta` is the delta at which the price is stated; None states it in rho. Where every part has
    a rho without a delta, the price states that rho too, and an account that adds up rho uses it.

Accuracy
    That of each part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import Any, ClassVar

from noren.errors import AdjacencyMismatch, ParameterError
from noren.privacy.bounds import Tightest, tightest
from noren.privacy.guarantee import Guarantee, legal_conversions
from noren.privacy.marks import NO_LEDGER, NOT_PRIVATE, was_secure
from noren.privacy.numbers import read_delta


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Ask several questions at one price, all fixed in advance.

    Parameters
    ----------
    questions : sequence of questions
        Each has a `guarantee`, all under one adjacency; one with a `profile` may cost less.
    delta : number or None
        The delta of the whole. Where it is 0, epsilons add; None states the price in rho.

    Examples
    --------
    >>> from noren.mechanisms import CellCounts
    >>> count = CellCounts(cells=("yes", "no"), adjacency="add-remove", epsilon="0.1")
    >>> plan = Plan(questions=[count] * 100, delta="1e-6")
    >>> plan.bound
    'optimal'
    >>> print(plan.guarantee)
    epsilon 4.774567588, delta 1e-06, rho 0.4995837496 (one record is added or removed)
    """

    kind: ClassVar[str] = "plan"

    questions: tuple[Any, ...]
    delta: Fraction | None

    def __post_init__(self) -> None:
        questions = tuple(self.questions)
        if not questions:
            raise ParameterError(
                "questions",
                "empty",
                "at least one question",
                "Leave nothing out: a plan is charged once.",
            )
        for question in questions:
            _require_price(question, questions[0])
        object.__setattr__(self, "questions", questions)
        if self.delta is not None:
            object.__setattr__(self, "delta", read_delta(self.delta))
        _ = self.guarantee  # a plan without a price at its delta is refused at once

    @property
    def priced(self) -> Tightest:
        """The price, the bound that won, and what every other bound gives."""
        prices = tuple(question.guarantee for question in self.questions)
        losses = tuple(_losses(question) for question in self.questions)
        return tightest(prices, losses, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """The price of the whole plan: the smallest that is proved."""
        return self.priced.guarantee

    @property
    def bound(self) -> str:
        """Name the bound that gave the price."""
        return self.priced.bound

    @property
    def mechanisms(self) -> tuple[Any, ...]:
        """Say sensitivity and scale of every part, for accountants outside."""
        parts = (getattr(question, "mechanisms", None) or () for question in self.questions)
        return tuple(mechanism for part in parts for mechanism in part)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The named columns that the parts read; None where one of them reads all."""
        parts = [getattr(question, "columns", None) for question in self.questions]
        if any(part is None for part in parts):
            return None
        return tuple(sorted({name for part in parts for name in part or ()}))

    @property
    def assumed_public(self) -> tuple[str, ...]:
        """What the parts take to be public, and the list of them."""
        return _once(
            ["the questions of the plan, fixed before the first answer"],
            *(question.assumed_public for question in self.questions),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The marks of every part."""
        return _once(*(question.notes for question in self.questions))

    def forecast(self, facts: Sequence[Any] | None = None) -> PlanForecast:
        """Say the expected error of each part; `facts` holds one entry for each, or is None."""
        known = [None] * len(self.questions) if facts is None else facts
        pairs = zip(self.questions, known, strict=True)
        return PlanForecast(tuple(question.forecast(fact) for question, fact in pairs))

    def check(self, statistics: Sequence[Any]) -> None:
        """Refuse statistics that do not fit the questions, before anything is charged."""
        if len(statistics) != len(self.questions):
            raise ParameterError(
                "statistics",
                f"a sequence of {len(statistics)}",
                f"one for each of the plan's {len(self.questions)} questions",
                "Give them in the order of the questions.",
            )
        for question, statistic in zip(self.questions, statistics, strict=True):
            check_statistic(question, statistic)

    def answer(self, statistics: Sequence[Any], noise: Any) -> PlanAnswer:
        """Answer every part from its own statistic, in order."""
        self.check(statistics)
        pairs = zip(self.questions, statistics, strict=True)
        answers = tuple(question.answer(statistic, noise) for question, statistic in pairs)
        return PlanAnswer(question=self, secure=bool(noise.secure), answers=answers)

    def restore(self, record: dict[str, Any]) -> PlanAnswer:
        """Give back the answer that a ledger stored."""
        pairs = zip(self.questions, record["answers"], strict=True)
        answers = tuple(question.restore(part) for question, part in pairs)
        return PlanAnswer(question=self, secure=was_secure(record), answers=answers)


@dataclass(frozen=True, slots=True)
class PlanForecast:
    """The forecasts of a plan's parts, in order."""

    parts: tuple[Any, ...]

    @property
    def sentence(self) -> str:
        """Say them one after the other, equal ones once."""
        return "; ".join(_once([str(part) for part in self.parts]))

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"sentence": self.sentence, "parts": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True, kw_only=True)
class PlanAnswer:
    """The answers of a plan's parts, under the plan's one price."""

    question: Plan
    secure: bool
    receipt: Any = None
    answers: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    @property
    def parts(self) -> tuple[Any, ...]:
        """Each question's own answer, with the plan's receipt."""
        return tuple(
            replace(part, secure=self.secure, receipt=self.receipt) for part in self.answers
        )

    @property
    def guarantee(self) -> Guarantee | None:
        """The price of the whole; None when the noise was seeded."""
        return self.question.guarantee if self.secure else None

    @property
    def uncertainty(self) -> PlanForecast:
        """The error to expect of each part."""
        return PlanForecast(tuple(part.uncertainty for part in self.parts))

    @property
    def headline(self) -> str:
        """Say each part in one line."""
        return " | ".join(part.headline for part in self.answers)

    def chart(self) -> Any:
        """Draw the parts below each other (an Altair chart)."""
        return reduce(and_, (part.chart() for part in self.answers))

    @property
    def marks(self) -> tuple[str, ...]:
        """Everything that must be read together with the values."""
        unsafe = () if self.secure else (NOT_PRIVATE,)
        unpaid = () if self.receipt or not self.secure else (NO_LEDGER,)
        return _once(unsafe, unpaid, self.question.notes)

    def record(self) -> dict[str, Any]:
        """Give the released fields of every part, as `restore` takes them."""
        return {"answers": [part.record() for part in self.answers], "secure": self.secure}

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: every part's, under the one price and the bound that gave it."""
        paid = is_dataclass(self.receipt) and not isinstance(self.receipt, type)
        return {
            "kind": self.question.kind,
            "value": [part.to_dict() for part in self.parts],
            "guarantee": self.guarantee.to_dict() if self.guarantee else None,
            "bound": self.question.bound,
            "uncertainty": self.uncertainty.to_dict(),
            "assumed_public": list(self.question.assumed_public),
            "marks": list(self.marks),
            "receipt": asdict(self.receipt) if paid else self.receipt,
        }

    def __str__(self) -> str:
        price = str(self.guarantee) if self.guarantee else "no guarantee"
        return "; ".join((self.headline, f"{price} by {self.question.bound}", *self.marks))


def check_statistic(question: Any, statistic: Any) -> None:
    """Let a question refuse a statistic that does not fit, where it can, before any charge."""
    check = getattr(question, "check", None)
    if check is not None:
        check(statistic)


def _require_price(question: Any, first: Any) -> None:
    """Check that a part has a guarantee, under the adjacency of the first part."""
    price = getattr(question, "guarantee", None)
    if not isinstance(price, Guarantee):
        raise ParameterError(
            "questions",
            f"holding a {type(question).__name__} without a guarantee",
            "made of questions that state a price",
            "Each part must say what it costs.",
        )
    if price.adjacency != first.guarantee.adjacency:
        raise AdjacencyMismatch(
            first.guarantee.adjacency, price.adjacency, legal_conversions(price.adjacency)
        )


def _losses(question: Any) -> tuple[Any, ...]:
    """Give the privacy losses behind a question's profile, where it has one for its neighbors."""
    profile = getattr(question, "profile", None)
    if profile is None or profile.adjacency != question.guarantee.adjacency:
        return ()
    return tuple(profile.losses)


def _once(*groups: Iterable[str]) -> tuple[str, ...]:
    """Keep the first of each, in order."""
    return tuple(dict.fromkeys(item for group in groups for item in group))
