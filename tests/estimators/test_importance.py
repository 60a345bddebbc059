"""Weights the way scikit-learn likes them: priced, bounded in public, silent about private rows."""

import numpy as np
import pytest
from sklearn.base import clone

from noren import Guarantee
from noren.errors import ParameterError
from noren.estimators import ULSIF, PrivateImportanceWeighter
from noren.ledger import Ledger

draw = np.random.default_rng(3)
PUBLIC = draw.normal(0, 1, (400, 2))
PRIVATE = draw.normal(0.6, 0.8, (3000, 2))


def weigher(**settings) -> PrivateImportanceWeighter:
    given = {"epsilon": 1, "adjacency": "substitute", "records": len(PRIVATE)}
    return PrivateImportanceWeighter(PUBLIC, **{**given, **settings})


def test_weighted_public_means_come_close_to_private_ones():
    weights = weigher().fit(PRIVATE).predict(PUBLIC)
    assert weights.mean() == pytest.approx(1, abs=1e-9)
    weighted = np.average(PUBLIC, axis=0, weights=weights)
    assert np.abs(weighted - PRIVATE.mean(axis=0)).max() < 0.2
    assert np.abs(PUBLIC.mean(axis=0) - PRIVATE.mean(axis=0)).max() > 0.4


def test_the_fit_is_charged_where_a_ledger_is_named(tmp_path):
    with Ledger.open(tmp_path / "budget.sqlite") as ledger:
        ledger.create_account("study", Guarantee("substitute", epsilon=3))
        found = weigher(asks=ledger, account="study").fit(PRIVATE)
        assert ledger.balance("study").spent.epsilon == 1
        assert found.release_.receipt.account == "study"


def test_neither_price_nor_neighbors_have_a_default():
    for missing in ({"epsilon": None}, {"adjacency": None}, {"records": None}):
        with pytest.raises(ParameterError):
            weigher(**missing).fit(PRIVATE)


def test_what_a_private_row_holds_never_raises():
    odd = PRIVATE.copy()
    odd[0] = np.nan
    odd[1] = np.inf
    odd[2] = 1e300
    assert np.isfinite(weigher().fit(odd).predict(PUBLIC)).all()


def test_private_rows_of_other_columns_are_refused_without_quoting_them():
    with pytest.raises(ParameterError, match="public table's columns") as caught:
        weigher().fit(PRIVATE[:, :1])
    assert str(PRIVATE[0, 0]) not in str(caught.value)


def test_public_bounds_may_be_wider_than_the_public_table():
    found = weigher(bounds=([-6, -6], [6, 6])).fit(PRIVATE)
    assert found.lower_.tolist() == [-6, -6]
    with pytest.raises(ParameterError):
        weigher(bounds=([1, 1], [0, 0])).fit(PRIVATE)


def test_both_can_be_cloned_and_give_a_column():
    fitted = clone(weigher(method="kriging")).fit(PRIVATE)
    assert fitted.method == "kriging"
    assert fitted.transform(PUBLIC).shape == (len(PUBLIC), 1)
    ratio = clone(ULSIF(PUBLIC, sigma=0.5, ridge=0.1)).fit(PRIVATE)
    assert ratio.transform(PUBLIC).shape == (len(PUBLIC), 1)


def test_the_plain_ratio_chooses_width_and_ridge_by_leaving_one_out():
    found = ULSIF(PUBLIC, centres=50).fit(PRIVATE)
    weights = found.predict(PUBLIC)
    truth = (
        np.exp(-((PUBLIC - 0.6) ** 2).sum(axis=1) / (2 * 0.64) + (PUBLIC**2).sum(axis=1) / 2) / 0.64
    )
    assert found.sigma_ > 0.1
    assert np.mean((weights - truth) ** 2) < 0.15 * np.mean(truth**2)
