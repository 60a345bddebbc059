"""A search service in a budget: what is charged, what is free, what is kept, what is refused."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from session_searcher import QUERIES, RECORDS, searched

from noren import Guarantee
from noren.errors import (
    AdjacencyMismatch,
    BudgetRefused,
    LedgerError,
    NotPrivate,
    ParameterError,
)
from noren.ledger import Ledger
from noren.similarity import NoisyScores, Records, Session
from noren.similarity.queries import read_query_file
from noren.similarity.session import depths_for
from noren.testing import seeded_noise

SMALL = Records.of(
    ["11100", "01110", "00011", "10101"], ids=["ann", "bob", "eve", "dan"], names=list("abcde")
)


@pytest.fixture
def ledger():
    with Ledger.open("sqlite://") as made:
        yield made


@pytest.fixture
def session(ledger):
    return Session.open(SMALL, ledger, "clinic", 2, "bit")


def spent(session):
    return {name: float(used) for name, used in session.status().columns.items()}


def test_only_the_columns_of_a_query_are_charged(session):
    found = session.search(["a", "b"], epsilon="0.5", k=2)
    assert found.charged == Fraction(1, 2)
    assert found.columns == ("a", "b")
    assert found.remaining == Fraction(3, 2)
    assert spent(session) == {"a": 0.5, "b": 0.5, "c": 0, "d": 0, "e": 0}
    assert session.status().untouched == 3


def test_repeats_smaller_k_and_thresholds_are_views_of_the_same_answer(session):
    first = session.search(["a", "b", "c"], epsilon=1, k=3)
    again = session.search(["c", "b", "a", "a"], epsilon=1, k=3)
    fewer = session.search("11100", epsilon=1, k=1)
    above = session.search("11100", epsilon=1, threshold=-100)
    assert again.hits == first.hits
    assert fewer.hits == first.hits[:1]
    assert len(above.hits) == 4
    assert above.hits[:3] == first.hits
    assert [found.charged for found in (again, fewer, above)] == [0, 0, 0]
    assert again.answer.receipt == first.answer.receipt
    assert spent(session)["a"] == 1


def test_another_price_or_another_version_is_another_draw(session, ledger):
    session.search(["a"], epsilon="0.5", k=1)
    session.search(["a"], epsilon="0.25", k=1)
    newer = Session(SMALL, ledger, "clinic", version=2)
    newer.search(["a"], epsilon="0.5", k=1)
    assert spent(session)["a"] == 1.25


def test_an_exhausted_column_is_named_and_nothing_is_charged(session):
    session.search(["a", "b"], epsilon="1.5", k=1)
    with pytest.raises(BudgetRefused, match=r"cannot pay: 'b'\. Nothing was charged"):
        session.search(["b", "c"], epsilon=1, k=1)
    assert spent(session) == {"a": 1.5, "b": 1.5, "c": 0, "d": 0, "e": 0}
    assert session.search(["c"], epsilon=2, k=1).charged == 2
    assert session.search(["a", "b"], epsilon="1.5", k=1).charged == 0


def test_what_reads_whole_rows_is_charged_to_every_column(session):
    found = session.search(["a"], epsilon="0.5", k=2, similarity="jaccard")
    assert found.columns is None
    assert set(spent(session).values()) == {0.5}
    session.publish("0.25")
    assert set(spent(session).values()) == {0.75}
    with pytest.raises(BudgetRefused):
        session.publish(2)


def test_released_row_weights_make_similarities_cost_the_query_only(session, ledger):
    session.release_weights("0.5")
    found = session.search(["a", "b"], epsilon="0.5", k=4, similarity="dice")
    assert found.columns == ("a", "b")
    assert spent(session) == {"a": 1, "b": 1, "c": 0.5, "d": 0.5, "e": 0.5}
    free = session.search(["a", "b"], epsilon="0.5", k=4, similarity="jaccard")
    assert free.charged == session.search(["a", "b"], epsilon="0.5", k=1).charged == 0
    assert Session(SMALL, ledger, "clinic", version=2).released_weights() is None


def test_similarities_of_many_bits_are_right(ledger):
    session = Session.open(SMALL, ledger, "clinic", 300, "bit")
    query = ["b", "c", "d"]
    for name, expected in (
        ("jaccard", {"ann": 2 / 4, "bob": 1.0, "eve": 1 / 4, "dan": 1 / 5}),
        ("hamming", {"bob": 0, "ann": 2, "eve": 3, "dan": 4}),
        ("tversky", {"ann": 2 / 2.5, "bob": 1.0, "eve": 1 / 1.5, "dan": 1 / 2}),
    ):
        settings = {"alpha": 0, "beta": 0.5} if name == "tversky" else {}
        found = session.search(query, epsilon=60, k=4, similarity=name, **settings)
        assert {hit.id: hit.score for hit in found.hits} == pytest.approx(expected)
        best = {hit.id for hit in found.hits if hit.rank == 1}
        assert best == {"bob"}
    near = session.search(query, epsilon=60, threshold=2, similarity="hamming")
    assert [hit.id for hit in near.hits] == ["bob", "ann"]
    above = session.search(query, epsilon=60, threshold=0.4, similarity="jaccard")
    assert [hit.id for hit in above.hits] == ["bob", "ann"]


def test_the_price_of_a_whole_record_adds_up(session):
    session.search(["a", "b"], epsilon="0.5", k=1)  # 2 columns
    session.best(["c"], epsilon="0.25")  # 1
    session.count(["a"], 1, epsilon="0.25")  # a record, whatever its columns
    session.release_weights("0.125")  # 5 columns
    expected = 2 * 0.5 + 0.25 + 0.25 + 5 * 0.125
    assert session.status().record_loss == Fraction(expected)
    made = session.status().to_dict()
    assert made["record_epsilon"] == expected
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["belief_in_a_bit_of_prior_one_half"]["to"] == pytest.approx(
        1 / (1 + np.exp(-0.875))
    )


def test_a_session_that_protects_records_has_one_budget(ledger):
    session = Session.open(SMALL, ledger, "clinic", 2, "substitute")
    count = session.count(["a"], 1, epsilon=1)
    found = session.search(["e"], epsilon="0.5", k=1)
    assert count.guarantee.epsilon == 1
    assert found.columns is None
    assert session.status().record_loss == Fraction(3, 2) == 2 - found.remaining
    assert session.status().columns is None
    assert session.histogram(["a"], epsilon="0.5").counts.shape == (2,)
    with pytest.raises(ParameterError):
        session.publish(1)


def test_the_empty_query_tells_nothing_and_costs_nothing(session):
    found = session.search([], epsilon=5, k=4)
    assert [(hit.score, hit.rank) for hit in found.hits] == [(0, 1)] * 4
    assert found.charged == found.record_loss == 0
    assert session.search([], epsilon=5, threshold=1).hits == ()
    assert not any(spent(session).values())
    with pytest.raises(ParameterError, match="at least one column"):
        session.best([], epsilon=1)


def test_a_query_by_example_is_refused_by_where_it_comes_from(session, tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_text("id,a,b\nann,1,0\nbob,0,1\n")
    records = Records.read(path)
    for given in (["ann"], SMALL, SMALL.words[0]):
        with pytest.raises((NotPrivate, ParameterError)):
            session.search(given, epsilon=1, k=1)
    with pytest.raises(NotPrivate, match="by example"):
        session.search(["ann"], epsilon=1, k=1)
    with pytest.raises(NotPrivate, match="by example"):
        read_query_file(records, path)
    linked = tmp_path / "link.csv"
    linked.symlink_to(path)
    with pytest.raises(NotPrivate, match="by example"):
        read_query_file(records, linked)
    more = tmp_path / "more.csv"
    more.write_text("id,a,b\neve,1,1\n")
    both = records + Records.read(more)
    for own, file in ((both, path), (both, more), (both.select([0, 1]), more)):
        with pytest.raises(NotPrivate, match="by example"):
            read_query_file(own, file)
    other = tmp_path / "query.txt"
    other.write_text("b\n\na\n")
    assert read_query_file(records, other) == (0, 1)
    assert not any(spent(session).values())  # a row that is equal, from elsewhere, is a query
    assert session.search("11100", epsilon=1, k=1).charged == 1


def test_a_fingerprint_in_hexadecimal_is_a_query(session):
    assert session.search("0x07", epsilon=1, k=1).columns == ("a", "b", "c")
    for wrong in ("0xff", "0x0701", "0xzz"):
        with pytest.raises(ParameterError, match="hexadecimal"):
            session.search(wrong, epsilon=1, k=1)


@pytest.mark.parametrize(
    "settings",
    [{}, {"k": 0}, {"k": 5}, {"k": 1, "threshold": 1}, {"threshold": 0.5},
     {"k": 1, "similarity": "nearness"}, {"threshold": np.nan, "similarity": "dice"},
     {"k": 1, "epsilon": 0}, {"k": 1, "epsilon": float("inf")},
     {"k": 1, "similarity": "tversky", "alpha": -1},
     {"k": 1, "similarity": "tversky", "beta": np.inf}],
)  # fmt: skip
def test_bad_requests_are_refused_before_anything_is_charged(session, settings):
    with pytest.raises(ParameterError):
        session.search(["a"], **{"epsilon": 1, **settings})
    assert not any(spent(session).values())


def test_an_account_must_fit_the_records(ledger):
    ledger.create_account("other", Guarantee("bit", epsilon=1), columns=["x", "y"])
    with pytest.raises(ParameterError, match="other columns"):
        Session(SMALL, ledger, "other")
    Session.open(SMALL, ledger, "clinic", 1, "bit")
    with pytest.raises(AdjacencyMismatch):
        Session(SMALL, ledger, "clinic", adjacency="substitute")
    with pytest.raises(LedgerError):
        Session(SMALL, ledger, "nobody")


def test_a_searcher_can_have_a_lower_cap_but_the_common_one_is_the_guarantee(session, ledger):
    ann = Session.open(SMALL, ledger, "clinic", 1, "bit", searcher="ann")
    ann.search(["a"], epsilon=1, k=1)
    assert ann.search(["a"], epsilon=1, k=2).charged == 0
    with pytest.raises(BudgetRefused):
        ann.search(["a"], epsilon="0.5", k=1)
    assert spent(session)["a"] == 1
    assert session.search(["a"], epsilon=1, k=1).charged == 0  # another searcher, the same answer
    session.search(["a"], epsilon="0.5", k=1)
    assert spent(session)["a"] == 1.5
    with pytest.raises(LedgerError):
        Session(SMALL, ledger, "clinic", searcher="bob").search(["b"], epsilon=1, k=1)
    with pytest.raises(LedgerError):
        Session.open(SMALL, ledger, "nobody", 1, "bit", searcher="ann")


def test_the_depth_of_a_draw_is_public_and_a_deeper_answer_serves_less():
    assert depths_for(10, 1000) == [100, None]
    assert depths_for(150, 10_000) == [200, 400, 800, None]
    assert depths_for(10, 800) == [None]
    assert depths_for(None, 1700) == [100, 200, None]
    records = Records.of(np.random.default_rng(5).integers(0, 2, (2000, 6)))
    with Ledger.open("sqlite://") as ledger:
        session = Session.open(records, ledger, "clinic", 3, "bit")
        assert session.search([0, 1], epsilon=1, k=150).answer.question.depth == 200
        less = session.search([0, 1], epsilon=1, k=10)
        assert (less.charged, less.answer.question.depth) == (0, 200)
        reach = less.answer.reach
        assert session.search([0, 1], epsilon=1, threshold=reach).charged == 0
        assert session.search([0, 1], epsilon=1, threshold=reach - 1).charged == 1
        assert session.search([0, 1], epsilon=1, k=300).charged == 0  # now all are stored


def test_eight_racing_searchers_pass_no_cap_and_a_restart_keeps_everything(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        Session.open(RECORDS, ledger, "clinic", 1, "bit")
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda number: searched(place, number), range(8)))
    check_race(place, got)


@pytest.mark.slow
def test_eight_racing_processes_pass_no_cap(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with Ledger.open(place) as ledger:
        Session.open(RECORDS, ledger, "clinic", 1, "bit")
    script = str(Path(__file__).parent / "session_searcher.py")
    racers = [
        subprocess.Popen(
            [sys.executable, script, place, str(number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(8)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    got = [json.loads(racer.communicate()[0]) for racer in racers]
    check_race(place, [{int(number): hits for number, hits in own.items()} for own in got])


def check_race(place, got):
    with Ledger.open(place) as ledger:
        session = Session(RECORDS, ledger, "clinic")  # as after a restart
        used = session.status().columns
        answered = {number for own in got for number in own}
        for column in range(12):
            holding = [number for number in answered if column in QUERIES[number]]
            assert used[str(column)] == Fraction(3, 10) * len(holding) <= 1
        assert max(used.values()) == Fraction(9, 10)
        for number in answered:  # all who were answered were told the same, and are again
            told = [own[number] for own in got if number in own]
            again = session.search(QUERIES[number], epsilon="0.3", k=5)
            told.append([[hit.id, hit.score, hit.rank] for hit in again.hits])
            assert all(hits == told[0] for hits in told)
            assert again.charged == 0
        for number in set(range(len(QUERIES))) - answered:
            with pytest.raises(BudgetRefused):
                session.search(QUERIES[number], epsilon="0.3", k=5)
        assert ledger.verify().accounts == 1


def test_what_a_session_gives_back_can_be_printed_and_drawn(session):
    found = session.search(["a"], epsilon=1, k=2)
    made = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [hit["id"] for hit in made["hits"]] == [hit.id for hit in found.hits]
    assert made["charged"] == {"epsilon": 1.0, "columns": ["a"]}
    assert made["remaining_epsilon"] == 1.0
    assert "for a whole record: epsilon 1" in made["marks"]
    assert "epsilon 1" in str(found)
    assert "of 2 spent" in str(session.status())
    for drawn in (found, session.status()):
        assert drawn.chart().to_dict()


def test_an_answer_of_seeded_noise_is_marked_in_a_session_too():
    class Unkept:
        def ask(self, account, question, statistic, *, request_id=None):
            found = statistic() if callable(statistic) else statistic
            return question.answer(found, seeded_noise(1))

    session = Session(SMALL, Unkept(), "", adjacency="bit")
    found = session.search(["a"], epsilon=1, k=1)
    assert found.remaining is None
    assert "NOT PRIVATE" in str(found)
    assert isinstance(found.answer.question, NoisyScores)
    assert session.search(["a"], epsilon=1, k=1, similarity="cosine").columns is None
