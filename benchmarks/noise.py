"""Draws per second beside NumPy's insecure floats, OpenDP's exact integers, and the bits alone.

    ours       exact integers from ChaCha20 words, the default
    system     the same, every word from the operating system
    shake      the same, SHAKE-128 words
    numpy      floats of NumPy's generator: neither exact nor secure, what speed costs at least
    words      the ChaCha20 words alone, one for each draw: our limit
    opendp     exact integers of OpenDP, whole vectors at once, from its own environment

All ways of a table run in turns in one process (OpenDP's in a second one that waits in between), so
ratios hold under changing load. The last table holds the bars that this room has to clear.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.rounds import Seconds, in_turns, rate_ratios, show
from noren.noise import Noise
from noren.noise.sources import ShakeSource, SystemSource

MANY = 1_000_000
FEW = 20_000  # draws of OpenDP in one turn
CANDIDATES = 1_000_000
PEER = Path(__file__).parents[1] / ".peers" / "opendp" / "bin" / "python"
PEER_PROGRAM = """
import sys
import opendp.prelude as dp
dp.enable_features("contrib")
vector = dp.vector_domain(dp.atom_domain(T=int))
zeros = [0] * int(sys.argv[1])
laws = {
    "laplace": dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=100.0),
    "gaussian": dp.m.make_gaussian(vector, dp.l2_distance(T=float), scale=10.0),
}
for line in sys.stdin:
    laws[line.strip()](zeros)
    print("done", flush=True)
"""

Bar = tuple[str, float, float]
Way = Callable[[], object]


def median_ratio(seconds: Seconds, ours: str, other: str) -> float:
    """Give the median over the rounds of how many times faster ours is."""
    return statistics.median(rate_ratios(seconds, ours, other))


def beside_numpy(
    title: str, draw: Callable[[Noise], object], numpy_draw: Way, bar: float
) -> list[Bar]:
    """Time one law from each source, NumPy's floats and the words alone."""
    noise, system, shake = Noise(), Noise(SystemSource()), Noise(ShakeSource())
    seconds = in_turns(
        {
            "ours": lambda: draw(noise),
            "system": lambda: draw(system),
            "shake": lambda: draw(shake),
            "numpy": numpy_draw,
            "words": lambda: noise.source.words(MANY),
        }
    )
    show(title, seconds, "ours", MANY, "draws")
    return [(f"{title}, over numpy", median_ratio(seconds, "ours", "numpy"), bar)]


def additive() -> list[Bar]:
    """Time discrete Laplace and discrete Gaussian noise of several widths."""
    rng = np.random.default_rng(1)
    bars: list[Bar] = []
    for scale, bar in ((1, 0.5), (100, 1.0), (100_000, 0.0)):
        bars += beside_numpy(
            f"discrete Laplace, scale {scale}",
            lambda noise, scale=scale: noise.discrete_laplace(scale, MANY),
            lambda: rng.laplace(size=MANY),
            bar,
        )
    for sigma, bar in ((1, 0.3), (10, 0.3), (100, 0.3), (10_000, 0.0)):
        bars += beside_numpy(
            f"discrete Gaussian, sigma {sigma}",
            lambda noise, sigma=sigma: noise.discrete_gaussian(sigma**2, MANY),
            lambda: rng.normal(size=MANY),
            bar,
        )
    return bars


def others() -> list[Bar]:
    """Time coins, uniform integers and randomised response."""
    rng = np.random.default_rng(2)
    values = rng.integers(1024, size=MANY)
    bars = beside_numpy(
        "coins, p 0.3", lambda noise: noise.bernoulli("0.3", MANY),
        lambda: rng.random(MANY) < 0.3, 0.0,
    )  # fmt: skip
    bars += beside_numpy(
        "integers below 10", lambda noise: noise.integers_below(10, MANY),
        lambda: rng.integers(10, size=MANY), 0.0,
    )  # fmt: skip
    return bars + beside_numpy(
        "randomised response, k 1024",
        lambda noise: noise.randomized_response(values, 1024, 1),
        lambda: np.where(rng.random(MANY) < 0.3, values, rng.integers(1023, size=MANY)),
        0.0,
    )


def beside_opendp() -> list[Bar]:
    """Time whole vectors of OpenDP in a process of its own environment, if there is one."""
    if not PEER.exists():
        print(f"\nNo environment of OpenDP at {PEER}: `make bench` makes one.")
        return []
    noise, bars = Noise(), []
    with (
        tempfile.TemporaryDirectory() as elsewhere,  # where no module of ours is found
        subprocess.Popen(
            [PEER, "-c", PEER_PROGRAM, str(FEW)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=elsewhere,
        ) as peer,
    ):  # fmt: skip

        def ask(law: str) -> None:
            assert peer.stdin
            assert peer.stdout
            peer.stdin.write(f"{law}\n")
            peer.stdin.flush()
            assert peer.stdout.readline() == "done\n"

        for title, law, ours in (
            ("discrete Laplace, scale 100", "laplace", lambda: noise.discrete_laplace(100, FEW)),
            ("discrete Gaussian, sigma 10", "gaussian", lambda: noise.discrete_gaussian(100, FEW)),
        ):
            seconds = in_turns({"ours": ours, "opendp": lambda law=law: ask(law)})
            show(f"{title}, vectors of {FEW}", seconds, "ours", FEW, "draws")
            bars.append((f"{title}, over opendp", median_ratio(seconds, "ours", "opendp"), 100.0))
        assert peer.stdin
        peer.stdin.close()
    return bars


def selections() -> list[Bar]:
    """Time one choice among a million candidates."""
    noise = Noise()
    scores = np.random.default_rng(3).normal(size=CANDIDATES)
    seconds = in_turns(
        {
            "exponential mechanism": lambda: noise.exponential_mechanism(scores, 1),
            "permute-and-flip": lambda: noise.permute_and_flip(scores, 1),
            "numpy gumbel argmax": lambda: np.argmax(
                scores / 2 + np.random.default_rng(4).gumbel(size=CANDIDATES)
            ),
            "numpy exp alone": lambda: np.exp(scores),
        }
    )
    show("selection among 10^6 candidates", seconds, "permute-and-flip", 1, "choices")
    return [
        (f"{name}, choices among 10^6 a second", 1 / statistics.median(seconds[name]), 20.0)
        for name in ("exponential mechanism", "permute-and-flip")
    ]


def main() -> int:
    """Print every table, then the bars."""
    bars = additive() + others() + beside_opendp() + selections()
    print("\nBars (what is measured, median, least)")
    for what, measured, bar in bars:
        verdict = "" if not bar else "met" if measured >= bar else "MISSED"
        print(f"{what:48}{measured:10.2f}{bar or '':>8}  {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
