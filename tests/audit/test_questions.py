"""Every question by the same rules: exact where it can be, and every fault caught by name."""

from __future__ import annotations

import pytest

from noren.audit import question_faults
from noren.audit.mutants import caught
from noren.audit.questions import asked_of_a_ledger, exact_rows, law_row, rows, special_prices
from noren.audit.subjects import subjects

SUBJECTS = subjects()
TIGHT = (
    "cell-counts", "bounded-sum", "bounded-mean", "best-candidate", "randomized-response", "plan",
    "distance-scores", "decisions", "noisy-counts", "basis-moments", "published-ratio",
    "noisy-scores", "best-record", "randomized-records", "score-pairs", "row-weights",
    "similar-count", "score-histogram",
)  # fmt: skip


@pytest.mark.parametrize("kind", SUBJECTS)
def test_no_question_costs_more_than_it_says(kind):
    found = list(exact_rows(SUBJECTS[kind]))
    assert all(row.ok for row in found)
    assert kind not in TIGHT or [row.measured for row in found] == pytest.approx([1], rel=1e-6)


@pytest.mark.parametrize("kind", SUBJECTS)
def test_every_fault_of_a_question_is_caught(kind):
    found = list(caught(question_faults.faults(SUBJECTS[kind])))
    assert found
    assert [row.mechanism for row in found if not row.ok] == []


def test_what_cannot_be_enumerated_is_priced_by_its_parts():
    assert all(row.ok for row in special_prices(SUBJECTS))


def test_answers_follow_their_law_and_the_test_can_tell():
    from dataclasses import replace

    from noren.audit import questions

    subject = SUBJECTS["cell-counts"]
    assert law_row(subject, 2000).ok
    other = replace(subject, question=subject.costing(2))
    honest = questions.law_under(subject, subject.pair[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "law_under", lambda *_: honest)
        assert not law_row(other, 2000).ok  # twice the price is seen


def test_a_whole_ask_of_a_ledger_is_audited_and_half_the_noise_is_seen():
    from dataclasses import replace

    right = SUBJECTS["cell-counts"]
    (row,) = asked_of_a_ledger({"cell-counts": right}, 600)
    assert row.ok
    assert 1 < row.detects < 2.5

    class Cheats(type(right.question)):
        @property
        def guarantee(self):
            return right.question.guarantee

    broken = Cheats(cells=("a",), epsilon=4, adjacency="add-remove")
    (row,) = asked_of_a_ledger({"cell-counts": replace(right, question=broken)}, 600)
    assert not row.ok


@pytest.mark.slow
def test_the_whole_room_is_as_expected():
    found = list(rows(quick=True))
    assert [row for row in found if not row.ok] == []
    assert {row.method for row in found} == {"exact", "law", "statistical", "mutant"}
    by_kind = {kind: [row for row in found if f": {kind}" in row.mechanism] for kind in SUBJECTS}
    for kind, own in by_kind.items():
        assert {"law", "statistical", "mutant"} <= {row.method for row in own}, kind
        assert all(row.detects is not None for row in own if row.method == "statistical")
