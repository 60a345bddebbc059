"""`noren audit --for`: a stranger's function held to its claim; and the evidence as a page."""

from __future__ import annotations

import json

import numpy as np
import pytest

MODULE = """
import numpy as np

draw = np.random.default_rng(5)


def count(rows):
    return sum(rows) + draw.laplace(scale=2)


def half(rows):
    return sum(rows) + draw.laplace(scale=1)


def rounded(rows):
    return round(sum(rows) + draw.laplace(scale=2), 3)


def crash(rows):
    raise ValueError("PRIVATE-7731")


number = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strangers_module.py").write_text(MODULE)
    (tmp_path / "pair.json").write_text(json.dumps({"data": [1, 0], "neighbour": [1]}))
    (tmp_path / "far.json").write_text(json.dumps({"data": [1, 1], "neighbour": [1]}))
    return tmp_path


def asked(function: str, *more: object) -> list[object]:
    return ["audit", "--for", f"strangers_module:{function}", "--epsilon", "0.5", *more]


def test_an_honest_function_passes_and_the_row_says_what_would_have_been_seen(result_of):
    rows = result_of(*asked("rounded", "--neighbours", "far.json"))["result"]["rows"]
    assert rows[0]["ok"] is True
    assert rows[0]["mechanism"] == "yours: strangers_module:rounded"
    assert rows[0]["detects"] > 0.5


def test_float_noise_is_caught_by_its_last_bits_and_not_by_its_values(result_of):
    line = asked("count", "--neighbours", "far.json")
    (row,) = result_of(*line, code=1)["result"]["rows"]
    assert row["measured"] > 2
    assert result_of(*line, "--values-only")["result"]["rows"][0]["ok"] is True


def test_half_the_noise_is_caught(result_of):
    line = asked("half", "--neighbours", "far.json", "--values-only")
    rows = result_of(*line, code=1)["result"]["rows"]
    assert rows[0]["ok"] is False
    assert 0.6 < rows[0]["measured"] <= 1


def test_arrays_can_be_given_as_npz(result_of, here):
    np.savez(here / "pair.npz", data=np.array([1, 1]), neighbour=np.array([1]))
    found = result_of(*asked("rounded", "--neighbours", "pair.npz", "--draws", 2000))
    assert len(found["result"]["rows"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "--for", "strangers_module:count"],
        ["audit", "--for", "strangers_module", "--neighbours", "pair.json", "--epsilon", "1"],
        ["audit", "--for", "nowhere:count", "--neighbours", "pair.json", "--epsilon", "1"],
        [
            "audit",
            "--for",
            "strangers_module:absent",
            "--neighbours",
            "pair.json",
            "--epsilon",
            "1",
        ],
        [
            "audit",
            "--for",
            "strangers_module:number",
            "--neighbours",
            "pair.json",
            "--epsilon",
            "1",
        ],
        ["audit", "noise", "--for", "strangers_module:count"],
        ["audit", "noise", "--epsilon", "1"],
    ],
)
def test_what_does_not_fit_together_is_refused(run, arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("text", ["[]", "{", '{"data": 1}', ""])
def test_a_file_that_is_no_pair_is_refused(run, here, text):
    (here / "bad.json").write_text(text)
    assert run(*asked("count", "--neighbours", "bad.json")).exit_code == 3


def test_the_evidence_is_a_page_with_a_picture(run, here):
    done = run(*asked("rounded", "--neighbours", "far.json", "--report", "out.html"))
    assert done.exit_code == 0
    page = (here / "out.html").read_text()
    assert "yours" in page
    assert "measured / claimed" in page
