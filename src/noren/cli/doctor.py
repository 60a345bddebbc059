"""`noren doctor`: what is installed, and whether it works here.

The samplers are tested twice: a seeded run must give the draws that Noren gives everywhere
(a damaged installation would not), and secure draws must follow their law.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NamedTuple

import click

from noren.cli.output import Output, table, with_output

DEVELOPERS = ("test",)  # extras that a user never needs


class Check(NamedTuple):
    """One thing that was tried; `detail` says what was found."""

    check: str
    ok: bool
    detail: str


@click.command()
@with_output
def doctor(output: Output) -> None:
    """Check this installation: versions, bit source, cores, extras, and the samplers.

    Exit code 0 when healthy, 1 when something is wrong.
    """
    found = facts()
    checks = list(run_checks(found["packages"]))
    healthy = all(check.ok for check in checks)
    result = {"healthy": healthy, **found, "checks": [check._asdict() for check in checks]}
    output.show("doctor", result, people=pictures(found, checks, healthy))
    if not healthy:
        raise click.exceptions.Exit(1)


def facts() -> dict[str, Any]:
    """Say what is here, importing none of it."""
    core, extras = requirements()
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "packages": {name: version(name) for name in core},
        "sqlite": sqlite3.sqlite_version,
        "extras": {
            extra: all(version(name) is not None for name in names)
            for extra, names in extras.items()
        },
    }


def requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Read from our own metadata what we always need, and what each extra adds."""
    core: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in metadata.requires("noren") or []:
        name = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([^'\"]+)", line)
        if extra is None:
            core.append(name)
        elif extra[1] not in DEVELOPERS:
            extras.setdefault(extra[1], []).append(name)
    return core, extras


def version(name: str) -> str | None:
    """Give an installed package's version, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_checks(packages: dict[str, str | None]) -> Iterator[Check]:
    """Try everything that a release or a report depends on."""
    missing = [name for name, found in packages.items() if found is None]
    yield Check("core packages", not missing, ", ".join(missing) or "all installed")
    if missing:
        return
    for name, attempt in ATTEMPTS.items():
        try:
            ok, detail = attempt()
        except Exception as error:  # a broken library may fail in any way; its name is enough
            ok, detail = False, f"failed ({type(error).__name__})"
        yield Check(name, ok, detail)


def bit_source() -> tuple[bool, str]:
    """Check that secret noise comes from a secure source that does not repeat itself."""
    from noren.noise import Noise

    first, second = Noise(), Noise()
    words = [int(noise.integers_below(2**63)) for noise in (first, first, second, second)]
    return first.secure and len(set(words)) == len(words), first.name


KNOWN_SEED = 1
KNOWN_DRAWS = {  # of draw_seeded(); they change only when a sampler is changed on purpose
    "discrete_laplace": [2, -2, 2, 9, 7, 8],
    "discrete_laplace, large": [1306049732059, 1032690365894, 861297089408],
    "discrete_gaussian": [-4, 0, -1, -1, 2, 1],
    "bernoulli": [0, 0, 1, 0, 0, 1, 1, 0],
    "integers_below": [735, 845, 514, 421, 719, 870],
    "randomized_response": [2, 3, 3, 0, 1, 3, 0, 0],
    "exponential_mechanism": [1, 2, 0, 1, 1, 2],
    "permute_and_flip": [2, 2, 2, 2, 2, 2],
}


def known_draws() -> tuple[bool, str]:
    """Check that a seeded run gives the draws it gives everywhere."""
    return draw_seeded() == KNOWN_DRAWS, "a seeded run gives the draws it gives everywhere"


def draw_seeded() -> dict[str, list[int]]:
    """Draw a little of everything from one seed."""
    from noren.testing import seeded_noise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noise = seeded_noise(KNOWN_SEED)
    return {
        "discrete_laplace": noise.discrete_laplace("2.5", 6).tolist(),
        "discrete_laplace, large": noise.discrete_laplace(10**12, 3).tolist(),
        "discrete_gaussian": noise.discrete_gaussian("7", 6).tolist(),
        "bernoulli": noise.bernoulli("0.3", 8).tolist(),
        "integers_below": noise.integers_below(1000, 6).tolist(),
        "randomized_response": noise.randomized_response([0, 1, 2, 3] * 2, 4, "1").tolist(),
        "exponential_mechanism": [noise.exponential_mechanism([0, 1, 2], "2") for _ in range(6)],
        "permute_and_flip": [noise.permute_and_flip([0, 1, 2], "2") for _ in range(6)],
    }


FALSE_ALARM = 1e-9  # chance that a right sampler is called wrong
DRAWS = 20_000


def lawful_draws() -> tuple[bool, str]:
    """Check that secure draws follow their laws."""
    import numpy as np

    from noren.audit.law import gaussian_tail, integer_p_value, laplace_tail, p_value
    from noren.noise import Noise

    noise = Noise()
    coins = np.bincount(noise.bernoulli("0.3", DRAWS), minlength=2)
    found = {
        "discrete Laplace": integer_p_value(
            noise.discrete_laplace("2.5", DRAWS), laplace_tail(2.5), reach=100
        ),
        "discrete Gaussian": integer_p_value(
            noise.discrete_gaussian(7, DRAWS), gaussian_tail(7.0), reach=40
        ),
        "coins": p_value(coins, np.array([0.7, 0.3])),
    }
    wrong = [name for name, p in found.items() if p < FALSE_ALARM]
    return not wrong, ", ".join(wrong) or f"{DRAWS} secure draws of each follow their law"


def charts() -> tuple[bool, str]:
    """Check that a chart can be drawn here."""
    from noren.page.charts import still

    drawn = still({"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {}})
    return drawn.startswith("<svg"), "drawn without a network"


def fast_loops() -> tuple[bool, str]:
    """Check that the compiler of hot loops loads."""
    import numba

    return bool(numba.njit), f"numba {numba.__version__}"


ATTEMPTS: dict[str, Callable[[], tuple[bool, str]]] = {
    "bit source": bit_source,
    "samplers, known draws": known_draws,
    "samplers, laws": lawful_draws,
    "fast loops": fast_loops,
    "charts": charts,
}


def pictures(found: dict[str, Any], checks: list[Check], healthy: bool) -> list[Any]:
    """Show facts and checks as tables, and the verdict last."""
    about = [
        ("Python", found["python"]), ("system", found["system"]), ("cores", found["cores"]),
        *found["packages"].items(), ("sqlite", found["sqlite"]),
    ]  # fmt: skip
    extras = [
        (f"[{extra}]", "installed" if here else f"not installed: pip install 'noren[{extra}]'")
        for extra, here in found["extras"].items()
    ]
    wrong = ", ".join(check.check for check in checks if not check.ok)
    return [
        table("Installed", ("what", "version"), about),
        "",
        table("Extras", ("extra", "state"), extras),
        "",
        table("Checks", ("check", "ok", "detail"), checks),
        "",
        "Everything works." if healthy else f"Something is wrong: {wrong}.",
    ]
