"""A search service inside a budget: many searchers, one cap for every column.

Maths
    One account, one pure budget for each column of the records. A request with columns H and price
    epsilon is answered if spent_h + epsilon <= cap for all h in H, and adds epsilon to those. What
    reads row weights (pairs, weights, randomized records) is charged to all columns.

Privacy (BIT, and SUBSTITUTE with one budget in all)
    For a cell in column h the loss is the sum over answered requests that read h, however
    adaptively they were chosen and by whomever: a filter, and refusals depend on public requests
    only. Longer: docs/proofs/similarity/session.md. The request's id is the digest of (version of
    the data, question), and the ledger keeps the answer: a repeat gives the same noisy scores, in
    the same order, for nothing. Changed data get a new version: fresh noise, and no budget back. A
    version that was not raised gives old answers, which is stale and safe.

    k, threshold and similarity are views of a stored answer. Noise is drawn to a public depth,
    100, 200, 400, .. or all, whatever the data, and a deeper stored answer serves every shallower
    request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

from noren.errors import AdjacencyMismatch, BudgetRefused, ParameterError, ReleaseLost
from noren.privacy import Guarantee
from noren.privacy.numbers import Number, read_epsilon, whole
from noren.question import identity
from noren.similarity.asked import ONE_BIT, read_adjacency
from noren.similarity.best_record import BestRecord
from noren.similarity.courtesy import SearcherCharge, courtesy_account
from noren.similarity.formulas import COMMON, read_similarity
from noren.similarity.laws import read_k
from noren.similarity.noisy_scores import NoisyScores
from noren.similarity.queries import canonical
from noren.similarity.randomized_records import RandomizedRecords
from noren.similarity.score_pairs import RowWeights, RowWeightsAnswer, ScorePairs
from noren.similarity.session_views import Found, SessionStatus, View, nothing_asked, status_of
from noren.similarity.similar_counts import ScoreHistogram, SimilarCount
from noren.similarity.statistic import Records
from noren.similarity.top_set import TopSet
from noren.similarity.walk import WORTH

FIRST_DEPTH = 100


class NotStored(Exception):
    """What is raised in place of counting, to learn that a request is new."""


class Session:
    """Answer searches of some records from one account of a ledger.

    Parameters
    ----------
    records : Records
        What is searched.
    ledger
        Whoever keeps the account.
    account : str
        Its name. `Session.open` makes one.
    adjacency : str, optional
        Needed only where the account cannot say it.
    version : int
        A public counter of the data: raise it whenever the records change.
    searcher : str, optional
        Also charge this searcher's own, lower account (`Session.open` with the same name).

    Examples
    --------
    >>> from noren.ledger import Ledger
    >>> records = Records.of(["11100", "01110", "00011"], ids=["ann", "bob", "eve"])
    >>> session = Session.open(records, Ledger.open("sqlite://"), "clinic", 8, "bit")
    >>> found = session.search("11000", epsilon=6, k=1)
    >>> len(found.hits), found.charged, session.search("11000", epsilon=6, k=1).charged
    (1, Fraction(6, 1), Fraction(0, 1))
    >>> session.search("10000", epsilon=6, k=1)
    Traceback (most recent call last):
    ...
    noren.errors.BudgetRefused: ...Columns that cannot pay: '0'. Nothing was charged.
    """

    def __init__(
        self,
        records: Records,
        ledger: Any,
        account: str,
        *,
        adjacency: Any = None,
        version: int = 1,
        searcher: str | None = None,
    ) -> None:
        self.records, self.ledger, self.account = records, ledger, account
        self.version = whole("version", version, 0)
        self.searcher = searcher
        if hasattr(ledger, "balance"):
            balance = ledger.balance(account)
            check_columns(records, balance.columns)
            if adjacency is not None and read_adjacency(adjacency) != balance.adjacency:
                raise AdjacencyMismatch(
                    read_adjacency(adjacency), balance.adjacency, "Leave the adjacency out."
                )
            adjacency = balance.adjacency
        self.adjacency = read_adjacency(adjacency)

    @classmethod
    def open(
        cls,
        records: Records,
        ledger: Any,
        account: str,
        cap: Number,
        adjacency: Any,
        *,
        searcher: str | None = None,
        version: int = 1,
    ) -> Self:
        """Open an account with a cap for every column, or a searcher's own beside it.

        Under "substitute" the account has one cap, since a record moves all its columns at once.
        """
        who = read_adjacency(adjacency)
        name = account if searcher is None else courtesy_account(account, searcher)
        if searcher is not None:
            ledger.balance(account)
        ledger.create_account(
            name,
            Guarantee(who, epsilon=read_epsilon(cap)),
            columns=records.column_names if who == ONE_BIT else None,
        )
        return cls(records, ledger, account, version=version, searcher=searcher)

    def search(
        self,
        query: Any,
        *,
        epsilon: Number,
        k: int | None = None,
        threshold: int | None = None,
        similarity: str = COMMON,
        window: tuple[int, int] | None = None,
        **weights: float,
    ) -> Found:
        """Find the records that resemble a query: the best k, or those at a noisy score.

        Similarities other than the common ones use the row weights, once `release_weights` was
        called (then only the query's columns pay); else a pair of counts (all columns pay).
        """
        view = View.of(k, threshold, similarity, weights, len(self.records))
        asked = self.question(query, epsilon=epsilon, k=k, similarity=similarity, window=window)
        if asked is None:
            return nothing_asked(self, view)
        if similarity == COMMON:
            answer, repeated = self.answered(self._deep_enough(view, asked))
            return view.of_scores(self, answer, repeated)
        answer, repeated = self.answered(asked)
        if isinstance(asked, ScorePairs):
            return view.of_pairs(self, answer, repeated)
        known = self.released_weights()
        assert known is not None  # that is why scores were asked for
        return view.of_weights(self, answer, known, repeated)

    def question(
        self,
        query: Any,
        *,
        epsilon: Number,
        k: int | None = None,
        similarity: str = COMMON,
        window: tuple[int, int] | None = None,
    ) -> NoisyScores | ScorePairs | None:
        """Make the question that a search asks where nothing is stored; None: an empty query."""
        names = canonical(self.records, query)
        shared = self._shared(names, epsilon)
        if not names:
            return None
        if read_similarity(similarity) == COMMON:
            depth = depths_for(k, len(self.records))[0] if k is not None else None
            return NoisyScores(**shared, depth=depth, window=window)
        if window is not None:
            raise ParameterError("window", window, "left out", "It belongs to common columns.")
        if self.released_weights() is not None:
            return NoisyScores(**shared)
        return ScorePairs(**shared, n_columns=self.records.n_columns)

    def _deep_enough(self, view: View, asked: Any) -> Any:
        """Give a question that was answered to the depth that a view needs, or the new one."""
        for depth in depths_for(view.k, len(self.records)):
            question = replace(asked, depth=depth)
            answer = self.stored(question, paying=False)
            if answer is not None and view.is_served_by(answer):
                return question
        return asked

    def best(self, query: Any, *, epsilon: Number) -> Any:
        """Name the one record that resembles a query most."""
        return self.ask(BestRecord(**self.about(query, epsilon)))

    def top_set(self, query: Any, k: int, *, epsilon: Number) -> Any:
        """Name the set of the k records that resemble a query most."""
        return self.ask(TopSet(**self.about(query, epsilon), k=read_k(k, len(self.records))))

    def count(self, query: Any, threshold: int, *, epsilon: Number) -> Any:
        """Count the records with at least `threshold` columns of a query."""
        return self.ask(SimilarCount(**self.about(query, epsilon), threshold=threshold))

    def histogram(self, query: Any, *, epsilon: Number) -> Any:
        """Count the records at every score."""
        return self.ask(ScoreHistogram(**self.about(query, epsilon)))

    def release_weights(self, epsilon: Number) -> RowWeightsAnswer:
        """Release the number of ones of each record, once; all columns pay."""
        weights: RowWeightsAnswer = self.ask(self.weights_question(epsilon))
        return weights

    def publish(self, epsilon: Number) -> Any:
        """Release all records with every bit randomized, once; all columns pay."""
        return self.ask(RandomizedRecords(epsilon=read_epsilon(epsilon), adjacency=self.adjacency))

    def ask(self, question: Any) -> Any:
        """Ask any question of this room about the records; a repeat is free."""
        return self.answered(question)[0]

    def answered(self, question: Any) -> tuple[Any, bool]:
        """Give the answer, and whether it was stored already."""
        question.check(self.records)
        found = self.stored(question)
        request = self.request_id(question)
        if self.searcher is not None:
            own = courtesy_account(self.account, self.searcher)
            self.ledger.ask(own, SearcherCharge.of(question), None, request_id=request)
        if found is not None:
            return found, True
        answer = self.ledger.ask(self.account, question, self.records, request_id=request)
        return answer, False

    def stored(self, question: Any, *, paying: bool = True) -> Any:
        """Give the answer of a request made before, or None; `paying`: refuse what cannot be."""

        def new() -> Any:
            raise NotStored

        try:
            request = self.request_id(question)
            return self.ledger.ask(self.account, question, new, request_id=request)
        except NotStored:
            return None
        except (BudgetRefused, ReleaseLost):
            if paying:
                raise
            return None

    def request_id(self, question: Any) -> str:
        """Name a request: the same version of the data and the same question, the same name."""
        return f"v{self.version}-{identity(question)}"

    def released_weights(self) -> RowWeightsAnswer | None:
        """Give the row weights of this version that were released at the highest price."""
        if not hasattr(self.ledger, "history"):
            return None
        prices = [
            entry.price.epsilon
            for entry in self.ledger.history(self.account)
            if entry.question == RowWeights.kind
            and entry.request_id.startswith(f"v{self.version}-")
        ]
        for price in sorted(prices, reverse=True):
            found: RowWeightsAnswer | None = self.stored(self.weights_question(price), paying=False)
            if found is not None:
                return found
        return None

    def status(self) -> SessionStatus:
        """Say what was spent, column by column, and what that means for a cell and a record."""
        return status_of(self.ledger, self.account, self.records.n_columns)

    def remaining(self, columns: Sequence[str] | None) -> Fraction | None:
        """Give what the poorest of some columns can still spend; None where nobody keeps it."""
        if not hasattr(self.ledger, "balance"):
            return None
        balance = self.ledger.balance(self.account)
        if balance.columns is None:
            left: Fraction = balance.remaining.epsilon
            return left
        names = list(balance.columns) if columns is None else columns
        most = max((balance.columns[name] for name in names), default=Fraction(0))
        return Fraction(balance.budget.epsilon - most)

    def about(self, query: Any, epsilon: Number) -> dict[str, Any]:
        """Give what every question about a query has."""
        names = canonical(self.records, query)
        if not names:
            raise ParameterError(
                "the query", "empty", "at least one column", "No column tells no records apart."
            )
        return self._shared(names, epsilon)

    def _shared(self, names: tuple[str, ...], epsilon: Number) -> dict[str, Any]:
        """Put a query together with its price and who is protected."""
        return {"query": names, "epsilon": read_epsilon(epsilon), "adjacency": self.adjacency}

    def weights_question(self, epsilon: Number) -> RowWeights:
        """Make the question of the row weights."""
        return RowWeights(
            n_columns=self.records.n_columns,
            epsilon=read_epsilon(epsilon),
            adjacency=self.adjacency,
        )


def depths_for(k: int | None, n: int) -> list[int | None]:
    """List the public depths that serve k, the least first; a threshold may need any."""
    depths: list[int | None] = []
    depth = FIRST_DEPTH
    while depth * WORTH < n:
        if k is None or depth >= k:
            depths.append(depth)
        depth *= 2
    return [*depths, None]


def check_columns(records: Records, columns: Any) -> None:
    """Refuse an account whose columns are not the records'."""
    if columns is not None and set(columns) != set(records.column_names):
        raise ParameterError(
            "the account", "for other columns", "one opened for the columns of these records",
            "Open it with `noren similar open`, or Session.open.",
        )  # fmt: skip
