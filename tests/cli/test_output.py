"""What commands print: the JSON contract, streams, tables and progress."""

import json
import math
import os
import subprocess
import sys

import click
import pytest

from noren import __version__
from noren.cli.output import cell_text, json_text, plain, table, with_output
from noren.privacy import Guarantee


def command_that(show):
    """Make a command of one call."""

    @click.command("lent")
    @with_output
    def lent(output):
        show(output)

    return lent


def test_json_is_one_object_with_the_price_in_plain_words(lend, result_of):
    price = Guarantee("add-remove", epsilon="0.1")
    lend(command_that(lambda output: output.show("thing", {"n": 1}, guarantee=price, people="x")))
    assert result_of("lent") == {
        "noren": __version__,
        "kind": "thing",
        "guarantee": {
            "adjacency": "one record is added or removed",
            "epsilon": 0.1,
            "delta": 0.0,
            "rho": None,
        },
        "result": {"n": 1},
    }


def test_people_see_text_on_standard_output_and_remarks_on_standard_error(lend, run):
    def show(output):
        output.remark("a remark")
        output.show("thing", {"n": 1}, people=["[bold]as is[/bold]", "two"])

    lend(command_that(show))
    done = run("lent")
    assert done.stdout == "[bold]as is[/bold]\ntwo\n"
    assert done.stderr == "a remark\n"


def test_json_is_never_mixed_with_words_for_people(lend, run):
    def show(output):
        output.say("words")
        output.show("thing", {"n": 1}, people="more words")

    lend(command_that(show))
    assert json.loads(run("lent", "--json").stdout)["result"] == {"n": 1}


def test_a_stream_is_one_object_a_line(lend, run):
    def show(output):
        for slot in range(3):
            output.show_line("slot", {"slot": slot}, people=f"slot {slot}")

    lend(command_that(show))
    lines = run("lent", "--json").stdout.splitlines()
    assert [json.loads(line)["result"]["slot"] for line in lines] == [0, 1, 2]
    assert run("lent").stdout == "slot 0\nslot 1\nslot 2\n"


def test_json_stays_strict_where_a_number_is_not_finite():
    text = json_text("x", {"a": [math.inf, -math.inf, math.nan, 1.5]}, None)
    assert json.loads(text, parse_constant=pytest.fail)["result"]["a"] == [
        "infinite", "-infinite", "nan", 1.5,
    ]  # fmt: skip


def test_without_words_for_people_they_see_the_result(lend, run):
    lend(command_that(lambda output: output.show("thing", {"n": 1})))
    assert json.loads(run("lent").stdout) == {"n": 1}


def test_a_wide_table_is_not_cut_in_a_pipe(lend, run):
    wide = "w" * 300
    lend(command_that(lambda output: output.show("t", {}, people=table("T", ("a",), [[wide]]))))
    assert wide in run("lent").stdout


def test_cells_read_well():
    assert [cell_text(v) for v in (None, True, False, 1.23456789, 10**9, "[x]")] == [
        "-", "yes", "no", "1.23457", "1000000000", "[x]",
    ]  # fmt: skip


def test_progress_is_silent_away_from_a_terminal(lend, run):
    def show(output):
        with output.progress("Counting") as progress:
            progress(1, 2)
            progress(2, None)
        output.show("thing", {}, people="done")

    lend(command_that(show))
    done = run("lent")
    assert (done.stdout, done.stderr) == ("done\n", "")


BAR = """
import sys, types, click
from noren.cli import commands, noren
from noren.cli.output import with_output

@click.command()
@with_output
def work(output):
    with output.progress("Counting people") as progress:
        for done in range(4):
            progress(done, 4)
    output.show("work", {}, people="done")

sys.modules["lent"] = types.SimpleNamespace(work=work)
commands.COMMANDS["work"] = commands.Entry("lent:work", "Lent.")
noren(["work"])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminal")
def test_progress_is_a_bar_on_a_terminal_and_never_among_the_data():
    import pty

    watched, terminal = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", BAR], stdout=subprocess.PIPE, stderr=terminal, timeout=60
    )
    os.close(terminal)
    assert done.stdout == b"done\n"
    assert b"Counting people" in os.read(watched, 1 << 16)
    os.close(watched)


def test_arrays_become_lists():
    import numpy as np

    assert plain({"a": np.arange(3), "b": np.float64(math.inf)}) == {
        "a": [0, 1, 2],
        "b": "infinite",
    }
