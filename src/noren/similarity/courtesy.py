"""A lower cap for one searcher, beside the cap that protects: a courtesy, never the guarantee.

Maths
    Whoever searches is charged, beside the records' account, in an account of their own with the
    price and the columns of the question. Nothing is drawn and nothing is told.

Privacy
    None is claimed and none is needed: the answer is a constant. Searchers may collude, so only the
    records' own account, which counts all of them together, bounds what anybody learns. This
    account only keeps one searcher from spending what others were meant to have. A repeat of the
    searcher's own question is free here too; of someone else's question it is not.

Accuracy
    There is no error: there is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from noren.noise import Noise
from noren.privacy import Guarantee
from noren.question import Answer, Forecast, identity, was_secure


def courtesy_account(account: str, searcher: str) -> str:
    """Name the account that limits a searcher.

    Examples
    --------
    >>> courtesy_account("clinic", "ann")
    'clinic / ann'
    """
    return f"{account} / {searcher}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearcherCharge:
    """Note in a searcher's own account that a question was asked; nothing is answered.

    Parameters
    ----------
    asked : str
        The identity of the question.
    price : Guarantee
        What it costs.
    reads : tuple of str, optional
        The columns that it charges; all when None.
    """

    kind: ClassVar[str] = "searcher-charge"
    notes: ClassVar[tuple[str, ...]] = ("a courtesy limit: it tells nothing and protects nobody",)
    assumed_public: ClassVar[tuple[str, ...]] = ("who asked what",)
    mechanisms: ClassVar[tuple[Any, ...]] = ()

    asked: str
    price: Guarantee
    reads: tuple[str, ...] | None = None

    @classmethod
    def of(cls, question: Any) -> SearcherCharge:
        """Take a question's price and columns."""
        return cls(asked=identity(question), price=question.guarantee, reads=question.columns)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Give the columns to charge."""
        return self.reads

    @property
    def guarantee(self) -> Guarantee:
        """Give the price to charge."""
        return self.price

    def forecast(self, facts: Any = None) -> Forecast:
        """Say that nothing is told."""
        return Forecast(sentence="nothing is answered")

    def answer(self, statistic: Any, noise: Noise) -> SearcherCharged:
        """Tell nothing."""
        return SearcherCharged(question=self, secure=noise.secure)

    def restore(self, record: dict[str, Any]) -> SearcherCharged:
        """Give back the empty answer."""
        return SearcherCharged(question=self, secure=was_secure(record))


@dataclass(frozen=True, kw_only=True, eq=False)
class SearcherCharged(Answer):
    """An empty answer: the charge was noted."""

    @property
    def headline(self) -> str:
        """Say what was done."""
        return "noted in the searcher's own account"

    def chart(self) -> Any:
        """Draw nothing but the words."""
        from noren.similarity.charts import chosen

        return chosen([self.headline])
