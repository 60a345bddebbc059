"""`noren explain` finds every question by kind or class, and shows its mathematics and proof."""

import pkgutil
from importlib import import_module

import pytest

import noren
from noren.cli.topics import TOPICS

READ_NOTHING = {"searcher-charge", "lie-law"}  # they have no statistic


def is_question(cls: type) -> bool:
    """Tell whether a class can be asked under a kind."""
    return isinstance(getattr(cls, "kind", None), str) and hasattr(cls, "answer")


def questions() -> set[str]:
    """Find every question that Noren defines, as "module:Class"."""
    found = set()
    for module in pkgutil.walk_packages(noren.__path__, "noren."):
        if module.name == "noren.__main__" or module.name.startswith("noren.audit."):
            continue  # an audit's questions have faults put in on purpose
        for name, value in vars(import_module(module.name)).items():
            own = getattr(value, "__module__", None) == module.name
            if own and isinstance(value, type) and is_question(value):
                found.add(f"{module.name}:{name}")
    return found


def test_every_question_of_noren_can_be_explained_under_its_kind():
    assert questions() <= set(TOPICS.values())
    for kind, home in TOPICS.items():
        module, name = home.split(":")
        assert getattr(import_module(module), name).kind == kind


@pytest.mark.parametrize("kind", TOPICS)
def test_a_question_can_refuse_a_statistic_before_it_is_charged(kind):
    """A ledger calls `check` first; what fails in `answer` has been paid and is lost."""
    module, name = TOPICS[kind].split(":")
    assert kind in READ_NOTHING or callable(getattr(import_module(module), name).check)


@pytest.mark.parametrize("kind", TOPICS)
def test_an_explanation_holds_mathematics_privacy_and_accuracy(run, kind):
    done = run("explain", kind)
    assert (done.exit_code, done.stderr) == (0, "")
    for heading in ("\nMaths", "\nPrivacy", "\nAccuracy"):
        assert heading in done.stdout, heading


@pytest.mark.parametrize("kind", TOPICS)
def test_a_class_name_in_any_case_works_too(result_of, kind):
    name = TOPICS[kind].split(":")[1]
    result = result_of("explain", name.upper())["result"]
    assert (result["kind"], result["class"]) == (kind, name)


def test_without_a_name_every_topic_is_listed(result_of):
    topics = result_of("explain")["result"]["topics"]
    assert [topic["kind"] for topic in topics] == list(TOPICS)
    assert all(topic["summary"].endswith(".") for topic in topics)


def test_an_unknown_name_is_wrong_usage_with_a_suggestion(run):
    kind = next(iter(TOPICS))
    done = run("explain", kind[:-1])
    assert (done.exit_code, done.stdout) == (2, "")
    assert kind in done.stderr
