"""What a page is made of, from top to bottom. Each part knows its HTML; all text is escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from noren.page.charts import responsive, still


class Part(Protocol):
    """A piece of a page."""

    def html(self) -> str:
        """Give the piece as HTML, escaped."""

    @property
    def is_private(self) -> bool:
        """Whether nothing in it was drawn from predictable noise."""


@dataclass(frozen=True, slots=True)
class Section:
    """Start a section."""

    title: str
    is_private: bool = True

    def html(self) -> str:
        """Give the heading."""
        return f"<h2>{escape(self.title)}</h2>"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    is_private: bool = True

    def html(self) -> str:
        """Give the paragraph."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; a narrow screen scrolls it sideways."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    is_private: bool = True

    def html(self) -> str:
        """Give the table."""
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        head = "".join(self._head(index) for index in range(len(self.columns)))
        body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in self.rows)
        return (
            f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

    def _head(self, index: int) -> str:
        """Write a column's name, to the right where its numbers are."""
        numbers = self.rows and all(is_number(row[index]) for row in self.rows)
        return f"<th{NUMBER if numbers else ''}>{escape(self.columns[index])}</th>"


@dataclass(frozen=True, slots=True)
class Chart:
    """An Altair chart (or its dictionary), with a still picture where no script runs.

    The caption stands below it; `label`, or else the caption, is what a screen reader says.
    """

    chart: Any
    caption: str = ""
    label: str = ""
    is_private: bool = True

    def html(self) -> str:
        """Give the chart's specification and its still picture."""
        spec = json.dumps(responsive(self.chart)).replace("<", "\\u003c")
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            '<figure><div class="chart" role="img" aria-label="'
            f'{escape(self.label or self.caption or "chart")}"></div>'
            f'<script type="application/json">{spec}</script>'
            f"<noscript>{still(self.chart)}</noscript>{caption}</figure>"
        )


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to be typed; a narrow screen scrolls them sideways."""

    lines: Sequence[str]
    is_private: bool = True

    def html(self) -> str:
        """Give the lines as they are."""
        return f'<pre class="scroll"><code>{escape(chr(10).join(self.lines))}</code></pre>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A value with its price beside it and all that travels with it, whoever computed it."""

    value: str
    facts: Sequence[tuple[str, str]]
    asked: str = ""
    marks: Sequence[str] = ()
    chart: Chart | None = None
    is_private: bool = True

    def html(self) -> str:
        """Give question, marks, value, facts and picture."""
        asked = f"<h3>{escape(self.asked)}</h3>" if self.asked else ""
        style = "mark" if self.is_private else "mark alarm"
        marks = "".join(f'<p class="{style}">{escape(mark)}</p>' for mark in self.marks)
        facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in self.facts)
        return (
            f'<article class="answer">{asked}{marks}<p class="value">{escape(self.value)}</p>'
            f"<dl>{facts}</dl>{self.chart.html() if self.chart else ''}</article>"
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with its price beside it; `asked` says the question in words.

    `said` says the answer, where it is read in another way than its headline reads it.
    """

    answer: Any
    asked: str = ""
    picture: bool = True
    said: str | None = None

    @property
    def is_private(self) -> bool:
        """Whether its noise could not be predicted."""
        return bool(self.answer.secure)

    def html(self) -> str:
        """Give the card: question, answer, price, error, what was public, marks, receipt."""
        chart = Chart(self.answer.chart(), label=self.asked) if self.picture else None
        return Card(
            value=self.answer.headline if self.said is None else self.said,
            facts=facts_of(self.answer),
            asked=self.asked,
            marks=self.answer.marks,
            chart=chart,
            is_private=self.is_private,
        ).html()


def facts_of(answer: Any) -> list[tuple[str, str]]:
    """Say what travels with an answer's value: price, error, what was public, receipt."""
    price = str(answer.guarantee) if answer.guarantee else "no guarantee"
    facts = [("Price", price), ("Error to expect", str(answer.uncertainty))]
    if answer.question.assumed_public:
        facts.append(("Assumed public", "; ".join(answer.question.assumed_public)))
    if answer.receipt:
        receipt = answer.receipt
        facts.append(("Charged to", f"{receipt.account}, request {receipt.request_id}"))
        facts.append(("Ledger head", receipt.head))
    return facts


NUMBER = ' class="number"'


def is_number(value: object) -> bool:
    """Tell numbers from truth values, words and nothing."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def cell(value: object) -> str:
    """Write one cell; numbers stand to the right."""
    if value is None:
        return "<td>-</td>"
    if isinstance(value, bool):
        word = "yes" if value else "no"
        return f'<td class="{word}">{word}</td>'
    text = f"{value:.6g}" if isinstance(value, float) else escape(str(value))
    return f"<td{NUMBER if is_number(value) else ''}>{text}</td>"
