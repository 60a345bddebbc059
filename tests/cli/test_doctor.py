"""`noren doctor` says what is here, and notices what is wrong."""

import importlib.util
import os
from importlib import metadata

import pytest

from noren.cli import doctor


def test_a_healthy_installation_is_called_healthy(result_of):
    result = result_of("doctor")["result"]
    assert result["healthy"] is True
    assert result["cores"] >= 1
    assert result["packages"]["numpy"] == metadata.version("numpy")
    assert {"genomics", "sklearn", "dask", "postgres", "web"} == set(result["extras"])
    assert {check["check"] for check in result["checks"]} > {"bit source", "charts"}
    assert all(list(check) == ["check", "ok", "detail"] for check in result["checks"])


def test_people_see_tables_and_a_verdict(run):
    done = run("doctor")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("Everything works.\n")


def test_an_extra_is_installed_when_all_of_it_is():
    core, extras = doctor.requirements()
    assert "numpy" in core
    assert set(extras["dask"]) == {"dask", "distributed"}
    found = doctor.facts()["extras"]["sklearn"]
    assert found == (importlib.util.find_spec("sklearn") is not None)


def test_a_missing_core_package_is_unhealthy_and_nothing_else_is_tried(result_of, monkeypatch):
    monkeypatch.setattr(doctor, "version", lambda name: None if name == "scipy" else "1")
    result = result_of("doctor", code=1)["result"]
    assert result["healthy"] is False
    assert result["checks"] == [{"check": "core packages", "ok": False, "detail": "scipy"}]


def test_a_damaged_sampler_is_noticed(result_of, monkeypatch):
    from noren.noise import Noise

    right = Noise.discrete_laplace
    monkeypatch.setattr(
        Noise, "discrete_laplace", lambda self, scale, size: right(self, "1.2", size)
    )
    result = result_of("doctor", code=1)["result"]
    wrong = [check["check"] for check in result["checks"] if not check["ok"]]
    assert wrong
    assert all(name.startswith("samplers") for name in wrong)


def test_a_bit_source_that_repeats_itself_is_noticed(result_of, monkeypatch):
    monkeypatch.setattr(os, "urandom", bytes)
    wrong = [check for check in result_of("doctor", code=1)["result"]["checks"] if not check["ok"]]
    assert "bit source" in {check["check"] for check in wrong}


def test_a_library_that_breaks_is_named_by_its_failure(result_of, monkeypatch):
    def broken():
        raise OSError("libLLVM is missing")

    monkeypatch.setitem(doctor.ATTEMPTS, "fast loops", broken)
    checks = {check["check"]: check for check in result_of("doctor", code=1)["result"]["checks"]}
    assert checks["fast loops"]["detail"] == "failed (OSError)"


@pytest.mark.parametrize("state", [True, False])
def test_an_extra_that_is_absent_comes_with_the_command_that_adds_it(run, monkeypatch, state):
    facts = doctor.facts() | {"extras": {"dask": state}}
    monkeypatch.setattr(doctor, "facts", lambda: facts)
    assert ("pip install 'noren[dask]'" in run("doctor").stdout) == (not state)
