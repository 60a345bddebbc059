"""A shell can complete commands, options and the words that an option accepts."""

import pytest

from noren.cli import noren
from noren.cli.commands import COMMANDS


@pytest.fixture
def completed(monkeypatch, capsys):
    """Ask as a shell does, and give what it would offer."""

    def ask(words: str, place: int) -> list[str]:
        monkeypatch.setenv("_NOREN_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        with pytest.raises(SystemExit):
            noren.main([], prog_name="noren")
        lines = capsys.readouterr().out.splitlines()
        return [line.partition(",")[2] for line in lines]

    return ask


def test_every_command_is_offered(completed):
    assert set(completed("noren ", 1)) == set(COMMANDS)


def test_what_was_begun_is_finished(completed):
    assert completed("noren ass", 1) == ["associate"]
    assert "create" in completed("noren ledger cr", 2)


def test_options_and_the_words_that_they_accept_are_offered(completed):
    assert completed("noren associate scan --ep", 3) == ["--epsilon"]
    assert set(completed("noren reweight fit --adjacency ", 4)) == {"add-remove", "substitute"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(run, monkeypatch, capsys, shell):
    monkeypatch.setenv("_NOREN_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit):
        noren.main([], prog_name="noren")
    assert "_NOREN_COMPLETE" in capsys.readouterr().out
