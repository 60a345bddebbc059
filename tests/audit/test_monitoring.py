"""The audit of monitoring: what holds holds, what is broken is caught, and the tools can tell."""

import json
import random
from collections import Counter
from math import inf, log

import pytest

from noren.audit import run
from noren.audit.monitoring import epoch_of
from noren.audit.monitoring_cases import Case, adaptive_price, cases, in_one_window
from noren.monitoring import block_law, ramp_law
from noren.monitoring.client import ClientError
from noren.monitoring.lies import LieLaw
from noren.monitoring.planning import plan
from noren.monitoring.plans import Timetable


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noren.audit.monitoring.signature", seeded_source)
        patch.setattr("noren.audit.monitoring.Client", seeded_client)
        return run("monitoring", quick=True)


def seeded_source(_):
    """Stand in for the signature that names a device's source."""

    class Parameter:
        default = random.Random(5).randrange

    class Signature:
        parameters = {"randbelow": Parameter}  # noqa: RUF012

    return Signature


SOURCE = random.Random(6)


def seeded_client(*args, **settings):
    from noren.monitoring import Client

    return Client(*args, randbelow=SOURCE.randrange, **settings)


def test_a_healthy_audit_has_no_row_that_is_not_ok(rows):
    assert [row for row in rows if not row.ok] == []
    assert {row.method for row in rows} == {"exact", "law", "statistical", "mutant"}
    json.dumps([row.to_dict() for row in rows], allow_nan=False)


def test_every_strategy_is_run_through_all_its_outcomes(rows):
    found = {row.mechanism for row in rows if "the client's code" in row.note}
    for word in ("block", "ramp", "independent", "published", "rolling", "tree"):
        assert any(word in name for name in found)


def test_whole_devices_of_every_strategy_are_audited_from_outside(rows):
    found = [row for row in rows if row.method == "statistical"]
    named = {row.mechanism.split()[1].strip(",") for row in found}
    assert named == {"block", "ramp", "independent", "published", "rolling", "tree"}
    assert all(row.measured <= 1 < row.detects < 3 for row in found)


def test_a_device_that_rolls_reports_on_both_sides_of_a_cycle_s_end(tmp_path):
    made = plan(10_000, 2, 1, 0.5, strategy="rolling", rolling=2, reports=2, task="audit",
                timetable=Timetable(origin=10.0)).to_dict()  # fmt: skip
    said = json.loads(epoch_of(made, tmp_path, (0,) * 8).replace("None", "null"))
    assert None not in said[4:]


def test_every_mutant_is_caught(rows):
    faults = Counter(row.mechanism.split("fault: ")[1] for row in rows if row.method == "mutant")
    assert faults == dict.fromkeys(
        ["fresh noise on retry", "one epoch's lies used in two", "silent unless the state is 1",
         "no limit of changes", "places of lies not drawn", "every coin has the whole price",
         "half the noise", "tails lost in floats", "one cycle's lies used in the next"], 1,
    )  # fmt: skip


def test_wrong_ideas_are_counter_examples(rows):
    failing = {
        row.mechanism: row.measured
        for row in rows
        if row.expected == "fails" and row.method == "exact"
    }
    assert len(failing) == 5
    assert sorted(failing.values())[-3:] == [inf] * 3
    assert failing["monitoring: block cycles under a rolling window"] == pytest.approx(2.8675617)


def test_small_weights_spend_what_their_ratio_says():
    block = next(case for case in cases() if case.name.startswith("block"))
    assert block.price()[0] == pytest.approx(log(7))


def test_weights_beyond_the_limits_never_come_to_be_examined():
    with pytest.raises(ClientError, match="do not keep"):
        Case(name="", strategy="block", epsilon="2", weights=(8, 1, 1), horizon=2, reports=2,
             slots=(1, 2)).price()  # fmt: skip


def test_a_window_is_a_window():
    apart = in_one_window(3, (1, 3))
    assert apart((0, 0, 1, 1, 0, 0), (0, 0, 0, 0, 0, 0))
    assert not apart((1, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 0))
    assert not apart((0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0))  # nobody reports there


def test_the_adaptive_price_is_that_of_the_claim_and_can_tell():
    for law in (block_law(3, 2), ramp_law(3, 2, 1)):
        epoch, slot, rules = adaptive_price(law)
        assert (epoch, slot) == pytest.approx((2, float(law.slot_epsilon)), rel=1e-12)
        assert rules == 128
    weights = (*block_law(3, 2).weights[:3], 1)
    broken = LieLaw(reports=3, epsilon=law.epsilon, slot_epsilon=law.epsilon, offset=law.offset,
                    weights=weights)  # fmt: skip
    assert adaptive_price(broken)[0] > 40


@pytest.mark.slow
def test_the_full_audit_is_healthy_and_examines_four_adaptive_reports():
    found = run("monitoring")
    assert [row for row in found if not row.ok] == []
    assert sum("32768 rules" in row.note for row in found) == 6
