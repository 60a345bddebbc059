"""Whatever reads files, messages, addresses and options ends well on any bytes.

Here a small sample, and JSON of any shape; `make slow` feeds more than a million inputs.
"""

from __future__ import annotations

import json
import os

import pytest
from commands import BETWEEN
from fuzzing import Findings, Target, fed, fuzz
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from targets import targets

from noren.errors import FileProblem

STRANGE = ("x" * 300, "z" * 245, "OWN" + "1" * 400, "\n", ".", "..", "-", "file:__x")
PAID_INTO_A_FILE = ("reweight fit", "collaborate train", "similar publish")
SAMPLE, MANY = 40, 21_500
SEED = int(os.environ.get("NOREN_FUZZ_SEED", "1"))
MILLION = 1_000_000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["v", "task", "columns", "epoch", "slots", "weights"]), inner
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def every(tmp_path_factory) -> dict[str, Target]:
    """Make all targets once, in memory where there is such a folder."""
    return {target.name: target for target in targets(tmp_path_factory.mktemp("fuzz"))}


def test_every_target_ends_well_on_a_sample(every):
    found = [fuzz(target, max(4, int(SAMPLE * target.share)), SEED) for target in every.values()]
    assert [escape for one in found for escape in one.escapes] == []
    assert len(found) > 45
    assert sum(one.refused for one in found) > 300
    assert sum(one.accepted for one in found) > 300


@given(JSON)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_of_any_shape_ends_well_wherever_json_is_read(every, made):
    data, found = json.dumps(made).encode(), Findings()
    for name in ("message", "plan, JSON", "schema, JSON", "ticket", "release", "roster",
                 "share, manifest.json", "share, model.json", "neighbours, JSON"):  # fmt: skip
        fed(every[name], data, found)
    assert found.escapes == []


@given(st.binary(max_size=400))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_of_any_kind_end_well_wherever_files_are_read(every, data):
    found = Findings()
    for target in every.values():
        if not target.name.startswith("noren"):
            fed(target, data, found)
    assert found.escapes == []


def test_the_fuzzer_sees_a_crash_and_a_private_value_in_a_message():
    def crashes(data: bytes) -> None:
        if b"1" not in data:
            raise KeyError(data)

    def tells(data: bytes) -> None:
        if data != b"SECRETWORD 1":
            raise FileProblem(f"This cannot be read: {data!r}.")

    for feed in (crashes, tells):
        assert fuzz(Target("made up", [b"SECRETWORD 1"], feed), 200, 1).escapes


def strangely_named(target: Target) -> Findings:
    """Put something that is too long, or no name, in place of each word of each command line."""
    found = Findings()
    for seed in target.seeds:
        words = seed.decode().split(BETWEEN)
        for place in range(1, len(words)):
            for strange in STRANGE:
                line = [*words[:place], strange.replace("OWN", words[place]), *words[place + 1 :]]
                fed(target, BETWEEN.join(line).encode(), found)
    return found


@pytest.mark.parametrize("name", PAID_INTO_A_FILE)
def test_what_cannot_be_written_is_refused_before_it_is_paid_for(every, name):
    assert strangely_named(every[f"noren {name}"]).escapes == []


@pytest.mark.slow
def test_every_word_of_every_command_may_be_strange(every):
    lines = [target for name, target in every.items() if name.startswith("noren ")]
    assert [escape for line in lines for escape in strangely_named(line).escapes] == []


def test_a_target_whose_valid_inputs_are_refused_tests_nothing_and_says_so():
    def refuses(data: bytes) -> None:
        raise FileProblem("No.")

    assert "none of its valid inputs" in fuzz(Target("no", [b"x"], refuses), 3, 1).escapes[0]


@pytest.mark.slow
def test_a_million_inputs_and_no_escape(every, record_property):
    total, escapes = 0, []
    for target in every.values():
        found = fuzz(target, int(MANY * target.share), SEED)
        total += found.fed
        escapes += found.escapes[:3]
    record_property("fuzzed", total)
    print(f"{total} inputs, {len(escapes)} escapes")
    assert escapes == []
    assert total >= MILLION
