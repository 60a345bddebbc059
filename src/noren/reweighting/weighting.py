"""From two tables to a public one with weights: encode, plan, ask once, fit.

    reweight(private, public, schema, epsilon, adjacency)    all at once
    prepare(public, schema, ...)                             what would be asked, and its forecast
    refit(release, public, schema)                           again, from what was released: free

Privacy
    The private table is read once, into the statistic of one question, and that question is all
    that is charged. Everything before it sees the public table and the schema; everything after it
    the release and these two. Fitting again cannot open the private table: it is never given it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from noren.data import Block, Schema, block_of, partitions
from noren.engine import Engine, Progress, run
from noren.errors import ParameterError
from noren.noise import Noise
from noren.question import Asks
from noren.reweighting.encoded_rows import EncodedRows
from noren.reweighting.encoding import Encoding
from noren.reweighting.filed_rows import EncodedPart, opened_rows
from noren.reweighting.fitting import fit_weights
from noren.reweighting.planning import WeightPlan, plan_weights
from noren.reweighting.public_table import PublicTable
from noren.reweighting.statistic import BasisSums
from noren.reweighting.weights import Weights


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prepared:
    """A question that is ready to be asked of a private table."""

    public: PublicTable
    plan: WeightPlan

    def count(
        self, private: Any, progress: Progress | None = None, *, engine: Engine | None = None
    ) -> Any:
        """Read the private table (files, or columns in memory) into its secret statistic."""
        encoding = self.public.encoding
        counted = partial(counted_by, encoding=encoding, basis=self.basis)
        if isinstance(private, str | Path | list | tuple):
            parts = partitions(private, encoding.schema)
            return run(parts, counted, progress=progress, engine=engine)
        return counted([block_of(private, encoding.schema)])

    @property
    def basis(self) -> Any:
        """The basis whose sums suffice; None where the question needs the rows themselves."""
        return getattr(self.plan.question, "basis", None)

    @contextmanager
    def counter(
        self, private: Any, progress: Progress | None = None, *, engine: Engine | None = None
    ) -> Iterator[Callable[[], Any]]:
        """Give a function that counts once it is called; on a cluster no row leaves the workers."""
        if engine is None or self.basis is not None:
            yield lambda: self.count(private, progress, engine=engine)
            return
        encoding = self.public.encoding
        parts = [EncodedPart(encoding, part) for part in partitions(private, encoding.schema)]
        with ExitStack() as opened:
            width = len(encoding.coordinates)
            yield lambda: opened.enter_context(opened_rows(parts, width, engine))

    @contextmanager
    def handed(self, path: str | Path, *, engine: Engine | None = None) -> Iterator[Any]:
        """Give the statistic that a file holds (`noren.reweighting.handover`)."""
        from noren.reweighting.handover import open_rows, read_sums

        if self.basis is not None:
            yield read_sums(path, self.basis)
            return
        parts = open_rows(path, self.public.encoding)
        with opened_rows(parts, len(self.public.encoding.coordinates), engine) as rows:
            yield rows

    def fit(self, release: Any, **settings: Any) -> WeightedTable:
        """Fit weights to a release of this question."""
        return fitted(self.public, release, **settings)

    def __repr__(self) -> str:
        return f"Prepared({self.plan.method}, {self.public!r})"


def counted_by(blocks: Iterable[Block], encoding: Encoding, basis: Any) -> Any:
    """Turn clean blocks into the secret statistic: sums of a basis, or encoded rows."""
    rows = (encoding.encode(block) for block in blocks)
    if basis is None:
        return EncodedRows.counted(rows, len(encoding.coordinates))
    return BasisSums.counted(rows, basis)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedTable:
    """The public table, and weights with which it speaks for the private one."""

    public: PublicTable
    weights: Weights

    @property
    def release(self) -> Any:
        """What was released, with its price and its receipt."""
        return self.weights.release

    @property
    def table(self) -> Any:
        """The public table as it was given, with its column of weights (Arrow)."""
        return self.public.weighted(self.weights)

    @property
    def notices(self) -> tuple[str, ...]:
        """What to mind before using the weights."""
        return (*self.public.encoding.notices, *self.weights.notices)

    def save_release(self, path: str | Path) -> None:
        """Write what was released, and the schema: `refit` needs nothing private."""
        self.release.save(path, about={"schema": self.public.encoding.schema.to_dict()})

    def __repr__(self) -> str:
        return f"WeightedTable({self.weights!r})"


def prepare(public: Any, schema: Schema, **settings: Any) -> Prepared:
    """Encode the public table and plan the question, spending nothing.

    Parameters
    ----------
    public
        A file, or columns in memory.
    schema : Schema
        The declared columns of both tables.
    **settings
        Price, adjacency and method, as `plan_weights` takes them.
    """
    table = PublicTable.of(public, schema)
    return Prepared(table, plan_weights(table.points, table.encoding.columns, **settings))


def reweight(
    private: Any,
    public: Any,
    schema: Schema,
    epsilon: Any = None,
    adjacency: Any = None,
    *,
    asks: Asks | None = None,
    account: str = "",
    request_id: str | None = None,
    target: str = "population",
    cap: float | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> WeightedTable:
    """Give the public table weights with which it speaks for the private one.

    Parameters
    ----------
    private, public
        Tables of the declared columns: files, or columns in memory.
    schema : Schema
        Columns, public bounds and levels.
    epsilon : number
        The price (or `rho`); there is no default.
    adjacency : Adjacency or str
        "add-remove", or "substitute" with the public number of private rows as `records`.
    asks : Ledger, optional
        Who charges `account`; without it nobody is charged, and the release says so.
    request_id : str, optional
        Ask again with the same id, and the stored answer comes back for nothing.
    target : str
        "population" or "table" (`kriging_weights`).
    cap : number, optional
        The largest weight to publish.
    **settings
        `records`, `about`, `method`, `rho`, `precision` as `plan_weights` takes them.

    Examples
    --------
    >>> from noren.data import OWN, Integer, Schema
    >>> schema = Schema([Integer(name="age", lower=0, upper=100, missing=OWN)])
    >>> private, public = {"age": [60, 70, 80] * 500}, {"age": list(range(20, 90))}
    >>> found = reweight(private, public, schema, 1, "substitute", records=1500)
    >>> weights = found.table["weight"].to_numpy()
    >>> bool(weights[50] > weights[5]), found.release.receipt is None
    (True, True)
    """
    if adjacency is None:
        raise ParameterError("adjacency", None, "'add-remove' or 'substitute'", "It has no default")
    prepared = prepare(public, schema, epsilon=epsilon, adjacency=adjacency, **settings)
    question = prepared.plan.question
    if asks is None:
        release = question.answer(prepared.count(private, progress), Noise())
    else:
        release = asks.ask(
            account, question, lambda: prepared.count(private, progress), request_id=request_id
        )
    return prepared.fit(release, target=target, cap=cap)


def refit(release: Any, public: Any, schema: Schema, **settings: Any) -> WeightedTable:
    """Fit again, from a release (or another estimator): nothing is spent, nothing private read."""
    return fitted(PublicTable.of(public, schema), release, **settings)


def fitted(
    public: PublicTable,
    release: Any,
    *,
    estimator: str | None = None,
    target: str = "population",
    cap: float | None = None,
) -> WeightedTable:
    """Fit weights to a release, capped where asked for."""
    weights = fit_weights(release, public.points, estimator=estimator, target=target)
    return WeightedTable(public, weights if cap is None else weights.trim(cap))
